import Foundation
import Testing
import WebServiceClient

/// A transport with a server at its end.
struct Way: Sendable {
    let transport: any Transport
    let server: TestServer
    let trust: TrustPolicy?
    let speaksHTTP2: Bool
    /// Whether the server now and then resets a stream that it should answer: see ``Route/isSteady``.
    var isSteady = true

    /// A request of a path with its query.
    func request(_ method: ServiceRequest.Method, _ path: String, body: RequestBody? = nil) throws -> ServiceRequest {
        var request = ServiceRequest(method: method, url: try #require(URL(string: server.url + path)), body: body)
        request.trust = trust
        if server.tls == nil, !server.user.isEmpty {
            let credentials = Data("\(server.user):\(server.password)".utf8).base64EncodedString()
            request.headers[.authorization] = "Basic \(credentials)"
        }
        return request
    }

    /// A request to get a path.
    func request(_ path: String) throws -> ServiceRequest { try request(.get, path) }

    /// The response to a request, and all of its body. Where the server isn't steady, a lost request is repeated, twice: httpbin keeps nothing.
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

    /// What httpbin says it received.
    func echo(_ request: ServiceRequest) async throws -> Echo {
        try JSONDecoder().decode(Echo.self, from: try await exchange(request).body)
    }

    /// What a request fails with.
    func failure(_ request: ServiceRequest) async throws -> TransportError? {
        do {
            _ = try await exchange(request)
            return nil
        } catch let error as TransportError {
            return error
        }
    }
}
