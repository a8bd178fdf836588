import Foundation

// The proxy of a transport: its description and check, the hosts that are reached without it, and keys of credentials for it.
extension CurlTransport.Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of proxy, or its URL with credentials masked, and its exceptions.
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

    /// The same as ``description``: a dump doesn't show credentials either.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    private static let schemes = ["http", "https", "socks5", "socks5h"]

    /// Rejects values that libcurl would misread, or would reject only at each call.
    ///
    /// - Throws: ``TransportError`` with `badRequest`.
    func check() throws(TransportError) {
        guard case .url(let url, _) = self else { return }
        guard let scheme = url.scheme?.lowercased(), Self.schemes.contains(scheme), url.host()?.isEmpty == false else {
            throw TransportError(
                .badRequest,
                "\(Self.text(of: url)) isn't a valid proxy: write it like http://proxy.example:3128, with http, https, socks5 or socks5h."
            )
        }
    }

    /// Returns a URL up to its authority: the rest means nothing to a proxy, and may be part of a password.
    private static func text(of url: URL) -> String {
        guard let scheme = url.scheme, let host = url.host() else { return "A URL without a scheme or a host" }
        return "\(scheme)://\(url.user == nil ? "" : SecretMask.mask + "@")\(host)" + (url.port.map { ":\($0)" } ?? "")
    }
}

/// The hosts that are reached without a proxy.
struct ProxyExceptions: Sendable {
    /// The names in the form that libcurl takes (CURLOPT_NOPROXY); `*` for all hosts.
    private var names = ""
    /// The same names, for comparisons.
    private var hosts: [String] = []
    /// The addresses and networks. An address has many spellings, but libcurl compares texts, and old versions don't take networks; so
    /// these are matched here.
    private var networks: [IPAddress.Network] = []

    /// The exceptions of a proxy's configuration.
    ///
    /// - Throws: ``TransportError`` with `badRequest` if an exception would match no host: calls that must not use the proxy would use it.
    init(of proxy: CurlTransport.Proxy) throws(TransportError) {
        guard case .url(_, let exceptions) = proxy else { return }
        var names: [String] = []
        for exception in exceptions {
            for entry in Self.entries(of: exception) {
                // libcurl takes this to mean all hosts only if there is no other entry.
                if entry == "*" {
                    (self.names, networks) = ("*", [])
                    return
                }
                guard let host = Self.host(entry) ?? Self.network(entry) else { throw Self.unfit(entry, of: exception) }
                if let network = IPAddress.Network(host) { networks.append(network) } else { names.append(host) }
            }
        }
        self.names = names.joined(separator: ",")
        hosts = names.map(IPAddress.canonical)
    }

    /// The exceptions in the environment variable `no_proxy`, for messages: libcurl reads the variable itself. Entries that match no host
    /// are ignored.
    init(environment list: String) {
        for entry in Self.entries(of: list) {
            if entry == "*" { names = "*" }
            if let network = IPAddress.Network(String(entry)) {
                networks.append(network)
            } else {
                hosts.append(IPAddress.canonical(String(entry.drop { $0 == "*" || $0 == "." })))
            }
        }
    }

    /// Returns whether a host is reached without the proxy.
    func contains(_ host: String) -> Bool {
        if names == "*" { return true }
        let host = IPAddress.canonical(host)
        if let address = IPAddress.bytes(host), networks.contains(where: { $0.contains(address) }) { return true }
        return hosts.contains { host == $0 || !$0.isEmpty && host.hasSuffix(".\($0)") }
    }

    /// Returns the exceptions to set for a call to a host: all hosts if an address or a network matches it.
    func text(forCallTo host: String) -> String {
        guard !networks.isEmpty, let address = IPAddress.bytes(host) else { return names }
        return networks.contains { $0.contains(address) } ? "*" : names
    }

    /// Whether that text depends on the host.
    var dependsOnHost: Bool { !networks.isEmpty }

    /// The entries of a list such as `no_proxy` contains, separated by commas and blanks.
    private static func entries(of list: String) -> [Substring] {
        list.split { $0 == "," || $0.isWhitespace }
    }

    /// Returns the libcurl form of a name, with or without a leading `*.` or `.` and a trailing dot, or of an address, with or without
    /// brackets; `nil` for anything else.
    private static func host(_ entry: Substring) -> String? {
        if entry.hasPrefix("["), entry.hasSuffix("]") {
            return IPAddress.version6(String(entry.dropFirst().dropLast()))
        }
        // IPv6 in libcurl's own spelling, because it compares texts.
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

    /// Returns a network, such as `10.0.0.0/8` (RFC 4632 §3.1).
    private static func network(_ entry: Substring) -> String? {
        let parts = entry.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = Int(parts[1]), let address = host(parts[0]) else { return nil }
        let most = IPAddress.isVersion4(address) ? 32 : IPAddress.isVersion6(address) ? 128 : 0
        return (1...max(1, most)).contains(bits) && most > 0 ? "\(address)/\(bits)" : nil
    }

    /// The error for an entry that matches no host. Everything before the last `@` is masked: a password with a comma is split into
    /// entries.
    private static func unfit(_ entry: Substring, of exception: String) -> TransportError {
        let shown = exception.lastIndex(of: "@").map { SecretMask.mask + exception[$0...] } ?? String(entry)
        return TransportError(
            .badRequest,
            "The proxy's exception \"\(shown)\" would match no host: write a host alone, without scheme, port and path, such as "
                + "example.com (with all that ends in .example.com), 192.0.2.1, ::1 or 10.0.0.0/8; names beyond ASCII in punycode.")
    }
}

/// Identification of proxy credentials in `Proxy-Authorization`.
enum ProxyCredentials {
    /// Returns a number that is the same for the same credentials. It differs between processes, and reveals nothing about them.
    ///
    /// A digest response differs in each request, for the same user and the same challenge (RFC 7616 §3.4), and only the proxy can verify
    /// it: a forged field that uses the challenge of another user gets that user's key.
    ///
    /// - Parameter others: The key of the field's preceding values.
    static func key(_ value: String, with others: Int? = nil) -> Int {
        var hasher = Hasher()
        hasher.combine(others)
        let scheme = value.prefix { $0 != " " }
        guard scheme.lowercased() == "digest" else {
            hasher.combine(value)
            return hasher.finalize()
        }
        for parameter in parameters(value.dropFirst(scheme.count)) {
            let (name, rest) = split(parameter)
            guard ["username", "username*", "realm", "nonce", "userhash"].contains(name) else { continue }
            hasher.combine(name)
            hasher.combine(rest)
        }
        return hasher.finalize()
    }

    private static func split(_ parameter: Substring) -> (name: String, value: Substring) {
        let name = parameter.prefix { $0 != "=" }
        return (name.lowercased().filter { $0 != " " && $0 != "\t" }, parameter.dropFirst(name.count))
    }

    /// Returns the parts between commas outside quotation marks.
    private static func parameters(_ text: Substring) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return text.split { character in
            if isEscaped {
                isEscaped = false
                return false
            }
            switch character {
            case "\\" where isQuoted: isEscaped = true
            case "\"": isQuoted.toggle()
            default: return character == "," && !isQuoted
            }
            return false
        }
    }
}
