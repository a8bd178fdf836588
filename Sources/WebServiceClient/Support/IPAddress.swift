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
}
