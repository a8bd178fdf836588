import OData
import WebServiceClient

// A service is declared once, as a subclass with a table. It needs no other code: URLs aren't assembled by hand, and no other file
// describes requests.

/// The shop's web service.
///
/// Each subclass restates `@unchecked Sendable`, because Swift can't check classes that can be subclassed. It is correct as long as the
/// subclass adds no variables.
final class Catalogue: WebServiceClient, @unchecked Sendable {
    // The key is the method's name as `#function` returns it. In a route `%%0%%` is the first argument and `%%1%%` the second; `%%label%%`
    // is the argument with that label. Each is percent-encoded for its place.
    override class var endpoints: EndpointTable {
        [
            // `decoding(at:)` extracts the value from an envelope: {"data": […]}.
            "categories()": .get("/categories").decoding(at: "data"),
            "product(id:)": .get("/products/%%id%%"),
            // The fields of a value become query items; nil fields are omitted.
            "products(_:)": .get("/products").query(.argument(0)),
            // An argument without another use is the body of a POST, here as JSON.
            "order(_:)": .post("/orders").accepting(.created),
            "account()": .get("/account"),
            "orders()": .get("/orders"),
            // A busy server is called again, after its Retry-After or an increasing delay.
            "stock(id:)": .get("/stock/%%id%%").retry(RetryPolicy(attempts: 3)),
            // An endpoint without a method is called as `catalogue.dynamic.status()`. `raw()` returns the body unchanged.
            "status()": .get("/status").raw(),
        ]
    }

    // Defaults for every endpoint. The shop reports errors as JSON, which is decoded to `ServiceError.errorBody`.
    override class var defaults: EndpointDefaults {
        EndpointDefaults(headers: [.accept: "application/json"], errorHandler: ErrorBodyHandler(ShopError.self))
    }

    // `call` finds its entry by the name of the enclosing method, and its result type by the method's result type.
    func categories() async throws -> [Category] { try await call() }
    func product(id: Int) async throws -> Product { try await call(id) }
    func products(_ search: Search) async throws -> [Product] { try await call(search) }
    func order(_ order: Order) async throws -> Order { try await call(order) }
    func account() async throws -> Account { try await call() }
    func orders() async throws -> [Order] { try await call() }
    func stock(id: Int) async throws -> Stock { try await call(id) }
}

// The values of the service are plain Codable types.

struct Category: Codable, Sendable {
    var name: String
    var shelf: Int
}

struct Account: Codable, Sendable {
    var name: String
    var points: Int
}

struct Order: Codable, Sendable {
    var number: Int?
    var product: Int
    var quantity: Int
}

struct Stock: Codable, Sendable {
    var pieces: Int
}

struct Search: Codable, Sendable {
    var category: String?
    var limit: Int?
}

/// The shop's error for a refused call. Because it describes itself, its text is also in the message of the ServiceError.
struct ShopError: Codable, Sendable, CustomStringConvertible {
    var message: String

    var description: String { message }
}

/// A product, shared by the shop's web service and its OData service.
///
/// `EntityType` declares its OData entity set. The coding keys are the names on the wire, which queries use: `$0.price < 20` becomes `Price
/// lt 20`.
struct Product: Codable, Sendable, EntityType {
    static let entitySetName = "Products"

    var id: Int
    var name: String
    var category: String
    var price: Double
    var stock: Int

    enum CodingKeys: String, CodingKey {
        case id = "ProductID"
        case name = "Name"
        case category = "Category"
        case price = "Price"
        case stock = "Stock"
    }
}
