#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import WebServiceClient

/// The clients that the tests of ``AsyncHTTPClientTransport`` share. They live as long as the process: one that is let go must have been
/// shut down before, which no suite could wait for.
enum AsyncHTTPClientEngine {
    /// Configured as the transport wants it.
    static let suitable = HTTPClient(configuration: AsyncHTTPClientTransport.configuration)
    /// Of the engine's own default configuration, which follows redirects.
    static let following = HTTPClient()
    /// Speaks HTTP/1.1 only.
    static let old: HTTPClient = {
        var configuration = AsyncHTTPClientTransport.configuration
        configuration.httpVersion = .http1Only
        return HTTPClient(configuration: configuration)
    }()

    static let transport = AsyncHTTPClientTransport(suitable)
}
#endif
