import Foundation
import Testing
import WebServiceClient

/// An engine and its server: all routes lead to httpbin, some through another server, over TLS and over HTTP/2.
struct Route: Sendable, CustomTestStringConvertible {
    let engine: Engine
    let server: String
    var http1Only = false

    var testDescription: String { "\(engine.testDescription) → \(server)\(http1Only ? " over HTTP/1.1" : "")" }

    private static let plain = ["httpbin", "nginx-basic", "apache-basic", "lighttpd"]
    private static let secure = ["tls-nginx", "tls-apache", "tls-lighttpd"]

    /// Whether the system trusts the authority of the test servers: `Tests/Integration/trusting` sets that up and reports it.
    static let isRootTrusted = ProcessInfo.processInfo.environment["ROOT_IS_TRUSTED"]?.isEmpty == false

    /// The usable routes: engines that support only the system's authorities reach the TLS servers only if the system trusts theirs.
    static let all = Engine.all.flatMap { engine in
        plain.map { Route(engine: engine, server: $0) }
            + (engine != .urlSession || isRootTrusted ? secure.map { Route(engine: engine, server: $0) } : [])
            + (engine != .urlSession ? secure.map { Route(engine: engine, server: $0, http1Only: true) } : [])
    }

    /// The routes on which calls may be cancelled without effects on others.
    static let steady = all.filter(\.isSteady)

    /// Whether every stream is answered: lighttpd 1.4.69 sometimes resets an HTTP/2 stream (with CANCEL), mostly on a connection with
    /// cancelled calls, which HTTPClient continues to use.
    var isSteady: Bool { !(server == "tls-lighttpd" && engine.isHTTPClient && !http1Only) }

    /// Opens the route.
    func open() throws -> Way {
        let server = try TestServer.named(server)
        let transport = try engine.transport(to: server, http1Only: http1Only)
        return Way(
            transport: try #require(transport), server: server, trust: try engine.trust(for: server),
            speaksHTTP2: server.tls != nil && !http1Only && transport?.capabilities.contains(.http2) == true, isSteady: isSteady)
    }
}
