import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

/// The samples of the section "Checking tables" of the module's main page. If one doesn't compile here, the page must change.
@Suite struct CheckSampleTests {
    struct Product: Codable, Sendable {
        var id: Int
        var name: String
    }

    struct Draft: Encodable, Sendable { var name: String }

    final class Shop: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            ["product(id:)": .get("/products/%%id%%"), "rename(id:draft:)": .put("/products/%%id%%"), "status()": .get("/status")]
        }

        func product(id: Int) async throws -> Product { try await call(id) }
        func rename(id: Int, draft: Draft) async throws { try await call(id, draft) }
    }

    final class Stock: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable { ["pieces(id:)": .get("/pieces/%%id%%")] }

        func pieces(id: Int) async throws -> Int { try await call(id) }
    }

    #if DEBUG
    @Test func tablesFit() throws {
        try expectEndpointsMatchMethods(of: Shop.self, Stock.self, ignoring: ["status()"])
    }
    #endif

    @Test func argumentsAreInTheirPlaces() async throws {
        let shop = Shop(serviceRoot: "https://shop.example")
        try await expectCall(Shop.product(id:), on: shop)
        try await expectCall(Shop.rename(id:draft:), on: shop, giving: Draft(name: "Tea"))
    }

    @Test func theListStatesItsCompleteness() {
        let list = MethodList(of: Shop.self)
        switch list.completeness {
        case .complete: #expect(list.methods.map(\.name.description) == ["product(id:)", "rename(id:draft:)"])
        case .publicOnly(let reason), .unreadable(let reason): #expect(!reason.isEmpty)
        }
    }
}
