import Foundation

extension CurlTransport.Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The proxy's URL without its credentials.
    public var description: String {
        switch self {
        case .fromEnvironment: "from the environment"
        case .none: "none"
        case .url(let url, let exceptions):
            Self.text(of: url) + (exceptions.isEmpty ? "" : ", but for \(exceptions.joined(separator: ", "))")
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``: not even a dump shows credentials.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    private static let schemes = ["http", "https", "socks5", "socks5h"]

    /// Refuses what libcurl would take for something else, or find out with each call only.
    ///
    /// - Throws: ``TransportError`` with `badRequest`.
    func check() throws(TransportError) {
        guard case .url(let url, _) = self else { return }
        guard let scheme = url.scheme?.lowercased(), Self.schemes.contains(scheme), url.host()?.isEmpty == false else {
            throw TransportError(
                .badRequest,
                "\(Self.text(of: url)) is no proxy that can be used: write it like http://proxy.example:3128, with http, https, socks5 or socks5h."
            )
        }
    }

    /// A URL up to its authority, as far as it has any: what comes behind means nothing to a proxy, and may be the rest of a password.
    private static func text(of url: URL) -> String {
        guard let scheme = url.scheme, let host = url.host() else { return "A URL without a scheme or a host" }
        return "\(scheme)://\(url.user == nil ? "" : SecretMask.mask + "@")\(host)" + (url.port.map { ":\($0)" } ?? "")
    }
}
