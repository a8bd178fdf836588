/// Which hosts are excepted from a proxy, for messages: libcurl decides by itself.
enum ProxyExceptions {
    /// Whether a host is among exceptions, which are lists such as `no_proxy` holds.
    static func include(_ host: String, in exceptions: [String]) -> Bool {
        let host = IPAddress.canonical(host)
        return exceptions.contains { list in
            list.split(whereSeparator: { $0 == "," || $0.isWhitespace }).contains { entry in
                if entry == "*" { return true }
                if let network = IPAddress.Network(String(entry)), let bytes = IPAddress.bytes(host) { return network.contains(bytes) }
                let name = IPAddress.canonical(String(entry.drop { $0 == "*" || $0 == "." }))
                return host == name || !name.isEmpty && host.hasSuffix(".\(name)") && !IPAddress.isVersion4(name)
            }
        }
    }
}

/// The hosts that aren't reached through a proxy. What no host would match is refused: a call would go to the proxy that shouldn't.
struct CurlProxyExceptions: Sendable {
    /// The names, as libcurl takes them (CURLOPT_NOPROXY).
    private var names = ""
    /// The addresses and networks of them. libcurl compares addresses as texts, and networks as it can: an address has many spellings.
    private var networks: [IPAddress.Network] = []

    /// Those of a proxy.
    ///
    /// - Throws: ``TransportError`` with `badRequest`.
    init(of proxy: CurlTransport.Proxy) throws(TransportError) {
        guard case .url(_, let exceptions) = proxy else { return }
        var hosts: [String] = []
        for exception in exceptions {
            // Commas and blanks part the entries of a list, which is what environments hold.
            for entry in exception.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
                // It means all hosts only where it stands alone.
                if entry == "*" {
                    (names, networks) = ("*", [])
                    return
                }
                guard let host = Self.host(entry) ?? Self.network(entry) else { throw Self.unfit(entry, of: exception) }
                if let network = IPAddress.Network(host) { networks.append(network) } else { hosts.append(host) }
            }
        }
        names = hosts.joined(separator: ",")
    }

    /// What libcurl is told for a call to a host: that all are excepted where this one is.
    func text(forCallTo host: String) -> String {
        guard !networks.isEmpty, let address = IPAddress.bytes(host) else { return names }
        return networks.contains { $0.contains(address) } ? "*" : names
    }

    /// Whether that depends on the host.
    var dependsOnHost: Bool { !networks.isEmpty }

    /// A name, with or without `*.` or `.` before it and a dot behind, or an address, with or without brackets.
    private static func host(_ entry: Substring) -> String? {
        if entry.hasPrefix("["), entry.hasSuffix("]") {
            return IPAddress.version6(String(entry.dropFirst().dropLast()))
        }
        // In the form that libcurl gives the host of a URL: it compares texts.
        guard !entry.contains(":") else { return IPAddress.version6(String(entry)) }
        var name = entry.hasPrefix("*.") ? entry.dropFirst(2) : entry.hasPrefix(".") ? entry.dropFirst() : entry
        if name.hasSuffix(".") { name.removeLast() }
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return labels.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isOfName) } ? String(name) : nil
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// An address with a number of bits, such as `10.0.0.0/8` (RFC 4632 §3.1).
    private static func network(_ entry: Substring) -> String? {
        let parts = entry.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = Int(parts[1]), let address = host(parts[0]) else { return nil }
        let most = IPAddress.isVersion4(address) ? 32 : IPAddress.isVersion6(address) ? 128 : 0
        return (1...max(1, most)).contains(bits) && most > 0 ? "\(address)/\(bits)" : nil
    }

    /// An entry may be the part of a password that is before a comma.
    private static func unfit(_ entry: Substring, of exception: String) -> TransportError {
        let shown = exception.lastIndex(of: "@").map { SecretMask.mask + exception[$0...] } ?? String(entry)
        return TransportError(
            .badRequest,
            "The proxy's exception \"\(shown)\" would match no host: write a host alone, without scheme, port and path, such as "
                + "example.com (with all that ends in .example.com), 192.0.2.1, ::1 or 10.0.0.0/8; names beyond ASCII in punycode.")
    }
}
