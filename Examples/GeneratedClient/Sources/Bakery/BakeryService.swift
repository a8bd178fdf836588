import Foundation
import WebServiceTesting

/// A service with two products, which keeps the body of the last change.
final class BakeryService: Sendable {
    private let server: LoopbackServer

    /// The root URL.
    var url: String { server.url.absoluteString }

    /// The body of the last change or action.
    var lastBody: String { server.requests.last { $0.method != "GET" }?.text ?? "" }

    init() throws {
        let rye =
            #"{"@odata.etag":"W/\"1\"","ID":1,"Name":"Rye","Price":3.50,"Kind":"Bread","Supplier":"#
            + #"{"ID":7,"Name":"Mill","Address":{"City":"Bonn"}}}"#
        let cake = #"{"ID":2,"Name":"Plum cake","Price":4.25,"Kind":"Cake"}"#
        server = try LoopbackServer { routes in
            routes.on("GET", "/Products") { request in
                .json(#"{"value":["# + (request.target.contains("Kind") ? rye : rye + "," + cake) + "]}")
            }
            routes.on("GET", "/Products(1)") { _ in .json(rye) }
            routes.on("PATCH", "/Products(1)") { _ in .status(204) }
            routes.on("POST", "/Products(1)/Bakery.Discount") { _ in .json(#"{"value":3.60}"#) }
        }
    }

    func stop() {
        server.stop()
    }
}
