import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// A program's client with a profile that a stub of the operator's server delivers.
@Suite struct RemoteProfileTests {
    private final class Bookshop: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            ["list()": .get("/list"), "book(id:)": .get("/books/%%0%%"), "kept()": .get("/kept"), "chat()": .get("/chat")]
        }
        func list() async throws -> [Int] { try await call() }
        func book(id: Int?) async throws -> [Int] { try await call(id) }
        func kept() async throws -> [Int] { try await call() }
        func chat() async throws -> WebSocket { try await call() }
    }

    /// The operator's server, which signs with the text `signed:` and the bytes.
    private final class Operator: Sendable {
        struct Published: Sendable {
            var profile = Data()
            var signature: Data?
            var status = 200
        }

        let published = Locked(Published())
        let stub = StubTransport()

        init() {
            stub.fallback(.json("[1]"))
            stub["GET outside"] = .answering { [published] request in
                let current = published.withLock { $0 }
                let isSignature = request.request.url.path().hasSuffix(".sig")
                guard current.status == 200 else { return .status(current.status) }
                guard !isSignature else { return current.signature.map { .data($0) } ?? .status(404) }
                let tag = "\"\(current.profile.hashValue)\""
                if request.request.headers["If-None-Match"] == tag { return .status(304, headers: ["ETag": tag]) }
                return .data(current.profile, headers: ["ETag": tag])
            }
        }

        func publish(_ text: String, signature: String? = nil) {
            published.withLock {
                $0 = Published(profile: Data(text.utf8), signature: Data((signature ?? "signed:" + text).utf8))
            }
        }

        func publish(_ version: Int?, _ path: String = "/new", base: String = "", name: String = "list()", expires: String? = nil) {
            let version = version.map { "\"Version\": \($0), " } ?? ""
            let expiry = expires.map { "\"Expires\": \"\($0)\", " } ?? ""
            let resource = "{\"Name\": \"\(name)\", \"URITemplate\": \"\(path)\"}"
            publish("{\(version)\(expiry)\"BaseURL\": \"\(base)\", \"Resources\": [\(resource)]}")
        }

        /// The fetches of the profile itself.
        var fetches: [RecordedRequest] { stub.requests(for: "GET outside").filter { !$0.request.url.path().hasSuffix(".sig") } }
    }

    private let server = Operator()
    private let folder = TemporaryFolder()
    private let told = Locked<[String]>([])
    private let clock = HandClock()

    private static let place = "https://config.test/shop.json?app=1"
    private static let signature = ProfileSignature.verified { $1 == Data("signed:".utf8) + $0 }

    private var file: URL { folder.url.appending(path: "state/accepted.json") }

    private func client(_ root: String = "https://api.test", _ change: (inout WebServiceClient.Configuration) -> Void = { _ in })
        -> Bookshop
    {
        clock.provide {
            Bookshop(serviceRoot: root) { [told, server] in
                $0.transport = server.stub
                $0.headers[.authorization] = "Bearer s3cret"
                $0.diagnostics = Diagnostics { event in told.withLock { $0.append(event.message) } }
                change(&$0)
            }
        }
    }

    private func remote(
        _ client: WebServiceClient, _ signature: ProfileSignature = Self.signature, canary: RemoteProfile.Canary? = nil
    ) throws -> RemoteProfile {
        try RemoteProfile(
            of: client, at: try #require(URL(string: Self.place)), signature: signature, recordedIn: file, every: .seconds(60),
            canary: canary)
    }

    private func path(_ client: Bookshop) async throws -> String {
        try await client.dryRun { _ = try await $0.list() }.url.absoluteString
    }

    /// Expects a refusal that is reported once, however often the profile is fetched.
    private func expectRefusal(_ reason: RemoteProfileError.Reason, _ words: String, by remote: RemoteProfile) async {
        told.withLock { $0 = [] }
        for _ in 0..<2 {
            let error = await #expect(throws: RemoteProfileError.self) { try await remote.update() }
            #expect(error?.reason == reason && error?.message.contains(words) == true, "\(String(describing: error))")
        }
        let told = told.withLock { $0 }
        #expect(told.count == 1 && told.first?.contains(words) == true && told.first?.contains("keeps its profile") == true, "\(told)")
    }

    @Test func `A newer version replaces the profile, and carries no credentials of the service`() async throws {
        let client = client()
        let remote = try remote(client)
        server.publish(1, "/v1")
        guard case .replaced(let generation) = try await remote.update() else { throw TestingFailure("The profile isn't replaced.") }
        #expect(generation.number == 1 && generation.profile?.version == 1)
        #expect(try await path(client) == "https://api.test/v1")
        // The entity tag saves the second fetch of bytes and signature.
        guard case .unchanged = try await remote.update() else { throw TestingFailure("The profile is replaced again.") }
        server.publish(2, "/v2")
        try await remote.update()
        #expect(try await path(client) == "https://api.test/v2" && client.profileHistory.map(\.number) == [0, 1, 2])
        #expect(server.fetches.map { $0.request.headers["If-None-Match"] == nil } == [true, false, false])
        let urls = Set(server.stub.requests.map(\.request.url.absoluteString))
        #expect(urls == [Self.place, "https://config.test/shop.json.sig?app=1"])
        #expect(server.stub.requests.allSatisfy { $0.request.headers[.authorization] == nil })
        #expect(told.withLock { $0 }.isEmpty)
    }

    @Test func `Refusals keep the old profile, and are told once`() async throws {
        let client = client()
        let remote = try remote(client)
        server.publish(5, "/good")
        try await remote.update()
        // A signature of other bytes, none, and one of bytes that were changed afterwards.
        server.publish(#"{"Version": 6, "Resources": [{"Name": "list()", "URITemplate": "/bad"}]}"#, signature: "signed:other")
        await expectRefusal(.signature, "isn't valid for these bytes", by: remote)
        server.published.withLock { $0.signature = nil }
        await expectRefusal(.signature, "there is no signature at https://config.test/shop.json.sig", by: remote)
        server.publish(4, "/bad")
        await expectRefusal(.olderVersion, "it is version 4, and version 5 was accepted", by: remote)
        server.publish(5, "/bad")
        await expectRefusal(.olderVersion, "other content", by: remote)
        server.publish(nil, "/bad")
        await expectRefusal(.noVersion, "Version", by: remote)
        // The clock of the client: 2027-01-15.
        server.publish(6, "/bad", expires: "2027-01-15T07:59:59Z")
        await expectRefusal(.expired, "version 6 has expired", by: remote)
        let text = #"{"Version": 6, "Resources": [{"Name": "list()", "URITemplate": "/bad"}]}"#
        server.publish(String(text.dropLast(3)))
        await expectRefusal(.invalid, "it has faults", by: remote)
        server.publish(6, "/bad", base: "https://evil.test")
        await expectRefusal(.otherOrigin, "evil.test", by: remote)
        server.publish(6, "/bad", base: "http://api.test")
        await expectRefusal(.otherOrigin, "http://api.test", by: remote)
        server.publish(6, "/bad/{name}", name: "book")
        await expectRefusal(.unfit, "book(id:)", by: remote)
        server.publish(6, "/" + String(repeating: "x", count: RemoteProfile.sizeLimit))
        await expectRefusal(.tooLarge, "1024 KiB", by: remote)
        #expect(try await path(client) == "https://api.test/good" && client.profileHistory.map(\.number) == [0, 1])
        // A correct version is still accepted.
        server.publish(6, "/better", expires: "2027-01-15T08:00:01Z")
        try await remote.update()
        #expect(try await path(client) == "https://api.test/better")
    }

    @Test func `A client whose class has its own root keeps that root's origin`() async throws {
        final class Rooted: WebServiceClient, @unchecked Sendable {
            override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://api.test") }
        }
        let client = Rooted { [server] in $0.transport = server.stub }
        server.publish(1, base: "https://evil.test")
        let error = await #expect(throws: RemoteProfileError.self) { try await remote(client).update() }
        #expect(error?.reason == .otherOrigin)
        server.publish(1, base: "https://api.test/v2")
        try await remote(client).update()
        #expect(client.profile?.baseURL == "https://api.test/v2")
    }

    @Test func `A client without a root takes none from the network, unless the program lists its origin`() async throws {
        let client = client("")
        let remote = try remote(client)
        server.publish(1, base: "https://evil.test")
        await expectRefusal(.otherOrigin, "no service root", by: remote)
        #expect(client.profile == nil)
        client.configure { $0.allowedOrigins = ["https://evil.test"] }
        try await remote.update()
        #expect(client.profile?.version == 1)
    }

    @Test func `The accepted version outlives the program`() async throws {
        server.publish(7, "/seven")
        try await remote(client()).update()
        let old = server.published.withLock { $0 }
        server.publish(6, "/six")
        let next = client()
        await expectRefusal(.olderVersion, "version 7 was accepted", by: try remote(next))
        // The same bytes are taken by a new process.
        server.published.withLock { $0 = old }
        try await remote(next).update()
        #expect(try await path(next) == "https://api.test/seven")
        // A file that can't be read accepts nothing.
        try Data("{}".utf8).write(to: file)
        server.publish(8, "/eight")
        await expectRefusal(.record, "accepted.json", by: try remote(next))
        #expect(next.profile?.version == 7)
    }

    @Test func `The accepted profile itself outlives the program`() async throws {
        guard case .unchanged = try await remote(client()).restore() else { throw TestingFailure("Nothing can be restored yet.") }
        let expiring = #"{"Version": 3, "Expires": "2027-01-15T08:00:01Z", "Resources": [{"Name": "list()", "URITemplate": "/three"}]}"#
        server.publish(expiring)
        try await remote(client()).update()
        // The network is down.
        server.published.withLock { $0.status = 500 }
        let next = client()
        let remote = try remote(next)
        guard case .replaced(let generation) = try await remote.restore() else { throw TestingFailure("The profile isn't restored.") }
        #expect(try await path(next) == "https://api.test/three" && generation.profile?.version == 3)
        guard case .unchanged = try await remote.restore() else { throw TestingFailure("It is restored twice.") }
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        // The same version isn't a change, and an older one is refused.
        server.publish(expiring)
        guard case .unchanged = try await remote.update() else { throw TestingFailure("The profile is replaced again.") }
        server.publish(2, "/two")
        await expectRefusal(.olderVersion, "version 3 was accepted", by: remote)
        // A file that was changed isn't used: neither the profile nor its signature.
        let content = try Data(contentsOf: file)
        var changed = try JSONReader().decode(JSONValue.self, from: content)
        let other = Data(expiring.replacing("three", with: "evil").utf8)
        changed["stored"]?["profile"] = .string(other.base64EncodedString())
        try Data(changed.description.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let refused = await #expect(throws: RemoteProfileError.self) { try await self.remote(client()).restore() }
        #expect(refused?.reason == .signature)
        changed["stored"]?["signature"] = .string((Data("signed:".utf8) + other).base64EncodedString())
        try Data(changed.description.utf8).write(to: file)
        let mixed = await #expect(throws: RemoteProfileError.self) { try await self.remote(client()).restore() }
        #expect(mixed?.reason == .record && mixed?.message.contains("isn't the accepted one") == true)
    }

    @Test func `Restoring beside an update leaves the newer profile`() async throws {
        server.publish(1, "/v1")
        try await remote(client()).update()
        let restored = try Data(contentsOf: file)
        server.publish(2, "/v2")
        for _ in 0..<100 {
            try PrivateFile(file).replace(with: restored)
            let client = client()
            let remote = try remote(client)
            async let restoring = remote.restore()
            async let updating = remote.update()
            _ = try await (restoring, updating)
            guard client.profile?.version == 2 else { throw TestingFailure("The client has \(client.profileHistory) again.") }
        }
    }

    @Test func `A restored profile is the one of the file, although its signature takes time`() async throws {
        server.publish(1, "/v1")
        try await remote(client()).update()
        let client = client()
        // While the first profile's signature is verified, another program accepts a second one.
        let isFirst = Locked(true)
        let slow = ProfileSignature.verified { [server] bytes, signature in
            let isSlow = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            if isSlow {
                server.publish(2, "/v2")
                try await self.remote(self.client()).update()
            }
            return signature == Data("signed:".utf8) + bytes
        }
        try await remote(client, slow).restore()
        #expect(client.profile?.version == 2)
    }

    @Test func `After a failed trial, the profile before it is the one that is restored`() async throws {
        let client = client()
        let remote = try remote(client, canary: RemoteProfile.Canary(calls: 4, failureRate: 0))
        server.publish(1, "/v1")
        try await remote.update()
        server.publish(2, "/v2")
        try await remote.update()
        server.stub.on(.get, "/v2", .status(404))
        _ = await serviceError { _ = try await client.list() }
        #expect(client.profile?.version == 1)
        let next = self.client()
        try await self.remote(next).restore()
        #expect(next.profile?.version == 1)
        await expectRefusal(.failedCanary, "version 2", by: try self.remote(next))
        // If that one fails too after the restart, there is none to return to.
        let third = self.client()
        try await self.remote(third, canary: RemoteProfile.Canary(calls: 4, failureRate: 0)).restore()
        server.stub.on(.get, "/v1", .status(404))
        _ = await serviceError { _ = try await third.list() }
        #expect(third.profile == nil)
        let fourth = self.client()
        try await self.remote(fourth).restore()
        #expect(fourth.profile == nil)
    }

    @Test func `A file that can't be written refuses the profile`() async throws {
        let client = client()
        try Data().write(to: folder.url.appending(path: "state"))
        server.publish(1)
        await expectRefusal(.record, "accepted.json", by: try remote(client))
        #expect(client.profile == nil)
    }

    @Test func `A profile with too many failed calls is rolled back, and isn't accepted again`() async throws {
        let client = client()
        let remote = try remote(client, canary: RemoteProfile.Canary(calls: 10, failureRate: 0.2))
        server.publish(1, "/v1")
        try await remote.update()
        server.publish(2, "/v2")
        try await remote.update()
        server.stub.on(.get, "/v2", .status(404))
        // Only changed endpoints count, and calls without an answer don't.
        server.stub["kept()"] = .status(500)
        for _ in 0..<5 { _ = await serviceError { _ = try await client.kept() } }
        server.stub["list()"] = .failure(TransportError(.connectionLost, "lost"))
        for _ in 0..<5 { _ = await serviceError { _ = try await client.list() } }
        server.stub["list()"] = .status(503)
        for _ in 0..<5 { _ = await serviceError { _ = try await client.list() } }
        server.stub["list()"] = .json("[1]")
        for _ in 0..<3 { _ = try await client.list() }
        #expect(client.profile?.version == 2 && told.withLock { $0 }.isEmpty)
        server.stub["list()"] = nil
        for _ in 0..<2 { _ = await serviceError { _ = try await client.list() } }
        #expect(client.profile?.version == 2)
        #expect(await serviceError { _ = try await client.list() }?.status == 404)
        #expect(client.profile?.version == 1 && client.profileHistory.map(\.number) == [0, 1])
        #expect(try await client.list() == [1])
        let messages = told.withLock { $0 }
        #expect(messages.count == 1 && messages[0].contains("Version 2") && messages[0].contains("3 of 6 calls failed"), "\(messages)")
        // Neither now nor after a restart.
        guard case .unchanged = try await remote.update() else { throw TestingFailure("The version is accepted again.") }
        await expectRefusal(.failedCanary, "version 2", by: try self.remote(self.client()))
        server.publish(3, "/v3")
        try await remote.update()
        #expect(client.profile?.version == 3)
    }

    @Test func `Values of another form, and arguments that don't fit, count as failures`() async throws {
        let client = client()
        let remote = try remote(client, canary: RemoteProfile.Canary(calls: 4, failureRate: 0.25))
        server.publish(1, "/b/{id}", name: "book")
        try await remote.update()
        server.stub["book(id:)"] = .text("<html>")
        #expect(await serviceError { _ = try await client.book(id: 1) } != nil)
        // In the class's route the argument is needed, too; the kind of failure counts.
        #expect(await serviceError { _ = try await client.book(id: nil) }?.kind == .argument)
        #expect(client.profile == nil)
    }

    @Test func `WebSockets and streams that the server refuses count as failures`() async throws {
        let client = client()
        let remote = try remote(client, canary: RemoteProfile.Canary(calls: 4, failureRate: 0.25))
        server.publish(1, "/talk", name: "chat()")
        try await remote.update()
        server.stub.on(.get, "/talk", .status(404))
        #expect(await serviceError { _ = try await client.chat() }?.status == 404)
        #expect(client.profile?.version == 1)
        #expect(await serviceError { _ = try await client.http.get("/none").webSocket() } != nil)
        #expect(client.profile?.version == 1)
        #expect(await serviceError { _ = try await client.chat() }?.status == 404)
        #expect(client.profile == nil)
    }

    @Test func `A trial that was passed ends`() async throws {
        let client = client()
        let remote = try remote(client, canary: RemoteProfile.Canary(calls: 3, failureRate: 0))
        server.publish(1, "/v1")
        try await remote.update()
        for _ in 0..<3 { _ = try await client.list() }
        server.stub["list()"] = .status(500)
        for _ in 0..<20 { _ = await serviceError { _ = try await client.list() } }
        #expect(client.profile?.version == 1)
        #expect(RemoteProfile.Canary(calls: 10, failureRate: 0.25).allowedFailures == 2)
    }

    @Test func `A trial ends at once for many calls at the same time`() async throws {
        let client = client()
        let remote = try remote(client, canary: RemoteProfile.Canary(calls: 50, failureRate: 0.1))
        server.publish(1, "/v1")
        try await remote.update()
        server.stub["list()"] = .status(500)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try? await client.list() } }
        }
        #expect(client.profile == nil && client.profileHistory.map(\.number) == [0])
        #expect(told.withLock { $0 }.filter { $0.contains("rolled back") }.count == 1)
    }

    @Test func `Following fetches at intervals until it is cancelled, and tells a failure once`() async throws {
        let client = client()
        let remote = try remote(client)
        server.published.withLock { $0.status = 500 }
        let following = Task { await remote.follow() }
        for count in 1...3 {
            await waitUntil { clock.timerCount == 1 && clock.waits.count { $0 == .seconds(60) } == count }
            #expect(server.fetches.count == count)
            clock.advance(by: .seconds(60))
        }
        server.publish(1)
        await waitUntil { clock.timerCount == 1 && clock.waits.count { $0 == .seconds(60) } == 4 }
        clock.advance(by: .seconds(60))
        await waitUntil { client.profile?.version == 1 }
        following.cancel()
        await following.value
        #expect(told.withLock { $0 }.filter { $0.contains("can't be fetched") }.count == 1)
    }

    @Test(.enabled(if: Ed25519.isAvailable, "The system has no libcrypto that verifies Ed25519."))
    func `A real signature by Ed25519`() async throws {
        let key = try #require(Data(base64Encoded: "CRKMC4aqoQRYnouKdQmKZKs99+/CoandyV9iOgEAvbY="))
        let text = #"{"Version": 1, "Resources": [{"Name": "list()", "URITemplate": "/signed"}]}"#
        let signature = "Ohe85nc5mrTDCoWz8PCc9BkZLhKviDNbOVHGTrg/QjinPoQXV+5/notn+GEziw/5grf3nAS8CAt91XqjfLKcAw==\n"
        let client = client()
        let remote = try remote(client, .ed25519(publicKeys: key))
        server.publish(text.replacing("1", with: "2"), signature: signature)
        await expectRefusal(.signature, "any of the keys", by: remote)
        server.publish(text, signature: signature)
        try await remote.update()
        #expect(try await path(client) == "https://api.test/signed")
    }

    @Test func `Settings that make no sense are told`() throws {
        let client = client()
        func error(
            _ place: String, _ signature: ProfileSignature = Self.signature, every interval: Duration = .seconds(1),
            canary: RemoteProfile.Canary? = nil
        ) throws -> RemoteProfileError? {
            let url = try #require(URL(string: place))
            return #expect(throws: RemoteProfileError.self) {
                try RemoteProfile(of: client, at: url, signature: signature, recordedIn: file, every: interval, canary: canary)
            }
        }
        let faults = [
            try error("file:///etc/shop.json"), try error("http://config.test/shop.json", .unsigned),
            try error(Self.place, .ed25519(publicKeys: Data())), try error(Self.place, every: .zero),
            try error(Self.place, canary: RemoteProfile.Canary(calls: 0)),
            try error(Self.place, canary: RemoteProfile.Canary(failureRate: .nan)),
        ]
        #expect(faults.allSatisfy { $0?.reason == .badSettings && $0?.message.contains("Bookshop") == true })
    }

    @Test func `An unsigned profile is taken if the program says so`() async throws {
        let client = client()
        server.publish(1)
        try await remote(client, .unsigned).update()
        #expect(client.profile?.version == 1 && server.stub.requests.count == 1)
    }

    @Test func `The error of the program's verification is passed on, and told`() async throws {
        struct Broken: Error {}
        let client = client()
        server.publish(1)
        let remote = try remote(client, .verified { _, _ in throw Broken() })
        for _ in 0..<2 { await #expect(throws: Broken.self) { try await remote.update() } }
        #expect(client.profile == nil && told.withLock { $0 }.count == 1)
    }

    private func waitUntil(_ condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }
}
