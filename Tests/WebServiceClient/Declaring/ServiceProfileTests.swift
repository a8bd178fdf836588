import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ServiceProfileTests {
    private final class Catalogue: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["user(id:)": .get("/class/%%0%%"), "kept()": .get("/kept")] }
        func user(id: Int) async throws -> String { try await call(id) }
        func user(name: String) async throws -> String { try await call(name) }
        func kept() async throws -> String { try await call() }
    }

    private func profile(_ path: String, name: String = "user(id:)") throws -> ServiceProfile {
        try ServiceProfile(
            data: Data(#"{"BaseURL": "https://profile.test", "Resources": [{"Name": "\#(name)", "URITemplate": "\#(path)"}]}"#.utf8))
    }

    @Test func `Attributes are texts as in descriptions`() throws {
        func data(_ attributes: String) -> Data {
            Data(#"{"Resources": [{"Name": "list()", "URITemplate": "/list", "Attributes": \#(attributes)}]}"#.utf8)
        }
        let texts = [
            "CallPriority.low", "EndpointCaching.lifetime(1.5 s)", "RateLimit(30 per 60 s, burst 2, longest wait 3 s)",
            "linkHeader.limited(pages: 3)", "solicited",
        ]
        let profile = try ServiceProfile(data: data("\(texts)"))
        let attributes = try #require(profile.endpoints["list()"]).settings.attributes
        #expect(attributes.all.map { ClientDescription.text(of: $0) } == texts && profile.notes.isEmpty)
        #expect(attributes[RateLimit.self] == RateLimit(30, per: .seconds(60), burst: 2, longestWait: .seconds(3)))
        #expect(attributes[EndpointCaching.self] == .lifetime(.milliseconds(1_500)) && attributes[CallPriority.self] == .low)
        #expect(ServiceProfile.verify(data(#"["RateLimit(0 per 60 s, burst 1)"]"#)).joined().contains("count 0"))
        // A file can't allow more than the program does.
        let loosened: [any EndpointAttribute] = [
            Idempotence(true), DigestVerification(.off), RedirectPolicy.sameOrigin, ServiceRateLimits.ignored, CircuitBreakerPolicy.off,
            Coalescing(), CookiePolicy.matchingHosts,
        ]
        for text in loosened.map({ ClientDescription.text(of: $0) }) {
            let faults = ServiceProfile.verify(data("[\"\(text)\"]"))
            #expect(faults.count == 1 && faults[0].contains(text) && faults[0].contains("set it for the client"), "\(faults)")
        }
        for text in ["CallPriority.urgent", "RedirectPolicy(rule: follow, limit: 99)", "RateLimit(30 per 60.0 s, burst 1)"] {
            let faults = ServiceProfile.verify(data("[\"\(text)\"]"))
            #expect(faults.count == 1 && faults[0].contains(text) && faults[0].contains("describe(as: .json)"), "\(faults)")
        }
        #expect(ServiceProfile.verify(data("1")).joined().contains("isn't an array") && ServiceProfile.verify(data("[1]")).count == 1)
    }

    @Test func `JSON and property lists give the same table`() throws {
        let value: [String: Any] = [
            "BaseURL": "https://a.test/v1",
            "Resources": [
                ["Name": "user(id:)", "URITemplate": "/users/{id}"], ["Name": "create", "URITemplate": "/users", "Method": "POST"],
            ],
        ]
        let forms = [
            try JSONSerialization.data(withJSONObject: value),
            try PropertyListSerialization.data(fromPropertyList: value, format: .xml, options: 0),
            try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0),
            Data([0xEF, 0xBB, 0xBF]) + (try JSONSerialization.data(withJSONObject: value)),
            try #require(String(decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self).data(using: .utf16BigEndian)),
        ]
        for data in forms {
            let profile = try ServiceProfile(data: data)
            #expect(profile.baseURL == "https://a.test/v1" && profile.notes.isEmpty)
            #expect(profile.endpoints.keys == ["user(id:)", "create"])
            #expect(profile.endpoints["create"]?.method == .post && profile.endpoints["user(id:)"]?.method == .get)
        }
    }

    @Test func `A dictionary gives the same table as its file`() throws {
        let value: [String: Any] = [
            "BaseURL": "https://a.test/v1", "Version": 7, "Expires": Date(timeIntervalSince1970: 1_900_000_000),
            "Resources": [
                ["Name": "user(id:)", "URITemplate": "/users/{id}", "AllowsBody": true],
                ["Name": "create", "URITemplate": "/users", "Method": "POST", "AllowsBody": false],
            ] as [[String: Any]],
        ]
        for profile in [
            try ServiceProfile(dictionary: value),
            try ServiceProfile(data: PropertyListSerialization.data(fromPropertyList: value, format: .xml, options: 0)),
            try ServiceProfile(data: PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)),
        ] {
            #expect(profile.baseURL == "https://a.test/v1" && profile.version == 7 && profile.notes.isEmpty)
            #expect(profile.expires == Date(timeIntervalSince1970: 1_900_000_000))
            #expect(profile.endpoints.keys == ["user(id:)", "create"] && profile.endpoints["user(id:)"]?.allowsBody == true)
        }
        // Foundation's objects, as its parsers return them.
        let json = #"{"Version": 1, "Resources": [{"Name": "a()", "URITemplate": "/a", "AllowsBody": true}]}"#
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let parsed = try ServiceProfile(dictionary: object)
        #expect(parsed.version == 1 && parsed.endpoints["a()"]?.allowsBody == true)
        let error = #expect(throws: ServiceProfileError.self) {
            try ServiceProfile(dictionary: ["Resources": [["Name": 5], ["Name": "a()", "URITemplate": "/{"]] as [Any]])
        }
        #expect(error?.faults.contains { $0.contains("resource 0: \"Name\"") } == true)
        #expect(error?.faults.contains { $0.contains("resource 1 \"a()\"") } == true)
    }

    @Test(arguments: [
        (#""Version": "1""#, "Version"), (#""Version": -1"#, "Version"), (#""Version": 1.5"#, "Version"), (#""Version": 1e300"#, "Version"),
        (#""Version": null"#, "Version"), (#""Expires": "soon""#, "time zone"), (#""Expires": "2030-01-31""#, "time zone"),
        (#""Expires": 5"#, "isn't a date"),
    ])
    func `Versions and dates that make no sense are faults`(member: String, words: String) {
        let faults = ServiceProfile.verify(Data(#"{\#(member), "Resources": [{"Name": "a()", "URITemplate": "/a"}]}"#.utf8))
        #expect(faults.count == 1 && faults[0].contains(words), "\(faults)")
    }

    @Test func `Every fault names its resource and position`() {
        let json = """
            {"BaseURL": "nowhere", "Resources": [
              {"Name": "a()", "URITemplate": "/a"},
              {"URITemplate": "/b"},
              {"Name": "c(id:)", "URITemplate": "/c/{idd}"},
              {"Name": "a()", "URITemplate": "/d"},
              {"Name": "e", "URITemplate": "/{e"},
              {"Name": "f(x)", "URITemplate": "/f"},
              {"Name": "g", "URITemplate": "/g", "Method": "G T"},
              7
            ]}
            """
        let faults = ServiceProfile.verify(Data(json.utf8))
        for place in [
            "nowhere", "resource 1: \"Name\"", "resource 2 \"c(id:)\"", "resource 3 \"a()\"", "resource 4 \"e\"", "resource 5 \"f(x)\"",
            "resource 6 \"g\"", "resource 7 isn't a dictionary",
        ] {
            #expect(faults.contains { $0.contains(place) }, "\(place)")
        }
        #expect(throws: ServiceProfileError(faults: faults)) { try ServiceProfile(data: Data(json.utf8)) }
    }

    @Test(arguments: ["", "[]", "{}", "no", #"{"Resources": 5}"#, #"{"Resources": []}"#, #"{"Resources": [], "BaseURL": 1}"#])
    func `What is no profile is refused`(text: String) {
        #expect(!ServiceProfile.verify(Data(text.utf8)).isEmpty)
    }

    @Test func `A binary list that ends Foundation's own reader is refused`() throws {
        let found =
            "YnBsaXN0MDDCAQIDBFdCYXNlVVJMWVJlc291cmNlc1lodHRwczpOYWGhVVJJYGBgVE5hbWVbVVJJVGVtcGxhdGVRYVLInQgNFR8pK0MwQTUAAAAAAAAB"
            + "AQAAAAAAAAAKAAAAAAAAAAAAAAAAAAAARg=="
        #expect(!ServiceProfile.verify(try #require(Data(base64Encoded: found))).isEmpty)
        let deep = "{\"Resources\": " + String(repeating: "[", count: 100_000)
        #expect(!ServiceProfile.verify(Data(deep.utf8)).isEmpty)
        #expect(!ServiceProfile.verify(Data("<plist>\(String(repeating: "<array>", count: 100_000))".utf8)).isEmpty)
    }

    @Test func `Misspelled keys are noted`() throws {
        let json = #"{"Resources": [{"Name": "a()", "URITemplate": "/a", "Methd": "POST"}], "BaseUrl": "x"}"#
        let notes = try ServiceProfile(data: Data(json.utf8)).notes
        #expect(notes.count == 2 && notes.contains { $0.contains("did you mean \"Method\"?") })
    }

    @Test func `A profile lies over the class's table, a bare name over every method of that name`() async throws {
        let client = Catalogue(profile: try profile("/v1/{0}", name: "user"))
        let byID = try await client.dryRun { try await $0.user(id: 1) }
        #expect(byID.url.absoluteString == "https://profile.test/v1/1")
        let byName = try await client.dryRun { try await $0.user(name: "a/b") }
        #expect(byName.url.absoluteString == "https://profile.test/v1/a%2Fb")
        let kept = try await client.dryRun { try await $0.kept() }
        #expect(kept.url.absoluteString == "https://profile.test/kept")
    }

    @Test func `A bare name that doesn't fit the method that calls it is a fault`() async throws {
        let client = Catalogue(profile: try profile("/v1/{id}", name: "user"))
        let error = await serviceError { _ = try await client.user(name: "x") }
        #expect(error?.kind == .table)
    }

    /// Profiles that don't fit the class's endpoints.
    private static let unfit: [(json: String, words: String)] = [
        (#"{"BaseURL": "https://profile.test/%%tenant%%", "Resources": [{"Name": "other(tenant:)", "URITemplate": "/"}]}"#, "tenant"),
        (#"{"BaseURL": "https://profile.test", "Resources": [{"Name": "user", "URITemplate": "/v1/{name}"}]}"#, "user(id:)"),
    ]

    @Test(arguments: unfit) func `A profile that doesn't fit a live client is refused, and the old one stays`(json: String, words: String)
        async throws
    {
        let client = Catalogue(profile: try profile("/old/{id}")) { $0.transport = StubTransport.answering(.text("x")) }
        let unfit = try ServiceProfile(data: Data(json.utf8))
        let faults = client.verify(unfit)
        #expect(!faults.isEmpty && faults.contains { $0.description.contains(words) }, "\(faults)")
        let refusal = #expect(throws: TableFaults.self) { try client.replaceProfile(unfit) }
        #expect(refusal?.faults == faults && refusal?.localizedDescription.contains(words) == true)
        #expect(client.profile?.baseURL == "https://profile.test" && client.verify().isEmpty)
        #expect(try await client.dryRun { try await $0.user(id: 1) }.url.absoluteString == "https://profile.test/old/1")
        // A client that is created with the profile reports its faults.
        #expect(Catalogue(profile: unfit).verify() == faults)
        let fit = try profile("/new/{id}")
        #expect(client.verify(fit).isEmpty)
        try client.replaceProfile(fit)
        #expect(try await client.dryRun { try await $0.user(id: 1) }.url.absoluteString == "https://profile.test/new/1")
    }

    @Test(arguments: [
        (#"{"Name": "user", "URITemplate": "https://evil.test/{id}"}"#, "absolute URL"),
        (#"{"Name": "user", "URITemplate": "/x#f"}"#, "fragment"), (#"{"Name": "user", "URITemplate": "/x{#f}"}"#, "fragment"),
        (#"{"Name": "user", "URITemplate": "/x", "Method": "post"}"#, "write POST"),
        (#"{"Name": "user()", "URITemplate": "/x", "Method": "Get"}"#, "write GET"),
    ])
    func `Bare names are checked as whole ones are`(resource: String, words: String) {
        let faults = ServiceProfile.verify(Data(#"{"Resources": [\#(resource)]}"#.utf8))
        #expect(faults.count == 1 && faults[0].contains("resource 0") && faults[0].contains(words), "\(faults)")
    }

    @Test(arguments: [("POST", "/users/{1}"), ("GET", "/{id}/{0}"), ("GET", "/{2}{?name}"), ("PUT", "/a")])
    func `Bare names may take positions, and leave arguments to methods that aren't known yet`(method: String, template: String) {
        let json = #"{"Resources": [{"Name": "save", "URITemplate": "\#(template)", "Method": "\#(method)"}]}"#
        #expect(ServiceProfile.verify(Data(json.utf8)) == [])
    }

    @Test func `A bare name is compiled for the method that calls, by the profile of that moment`() async throws {
        let client = WebServiceClient(profile: try profile("/u/{id}", name: "user")) { $0.transport = StubTransport.answering(.text("x")) }
        let _: String = try await client.dynamic.user(id: 1)
        try client.replaceProfile(profile("/v2/{userId}", name: "user"))
        let error = await serviceError { let _: String = try await client.dynamic.user(id: 1) }
        #expect(error?.kind == .table && error?.message.contains("user(id:)") == true)
        #expect(try await client.dryRun { try await $0.dynamic.user(userId: 1) }.url.absoluteString == "https://profile.test/v2/1")
        try client.replaceProfile(profile("/v3/{id}", name: "user"))
        #expect(try await client.dryRun { try await $0.dynamic.user(id: 1) }.url.absoluteString == "https://profile.test/v3/1")
    }

    @Test func `What can't be parsed is told with its place`() {
        let json = ServiceProfile.verify(Data("{\"Resources\": [\n  {\"Name\": \"a()\" \"URITemplate\": 1}]}".utf8))
        #expect(json.count == 1 && json[0].contains("line 2"), "\(json)")
        let list = ServiceProfile.verify(Data("<plist version=\"1.0\">\n<dict>\n<key>a</key><sting/>\n</dict></plist>".utf8))
        #expect(list.count == 1 && list[0].contains("line"), "\(list)")
    }

    @Test func `A profile can't take away what the class requires of the transport`() async throws {
        class Bank: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["pay(order:)": .post("/pay/%%0%%").requiring(.pinning), "list()": .get("/")] }
        }
        for name in ["pay", "pay(order:)"] {
            let client = Bank(profile: try profile("/v2/pay/{0}", name: name)) { $0.transport = StubTransport(capabilities: []) }
            let fault = try #require(client.verify().first)
            #expect(client.verify().count == 1 && fault.kind == .missingCapability && fault.key == name)
            client.configure { $0.transport = StubTransport(capabilities: [.pinning]) }
            #expect(client.verify().isEmpty)
        }
    }

    @Test func `A profile can't change whom the class's endpoint trusts`() throws {
        class Bank: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                ["pay(order:)": .post("/pay/%%0%%").trust(TrustPolicy(pins: ["a.test": [.publicKey(sha256: SampleCertificate.pin)]]))]
            }
        }
        for name in ["pay", "pay(order:)"] {
            let client = Bank(profile: try profile("/v2/pay/{0}", name: name)) { $0.transport = StubTransport(capabilities: []) }
            #expect(client.verify().map(\.key) == [name])
        }
    }

    @Test func `A profile doesn't fit where it takes away the timeouts by which a client went`() async throws {
        class Shop: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["list()": .get("/").timeouts(ServiceTimeouts(firstByte: .seconds(9)))] }
            func list() async throws { try await call() }
        }
        let stub = StubTransport(capabilities: [])
        stub.fallback(.status(200))
        let client = Shop(serviceRoot: "https://a.test") {
            $0.transport = stub
            $0.timeouts.connect = .seconds(1)
        }
        #expect(client.verify().isEmpty)
        let faults = client.verify(try profile("/v2", name: "list()"))
        #expect(faults.map(\.kind) == [.missingCapability] && faults.map(\.key) == [nil])
        let error = #expect(throws: TableFaults.self) { try client.replaceProfile(profile("/v2", name: "list()")) }
        #expect(error?.faults == faults)
        try await client.list()
        #expect(stub.requests.map { $0.request.url.path() } == ["/"])
    }

    @Test func `A profile's root may have placeholders`() async throws {
        let json = #"{"BaseURL": "https://%%id%%.a.test", "Resources": [{"Name": "user(id:)", "URITemplate": "/me"}]}"#
        let client = WebServiceClient(profile: try ServiceProfile(data: Data(json.utf8)))
        let request = try await client.dryRun { try await $0.dynamic.user(id: 7) }
        #expect(request.url.absoluteString == "https://7.a.test/me")
        let bad = #"{"BaseURL": "ftp://%%id%%.a.test", "Resources": [{"Name": "user(id:)", "URITemplate": "/me"}]}"#
        #expect(ServiceProfile.verify(Data(bad.utf8)).count == 1)
    }

    @Test func `Calls in flight keep their profile, later ones have the new one`() async throws {
        let gate = DoorGate()
        let stub = StubTransport()
        stub.fallback(
            StubAnswer { request in
                if request.request.url.path() == "/old/1" { await gate.wait() }
                return TransportResponse(status: 200, url: request.request.url, body: ResponseBody(Data(request.request.url.path().utf8)))
            })
        let client = Catalogue(profile: try profile("/old/{id}")) { $0.transport = stub }
        async let first = client.user(id: 1)
        await gate.waitForArrival()
        try client.replaceProfile(profile("/new/{id}"))
        #expect(try await client.user(id: 2) == "/new/2")
        gate.open()
        #expect(try await first == "/old/1")
        try client.replaceProfile(nil)
        client.configure { $0.serviceRoot = "https://own.test" }
        #expect(try await client.user(id: 3) == "/class/3")
    }

    @Test func `The file is named as the class`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "profiles-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let error = #expect(throws: ServiceProfileError.self) { try ServiceProfile(for: Catalogue.self, in: folder) }
        #expect(error?.description.contains("Catalogue.plist") == true)
        try Data(#"{"Resources": [{"Name": "a()", "URITemplate": "/a"}]}"#.utf8).write(to: folder.appending(path: "Catalogue.json"))
        #expect(try ServiceProfile(for: Catalogue.self, in: folder).endpoints.keys == ["a()"])
    }
}

/// Blocks tasks until it is opened.
final class DoorGate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until a task is blocked.
    func waitForArrival() async {
        while state.withLock({ $0.arrivals }) == 0 { await Task.yield() }
    }
}
