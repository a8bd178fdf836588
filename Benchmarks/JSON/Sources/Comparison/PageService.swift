import Foundation
import OData
import WebServiceClient

/// A service without a network whose only page is a file.
struct PageService: Transport {
    let file: URL
    let capabilities: TransportCapabilities = []

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let handle = try FileHandle(forReadingFrom: file)
        let body = ResponseBody(
            expectedLength: nil,
            next: {
                guard let piece = try handle.read(upToCount: 1 << 16), !piece.isEmpty else { return nil }
                return piece
            },
            cancel: {})
        return TransportResponse(status: 200, headers: ["Content-Type": "application/json"], url: request.url, body: body)
    }

    /// A client of the service that follows no link.
    var client: ODataClient {
        ODataClient(serviceRoot: "https://example.com/odata") { $0.transport = self }
    }

    /// A query for all entities, which ends with the first page.
    func request(of count: Int) -> FetchRequest<Product> { FetchRequest<Product>(from: "Products").top(count) }
}
