#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Recognizes and normalizes IP addresses with the system's functions.
package enum IPAddress {
    /// Whether the text is an IPv4 address in four decimal numbers.
    static func isVersion4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    /// Whether the text is an IPv6 address (RFC 4291 §2.2), without brackets and zone.
    package static func isVersion6(_ text: String) -> Bool { version6(text) != nil }

    /// Returns an IPv6 address in its canonical form (RFC 5952); `nil` for other texts.
    static func version6(_ text: String) -> String? {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns a host in the form used for comparison: a name in lower case without a trailing dot, an IPv4 address in any notation
    /// (`127.1`, `0x7f000001`, `2130706433`) as four decimal numbers, an IPv6 address as in RFC 5952 without brackets and with its zone.
    package static func canonical(_ host: String) -> String {
        var host = host.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.contains(":") {
            let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
            guard let address = version6(String(parts[0])) else { return host }
            return parts.count > 1 ? "\(address)%\(parts[1])" : address
        }
        if host.hasSuffix("."), host.utf8.count > 1 { host.removeLast() }
        guard let first = host.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return host }
        var address = in_addr()
        guard inet_aton(host, &address) != 0 else { return host }
        let number = UInt32(bigEndian: address.s_addr)
        return [24, 16, 8, 0].map { String(number >> $0 & 0xFF) }.joined(separator: ".")
    }

    /// Whether a host is this machine, in any spelling: `localhost` and its subdomains (RFC 6761 §6.3), 127.0.0.0/8 (RFC 1122 §3.2.1.3),
    /// and ::1 (RFC 4291 §2.5.3), also as an IPv4-mapped IPv6 address.
    package static func isLoopback(_ host: String) -> Bool {
        let host = canonical(host)
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let address = host.prefix { $0 != "%" }
        if address == "::1" { return true }
        let version4 = address.hasPrefix("::ffff:") ? address.dropFirst(7) : address
        return version4.hasPrefix("127.") && isVersion4(String(version4))
    }

    /// Returns the bytes of an address in any notation as an IPv6 address. IPv4 addresses become IPv4-mapped addresses (RFC 4291 §2.5.5.2),
    /// including notations that only resolvers accept: `127.1`, `2130706433`, `0x7f.1`.
    package static func bytes(_ text: String) -> [UInt8]? {
        var sixth = in6_addr()
        if inet_pton(AF_INET6, text, &sixth) == 1 { return withUnsafeBytes(of: &sixth) { Array($0) } }
        var fourth = in_addr()
        guard !text.isEmpty, text.utf8.allSatisfy(isOfNumbers), inet_aton(text, &fourth) != 0 else { return nil }
        return [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + withUnsafeBytes(of: &fourth) { Array($0) }
    }

    private static func isOfNumbers(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Addresses with a common prefix. For a single address, the prefix is the whole address.
    struct Network: Sendable, Hashable {
        private let bytes: [UInt8]
        private let bits: Int

        /// Parses an address with an optional number of bits, such as `10.0.0.0/8` (RFC 4632 §3.1); `nil` for other texts.
        init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let first = parts.first, let bytes = IPAddress.bytes(first) else { return nil }
            let isLong = first.contains(":")
            guard let bits = parts.count == 2 ? Int(parts[1]) : isLong ? 128 : 32, (0...(isLong ? 128 : 32)).contains(bits) else {
                return nil
            }
            self.bytes = bytes
            self.bits = isLong ? bits : bits + 96
        }

        /// Whether the network contains an address.
        func contains(_ address: [UInt8]) -> Bool {
            let whole = bits / 8
            guard address.count == bytes.count, address.prefix(whole).elementsEqual(bytes.prefix(whole)) else { return false }
            let rest = bits % 8
            return rest == 0 || (address[whole] ^ bytes[whole]) >> UInt8(8 - rest) == 0
        }
    }
}
