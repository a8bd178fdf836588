import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// A profile changes paths and methods, but only the program decides which origins receive credentials.
@Suite struct ProfileOriginTests {
    private final class Shop: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["list()": .get("/list")] }
        override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://api.example/v1") }
        func list() async throws { try await call() }
    }

    private final class Tenants: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["list(tenant:)": .get("/list")] }
        override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://%%tenant%%.example.com") }
    }

    private static func profile(_ root: String, _ name: String = "list()", _ template: String = "/other") throws -> ServiceProfile {
        try ServiceProfile(
            data: Data(#"{"BaseURL": "\#(root)", "Resources": [{"Name": "\#(name)", "URITemplate": "\#(template)"}]}"#.utf8))
    }

    @Test(arguments: [
        "http://evil.example", "https://evil.example/v1", "http://api.example/v1", "https://api.example:8443/v1",
        "https://api.example.evil",
        "https://xapi.example", "https://www.api.example", "https://api.exampl", "https://127.0.0.1/v1", "https://[::1]/v1",
        "https://api.example./v1",
    ])
    func `another origin is refused with the origin and the fix, and nothing is sent there`(root: String) async throws {
        let stub = StubTransport()
        stub.fallback(.status(200))
        let client = Shop {
            $0.transport = stub
            $0.headers[.authorization] = "Bearer s3cret"
        }
        let profile = try Self.profile(root)
        let faults = client.verify(profile)
        #expect(faults.count == 1 && faults[0].kind == .badServiceRoot && faults[0].key == nil)
        #expect(faults[0].problem.contains(ServiceRoot.authority(of: root)) && faults[0].fix.contains("allowedOrigins"), "\(faults)")
        #expect(throws: TableFaults.self) { try client.replaceProfile(profile) }
        try await client.list()
        #expect(stub.requests.map(\.request.url.absoluteString) == ["https://api.example/v1/list"])
        let made = Shop(profile: profile) { $0.transport = stub }
        #expect(await serviceError { try await made.list() }?.kind == .table)
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: [
        "https://api.example", "https://api.example/v2", "https://API.example:443/v1", "HTTPS://api.example/a/b?x=1", "",
    ])
    func `another path on the same origin is taken`(root: String) async throws {
        let client = Shop()
        let profile = try Self.profile(root)
        #expect(client.verify(profile) == [])
        try client.replaceProfile(profile)
        let request = try await client.dryRun { try await $0.list() }
        #expect(request.origin == Origin(try #require(URL(string: "https://api.example"))) && request.url.path().hasSuffix("/other"))
    }

    @Test func `an origin that the program lists is taken, with the credentials`() async throws {
        let client = Shop {
            $0.allowedOrigins = ["https://eu.api.example", "http://localhost:8080"]
            $0.authenticationProvider = BearerTokenProvider(token: "t")
        }
        for root in ["https://eu.api.example/v1", "http://localhost:8080"] {
            #expect(client.verify(try Self.profile(root)) == [])
            try client.replaceProfile(try Self.profile(root))
            let request = try await client.dryRun { try await $0.list() }
            #expect(request.url.absoluteString == root + "/other" && request.headers[.authorization] == "Bearer t")
        }
        #expect(client.verify(try Self.profile("http://localhost:8081")).count == 1)
        // Origins removed from the list aren't called any more.
        client.configure { $0.allowedOrigins = [] }
        #expect(client.verify().count == 1)
        #expect(await serviceError { try await client.list() }?.kind == .table)
    }

    @Test func `a root of the client's configuration wins, and then the profile's doesn't matter`() async throws {
        let client = Shop(serviceRoot: "http://localhost:9000")
        try client.replaceProfile(try Self.profile("https://eu.api.example"))
        #expect(try await client.dryRun { try await $0.list() }.url.absoluteString == "http://localhost:9000/other")
    }

    @Test(arguments: [
        ("https://%%tenant%%.example.com/v2", true), ("https://%%tenant%%.EXAMPLE.com", true), ("https://%%tenant%%.evil.test", false),
        ("https://%%tenant%%", false), ("http://%%tenant%%.example.com", false), ("https://acme.example.com", false),
        ("https://%%tenant%%.example.com.evil.test", false), ("https://%%tenant%%.example.com:444", false),
    ])
    func `roots with placeholders are compared before the path`(root: String, isTaken: Bool) throws {
        let client = Tenants()
        let profile = try Self.profile(root, "list(tenant:)", "/other/{tenant}")
        let faults = client.verify(profile).filter { $0.problem.contains("BaseURL") }
        #expect(faults.isEmpty == isTaken, "\(faults)")
    }

    @Test func `without a root of the program's own the first profile's origin stays`() throws {
        let client = WebServiceClient(profile: try Self.profile("https://a.test/v1"))
        #expect(client.verify() == [])
        #expect(client.verify(try Self.profile("https://a.test/v2")) == [])
        #expect(client.verify(try Self.profile("https://b.test/v1")).count == 1)
        try client.replaceProfile(nil)
        let other = try Self.profile("https://b.test/v1")
        #expect(throws: TableFaults.self) { try client.replaceProfile(other) }
        #expect(client.profile == nil)
        let bare = WebServiceClient()
        try bare.replaceProfile(try Self.profile("https://a.test/v1"))
        let insecure = try Self.profile("http://a.test/v1")
        #expect(throws: TableFaults.self) { try bare.replaceProfile(insecure) }
        #expect(bare.profile?.baseURL == "https://a.test/v1")
    }

    @Test func `the root that the program had before isn't replaced when the program removes it`() async throws {
        let client = WebServiceClient(serviceRoot: "https://api.example/v1")
        let moving = try Self.profile("https://evil.example")
        // The root of the client counts, so the profile's isn't used.
        try client.replaceProfile(moving)
        client.configure { $0.serviceRoot = "" }
        #expect(client.verify().map(\.kind) == [.badServiceRoot])
        #expect(await serviceError { try await client.http.get("/x").send() }?.kind == .table)
        let made = WebServiceClient(profile: moving) { $0.serviceRoot = "https://api.example/v1" }
        made.configure { $0.serviceRoot = "" }
        #expect(made.verify().map(\.kind) == [.badServiceRoot])
        client.configure { $0.allowedOrigins = ["https://evil.example"] }
        #expect(client.verify() == [])
    }

    // MARK: What else a profile can't change

    private final class Guarded: WebServiceClient, @unchecked Sendable {
        struct Secret: EndpointAttribute, Hashable { let reason: String }

        override class var endpoints: EndpointTable {
            [
                "pay(order:)": .post("/pay/%%0%%").redirects(.stop).cookies(.off).attribute(Secret(reason: "card")),
                "pay(id:)": .post("/pay/%%0%%").redirects(.sameOrigin),
            ]
        }
        override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://api.example") }
        func pay(order: String) async throws { try await call(order) }
        func pay(id: String) async throws { try await call(id) }
    }

    @Test(arguments: ["pay(order:)", "pay"])
    func `attributes of the class's endpoint stay, such as how redirects are followed`(name: String) async throws {
        let seen = Locked<[EndpointAttributes]>([])
        let stub = StubTransport()
        stub.fallback(.redirect(to: "https://evil.example/", status: 307))
        let client = Guarded(profile: try Self.profile("", name, "/v2/{0}")) {
            $0.transport = stub
            $0.interceptors = [RequestPreparer { _, context in seen.withLock { $0.append(context.attributes) } }]
        }
        #expect(client.verify() == [])
        #expect(await serviceError { try await client.pay(order: "1") }?.status == 307)
        let attributes = try #require(seen.withLock { $0.first })
        #expect(attributes[RedirectPolicy.self] == .stop && attributes[CookiePolicy.self] == .off)
        #expect(attributes[Guarded.Secret.self]?.reason == "card")
        #expect(await serviceError { try await client.pay(id: "2") } != nil)
        #expect(seen.withLock { $0.last }?[RedirectPolicy.self] == .sameOrigin)
        #expect(stub.requests.allSatisfy { $0.request.url.host() == "api.example" })
        #expect(stub.requests.map { $0.request.url.path() }.first == "/v2/1")
    }

    @Test(arguments: [
        "//evil.example/x", "@evil.example/x", ":8443/x", ".evil.example/x", "\\\\\\\\evil.example/x", "x/{+order}", "{+order}", "{order}",
        "/{order}@evil.example/",
    ])
    func `no template leads to another origin`(template: String) async throws {
        // A template that can't be read is refused before.
        guard let profile = try? Self.profile("https://api.example", "pay(order:)", template) else { return }
        let client = Guarded(profile: profile)
        for argument in ["https://evil.example/", "//evil.example", "@evil.example", ":1/", "..", "a"] {
            // A refusal is fine, too.
            guard let request = try? await client.dryRun({ try await $0.pay(order: argument) }) else { continue }
            #expect(request.origin?.description == "https://api.example", "\(template) \(argument): \(request.url)")
        }
    }

    @Test func `a profile has no other settings`() throws {
        let keys = ["Headers", "Proxy", "Redirects", "Trust", "AllowedOrigins", "Timeouts"].map { #""\#($0)": {"Host": "evil.example"}"# }
        let resource = #"{"Name": "list()", "URITemplate": "/x", "Headers": {"Host": "evil.example"}, "BaseURL": "https://evil.example"}"#
        let profile = try ServiceProfile(data: Data("{\(keys.joined(separator: ", ")), \"Resources\": [\(resource)]}".utf8))
        #expect(profile.notes.count == keys.count + 2 && profile.baseURL.isEmpty)
    }

    // MARK: Placeholders in headers of all calls

    static let templates = [
        "%%0%%", "Bearer %%token%%", "a %%id%% b", "%%0%%%%1%%", "x=%%name%%;y", "%%%%0%%", "%%not a name%%", "%%12%%", "%%_%%",
        "tenant=%%tenant%%, %%", "%%é%%",
    ]

    private final class Plain: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["list(id:)": .get("/%%0%%")] }
    }

    @Test(arguments: templates) func `a header of the client is verified for each endpoint`(value: String) throws {
        let client = Plain(serviceRoot: "https://a.test") {
            $0.headers = ["X-Client": value, "User-Agent": value, "X-Fine": "100%% or 5%"]
        }
        let faults = client.verify()
        // The method has an argument 0 and an argument "id".
        let isRight = ["%%0%%", "a %%id%% b"].contains(value)
        #expect(faults.map(\.kind) == (isRight ? [] : [.badHeader, .badHeader]), "\(faults)")
        #expect(faults.allSatisfy { $0.key == "list(id:)" && $0.fix.contains(".header") })
        #expect(isRight || faults.contains { $0.problem.contains("X-Client") })
        #expect(ClientState.faults(in: ["X-%%0%%": "x"]).count == 1)
    }

    private final class Templated: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["list(id:)": .get("/%%0%%")] }
        override class var defaults: EndpointDefaults {
            EndpointDefaults(serviceRoot: "https://a.test", headers: ["X-Class": "%%1%%", "Accept": "text/csv"])
        }
        func list(id: Int) async throws { try await call(id) }
    }

    @Test func `a placeholder without an argument in a header of the class is a fault, and no call goes out`() async throws {
        #expect(Templated.verify().map(\.kind) == [.badHeader])
        #expect(Templated.verify()[0].problem.contains("X-Class") && Templated.verify()[0].problem.contains("%%1%%"))
        let stub = StubTransport()
        let client = Templated { $0.transport = stub }
        #expect(await serviceError { try await client.list(id: 1) }?.kind == .table)
        #expect(stub.requests.isEmpty)
    }
}
