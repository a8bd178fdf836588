import Foundation
import OData
import WebServiceTesting

/// A small shop on the loopback interface: a web service, an OData service and a log receiver, all from the folder `Fixtures`.
///
/// It replaces a real service and isn't part of the tutorial, but tests of your own clients can use the same approach.
final class EmbeddedService: Sendable {
    static let user = "ada"
    static let password = "correct horse"

    let productCount: Int
    private let server: LoopbackServer

    /// The root URL without a trailing slash.
    var url: String { server.url.absoluteString }

    /// Reads the fixtures and starts listening.
    init() throws {
        let shop = try Fixtures.read(Shop.self, from: "shop.json")
        let products = ProductSet(products: try Fixtures.read([DynamicEntity].self, from: "products.json"))
        productCount = products.products.count
        server = try LoopbackServer { routes in
            try Self.addShop(shop, products, to: &routes)
            Self.addODataService(products, to: &routes)
            routes.on("POST", "/logs") { _ in .status(204) }
        }
    }

    func stop() {
        server.stop()
    }

    /// The lines posted to the log receiver.
    var receivedLogLines: [String] {
        server.requests.filter { $0.path == "/logs" }.flatMap { $0.text.split(separator: "\n").map(String.init) }
    }

    // MARK: The web service

    private static func addShop(_ shop: Shop, _ products: ProductSet, to routes: inout LoopbackRoutes) throws {
        routes.get("/shop/status") { _ in .text("open") }
        routes.get("/shop/categories") { _ in try .encoded(shop.categories) }
        routes.get("/shop/products") { request in
            let limit = request.queryValue("limit").flatMap { Int($0) } ?? products.products.count
            let found = products.products.filter { product in
                request.queryValue("category").map { product["Category"] == .string($0) } ?? true
            }
            return try .encoded(Array(found.prefix(max(0, limit))))
        }
        routes.get("/shop/products/:id") { request in
            let id = request.parameters["id"] ?? ""
            guard let product = products.products.first(where: { $0["ProductID"]?.integer == Int64(id) }) else {
                return try .encoded(ShopError(message: "There is no product \(id)."), status: 404)
            }
            return try .encoded(product)
        }
        // The first request is refused as busy.
        routes.on("GET", "/shop/stock/:id", inTurn: [.status(503).with("Retry-After", "0"), try .encoded(Stock(pieces: 12))])

        routes.guarded(by: .basicAuthentication(user: user, password: password, realm: "account")) { routes in
            routes.get("/shop/account") { _ in try .encoded(shop.account) }
        }
        routes.guarded(by: DigestGuard(user: user, realm: "orders").loopbackGuard) { routes in
            routes.get("/shop/orders") { _ in try .encoded(shop.orders) }
            routes.on("POST", "/shop/orders") { request in
                var order = try request.decoded(as: Order.self)
                order.number = 1003
                return try .encoded(order, status: 201)
            }
        }
    }

    // MARK: The OData service

    private static func addODataService(_ products: ProductSet, to routes: inout LoopbackRoutes) {
        for root in ["/odata", "/odata/"] {
            routes.get(root) { _ in
                .json(#"{"@odata.context": "$metadata", "value": [{"name": "Products", "kind": "EntitySet", "url": "Products"}]}"#)
            }
        }
        routes.get("/odata/Products") { request in try products.answer(request) }
    }
}

/// The data of `shop.json`.
private struct Shop: Codable, Sendable {
    struct Categories: Codable, Sendable {
        var data: [Category]
    }

    var categories: Categories
    var account: Account
    var orders: [Order]
}
