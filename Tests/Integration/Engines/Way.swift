import Foundation
import Testing
import WebServiceClient

/// A transport with a server.
struct Way: Sendable {
    let transport: any Transport
    let server: TestServer
    let trust: TrustPolicy?
    let speaksHTTP2: Bool
    /// Whether the server sometimes resets a stream instead of answering: see ``Route/isSteady``.
    var isSteady = true

    /// Returns a request for a path with its query.
    func request(_ method: ServiceRequest.Method, _ path: String, body: RequestBody? = nil) throws -> ServiceRequest {
        var request = ServiceRequest(method: method, url: try #require(URL(string: server.url + path)), body: body)
        request.trust = trust
        if server.tls == nil, !server.user.isEmpty {
            let credentials = Data("\(server.user):\(server.password)".utf8).base64EncodedString()
            request.headers[.authorization] = "Basic \(credentials)"
        }
        return request
    }

    /// Returns a GET request for a path.
    func request(_ path: String) throws -> ServiceRequest { try request(.get, path) }

    /// Returns the response to a request and its whole body. If the server isn't steady, a lost request is repeated, twice: httpbin stores
    /// nothing.
    func exchange(_ request: ServiceRequest) async throws -> (response: TransportResponse, body: Data) {
        for _ in 0..<(isSteady ? 0 : 2) {
            do {
                return try await exchangeOnce(request)
            } catch let error as TransportError where error.code == .connectionLost {
                continue
            }
        }
        return try await exchangeOnce(request)
    }

    private func exchangeOnce(_ request: ServiceRequest) async throws -> (response: TransportResponse, body: Data) {
        let response = try await transport.send(request)
        return (response, try await response.body.collect(upTo: 16 << 20))
    }

    /// The request as httpbin received it.
    func echo(_ request: ServiceRequest) async throws -> Echo {
        try JSONDecoder().decode(Echo.self, from: try await exchange(request).body)
    }

    /// Returns the error of a request.
    func failure(_ request: ServiceRequest) async throws -> TransportError? {
        do {
            _ = try await exchange(request)
            return nil
        } catch let error as TransportError {
            return error
        }
    }
}
