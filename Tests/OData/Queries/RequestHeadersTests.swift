import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Header fields and preferences of a single request.
@Suite struct RequestHeadersTests {
    struct Item: Codable, Sendable, Equatable, EntityType {
        static let entitySetName = "Items"
        var id: Int
        var name: String
        var parts: [Part]?
    }
    struct Part: Codable, Sendable, Equatable { let id: Int }

    private let stub = StubTransport()
    private let request = FetchRequest<Item>().header("X-Trace", "7").preferring("odata.track-changes")

    private func sent(_ index: Int = 0) throws -> (trace: [String], prefer: [String]) {
        let headers = stub.requests[index].request.headers
        let preferences = headers[values: "Prefer"].flatMap { $0.split(separator: ",") }
        return (headers[values: "X-Trace"], preferences.map { $0.trimmingCharacters(in: .whitespaces) })
    }

    private static let item = #"{"id": 1, "name": "a"}"#

    @Test func `every way of reading sends the request's headers`() async throws {
        let client = stub.client()
        stub.fallback(.json(#"{"@odata.count": 1, "value": [\#(Self.item)]}"#))
        _ = try await client.fetch(request)
        _ = try await client.page(request)
        for try await _ in client.entities(matching: request) {}
        for try await _ in client.pages(matching: request) {}
        stub.fallback(.json(Self.item))
        _ = try await client.fetch(request.key(1))
        _ = try await client.fetchIfPresent(request.key(["id": 1]))
        _ = try await client.entity(request.key(byAlias: 1))
        _ = try await client.evaluate(request.key(1).query.selectAll(), as: Item.self)
        stub.fallback(.text("3"))
        _ = try await client.count(of: request)
        #expect(stub.requests.count == 9)
        for index in stub.requests.indices {
            #expect(try sent(index).trace == ["7"], "\(index)")
            #expect(try sent(index).prefer == ["odata.track-changes"], "\(index)")
        }
    }

    @Test func `every way of writing sends the request's headers`() async throws {
        let client = stub.client()
        let item = Item(id: 1, name: "a")
        _ = try await client.create(item, in: request, preferring: .minimal)
        _ = try await client.replace(request.key(1), with: item)
        _ = try await client.update(request.key(1), setting: ["name": "b"], preferring: .representation)
        _ = try await client.upsert(request.key(1), with: item)
        try await client.delete(request.key(1))
        try await client.invoke(request.key(1).query.selectAll())
        #expect(stub.requests.count == 6)
        for index in stub.requests.indices {
            #expect(try sent(index).trace == ["7"], "\(index)")
            #expect(try sent(index).prefer.last == "odata.track-changes", "\(index)")
        }
        #expect(try sent(0).prefer == ["return=minimal", "odata.track-changes"])
        #expect(try sent(2).prefer == ["return=representation", "odata.track-changes"])
    }

    @Test func `paths made from a request keep its headers, and the URL doesn't contain them`() async throws {
        let client = stub.client()
        stub.fallback(.json(#"{"value": []}"#))
        _ = try await client.fetch(request.key(1).navigate(\.parts))
        #expect(try sent().trace == ["7"] && sent().prefer == ["odata.track-changes"])
        #expect(try request.relativeURL() == FetchRequest<Item>().relativeURL())
        #expect(request != FetchRequest<Item>() && request == FetchRequest<Item>().header("x-trace", "7").preferring("odata.track-changes"))
        #expect(throws: ODataQueryError.self) { try request.expand(\.parts) { $0.header("X-A", "1") }.relativeURL() }
        #expect(throws: ODataQueryError.self) { try request.expand(\.parts) { $0.preferring("respond-async") }.relativeURL() }
    }

    @Test func `a request's fields replace the client's`() async throws {
        let client = stub.client(.v401)
        client.configure { $0.headers = ["X-Trace": "client", "Prefer": "handling=strict", "Accept-Language": "de"] }
        stub.fallback(.json(#"{"value": []}"#))
        client.metadataLevel = .full
        client.maxPageSize = 50
        _ = try await client.fetch(request.header("Accept", "application/json").header("X-Trace", "8").preferring("omit-values=nulls"))
        #expect(try sent().trace == ["8"])
        #expect(try sent().prefer == ["odata.track-changes", "omit-values=nulls", "handling=strict", "maxpagesize=50"])
        let headers = stub.requests[0].request.headers
        #expect(headers[values: "Accept"] == ["application/json"] && headers["Accept-Language"] == "de")
        // The request's own page size takes precedence.
        _ = try await client.fetch(request.preferring("maxpagesize=5"))
        #expect(try sent(1).prefer == ["odata.track-changes", "maxpagesize=5", "handling=strict"])
        _ = try await client.fetch(FetchRequest<Item>())
        #expect(try sent(2).trace == ["client"] && sent(2).prefer == ["handling=strict", "maxpagesize=50"])
        let old = stub.client(.v2)
        stub.fallback(.json(#"{"d": {"results": []}}"#))
        _ = try await old.fetch(request)
        #expect(try sent(3).trace == ["7"] && sent(3).prefer == ["odata.track-changes"])
    }

    @Test func `next pages send the request's headers, but not to another origin`() async throws {
        let client = stub.client()
        client.foreignLinks = .followWithoutCredentials
        stub["Items"] = .inTurn(
            .json(#"{"value": [], "@odata.nextLink": "https://h.example/svc/Items?$skiptoken=1"}"#),
            .json(#"{"value": [], "@odata.nextLink": "https://other.example/Items?$skiptoken=2"}"#), .json(#"{"value": []}"#))
        _ = try await client.fetch(request)
        #expect(try sent(1).trace == ["7"] && sent(1).prefer == ["odata.track-changes"])
        #expect(try sent(2).trace == [] && sent(2).prefer == ["odata.track-changes"])
    }

    @Test func `posted long queries send the request's headers`() async throws {
        let client = stub.client(.v401)
        stub.fallback(.json(#"{"value": []}"#))
        _ = try await client.fetch(request.filter { $0.name == String(repeating: "x", count: 9_000) })
        try stub.requests[0].expectMethod(.post)
        #expect(try sent().trace == ["7"] && sent().prefer == ["odata.track-changes"])
    }

    @Test(arguments: ["a\r\nX: y", "a\nb", " a", "a\u{0}"]) func `an invalid header value is an error`(value: String) async throws {
        let client = stub.client()
        await #expect(throws: ServiceError.self) { try await client.fetch(FetchRequest<Item>().header("X-Trace", value)) }
        #expect(stub.requests.isEmpty)
    }

    @Test func `credentials in the request's headers aren't shown`() {
        let secret = FetchRequest<Item>().header("Authorization", "Bearer s3cr3t-t0ken")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!dumped.contains("s3cr3t") && !"\(secret)".contains("s3cr3t") && !String(reflecting: secret).contains("s3cr3t"))
    }

    // MARK: Declared endpoints

    final class Shop: ODataClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "items(_:)": .get("/Items").query(.argument(0)),
                "item(_:)": .get("Items(5)").query(.argument(0)),
                "optional(_:)": .get("Items").query(.argument(0)),
                "wrongPath(_:)": .get("/Items/%%0%%"),
                "wrongQuery(_:)": .get("/Items").query("q", .argument(0)),
                "wrongBody(_:)": .post("/Items").body(.argument(0)),
            ]
        }
        func items(_ query: FetchRequest<Item>) async throws -> ODataPage<Item> { try await call(query) }
        func item(_ query: EntityRequest<Item>) async throws -> Item { try await call(query) }
        func optional(_ query: ODataQuery?) async throws -> ODataPage<Item> { try await call(query) }
        func wrongPath(_ query: FetchRequest<Item>) async throws -> Item { try await call(query) }
        func wrongQuery(_ query: FetchRequest<Item>) async throws -> Item { try await call(query) }
        func wrongBody(_ query: FetchRequest<Item>) async throws -> Item { try await call(query) }
    }

    private var shop: Shop { Shop(serviceRoot: "https://h.example/svc/") { $0.transport = stub } }

    @Test func `a query can be the argument of a declared endpoint's query`() async throws {
        stub.fallback(.json(#"{"value": [\#(Self.item)]}"#))
        let query = FetchRequest<Item>().filter { $0.name == "O'Neil & Söhne/50% + ?#" }.order(by: .descending(\.id)).top(5)
        #expect(try await shop.items(query).entities == [Item(id: 1, name: "a")])
        try stub.requests[0].expectURL("https://h.example/svc/" + query.relativeURL())
        _ = try await shop.optional(ODataQuery(ResourcePath(entitySet: "Items")).top(3))
        try stub.requests[1].expectURL("https://h.example/svc/Items?$top=3")
        _ = try await shop.optional(ODataQuery(ResourcePath(entitySet: "Items")))
        try stub.requests[2].expectURL("https://h.example/svc/Items")
        _ = try await shop.optional(nil)
        try stub.requests[3].expectURL("https://h.example/svc/Items")
        stub.fallback(.json(Self.item))
        _ = try await shop.item(FetchRequest<Item>().key(5).select(\.name))
        try stub.requests[4].expectURL("https://h.example/svc/Items(5)?$select=name")
    }

    @Test func `a query where none is allowed is an error with a fix`() async throws {
        let query = FetchRequest<Item>().top(3)
        func message(_ call: () async throws -> Item) async -> String {
            do { return "\(try await call())" } catch { return "\(error)" }
        }
        let shop = self.shop
        for text in [
            await message { try await shop.wrongPath(query) }, await message { try await shop.wrongQuery(query) },
            await message { try await shop.wrongBody(query) },
        ] {
            #expect(text.contains(".query(.argument(0))") && !text.contains("enum"), "\(text)")
        }
        // Requests for another resource, or with options that an endpoint can't send.
        for wrong in [
            FetchRequest<Item>(from: "Other"), FetchRequest<Item>(resource: ResourcePath(entitySet: "Items").key(1).property("parts")),
            query.header("X-A", "1"), query.preferring("respond-async"), query.top(-1),
        ] {
            let error = await #expect(throws: ServiceError.self) { _ = try await shop.items(wrong) }
            #expect(error?.stage == .binding)
        }
        let error = await #expect(throws: ServiceError.self) { _ = try await shop.items(FetchRequest<Item>(from: "Other('s3cr3t')")) }
        #expect(error?.message.contains("Other(…)") == true && error?.message.contains("s3cr3t") == false)
        #expect(stub.requests.isEmpty)
    }

    @Test func `a declared endpoint of version 2 writes queries of version 2`() async throws {
        final class Old: ODataClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["items(_:)": .get("/Items").query(.argument(0))] }
            override class var defaults: EndpointDefaults { .odata(.v2) }
            func items(_ query: FetchRequest<Item>) async throws -> ODataPage<Item> { try await call(query) }
        }
        stub.fallback(.json(#"{"d": {"results": []}}"#))
        let old = Old(serviceRoot: "https://h.example/svc/") { $0.transport = stub }
        _ = try await old.items(FetchRequest<Item>().selectAll().filter { $0.name.contains("a") }.count())
        try stub.requests[0].expectURL("https://h.example/svc/Items?$filter=substringof('a',name)&$inlinecount=allpages")
    }
}
