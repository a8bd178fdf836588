#if AsyncHTTPClient
import AsyncHTTPClient

/// The relevant settings of an `HTTPClient`.
///
/// The client doesn't expose its configuration, so it is read by reflection. If a setting isn't found, it is `nil`: HTTP/2 isn't promised
/// then, and a followed redirect is detected afterwards, from the history in the response.
struct HTTPClientSettings {
    /// Whether the client follows redirects.
    let followsRedirects: Bool?
    /// Whether the client uses HTTP/2 if a server offers it.
    let negotiatesHTTP2: Bool?

    /// Reads the settings of a client.
    init(of client: HTTPClient) {
        let mirror = Mirror(reflecting: client)
        followsRedirects = mirror.descendant("configuration", "redirectConfiguration", "mode").map { "\($0)" != "disallow" }
        negotiatesHTTP2 = mirror.descendant("configuration", "httpVersion", "configuration").map { "\($0)" == "automatic" }
    }

    /// The error for a client that follows redirects.
    static let redirectRefusal = TransportError(
        .unsupported,
        "The HTTPClient follows redirects, and would pass credentials on: create it with "
            + "AsyncHTTPClientTransport.configuration, or with redirectConfiguration: .disallow; this library follows redirects.")
}
#endif
