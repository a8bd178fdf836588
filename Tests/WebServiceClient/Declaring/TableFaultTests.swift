import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct TableFaultTests {
    private final class Broken: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "user(id)": .get("/users/%%id%%"),
                "twice()": .get("/a"),
                "twice()": .get("/b"),
                "open(id:)": .get("/%%id"),
                "braces(id:)": .get(uriTemplate: "/{id"),
                "range(id:)": .get("/%%0%%/%%3%%"),
                "label(owner:)": .get("/%%ownr%%"),
                "spare(id:)": .get("/all"),
                "body(id:)": .get("/all").body(.argument(0)),
                "header()": .get("/all").header("X Y", "1"),
                "value()": .get("/all").header("X-Y", "1\r\n2"),
                "method()": .endpoint("GE T", "/all"),
                "statuses()": .get("/all").accepting([]),
                "pinned()": .get("/all").requiring(.pinning),
                "root()": .get("/all").decoding(at: "a").raw(),
                "hole()": .get("/all").decoding(at: "a..b"),
                "posted()": .endpoint("post", "/all"),
                "cached(id:)": .get("/all/%%id%%").cacheIdentifier("all/%%idd%%"),
                "named()": .get("/all").cacheIdentifier(""),
                "configure(_:)": .get("/%%0%%"),
                "hedged()": .post("/all").hedged(after: .seconds(1)),
                "limited()": .get("/all").rateLimited(RateLimit(0, per: .seconds(1))),
                "paged()": .get("/all").paged(by: .cursor(at: "", query: "cursor").prefetching(2)),
                "rawPages()": .get("/all").raw().paged(by: .nextURL(at: "next")),
            ]
        }
    }

    private func faults(of descriptor: EndpointDescriptor, key: String) -> [TableFault] {
        CompiledTable([key: descriptor], root: nil).faults
    }

    @Test(arguments: [
        (TableFault.Kind.malformedKey, "user(id)", "user(id:)"), (.duplicateKey, "twice()", "remove one"),
        (.reservedKey, "configure(_:)", "another name"),
        (.badTemplate, "open(id:)", "column 1"), (.badTemplate, "braces(id:)", "RFC 6570"), (.unknownArgument, "range(id:)", "0 to 0"),
        (.unknownArgument, "label(owner:)", "did you mean \"owner\"?"),
        (.unusedArgument, "spare(id:)", "argument \"id\" isn't used"),
        (.unfitBody, "body(id:)", "use POST"), (.badHeader, "header()", "\"X Y\" isn't a valid header name"),
        (.badHeader, "value()", "CR, LF or NUL"),
        (.unknownArgument, "cached(id:)", "did you mean \"id\"?"), (.badTemplate, "named()", "the cache identifier is empty"),
        (.badMethod, "method()", "isn't an HTTP method"), (.badMethod, "posted()", "write POST"), (.badRoot, "hole()", "\"a..b\""),
        (.badStatuses, "statuses()", ".accepting"),
        (.unusedRoot, "root()", "remove one of the two"), (.badPolicy, "hedged()", "use a safe method"),
        (.badLimit, "limited()", "use at least 1"), (.badPaging, "paged()", "a name"), (.badPaging, "rawPages()", ".linkHeader"),
    ])
    func `Every kind of fault names its key and its fix`(kind: TableFault.Kind, key: String, hint: String) throws {
        let fault = try #require(Broken.verify().first { $0.kind == kind && $0.key == key })
        #expect(fault.description.contains(key) && fault.description.contains(hint) && !fault.fix.isEmpty)
    }

    @Test func `All faults come at once, and the first call throws all of them`() async throws {
        let stub = StubTransport(capabilities: [])
        let client = Broken(serviceRoot: "ftp://ada:s3cret@api.test") {
            $0.transport = stub
            $0.headers["Bad Name"] = "x"
        }
        let kinds = Set(client.verify().map(\.kind))
        // A missing argument is a fault of a call.
        let others: Set<TableFault.Kind> = [.badParser, .badTrust, .badRetry, .badDefaults, .badCaching, .missingArgument]
        #expect(kinds == Set(TableFault.Kind.allCases).subtracting(others))
        let error = try #require(await serviceError { try await client.http.get("/fine").send() })
        #expect(error.kind == .table && error.stage == .declaration)
        #expect((error.cause as? TableFaults)?.faults == client.verify())
        #expect(client.verify().allSatisfy { error.description.contains($0.description) })
        #expect(!error.description.contains("s3cret"))
        #expect(stub.requests.isEmpty)
    }

    @Test func `Capabilities are checked for a given transport`() {
        #expect(Broken.verify(for: []).contains { $0.kind == .missingCapability && $0.key == "pinned()" && $0.problem.contains("pinning") })
        #expect(!Broken.verify(for: [.pinning]).contains { $0.kind == .missingCapability })
    }

    private final class Patient: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["wait()": .get("/wait").timeouts(ServiceTimeouts(firstByte: .seconds(9)))] }
        func wait() async throws { try await call() }
    }

    @Test func `A time to connect that no endpoint has is no fault, and no call goes out with one that isn't watched`() async throws {
        let stub = StubTransport(capabilities: [])
        stub.fallback(.status(200))
        let client = Patient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.timeouts.connect = .seconds(1)
        }
        #expect(client.verify().isEmpty)
        try await client.wait()
        #expect(stub.requests.count == 1 && stub.requests[0].request.timeouts.connect == nil)
        let error = await serviceError { try await client.http.get("/other").send() }
        #expect((error?.cause as? TransportError)?.code == .unsupported && error?.message.contains("timeouts.connect") == true)
        #expect(stub.requests.count == 1)
        #expect("\(TransportCapabilities([.connectDeadlines, .http2]))" == "HTTP/2, connect deadlines")
        #expect("\(TransportCapabilities())" == "none")
        #expect(Hasty.describe().endpoints.map(\.requires) == [["connect deadlines"], []])
    }

    private final class Hasty: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            ["soon()": .get("/soon").timeouts(ServiceTimeouts(connect: .seconds(1))), "ever()": .get("/ever")]
        }
        func soon() async throws { try await call() }
        func ever() async throws { try await call() }
    }

    @Test func `A time to connect needs a transport that watches it`() async throws {
        let (unable, able) = (StubTransport(capabilities: [.metrics]), StubTransport(capabilities: [.connectDeadlines]))
        for stub in [unable, able] { stub.fallback(.status(200)) }
        #expect(Hasty.verify(for: [.connectDeadlines]).isEmpty)
        let fault = try #require(Hasty.verify(for: [.metrics]).first)
        #expect(fault.kind == .missingCapability && fault.key == "soon()" && fault.problem.contains("timeouts.connect"))
        #expect(fault.problem.contains("connect deadlines") && fault.fix.contains("firstByte"))
        try await Hasty(serviceRoot: "https://api.test") { $0.transport = able }.soon()
        #expect(await serviceError { try await Hasty(serviceRoot: "https://api.test") { $0.transport = unable }.ever() }?.kind == .table)
        let client = WebServiceClient(serviceRoot: "https://api.test") { $0.transport = unable }
        let own = await serviceError {
            try await client.http.get("/a").describing { $0.timeouts(ServiceTimeouts(connect: .seconds(1))) }.send()
        }
        #expect(own?.kind == .table && own?.message.contains("timeouts.connect") == true)
        client.configure { $0.timeouts.connect = .seconds(1) }
        #expect(client.verify().map(\.key) == [nil] && client.verify().allSatisfy { $0.problem.contains("of the client or the class") })
        #expect(unable.requests.isEmpty && able.requests.count == 1)
    }

    @Test func `A good table has no faults`() {
        #expect(Store.verify().isEmpty)
        #expect(Store.stubbed().client.verify().isEmpty)
    }

    @Test func `Routes with a scheme or a fragment are refused`() {
        #expect(faults(of: .get("https://other.test/x"), key: "a()").map(\.kind) == [.badTemplate])
        #expect(faults(of: .get("/x#frag"), key: "a()").map(\.kind) == [.badTemplate])
    }

    @Test func `URI templates have the faults of routes too`() {
        #expect(faults(of: .get(uriTemplate: "https://other.test/{a}"), key: "a(a:)").map(\.kind) == [.badTemplate])
        #expect(faults(of: .get(uriTemplate: "/x#frag"), key: "a()").map(\.kind) == [.badTemplate])
        #expect(faults(of: .get(uriTemplate: "/x{#a}"), key: "a(a:)").map(\.kind) == [.badTemplate])
        #expect(faults(of: .get(uriTemplate: "/x{?a}/http://b"), key: "a(a:)").isEmpty)
    }

    @Test func `A root inside a body that nothing reads is a fault`() {
        #expect(faults(of: .get("/x").decoding(at: "a").raw(), key: "a()").map(\.kind) == [.unusedRoot])
    }

    @Test func `The class's own headers and root are verified with its table`() {
        class Sloppy: WebServiceClient, @unchecked Sendable {
            override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "ftp://a.test", headers: ["X Y": "1"]) }
        }
        #expect(Set(Sloppy.verify().map(\.kind)) == [.badServiceRoot, .badHeader])
        #expect(Set(Sloppy.verify(for: []).map(\.kind)) == [.badServiceRoot, .badHeader])
        #expect(Sloppy(serviceRoot: "https://a.test").verify().map(\.kind) == [.badHeader])
    }

    @Test(arguments: [
        ("http://::1:42185", "http://[::1]:42185"), ("https://2001:db8::1/v1", "https://[2001:db8::1]"), ("http://::1", "http://[::1]"),
        ("HTTP://fe80::1:8080/x?y", "http://[fe80::1]:8080"), ("http://::ffff:192.0.2.1:80", "http://[::ffff:192.0.2.1]:80"),
    ])
    func `An address of version 6 without brackets is told how to be written`(root: String, right: String) throws {
        let fault = try #require(WebServiceClient(serviceRoot: root).verify().first)
        #expect(fault.kind == .badServiceRoot && fault.problem.contains("IPv6") && fault.fix.contains("\"\(right)"), "\(fault)")
    }

    @Test(arguments: [
        "http://host:99999", "http://host:65536/x", "https://[::1]:70000", "http://host:0", "http://host:123456789012345678901?x",
        "https://%%0%%.test:99999",
    ])
    func `A port that there can't be is a fault of the root`(root: String) throws {
        let fault = try #require(WebServiceClient(serviceRoot: root).verify().first)
        #expect(fault.kind == .badServiceRoot && fault.problem.contains("port") && fault.fix.contains("65535"), "\(fault)")
    }

    @Test(arguments: ["api.test/v1", "http://ho st", "http://host:port/x", "http://", "http://[::1", "://x"])
    func `A root is told what it lacks`(root: String) throws {
        let fault = try #require(WebServiceClient(serviceRoot: root).verify().first)
        let isWithoutScheme = root == "api.test/v1" || root == "://x"
        #expect(fault.kind == .badServiceRoot && fault.problem.contains("no scheme") == isWithoutScheme, "\(fault)")
    }

    @Test(arguments: ["http://[::1]:42185", "https://host:65535/", "http://host:1", "http://host:/x", "https://a.test/x:99999?y=::1"])
    func `Roots with addresses and ports are fine`(root: String) {
        #expect(WebServiceClient(serviceRoot: root).verify().isEmpty)
    }

    @Test func `Whether the table or the configuration is at fault is said, and of which call`() async throws {
        let rooted = try #require(await serviceError { _ = try await Store.stubbed(root: "ftp://api.test").client.item(id: 1) })
        #expect(rooted.message.hasPrefix("The configuration of Store has a fault:\n") && rooted.call.key == "item(id:)", "\(rooted)")
        #expect(rooted.description.hasPrefix("Store.item(id:): ") && rooted.call.route == "/items/%%id%%")
        let rootless = Store.stubbed(root: "ftp://api.test").client
        let adHoc = try #require(await serviceError { try await rootless.http.get("/x?token=s3cret").send() })
        #expect(adHoc.call.key == "GET /x?token=<masked>" && adHoc.kind == .table, "\(adHoc)")
        let nobody = Store.stubbed(configure: { $0.trust = TrustPolicy(authorities: .only([])) }).client
        let trusting = try #require(await serviceError { _ = try await nobody.item(id: 1) })
        #expect(trusting.message.hasPrefix("The configuration of Store has a fault:\n") && trusting.message.contains("trust policy"))
        class Wild: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["a(id:)": .get("/a")] }
            func b() async throws { try await call() }
        }
        let table = try #require(await serviceError { try await Wild(serviceRoot: "https://api.test").b() })
        #expect(table.message.hasPrefix("The table of Wild has a fault:\n") && table.call.key == "b()")
        let both = try #require(await serviceError { try await Wild(serviceRoot: "api.test").b() })
        #expect(both.message.hasPrefix("The table and the configuration of Wild have 2 faults:\n"), "\(both)")
    }

    @Test func `References of every modifier are checked`() {
        #expect(faults(of: .get("/").query(.argument(1)), key: "a()").map(\.kind) == [.unknownArgument])
        #expect(faults(of: .get("/").query("q", .argument("nam")), key: "a(name:)").first?.fix.contains("\"name\"") == true)
        #expect(faults(of: .get("/").headers(.argument(-1)), key: "a()").map(\.kind) == [.unknownArgument])
        #expect(faults(of: .post("/").body(.argument(9)), key: "a()").map(\.kind) == [.unknownArgument])
        #expect(faults(of: .get("/").ignoring("prepar"), key: "a(prepare:)").first?.kind == .unknownArgument)
        #expect(faults(of: .post("/"), key: "a(b:c:)").map(\.kind) == [.unusedArgument, .unusedArgument])
    }

    @Test func `A fault in a secret header doesn't show its value`() {
        let found = faults(of: .get("/").header("Authorization", "Bearer s3cret%%9%%"), key: "a()")
        #expect(found.count == 1 && !found.description.contains("s3cret"))
    }

    @Test func `An unknown key names the nearest one`() async throws {
        let client = Store.stubbed().client
        let error = try #require(await serviceError { _ = try await client.item(identifier: 1) })
        #expect(error.kind == .unknownEndpoint)
        #expect(error.message.contains("\"item(identifier:)\"") && error.message.contains("\"item(id:)\""))
    }

    @Test func `A table overlays its parent's`() async throws {
        class Child: Store, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                super.endpoints.overlaid(by: ["item(id:)": .get("/v2/%%0%%"), "extra()": .get("/extra")])
            }
        }
        #expect(Child.verify().isEmpty)
        let child = Child(serviceRoot: "https://api.test")
        let own = try await child.dryRun { try await $0.item(id: 1) }
        #expect(own.url.path() == "/v2/1")
        let inherited = try await child.dryRun { try await $0.items(page: 2) }
        #expect(inherited.url.absoluteString == "https://api.test/items?page=2")
    }

    @Test func `The description goes through JSON and back`() throws {
        let description = Store.describe()
        let again = try JSONDecoder().decode(ClientDescription.self, from: JSONEncoder().encode(description))
        #expect(again == description)
        #expect(again.endpoints.map(\.key) == Store.endpoints.keys)
        #expect(again.endpoints.first { $0.key == "create(_:)" }?.success == "201")
        #expect(again.endpoints.first { $0.key == "search(text:page:)" }?.root == "found.items")
    }
}
