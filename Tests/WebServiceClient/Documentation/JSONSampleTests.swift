import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

private struct Item: Decodable, Equatable, Sendable {
    var id: Int
    var name: String
    var price: Decimal?
}

extension Item: JSONReadable {
    init(from json: borrowing JSONCursor) throws {
        id = try json.read("id")
        name = try json.read("name")
        price = try json.readIfPresent("price")
    }
}

private struct PageInfo: Decodable {
    var nextLink: String?
    enum CodingKeys: String, CodingKey { case nextLink = "@odata.nextLink" }
}

/// The samples of the article on reading JSON, with identical code.
@Suite struct JSONSampleTests {
    private static let text = #"{"@odata.count":2,"value":[{"id":1,"name":"a"},{"id":2,"name":"b","price":2.5}],"@odata.nextLink":"next"}"#
    private static let items = [Item(id: 1, name: "a"), Item(id: 2, name: "b", price: 2.5)]

    @Test func `A client takes over what is set on Foundation's objects`() async throws {
        let transport = StubTransport()
        let client = WebServiceClient(serviceRoot: "https://api.example.com") { $0.transport = transport }
        client.configure {
            $0.serializer = JSONSerializer(dates: .milliseconds, keys: .snakeCase) { encoder, decoder in
                decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                    positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
            }
        }
        #expect(client.verify().isEmpty)
        let tolerantDecoder = JSONDecoder()
        let tolerant = JSONSerializer(decoder: tolerantDecoder)
        #expect(try tolerant.decode([Int].self, from: Data("[1,]".utf8), at: [], contentType: nil) == [1])
        #expect(throws: DecodingError.self) {
            try JSONSerializer().decode([Int].self, from: Data("[1,]".utf8), at: [], contentType: nil)
        }
    }

    @Test func `A root inside`() throws {
        let data = Data(#"{"result":{"items":[{"id":1,"name":"a"}]}}"#.utf8)
        var reader = JSONReader()
        reader.keyDecodingStrategy = .convertFromSnakeCase
        let items = try reader.decode([Item].self, from: data, at: ["result", "items"])
        #expect(items == [Item(id: 1, name: "a")])
        #expect(try JSONReader().decode([Item].self, from: data, at: ["result", "items"]) == items)
    }

    @Test func `An answer while it arrives, and what lies around`() async throws {
        let reader = JSONReader()
        let body = ResponseBody(Data(Self.text.utf8))
        let items = reader.elements(of: Item.self, in: body, at: ["value"])
        var shown: [Item] = []
        for try await item in items { shown.append(item) }
        #expect(shown == Self.items)
        var iterator = items.makeAsyncIterator()
        while let batch = try await iterator.nextBatch() { shown += batch }
        let next = try iterator.surroundings(as: PageInfo.self).nextLink
        #expect(next == "next")
        #expect(shown == Self.items + Self.items)
    }
}
