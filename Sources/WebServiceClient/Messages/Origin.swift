public import Foundation

/// The origin of a URL (RFC 6454 §4): scheme, host and port. Credentials belong to one.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// The scheme in lower case, such as `https`.
    public let scheme: String
    /// The host in lower case; an IPv6 address without its brackets.
    public let host: String
    /// The port, the scheme's default where the URL names none.
    public let port: Int

    /// The origin of an absolute URL; `nil` when it has no scheme or no host.
    public init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: false)?.lowercased(), !host.isEmpty else {
            return nil
        }
        self.scheme = scheme
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? Self.defaultPort(of: scheme)
    }

    private static func defaultPort(of scheme: String) -> Int {
        switch scheme {
        case "https", "wss": 443
        case "http", "ws": 80
        default: 0
        }
    }

    /// Host and port as they stand in a URL, such as `api.example.com` or `[::1]:8080`, the default port left out.
    public var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == Self.defaultPort(of: scheme) ? host : "\(host):\(port)"
    }

    /// The origin as a URL's beginning, such as `https://api.example.com`, the default port left out.
    public var description: String { "\(scheme)://\(authority)" }
}
