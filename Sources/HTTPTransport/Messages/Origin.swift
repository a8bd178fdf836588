public import Foundation

/// The origin of a URL (RFC 6454 §4): scheme, host and port. Credentials belong to one origin.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// The scheme in lower case, such as `https`.
    public let scheme: String
    /// The host in lower case; an IPv6 address without its brackets.
    public let host: String
    /// The port; the scheme's default if the URL has none.
    public let port: Int

    /// Creates the origin of an absolute URL; returns `nil` if the URL has no scheme or no host.
    public init?(_ url: URL) {
        if let plain = Self.plain(url.absoluteString) {
            self = plain
            return
        }
        guard let scheme = url.scheme?.lowercased(), let host = url.host(percentEncoded: false)?.lowercased(), !host.isEmpty else {
            return nil
        }
        self.scheme = scheme
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? Self.defaultPort(of: scheme)
    }

    private init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// A fast path for common URLs: http or https, a host of lower-case letters, digits, dots and hyphens, and an optional port. Several
    /// stages of each call need the origin, and Foundation takes as long as a whole stage.
    private static func plain(_ url: String) -> Origin? {
        url.utf8.withContiguousStorageIfAvailable { bytes -> Origin? in
            let isSecure = begins(bytes, with: "https://")
            guard isSecure || begins(bytes, with: "http://") else { return nil }
            let start = isSecure ? 8 : 7
            var end = start
            while end < bytes.count, isPlainHostByte(bytes[end]) { end += 1 }
            guard end > start else { return nil }
            var (port, digits) = (0, 0)
            var rest = end
            if rest < bytes.count, bytes[rest] == UInt8(ascii: ":") {
                rest += 1
                while rest < bytes.count, digits < 6, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[rest]) {
                    port = port * 10 + Int(bytes[rest] - UInt8(ascii: "0"))
                    digits += 1
                    rest += 1
                }
                guard digits > 0, port <= 65_535 else { return nil }
            }
            guard rest == bytes.count || bytes[rest] == UInt8(ascii: "/") || bytes[rest] == UInt8(ascii: "?") else { return nil }
            let scheme = isSecure ? "https" : "http"
            return Origin(
                scheme: scheme, host: String(decoding: bytes[start..<end], as: UTF8.self),
                port: digits > 0 ? port : defaultPort(of: scheme))
        } ?? nil
    }

    private static func begins(_ bytes: UnsafeBufferPointer<UInt8>, with text: StaticString) -> Bool {
        guard bytes.count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[index] != text.utf8Start[index] { return false }
        return true
    }

    private static func isPlainHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    private static func defaultPort(of scheme: String) -> Int {
        switch scheme {
        case "https", "wss": 443
        case "http", "ws": 80
        default: 0
        }
    }

    /// The host and port as written in a URL, such as `api.example.com` or `[::1]:8080`, without the default port.
    public var authority: String {
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == Self.defaultPort(of: scheme) ? host : "\(host):\(port)"
    }

    /// The origin as the beginning of a URL, such as `https://api.example.com`, without the default port.
    public var description: String { "\(scheme)://\(authority)" }
}
