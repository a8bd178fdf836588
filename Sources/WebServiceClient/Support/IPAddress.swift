#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Tells the texts of IP addresses from other texts, as the system does.
enum IPAddress {
    /// Whether it is an address of version 4 in four decimal numbers.
    static func isVersion4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    /// Whether it is an address of version 6 (RFC 4291 §2.2), without brackets and without a zone.
    static func isVersion6(_ text: String) -> Bool { version6(text) != nil }

    /// An address of version 6 in the one form that everybody writes (RFC 5952); `nil` for another text.
    static func version6(_ text: String) -> String? {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The bytes of an address however it is spelled, as those of version 6: one of version 4 as the address that stands for it there
    /// (RFC 4291 §2.5.5.2). Also what resolvers take for version 4: `127.1`, `2130706433`, `0x7f.1`.
    static func bytes(_ text: String) -> [UInt8]? {
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

    /// Addresses that have their first bits in common; a single address has all of them.
    struct Network: Sendable, Hashable {
        private let bytes: [UInt8]
        private let bits: Int

        /// The network of an address or of an address with a number of bits, such as `10.0.0.0/8` (RFC 4632 §3.1); `nil` for another text.
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

        /// Whether an address is one of these.
        func contains(_ address: [UInt8]) -> Bool {
            let whole = bits / 8
            guard address.count == bytes.count, address.prefix(whole).elementsEqual(bytes.prefix(whole)) else { return false }
            let rest = bits % 8
            return rest == 0 || (address[whole] ^ bytes[whole]) >> UInt8(8 - rest) == 0
        }
    }
}
