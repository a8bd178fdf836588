#if AsyncHTTPClient
import AsyncHTTPClient

/// What an `HTTPClient` is configured for, as far as it matters here.
///
/// The client shows its configuration to nobody, so that it is read by reflection. Where that finds nothing the answer is `nil`: HTTP/2
/// then isn't promised, and a redirect that was followed is noticed by the response's history, after the fact.
struct HTTPClientSettings {
    /// Whether it follows redirects by itself.
    let followsRedirects: Bool?
    /// Whether it speaks HTTP/2 where a server offers it.
    let negotiatesHTTP2: Bool?

    /// Reads the settings of a client.
    init(of client: HTTPClient) {
        let mirror = Mirror(reflecting: client)
        followsRedirects = mirror.descendant("configuration", "redirectConfiguration", "mode").map { "\($0)" != "disallow" }
        negotiatesHTTP2 = mirror.descendant("configuration", "httpVersion", "configuration").map { "\($0)" == "automatic" }
    }

    /// Why a client that follows redirects can't be used.
    static let redirectRefusal = TransportError(
        .unsupported,
        "The HTTPClient follows redirects by itself, and would take credentials along: make it with AsyncHTTPClientTransport.configuration, "
            + "or with redirectConfiguration: .disallow; this library follows redirects.")
}
#endif
