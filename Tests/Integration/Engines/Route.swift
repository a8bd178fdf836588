import Foundation
import Testing
import WebServiceClient

/// An engine and a server that it talks to: all of them lead to httpbin, some through another server, over TLS and over HTTP/2.
struct Route: Sendable, CustomTestStringConvertible {
    let engine: Engine
    let server: String
    var http1Only = false

    var testDescription: String { "\(engine.testDescription) → \(server)\(http1Only ? " over HTTP/1.1" : "")" }

    private static let plain = ["httpbin", "nginx-basic", "apache-basic"]
    private static let secure = ["tls-nginx", "tls-apache", "tls-lighttpd"]

    /// Whether the system trusts the authority of our servers: `Tests/Integration/trusting` sees to that, and says so.
    static let isRootTrusted = ProcessInfo.processInfo.environment["ROOT_IS_TRUSTED"]?.isEmpty == false

    /// The ways that are open: engines that know the system's authorities only reach the servers that speak TLS where it trusts ours.
    static let all = Engine.all.flatMap { engine in
        plain.map { Route(engine: engine, server: $0) }
            + (engine != .urlSession || isRootTrusted ? secure.map { Route(engine: engine, server: $0) } : [])
            + (engine != .urlSession ? secure.map { Route(engine: engine, server: $0, http1Only: true) } : [])
    }

    /// The way, opened.
    func open() throws -> Way {
        let server = try TestServer.named(server)
        let transport = try engine.transport(to: server, http1Only: http1Only)
        return Way(
            transport: try #require(transport), server: server, trust: try engine.trust(for: server),
            speaksHTTP2: server.tls != nil && !http1Only && transport?.capabilities.contains(.http2) == true)
    }
}

/// A transport with a server at its end.
struct Way: Sendable {
    let transport: any Transport
    let server: TestServer
    let trust: TrustPolicy?
    let speaksHTTP2: Bool

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

    /// The response to a request, and all of its body.
    func exchange(_ request: ServiceRequest) async throws -> (response: TransportResponse, body: Data) {
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
