import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct ODataClientTests {
    struct Item: Decodable, Sendable, Equatable, EntityType {
        static let entitySetName = "Items"
        let id: Int
        let name: String
    }

    private let stub = StubTransport()

    private func client(_ root: String = "https://h.example/svc/") -> ODataClient {
        ODataClient(serviceRoot: root) {
            $0.transport = stub
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "s3cret")
        }
    }

    private static func page(_ ids: ClosedRange<Int>, next: String? = nil, context: String = "$metadata#Items") -> StubAnswer {
        let items = ids.map { #"{"id": \#($0), "name": "n\#($0)"}"# }.joined(separator: ", ")
        let link = next.map { #", "@odata.nextLink": "\#($0)""# } ?? ""
        return .json(#"{"@odata.context": "\#(context)", "value": [\#(items)]\#(link)}"#)
    }

    // MARK: Reports

    @Test func `a diagnostic reports once for each type that all properties are fetched`() async throws {
        struct Open: Decodable, Sendable {
            let values: [String: Int]
            init(from decoder: any Decoder) throws { values = try [String: Int](from: decoder) }
        }
        stub.fallback(.json(#"{"value": []}"#))
        let events = Locked<[String]>([])
        let client = client()
        client.configure { $0.diagnostics = Diagnostics { event in events.withLock { $0.append(event.message) } } }
        for _ in 0..<2 {
            _ = try await client.fetch(FetchRequest<Open>(from: "Open"))
            _ = try await client.fetch(FetchRequest<DynamicEntity>(from: "Open"))
            _ = try await client.fetch(FetchRequest<Item>())
        }
        #expect(events.withLock { $0.count } == 1 && events.withLock { $0.first }?.contains("Open") == true)
    }

    // MARK: The request

    @Test func `the printed URL is sent unchanged`() async throws {
        stub.fallback(Self.page(1...1))
        let request = FetchRequest<Item>().filter { $0.name == "O'Neil & Söhne/50% + ?#" && $0.id > 3 }.order(by: .descending(\.id)).top(5)
        #expect(try await client().fetch(request) == [Item(id: 1, name: "n1")])
        let sent = try #require(stub.requests.first)
        try sent.expectURL("https://h.example/svc/" + request.relativeURL())
        try sent.expectMethod(.get)
        #expect(sent.body == nil)
    }

    @Test func `requests have OData's header fields, for the printer's version`() async throws {
        stub.fallback(Self.page(1...1))
        let client = client()
        _ = try await client.page(FetchRequest<Item>())
        client.printer = QueryPrinter(version: .v401)
        _ = try await client.page(FetchRequest<Item>())
        try stub.requests[0].expectHeader("Accept", "application/json;odata.metadata=minimal")
        try stub.requests[0].expectHeader("OData-MaxVersion", "4.0")
        try stub.requests[1].expectHeader("OData-MaxVersion", "4.01")
    }

    @Test func `a query too long for a URL is posted, and its links are relative to the URL of the GET`() async throws {
        stub.fallback(.inTurn(Self.page(1...1, next: "Items?$skiptoken=x", context: ""), Self.page(2...2), Self.page(3...3)))
        let client = client()
        client.longQueries = .post(beyond: 60)
        let request = FetchRequest<Item>().filter { $0.name == "O'Neil & Söhne" }
        #expect(try await client.fetch(request) == [Item(id: 1, name: "n1"), Item(id: 2, name: "n2")])
        try stub.requests[0].expectURL("https://h.example/svc/Items/$query")
        try stub.requests[0].expectMethod(.post)
        try stub.requests[0].expectHeader("Content-Type", "text/plain")
        #expect(
            try stub.requests[0].body.map { String(decoding: $0, as: UTF8.self) } == String(request.relativeURL().dropFirst("Items?".count))
        )
        try stub.requests[1].expectURL("https://h.example/svc/Items?$skiptoken=x")
        client.longQueries = .get
        _ = try await client.page(request)
        try stub.requests[2].expectMethod(.get)
    }

    @Test func `long queries are posted by default only in versions with $query`() {
        let long = "Items?$filter=" + String(repeating: "a", count: 9_000)
        #expect(LongQueryPolicy.automatic.posted(long, version: .v4) == nil)
        #expect(LongQueryPolicy.automatic.posted(long, version: .v401)?.path == "Items/$query")
        #expect(LongQueryPolicy.post(beyond: 10).posted(long, version: .v2) == nil)
        #expect(LongQueryPolicy.post(beyond: 10).posted("Items/$count?$filter=aaaaaaaaaaaa", version: .v401) == nil)
        #expect(LongQueryPolicy.post(beyond: 10).posted("Items(123456789)", version: .v401) == nil)
        #expect(LongQueryPolicy.post(beyond: 10).posted("$crossjoin(A,B)?$top=1", version: .v401)?.path == "$crossjoin(A,B)/$query")
    }

    @Test func `the query of the service root comes first`() async throws {
        stub.fallback(Self.page(1...1))
        _ = try await client("https://h.example/svc?sap-client=100").page(FetchRequest<Item>().top(1))
        try stub.requests[0].expectURL("https://h.example/svc/Items?sap-client=100&$select=id,name&$top=1")
    }

    @Test func `calls have the name of the resource without its keys`() async throws {
        stub["Items"] = Self.page(1...1)
        stub["Items(…)"] = .json(#"{"id": 1, "name": "a"}"#)
        stub["Items/$count"] = .text("1")
        stub["People(…)/Trips(…)/Stops"] = Self.page(1...1)
        let client = client()
        _ = try await client.fetch(FetchRequest<Item>())
        _ = try await client.fetch(FetchRequest<Item>().key(1))
        _ = try await client.count(of: FetchRequest<Item>())
        _ = try await client.fetch(FetchRequest<Item>(from: "People('a)d''a')/Trips(A=1,B='x')/Stops"))
        try stub.expectCalls("Items", "Items(…)", "Items/$count", "People(…)/Trips(…)/Stops")
    }

    @Test func `a query that can't be printed is an error before a request is sent`() async throws {
        let error = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Item>(from: "Items?x")) }
        #expect(error?.kind == .query)
        #expect(error?.cause is ODataQueryError)
        #expect(stub.requests.isEmpty)
    }

    // MARK: Pages

    @Test func `fetch follows relative and absolute links to the end, with credentials`() async throws {
        stub["Items"] = .inTurn(
            Self.page(1...2, next: "Items?$skiptoken=a%2Fb%7c"),
            Self.page(3...3, next: "https://h.example/svc/Items?%24skiptoken='x'", context: "https://h.example/svc/$metadata#Items"),
            Self.page(4...5))
        #expect(try await client().fetch(FetchRequest<Item>()).map(\.id) == [1, 2, 3, 4, 5])
        #expect(
            stub.requests.map(\.examinedURL) == [
                "https://h.example/svc/Items?$select=id,name", "https://h.example/svc/Items?$skiptoken=a%2Fb%7c",
                "https://h.example/svc/Items?%24skiptoken='x'",
            ])
        for request in stub.requests {
            try request.expectHeader("Authorization")
            try request.expectHeader("OData-MaxVersion", "4.0")
        }
    }

    @Test func `paging ends at the query's top`() async throws {
        stub["Items"] = .inTurn(Self.page(1...2, next: "Items?2"), Self.page(3...4, next: "Items?3"))
        #expect(try await client().fetch(FetchRequest<Item>().top(3)).map(\.id) == [1, 2, 3])
        #expect(stub.requests.count == 2)
    }

    @Test func `a page has its count and next link, and the next page can be requested`() async throws {
        stub["Items"] = .inTurn(
            .json(#"{"@odata.count": 3, "value": [{"id": 1, "name": "a"}], "@odata.nextLink": "Items?2"}"#), Self.page(2...3))
        let request = FetchRequest<Item>().count().top(1)
        let client = client()
        let first = try await client.page(request)
        #expect(first.count == 3)
        let second = try #require(try await client.page(after: first, of: request))
        #expect(second.entities.map(\.id) == [2, 3])
        #expect(try await client.page(after: second, of: request)?.entities == nil)
        try stub.requests[1].expectURL("https://h.example/svc/Items?2")
    }

    @Test func `the link of a posted query's page is relative to the URL of the GET`() async throws {
        stub.fallback(.inTurn(Self.page(1...1, next: "?$skiptoken=x", context: ""), Self.page(2...2)))
        let client = client()
        client.longQueries = .post(beyond: 5)
        let request = FetchRequest<Item>().top(1)
        let first = try await client.page(request)
        try stub.requests[0].expectURL("https://h.example/svc/Items/$query")
        #expect(try await client.page(after: first, of: request)?.entities.map(\.id) == [2])
        try stub.requests[1].expectURL("https://h.example/svc/Items?$skiptoken=x")
    }

    @Test func `a failed page throws after the entities before it`() async throws {
        stub["Items"] = .inTurn(Self.page(1...2, next: "Items?2"), .status(503))
        var read: [Int] = []
        let error = await #expect(throws: ServiceError.self) {
            for try await item in client().entities(matching: FetchRequest<Item>()) { read.append(item.id) }
        }
        #expect(read == [1, 2])
        #expect(error?.status == 503)
        stub["Items"] = .inTurn(Self.page(1...2, next: "Items?2"), .status(503))
        await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Item>()) }
    }

    @Test func `a loop is an error that names the call`() async throws {
        stub["Items"] = .inTurn(Self.page(1...1, next: "Items?2"), Self.page(2...2, next: "Items?2"))
        let error = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Item>()) }
        #expect(error?.kind == .link)
        #expect(error?.cause as? ODataLinkError == .loop("https://h.example/svc/Items"))
        #expect(error?.call.description == "ODataClient.Items")
        #expect(stub.requests.count == 2)
    }

    @Test func `a page that ends in an OData error throws that error`() async throws {
        stub["Items"] = .json(#"{"value": [{"id": 1, "name": "a"}], "error": {"code": "Late", "message": "The store went away."}}"#)
        let error = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Item>()) }
        #expect((error?.errorBody as? ODataErrorBody)?.code == "Late")
        #expect(error?.message.contains("The store went away.") == true)
    }

    // MARK: Foreign links

    @Test func `a foreign link is refused and nothing is sent there`() async throws {
        let other = try LoopbackServer { routes in routes.fallback { _ in .json(#"{"value": []}"#) } }
        let server = try LoopbackServer { routes in
            routes.get("/svc/Items") { _ in
                .json(#"{"value": [{"id": 1, "name": "a"}], "@odata.nextLink": "\#(other.url.absoluteString)/svc/Items?2"}"#)
            }
        }
        let client = ODataClient(serviceRoot: server.url.absoluteString + "/svc") {
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "s3cret")
        }
        var pages = client.pages(matching: FetchRequest<Item>()).makeAsyncIterator()
        #expect(try await pages.next()?.entities.count == 1)
        let error = await #expect(throws: ServiceError.self) { try await pages.next() }
        #expect(error?.kind == .link)
        #expect(error?.message.contains("isn't followed") == true)
        let first = try await client.page(FetchRequest<Item>())
        await #expect(throws: ServiceError.self) { try await client.page(after: first, of: FetchRequest<Item>()) }
        #expect(other.requests.isEmpty)
        #expect(server.requests.first?.basicCredentials?.user == "ada")

        client.foreignLinks = .followWithoutCredentials
        #expect(try await client.fetch(FetchRequest<Item>()).count == 1)
        let followed = try #require(other.requests.first)
        #expect(followed.target == "/svc/Items?2")
        try followed.expectNoHeader("Authorization")
        try followed.expectNoHeader("OData-MaxVersion")
    }

    @Test func `a real server gets the query byte for byte`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/svc/Items") { _ in .json(#"{"value": []}"#).with("OData-Version", "4.0") }
        }
        let client = ODataClient(serviceRoot: server.url.absoluteString + "/svc")
        let request = FetchRequest<Item>().filter { $0.name.hasPrefix("O'N/ö%+&#") }.order(by: .ascending(\.name))
        #expect(try await client.fetch(request).isEmpty)
        #expect(server.requests.first?.target == "/svc/" + (try request.relativeURL()))
    }

    // MARK: One entity

    @Test func `an entity is fetched by its key`() async throws {
        stub["Items(…)"] = .json(#"{"@odata.context": "$metadata#Items/$entity", "id": 7, "name": "x"}"#)
        #expect(try await client().fetch(FetchRequest<Item>().key("a/b'c")) == Item(id: 7, name: "x"))
        try stub.requests[0].expectURL("https://h.example/svc/Items('a%2Fb''c')?$select=id,name")
    }

    @Test func `a missing entity is nil for fetchIfPresent, otherwise an error`() async throws {
        let request = FetchRequest<Item>().key(7)
        let missing = StubAnswer.json(#"{"error": {"code": "NotFound", "message": "No item 7."}}"#, status: 404)
        for answer in [missing, .status(404), .status(204)] {
            stub["Items(…)"] = answer
            #expect(try await client().fetchIfPresent(request) == nil)
            await #expect(throws: ServiceError.self) { try await client().fetch(request) }
        }
        let page = StubAnswer.data(Data("<html><title>Gone</title></html>".utf8), type: "text/html; charset=utf-8", status: 404)
        for answer in [page, .status(200), .status(304), .status(500), .json("[]")] {
            stub["Items(…)"] = answer
            await #expect(throws: ServiceError.self) { try await client().fetchIfPresent(request) }
        }
        stub["Items(…)"] = .json(#"{"id": 7, "name": "x"}"#)
        #expect(try await client().fetchIfPresent(request)?.id == 7)
    }

    @Test func `values are read in OData's spelling`() async throws {
        struct Event: Decodable, Sendable {
            let at: Date
            let data: Data
            let score: Double
        }
        stub.fallback(.json(#"{"at": "1970-01-01T02:00:00.25+02:00", "data": "-_8", "score": "-INF"}"#))
        let event = try await client().fetch(EntityRequest<Event>(at: "Event"))
        #expect(event.at.timeIntervalSince1970 == 0.25)
        #expect(event.data == Data([0xFB, 0xFF]))
        #expect(event.score == -.infinity)
    }

    @Test func `endpoints of a subclass read and write OData's JSON`() async throws {
        struct Note: Codable, Sendable, Equatable {
            let data: Data
            let limit: Double
        }
        final class Notes: ODataClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["echo(_:)": .post("Echo")] }
            func echo(_ note: Note) async throws -> Note { try await call(note) }
        }
        stub.fallback(
            StubAnswer {
                TransportResponse(
                    status: 200, headers: ["Content-Type": "application/json"], url: $0.request.url, body: ResponseBody($0.body ?? Data()))
            })
        let note = Note(data: Data([0xFB, 0xFF]), limit: .infinity)
        #expect(try await Notes(serviceRoot: "https://h.example") { $0.transport = stub }.echo(note) == note)
        try stub.requests[0].expectBody(json: #"{"data": "-_8", "limit": "INF"}"#)
    }

    // MARK: Counting

    @Test(arguments: ["42", "\u{FEFF}42", " 42\r\n"])
    func `the count is read from its text`(text: String) async throws {
        stub.fallback(.text(text))
        let request = FetchRequest<Item>().filter { $0.id > 3 }.search("a").order(by: .ascending(\.id)).top(2).skip(1).option("x", "y")
        #expect(try await client().count(of: request) == 42)
        try stub.requests[0].expectURL("https://h.example/svc/Items/$count?$filter=id%20gt%203&$search=a&x=y")
    }

    @Test(arguments: ["", "many", "-1", "1.5", "99999999999999999999"])
    func `a count that isn't a number is an error`(text: String) async throws {
        stub.fallback(.text(text))
        let error = await #expect(throws: ServiceError.self) { try await client().count(of: FetchRequest<Item>()) }
        if !text.isEmpty {
            #expect(error?.response?.body == Data(text.utf8) && error?.response?.url == "https://h.example/svc/Items/$count")
        }
    }

    // MARK: Errors

    @Test func `an OData error is decoded and part of the error`() async throws {
        stub.fallback(.json(#"{"error": {"code": "Busy", "message": "Come back later.", "target": "Items"}}"#, status: 503))
        let error = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Item>()) }
        let body = try #require(error?.errorBody as? ODataErrorBody)
        #expect(body.code == "Busy")
        #expect(body.target == "Items")
        #expect(error?.status == 503)
        #expect(error?.description.contains("Come back later.") == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func `an HTML page is reported by its status`() async throws {
        stub.fallback(.data(Data("<html><title>Bad gateway</title></html>".utf8), type: "text/html", status: 500))
        let error = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Item>()) }
        #expect(error?.kind == .status)
        #expect(error?.errorBody == nil)
        stub.fallback(.data(Data("<html><title>Sign in</title></html>".utf8), type: "text/html", status: 200))
        let other = await #expect(throws: ServiceError.self) { try await client().fetch(FetchRequest<Item>()) }
        #expect(other?.kind == .format)
        #expect(other?.message.contains("Sign in") == true)
    }
}
