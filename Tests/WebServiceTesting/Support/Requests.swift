import Foundation
import Testing
import WebServiceClient

/// A request as the client would hand it to a transport.
func request(
    _ method: ServiceRequest.Method = .get, _ url: String = "https://api.example/users/1", key: String? = "user(id:)",
    headers: HTTPFields = [:], body: RequestBody? = nil
) throws -> ServiceRequest {
    var request = ServiceRequest(method: method, url: try #require(URL(string: url)), headers: headers, body: body)
    request.identity = key.map { CallIdentity(client: "Shop", key: $0, route: "/users/%%0%%") }
    return request
}

/// The text of a response's body.
func text(of response: TransportResponse) async throws -> String {
    String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
}
