import Foundation

/// What cookies see of a URL: the host, the path, and whether the connection is secure (RFC 6265bis §5.1.2 to §5.1.4). Ports don't count.
struct CookiePlace: Sendable, Hashable {
    /// The host in lower case: a name in ASCII without a trailing dot, or an IP address in its canonical form, without brackets.
    let host: String
    /// The percent-encoded path, which begins with `/`.
    let path: [UInt8]
    /// Whether the connection is https, or goes to this machine. As browsers and curl do, http to the loopback interface counts as secure,
    /// so that `Secure` cookies work with servers in development.
    let isSecure: Bool
    /// Whether the host is an IP address, which has no subdomains.
    let isAddress: Bool

    /// The place of an absolute http or https URL (also ws or wss); `nil` for other URLs.
    init?(_ url: URL) {
        guard let origin = Origin(url) else { return nil }
        self.init(url, origin)
    }

    /// The same, for a URL whose origin is known.
    init?(_ url: URL, _ origin: Origin) {
        var host = origin.host
        let isEncrypted: Bool
        switch origin.scheme {
        case "https", "wss": isEncrypted = true
        case "http", "ws": isEncrypted = false
        default: return nil
        }
        let first = host.utf8.first ?? 0
        let mayBeAddress = (48...57).contains(first) || !host.hasOnlyBytes { $0 != UInt8(ascii: ":") }
        if mayBeAddress || host.utf8.last == UInt8(ascii: ".") || !host.hasOnlyBytes({ $0 < 0x80 }) {
            host = PublicSuffixes.ascii(IPAddress.canonical(host))
        }
        guard !host.isEmpty else { return nil }
        self.host = host
        isAddress = mayBeAddress && IPAddress.bytes(host) != nil
        isSecure = isEncrypted || IPAddress.isLoopback(host)
        path = Self.path(of: url.absoluteString)
    }

    /// Foundation's accessors take longer than the rest of the stage.
    private static func path(of url: String) -> [UInt8] {
        var url = url
        return url.withUTF8 { bytes in
            var (slashes, start) = (0, bytes.count)
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: "/"):
                    slashes += 1
                    if slashes == 3 { start = index }
                case UInt8(ascii: "?"), UInt8(ascii: "#"):
                    return start < index ? Array(bytes[start..<index]) : [UInt8(ascii: "/")]
                default: continue
                }
            }
            return start < bytes.count ? Array(bytes[start...]) : [UInt8(ascii: "/")]
        }
    }

    /// The path of cookies without one: up to the last slash (RFC 6265bis §5.1.4).
    var defaultPath: String {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return "/" }
        return String(decoding: path[..<slash], as: UTF8.self)
    }

    /// Whether the host is a domain or one of its subdomains (RFC 6265bis §5.1.3).
    func isWithin(domain: String) -> Bool {
        Self.isWithin(host, domain: domain, isAddress: isAddress)
    }

    /// Whether a host is a domain or one of its subdomains. An IP address has none.
    static func isWithin(_ host: String, domain: String, isAddress: Bool = false) -> Bool {
        if host == domain { return true }
        let (length, part) = (host.utf8.count, domain.utf8.count)
        guard !isAddress, part > 0, length > part + 1 else { return false }
        let rest = host.utf8.dropFirst(length - part - 1)
        return rest.first == UInt8(ascii: ".") && rest.dropFirst().elementsEqual(domain.utf8)
    }

    /// Whether the path is a cookie's path or below it (RFC 6265bis §5.1.4).
    func isBelow(path cookiePath: [UInt8]) -> Bool {
        Self.isBelow(path, cookiePath)
    }

    /// Whether a path is another one or below it.
    static func isBelow(_ path: [UInt8], _ other: [UInt8]) -> Bool {
        guard path.count >= other.count else { return false }
        for index in other.indices where path[index] != other[index] { return false }
        return path.count == other.count || other.last == UInt8(ascii: "/") || path[other.count] == UInt8(ascii: "/")
    }

    /// Calls a closure with the host and then each of its parent domains.
    func forEachDomain(_ body: (String) -> Void) {
        body(host)
        guard !isAddress else { return }
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[rest.utf8.index(after: dot)...]
            if !rest.isEmpty { body(String(rest)) }
        }
    }
}
