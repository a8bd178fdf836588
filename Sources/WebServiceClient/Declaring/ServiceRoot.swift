import Foundation

/// A service root, split into the part that precedes a call's path and the query that follows it.
struct ServiceRoot: Sendable {
    /// Scheme, authority and path.
    let base: String
    /// The query without the question mark and without leading and trailing `&`; empty if there is none.
    let query: String
    let origin: Origin

    /// Splits a root; `nil` if it isn't an absolute http or https URL, or has user info or a fragment.
    init?(_ text: String) {
        let text = Self.withoutWebSocketScheme(text)
        guard Self.problem(in: text) == nil, let url = URL(string: text), let origin = Origin(url) else { return nil }
        self.origin = origin
        let question = text.firstIndex(of: "?") ?? text.endIndex
        base = String(text[..<question])
        // A root often ends in "?" or "&", ready for further query items.
        let ends = text[question...].dropFirst().drop { $0 == "&" }
        query = String(ends.reversed().drop { $0 == "&" }.reversed())
    }

    /// Returns a URL with the scheme of its handshake: `ws` is `http`, and `wss` is `https` (RFC 6455 §3).
    static func withoutWebSocketScheme(_ text: String) -> String {
        for (scheme, other) in [("ws://", "http://"), ("wss://", "https://")] where text.prefix(scheme.count).lowercased() == scheme {
            return other + text.dropFirst(scheme.count)
        }
        return text
    }

    /// Returns a URL with the scheme of its handshake.
    static func withoutWebSocketScheme(_ url: URL) -> URL {
        guard let scheme = url.scheme?.lowercased(), scheme == "ws" || scheme == "wss" else { return url }
        return URL(string: withoutWebSocketScheme(url.absoluteString)) ?? url
    }

    /// The scheme and authority of a root in lower case, even if it has placeholders.
    static func authority(of text: String) -> String {
        guard let start = text.range(of: "://")?.upperBound else { return text.lowercased() }
        return (text[..<start] + text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }).lowercased()
    }

    /// Whether a root has placeholders for arguments.
    static func hasPlaceholders(_ text: String) -> Bool { text.range(ofMark: "%%") != nil }

    /// Returns the faults of the service root of a class, client or profile; none if the root is valid or empty. To check a root with
    /// placeholders, replaces them by a number, which is valid everywhere except in the scheme, and by a scheme. One of the results must be
    /// valid.
    static func faults(in text: String) -> [TableFault] {
        guard !text.isEmpty else { return [] }
        let samples = hasPlaceholders(text) ? ["1", "http"].map { filled(text, with: $0) } : [text]
        return samples.contains { ServiceRoot($0) != nil } ? [] : [fault(in: text)]
    }

    private static func filled(_ text: String, with sample: String) -> String {
        // After the split, every second part is the name of a placeholder. Unclosed placeholders are reported by the compiler.
        text.split(mark: "%%").enumerated().map { $0.offset.isMultiple(of: 2) ? String($0.element) : sample }.joined()
    }

    /// Returns the fault of an invalid root and the fix.
    static func fault(in text: String) -> TableFault {
        let (problem, fix) =
            problem(in: hasPlaceholders(text) ? filled(text, with: "1") : text) ?? (
                "can't be read", "write it like \"https://api.example.com/v1\""
            )
        return TableFault(
            kind: .badServiceRoot, key: nil, problem: "the service root \"\(SecretMask.text(ofURL: text))\" \(problem)", fix: fix)
    }
}

extension ServiceRoot: CustomStringConvertible, CustomReflectable {
    /// The root with secrets masked.
    var description: String { SecretMask.text(ofURL: query.isEmpty ? base : base + "?" + query) }

    /// The same as ``description``.
    var customMirror: Mirror { Mirror(self, children: ["root": description]) }
}

// The faults of a service root, with the fixes.
extension ServiceRoot {
    static func problem(in text: String) -> (String, String)? {
        let text = withoutWebSocketScheme(text)
        let example = "write it like \"https://api.example.com/v1\""
        guard !text.utf8.contains(where: { $0 <= 32 || $0 >= 127 }) else {
            return ("holds blanks, controls or characters beyond ASCII", "percent-encode the path and write the host in punycode")
        }
        // Checks the authority as text first: Foundation returns no URL if the authority is invalid, and doesn't report the reason.
        if let problem = problem(inAuthorityOf: text) { return problem }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), !scheme.isEmpty else {
            return (hasScheme(text) ? "isn't a URL" : "has no scheme", example)
        }
        guard scheme == "http" || scheme == "https" else { return ("has the scheme \"\(scheme)\"", "use https or http") }
        guard Origin(url) != nil else { return ("has no host", example) }
        guard url.user == nil, url.password == nil else { return ("holds credentials", "give them to an authentication provider") }
        guard url.fragment == nil else { return ("has a fragment, which is never sent", "remove it") }
        return nil
    }

    private static func hasScheme(_ text: String) -> Bool {
        text.range(of: "://").map { $0.lowerBound > text.startIndex } ?? false
    }

    private static func problem(inAuthorityOf text: String) -> (String, String)? {
        guard let start = text.range(of: "://")?.upperBound else { return nil }
        let scheme = text[..<start].lowercased()
        // Ignores user info, which has its own fault and must not be shown.
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let place = authority.split(separator: "@").last else { return nil }
        if let right = bracketed(place) {
            return ("has an IPv6 address without brackets", "write it like \"\(scheme)\(right)\"")
        }
        guard let colon = place.lastIndex(of: ":"), !place[colon...].contains("]") else { return nil }
        let port = place[place.index(after: colon)...]
        guard !port.isEmpty else { return nil }
        guard port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), (1...65_535).contains(Int(port) ?? 0) else {
            return ("has an invalid port", "give a number from 1 to 65535, or omit it for the scheme's default")
        }
        return nil
    }

    /// Returns an authority with brackets around its IPv6 address; `nil` if it isn't an IPv6 address without brackets. If the last number
    /// may be either a group of the address or a port, it counts as the port, which is the likely intention.
    private static func bracketed(_ place: Substring) -> String? {
        guard !place.hasPrefix("["), let colon = place.lastIndex(of: ":") else { return nil }
        let (address, port) = (place[..<colon], place[place.index(after: colon)...])
        if IPAddress.isVersion6(String(address)), let number = Int(port), (1...65_535).contains(number) { return "[\(address)]:\(port)" }
        return IPAddress.isVersion6(String(place)) ? "[\(place)]" : nil
    }
}
