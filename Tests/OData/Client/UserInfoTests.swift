import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

@Suite struct UserInfoTests {
    /// A price in another currency than the service's, converted by a rate in `userInfo`.
    struct Price: Codable, Sendable, Equatable {
        static let rate = CodingUserInfoKey(rawValue: "rate")
        var amount: Int

        init(amount: Int) { self.amount = amount }

        private enum Key: CodingKey { case Amount }
        private struct Missing: Error {}

        init(from decoder: any Decoder) throws {
            guard let key = Self.rate, let rate = decoder.userInfo[key] as? Int else { throw Missing() }
            amount = try decoder.container(keyedBy: Key.self).decode(Int.self, forKey: .Amount) * rate
        }

        func encode(to encoder: any Encoder) throws {
            guard let key = Self.rate, let rate = encoder.userInfo[key] as? Int, rate != 0 else { throw Missing() }
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(amount / rate, forKey: .Amount)
        }
    }

    private let stub = StubTransport()
    private let prices = FetchRequest<Price>(from: "Prices").selectAll()

    private func client() throws -> ODataClient {
        let client = ODataClient(serviceRoot: "https://h.example/") { $0.transport = stub }
        client.userInfo = [try #require(Price.rate): 10]
        return client
    }

    @Test(arguments: [true, false])
    func `types find userInfo in every way of reading`(streams: Bool) async throws {
        stub.fallback(.json(#"{"value":[{"Amount":5,"X":1},{"Amount":6}]}"#))
        let client = try client()
        client.streamsPages = streams
        #expect(try await client.fetch(prices).map(\.amount) == [50, 60])
        var amounts: [Int] = []
        for try await price in client.entities(matching: prices) { amounts.append(price.amount) }
        #expect(amounts == [50, 60])
        let entity = try await client.page(prices.withMetadata()).entities[0]
        #expect(entity.amount == 50 && entity.undeclared == ["X": 1])
        stub.fallback(.json(#"{"d":{"Amount":"7"}}"#))
        #expect(try await client.fetch(prices.key(1)).amount == 70)
    }

    @Test func `types find userInfo in every way of writing`() async throws {
        stub.fallback(.status(204))
        let client = try client()
        func sent() -> String? { stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } }
        _ = try await client.create(Price(amount: 50), in: prices)
        #expect(sent() == #"{"Amount":5}"#)
        var draft = EntityDraft(of: Price(amount: 50))
        draft.amount = 60
        _ = try await client.update(prices.key(1), with: draft)
        #expect(sent() == #"{"Amount":6}"#)
        try await client.invoke(ResourcePath(entitySet: "Raise"), ["by": Price(amount: 20)])
        #expect(sent() == #"{"by":{"Amount":2}}"#)
    }

    @Test func `coders accept userInfo in their initializers`() throws {
        let userInfo: [CodingUserInfoKey: any Sendable] = [try #require(Price.rate): 10]
        let data = try ODataEncoder(userInfo: userInfo).encode(Price(amount: 50))
        #expect(String(decoding: data, as: UTF8.self) == #"{"Amount":5}"#)
        #expect(try ODataDecoder(userInfo: userInfo).decode(Price.self, from: data) == Price(amount: 50))
        #expect(try ODataSerializer(userInfo: userInfo).encode(Price(amount: 50)) == data)
    }

    @Test func `other encoders have userInfo when undeclared properties are written`() throws {
        let entity = ODataEntity(Price(amount: 50), undeclared: ["Amount": 7, "X": 1])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.userInfo = [try #require(Price.rate): 10]
        #expect(try String(decoding: encoder.encode(entity), as: UTF8.self) == #"{"Amount":5,"X":1}"#)
    }

    @Test func `endpoints of a subclass have userInfo`() async throws {
        final class Shop: ODataClient, @unchecked Sendable {
            override class var endpoints: EndpointTable { ["echo(_:)": .post("Echo")] }
            override class var defaults: EndpointDefaults { .odata(userInfo: Price.rate.map { [$0: 10] } ?? [:]) }
            func echo(_ price: Price) async throws -> Price { try await call(price) }
        }
        stub.fallback(.json(#"{"Amount":7}"#))
        let shop = Shop(serviceRoot: "https://h.example") { $0.transport = stub }
        #expect(try await shop.echo(Price(amount: 50)).amount == 70)
        #expect(stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } == #"{"Amount":5}"#)
    }
}
