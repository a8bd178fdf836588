import Foundation
import Testing
import WebServiceClient

/// An engine and a server that it talks to: all of them lead to httpbin, some through another server, over TLS and over HTTP/2.
struct Route: Sendable, CustomTestStringConvertible {
    let engine: Engine
    let server: String
    var http1Only = false

    var testDescription: String { "\(engine.testDescription) → \(server)\(http1Only ? " over HTTP/1.1" : "")" }

    private static let plain = ["httpbin", "nginx-basic", "apache-basic", "lighttpd"]
    private static let secure = ["tls-nginx", "tls-apache", "tls-lighttpd"]

    /// Whether the system trusts the authority of our servers: `Tests/Integration/trusting` sees to that, and says so.
    static let isRootTrusted = ProcessInfo.processInfo.environment["ROOT_IS_TRUSTED"]?.isEmpty == false

    /// The ways that are open: engines that know the system's authorities only reach the servers that speak TLS where it trusts ours.
    static let all = Engine.all.flatMap { engine in
        plain.map { Route(engine: engine, server: $0) }
            + (engine != .urlSession || isRootTrusted ? secure.map { Route(engine: engine, server: $0) } : [])
            + (engine != .urlSession ? secure.map { Route(engine: engine, server: $0, http1Only: true) } : [])
    }

    /// Those on which calls may be cancelled, and go on.
    static let steady = all.filter(\.isSteady)

    /// Whether every stream is answered: lighttpd 1.4.69 now and then resets one of HTTP/2 (with CANCEL), most of all on a connection that
    /// calls were cancelled on, which HTTPClient keeps using.
    var isSteady: Bool { !(server == "tls-lighttpd" && engine.isHTTPClient && !http1Only) }

    /// The way, opened.
    func open() throws -> Way {
        let server = try TestServer.named(server)
        let transport = try engine.transport(to: server, http1Only: http1Only)
        return Way(
            transport: try #require(transport), server: server, trust: try engine.trust(for: server),
            speaksHTTP2: server.tls != nil && !http1Only && transport?.capabilities.contains(.http2) == true, isSteady: isSteady)
    }
}
