import OData
import WebServiceClient

// A service is declared once, as a subclass with a table. That is all the code a service needs: no URLs are put together by hand, and
// nothing about requests is written anywhere else.

/// The shop's web service.
///
/// `@unchecked Sendable` is restated by each subclass, as Swift can't check classes that can be subclassed. It is right as long as the
/// subclass has no variables of its own.
final class Catalogue: WebServiceClient, @unchecked Sendable {
    // The key is the method's name as `#function` spells it. In a route `%%0%%` is the first argument, `%%1%%` the second;
    // `%%label%%` is the one with that label. Each is percent-encoded for its place.
    override class var endpoints: EndpointTable {
        [
            // `decoding(at:)` takes the value out of an envelope: {"data": […]}.
            "categories()": .get("/categories").decoding(at: "data"),
            "product(id:)": .get("/products/%%id%%"),
            // The fields of a value become query items; those that are nil are left out.
            "products(_:)": .get("/products").query(.argument(0)),
            // An argument that nothing else uses is the body of a POST, here as JSON.
            "order(_:)": .post("/orders").accepting(.created),
            "account()": .get("/account"),
            "orders()": .get("/orders"),
            // A busy server is asked again: after what its Retry-After says, or after a growing wait.
            "stock(id:)": .get("/stock/%%id%%").retry(RetryPolicy(attempts: 3)),
            // An endpoint without a method below is called as `catalogue.dynamic.status()`. `raw()` gives the body as it is.
            "status()": .get("/status").raw(),
        ]
    }

    // What all endpoints have in common. The shop tells its errors as JSON: they are decoded and stand in `ServiceError.errorBody`.
    override class var defaults: EndpointDefaults {
        EndpointDefaults(headers: [.accept: "application/json"], errorHandler: ErrorBodyHandler(ShopError.self))
    }

    // `call` finds its entry by the name of the method it stands in, and its result type from the method's.
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

/// What the shop says when it refuses a call. As it describes itself, its text is in the message of the ServiceError, too.
struct ShopError: Codable, Sendable, CustomStringConvertible {
    var message: String

    var description: String { message }
}

/// A product, the same in the shop's own service and in its OData service.
///
/// `EntityType` tells in which OData entity set it is. The coding keys are the names on the wire, and queries use them:
/// `$0.price < 20` becomes `Price lt 20`.
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
