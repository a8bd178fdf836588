import Foundation
import OData
import WebServiceClient

/// An entity with properties of the common types.
struct Product: Codable, EntityType, Equatable, Sendable {
    static let entitySetName = "Products"

    var id: Int
    var name: String
    var price: Double
    var rating: Int
    var isDiscontinued: Bool
    var category: String?

    enum CodingKeys: String, CodingKey {
        case id = "ID", name = "Name", price = "Price", rating = "Rating", isDiscontinued = "Discontinued", category = "Category"
    }
}

/// A transport that answers each request with the same body.
struct StubTransport: Transport {
    let body: Data
    let capabilities: TransportCapabilities = []

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        TransportResponse(status: 200, headers: ["Content-Type": "application/json"], url: request.url, body: ResponseBody(body))
    }
}

/// A client with a declared endpoint for the same entity.
final class DeclaredService: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable { ["product(id:)": .get("/Products(%%0%%)")] }

    func product(id: Int) async throws -> Product { try await call(id) }
}

/// The bodies that the stub service answers with.
enum StubBody {
    static let entity = Data(
        (#"{"@odata.context":"https://example.com/odata/$metadata#Products/$entity","ID":7,"Name":"Bread","Price":2.5,"#
            + #""Rating":4,"Discontinued":false,"Category":"Food"}"#).utf8)

    static let goodPage = page(of: Workload.entitiesPerPage, last: "\(Workload.entitiesPerPage)")
    /// A page whose last entity has a text for a number.
    static let wrongPage = page(of: Workload.entitiesPerPage, last: #""seven""#)

    /// - Parameter last: The identifier of the last entity, as JSON.
    private static func page(of count: Int, last: String) -> Data {
        var text = #"{"@odata.context":"https://example.com/odata/$metadata#Products","value":["#
        for index in 1...count {
            let id = index == count ? last : "\(index)"
            text += (index == 1 ? "" : ",") + #"{"ID":\#(id),"Name":"Product number \#(index)","Price":\#(index % 1_000).25,"#
            text += #""Rating":\#(index % 5),"Discontinued":\#(index % 3 == 0),"Category":null}"#
        }
        return Data((text + "]}").utf8)
    }
}
