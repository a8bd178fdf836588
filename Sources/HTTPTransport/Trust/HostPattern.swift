import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The hosts that a pin set applies to: a single host, such as `api.example.com`, or, with `*.example.com`, every host with exactly one
/// more label. `*.example.com` matches neither `example.com` nor `a.b.example.com` (as in RFC 6125 §6.4.3).
///
/// Case and a trailing dot are ignored. IPv6 addresses are compared as addresses, with or without brackets. Non-ASCII names are translated
/// to their `xn--` form.
public struct HostPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The host, or the part after `*.`, in normalized form.
    package let name: String
    /// Whether one more label must precede the name.
    let isWildcard: Bool

    /// Creates a pattern. An invalid pattern matches nothing, and a client that uses it fails with its fault.
    public init(_ text: String) {
        isWildcard = text.hasPrefix("*.")
        name = Self.normalized(isWildcard ? String(text.dropFirst(2)) : text)
    }

    /// Creates a pattern from a literal.
    public init(stringLiteral text: String) { self.init(text) }

    /// Whether the pattern matches a host.
    public func matches(_ host: String) -> Bool {
        matches(normalized: Self.normalized(host))
    }

    /// Whether the pattern matches a host in normalized form.
    package func matches(normalized host: String) -> Bool {
        guard fault == nil else { return false }
        guard isWildcard else { return host == name }
        guard !Self.isAddress(host), let dot = host.utf8.firstIndex(of: UInt8(ascii: ".")), dot != host.startIndex else { return false }
        return host[host.utf8.index(after: dot)...] == name
    }

    /// The fault of the pattern and its fix; `nil` if the pattern is valid.
    package var fault: String? {
        if name.isEmpty { return "\"\(self)\" doesn't name a host: write one, such as \"api.example.com\"" }
        if isWildcard, Self.isAddress(name) || Self.isNumber(name.split(separator: ".").last) {
            return "\"\(self)\" isn't a valid pattern, because an address has no labels: write the whole address"
        }
        if Self.isIPv6(name) { return nil }
        guard name.utf8.allSatisfy(Self.isHostByte) else {
            return "\"\(self)\" isn't a valid host: omit scheme, port and path; \"*\" is allowed only as the whole first label"
        }
        guard !name.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) else {
            return "\"\(self)\" has an empty label: remove the doubled or leading dot"
        }
        return nil
    }

    /// The pattern in normalized form.
    public var description: String { isWildcard ? "*." + name : name }
}

extension HostPattern {
    /// Returns a host in normalized form: in ASCII and lower case, without brackets and a trailing dot, with IPv6 addresses in their
    /// shortest form (RFC 5952).
    static func normalized(_ host: String) -> String {
        var host = host
        if !host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }), !host.contains(":") {
            // Foundation translates non-ASCII names. If it can't, the name stays unchanged and matches nothing.
            host = URL(string: "https://\(host)/")?.host(percentEncoded: false) ?? host
        }
        host = host.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.contains(":") { return shortest(host) ?? host }
        if host.hasSuffix(".") { host.removeLast() }
        return host
    }

    /// Whether a host can be compared safely. The engine might interpret a non-ASCII host, or an address in an unusual notation such as
    /// `0x7f.1`, as another host.
    package static func isPlain(_ normalized: String) -> Bool {
        if isIPv6(normalized) { return true }
        guard normalized.utf8.allSatisfy(isHostByte) else { return false }
        let last = normalized.split(separator: ".").last
        guard isNumber(last) || last?.hasPrefix("0x") == true else { return true }
        var address = in_addr()
        return inet_pton(AF_INET, normalized, &address) == 1
    }

    private static func isIPv6(_ text: String) -> Bool {
        text.contains(":") && shortest(text) != nil
    }

    private static func isAddress(_ text: String) -> Bool {
        if text.contains(":") { return true }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count == 4 && labels.allSatisfy { isNumber($0) }
    }

    /// Whether a label is a number. Top-level domains never are, so such a name is an address.
    private static func isNumber(_ label: Substring?) -> Bool {
        guard let label, !label.isEmpty else { return false }
        return label.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Returns the shortest form of an IPv6 address with its zone unchanged; `nil` for other texts.
    private static func shortest(_ text: String) -> String? {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var address = in6_addr()
        guard let first = parts.first, inet_pton(AF_INET6, String(first), &address) == 1 else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        let shortest = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return parts.count == 2 ? "\(shortest)%\(parts[1])" : shortest
    }
}
