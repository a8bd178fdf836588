#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import HTTPTransport

/// The clients that the tests of ``AsyncHTTPClientTransport`` share. They live as long as the process: one that is let go must have been
/// shut down before, which no suite could wait for.
enum AsyncHTTPClientEngine {
    /// Configured as the transport wants it.
    static let suitable: HTTPClient = {
        var configuration = AsyncHTTPClientTransport.configuration
        // Connections that were being made for cancelled calls stay in the pool, and tests wait until all are gone.
        configuration.connectionPool.idleTimeout = .seconds(3)
        return HTTPClient(configuration: configuration)
    }()
    /// The engine's default configuration, which follows redirects.
    static let following = HTTPClient()
    /// Speaks HTTP/1.1 only.
    static let old: HTTPClient = {
        var configuration = AsyncHTTPClientTransport.configuration
        configuration.httpVersion = .http1Only
        return HTTPClient(configuration: configuration)
    }()

    static let transport = AsyncHTTPClientTransport(suitable)

    /// A transport over a client that goes through a proxy; like the others, each lives as long as the process.
    @Sendable static func through(_ proxy: URL) throws -> any Transport {
        var configuration = AsyncHTTPClientTransport.configuration
        configuration.connectionPool.idleTimeout = .seconds(3)
        configuration.proxy = .server(host: proxy.host() ?? "", port: proxy.port ?? 80)
        let client = HTTPClient(configuration: configuration)
        proxied.withLock { $0.append(client) }
        return AsyncHTTPClientTransport(client)
    }

    private static let proxied = Locked<[HTTPClient]>([])
}
#endif
