import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

extension XMLSerializerTests {
    fileprivate struct Order: Codable, Equatable, Sendable {
        var id: Int
        var lines: [String]
        enum CodingKeys: String, CodingKey { case id = "@id", lines = "lines/line" }
    }
}

extension XMLSerializerTests {
    fileprivate final class Shop: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "order(id:)": .get("/orders/%%id%%"), "place(order:)": .post("/orders").body(.argument(0)),
                "lines(id:)": .get("/orders/%%id%%").decoding(at: "lines.line"),
            ]
        }

        func order(id: Int) async throws -> Order { try await call(id) }
        func lines(id: Int) async throws -> [String] { try await call(id) }
        func place(order: Order) async throws { try await call(order) }
    }
}

@Suite struct XMLSerializerTests {
    private static let text = "<order id='1'><lines><line>a</line><line>b</line></lines></order>"
    private static let order = Order(id: 1, lines: ["a", "b"])

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String, _ contentType: String, _ fallback: any SerializationDelegate)
        throws -> Value
    {
        try SerializationRegistry.standard.decode(type, body: Data(text.utf8), contentType: contentType, fallback: fallback)
    }

    @Test(arguments: [
        "application/xml", "text/xml; charset=utf-8", "application/problem+xml", "application/vnd.shop.order+xml;v=1", "image/svg+xml",
    ])
    func `The standard registry reads types of XML`(type: String) throws {
        #expect(try decode(Order.self, Self.text, type, JSONSerializer()) == Self.order)
        #expect(try decode(String.self, Self.text, type, JSONSerializer()) == Self.text)
        #expect(try decode(XMLValue.self, Self.text, type, JSONSerializer())["lines"]?.elements.count == 2)
    }

    @Test func `XML that doesn't fit is told as such, and what isn't XML as another format`() {
        #expect(throws: DecodingError.self) { try decode(Int.self, Self.text, "text/xml", JSONSerializer()) }
        for (type, body) in [
            ("text/xml", "{}"), ("application/xhtml+xml", "<html><title>Sign in</title></html>"), ("application/xml", "<br>"),
        ] {
            let error = #expect(throws: SerializationError.self) { try decode(Order.self, body, type, JSONSerializer()) }
            #expect(error?.kind == .format && error?.message.contains("application/json is expected") == true)
        }
        #expect(throws: DecodingError.self) { try decode(Order.self, "<br>", "text/xml", XMLSerializer()) }
        let error = #expect(throws: SerializationError.self) { try decode(Order.self, "{}", "application/x-own", XMLSerializer()) }
        #expect(error?.kind == .format)
    }

    @Test func `A client reads and sends XML`() async throws {
        let transport = StubTransport()
        let shop = Shop(serviceRoot: "https://shop.example") {
            $0.transport = transport
            $0.serializer = XMLSerializer()
        }
        #expect(shop.verify().isEmpty)
        transport.fallback(.data(Data(Self.text.utf8), type: "application/xml"))
        #expect(try await shop.order(id: 1) == Self.order)
        #expect(try await shop.lines(id: 1) == ["a", "b"])
        try await shop.place(order: Self.order)
        let request = try #require(transport.requests.last)
        #expect(request.request.headers[.contentType] == "application/xml")
        transport.fallback(.data(Data("<order id='x'/>".utf8), type: "application/xml"))
        let error = await #expect(throws: ServiceError.self) { try await shop.order(id: 1) }
        #expect(error?.message.contains("/order, line 1, column 1") == true, "\(String(describing: error))")
    }
}
