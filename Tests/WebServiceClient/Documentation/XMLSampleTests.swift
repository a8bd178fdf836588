import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

extension XMLSampleTests {
    fileprivate struct Order: Codable, Equatable, Sendable {
        var id: Int
        var placed: Date
        var note: String?
        var lines: [Line]
        var language: String?

        enum CodingKeys: String, CodingKey {
            case id = "@id", placed, note
            case lines = "lines/line"
            case language = "@xml:lang"
        }

        struct Line: Codable, Equatable, Sendable {
            var count: Int
            var name: String

            enum CodingKeys: String, CodingKey { case count = "@count", name = "#text" }
        }
    }
}

private enum Shape: Codable, Equatable, Sendable {
    case circle(radius: Double)
    case square(Square)
    struct Square: Codable, Equatable, Sendable { var side: Int }
}

private struct Drawing: Codable, Equatable, Sendable {
    var shapes: [Shape]
    enum CodingKeys: String, CodingKey { case shapes = "*" }
}

extension XMLSampleTests {
    fileprivate typealias Shop = WebServiceClient
}

private struct Item: Codable, Equatable { var title: String }

/// The samples of the article on XML and of that on JSON without types, with identical code.
@Suite struct XMLSampleTests {
    @Test func `A type with attributes, text and a wrapper`() throws {
        let text = """
            <Order id="7" xml:lang="en">
                <placed>2026-11-26T12:00:00Z</placed>
                <lines><line count="2">Tea</line><line count="1">Milk</line></lines>
            </Order>
            """
        let order = try XMLDecoder().decode(Order.self, from: Data(text.utf8))
        #expect(order.id == 7 && order.language == "en" && order.note == nil && order.lines.map(\.name) == ["Tea", "Milk"])
        #expect(try XMLDecoder().decode(Order.self, from: XMLEncoder().encode(order)) == order)
    }

    @Test func `Rules of both directions`() throws {
        var rules = XMLRules()
        rules.rootName = "a:feed"
        rules.namespaces = ["a": "http://www.w3.org/2005/Atom"]
        rules.keys = .capitalized
        rules.lists = .wrapped(item: "Item")
        rules.nils = .schemaNil
        rules.dates = .seconds
        rules.data = .hexadecimal
        let serializer = XMLSerializer(rules) { encoder, decoder in
            decoder.refusesUnknown = true
        }
        let data = try serializer.encode(["pages": [1, 2]])
        #expect(
            String(decoding: data, as: UTF8.self).hasSuffix(
                "<a:feed xmlns:a=\"http://www.w3.org/2005/Atom\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">"
                    + "<a:pages><a:Item>1</a:Item><a:Item>2</a:Item></a:pages></a:feed>"))
        #expect(try serializer.decode([String: [Int]].self, from: data, at: [], contentType: nil) == ["pages": [1, 2]])
    }

    @Test func `Enums as choices`() throws {
        let text = "<Drawing><circle><radius>2.0</radius></circle><square><side>1</side></square></Drawing>"
        let drawing = try XMLDecoder().decode(Drawing.self, from: Data(text.utf8))
        #expect(drawing.shapes == [.circle(radius: 2), .square(Shape.Square(side: 1))])
        #expect(String(decoding: try XMLEncoder().encode(drawing), as: UTF8.self).hasSuffix(text))
    }

    @Test func `Without types`() async throws {
        let transport = StubTransport()
        let body = "<feed xml:lang='en'><entry><title>a</title></entry></feed>"
        transport.fallback(.data(Data(body.utf8), type: "application/atom+xml"))
        let shop = Shop(serviceRoot: "https://shop.example") {
            $0.transport = transport
            $0.serializer = XMLSerializer()
        }
        let feed = try await shop.http.get("/feed").value(XMLValue.self)
        let titles = feed.elements("entry").compactMap { $0["title"]?.text }
        let language = feed[attribute: "xml:lang"]
        let text = try feed.xml()
        #expect(titles == ["a"] && language == "en" && text == body.replacing("'", with: "\""))
    }

    @Test func `An element inside`() throws {
        let data = Data("<rss><channel><item><title>a</title></item><item><title>b</title></item></channel></rss>".utf8)
        let items = try XMLDecoder().decode([Item].self, from: data, at: ["channel", "item"])
        let first = try XMLDecoder().decode(Item.self, from: data, at: ["channel", "item", "0"])
        #expect(items == [Item(title: "a"), Item(title: "b")] && first == items[0])
    }

    @Test func `JSON without types`() async throws {
        let transport = StubTransport()
        transport.fallback(.json(#"{"addresses":[{"city":"Bern"}]}"#))
        let client = WebServiceClient(serviceRoot: "https://api.example.com") { $0.transport = transport }
        let answer = try await client.http.get("/anything").value(JSONValue.self)
        let city = answer["addresses"][0]?["city"]?.string
        var body: JSONValue = ["name": "Ada", "tags": ["a", "b"], "parent": nil]
        body["ratio"] = 0.5
        try await client.http.post("/anything").body(body).send()
        #expect(city == "Bern" && body["ratio"]?.double == 0.5)
    }
}
