import Foundation
import Testing

@_spi(Fuzzing) @testable import HTTPTransport

/// A text encoded by other programs.
struct CodedSample: Sendable, CustomTestStringConvertible {
    /// The decoded text.
    static let plain = Data((0..<40).map { "line \($0 * 7919 % 101): compressed by others\n" }.joined().utf8)

    let coding: ContentCoding
    let encoder: String
    let bytes: Data
    /// Whether the text is spread over two streams. Truncation before the second one can't be detected.
    var isSeries = false

    var testDescription: String { "\(coding.name) by \(encoder)" }

    private init(_ coding: ContentCoding, by encoder: String, isSeries: Bool = false, _ text: String) {
        self.coding = coding
        self.encoder = encoder
        self.isSeries = isSeries
        bytes = Data(base64Encoded: text) ?? Data()
    }

    /// The samples whose libraries are available.
    static let all = every.filter(\.coding.isAvailable)
    /// The samples with a single stream.
    static let single = all.filter { !$0.isSeries }

    private static let every = [
        CodedSample(
            .gzip, by: "gzip -9",
            "H4sIAAAAAAACA33TSw6EIBBF0XmvgiVYQBXgcrol0QQ/ESfuvuMCvOMzecnNa8tW3TC6374eZ+29Tu57u/2a69k/7cEopNmTelQLpIgx4ijFUa"
                + "hmqDgq4aiMo1CtkCIqxi0YN6AmjCuoinUL1g2oCesKqmLegnkDasK8gqrYVwZ+L2rGwB7V+Pk4Cuvnt75/lXtNHKwEAAA="),
        CodedSample(
            .deflate, by: "Python's zlib",
            "eNp900sOhCAQRdF5r4IlWEAV4HK6JdEEPxEn7r7jArzjM3nJzWvLVt0wut++HmftvU7ue7v9muvZP+3BKKTZk3pUC6SIMeIoxVGoZqg4KuGojK"
                + "NQrZAiKsYtGDegJowrqIp1C9YNqAnrCqpi3oJ5A2rCvIKq2FcGfi9qxsAe1fj5OArr57e+f2uqokg="),
        CodedSample(
            .deflate, by: "Python's zlib without a wrapping",
            "fdNLDoQgEEXRea+CJVhAFeByuiXRBD8RJ+6+4wK84zN5yc1ry1bdMLrfvh5n7b1O7nu7/Zrr2T/twSik2ZN6VAukiDHiKMVRqGaoOCrhqIyjUK"
                + "2QIirGLRg3oCaMK6iKdQvWDagJ6wqqYt6CeQNqwryCqthXBn4vasbAHtX4+TgK6+e3vn8="),
        CodedSample(
            .brotli, by: "Node.js",
            "G6sEABwH5UY3xThTZL9zg7F5pawEGWsrhTei1QHI4iE1WcaJhf+esgmSzEZ5KC93q9e/qdaVI/BsMF4649Zdw9weD7e3j68vH1+cig93IR4SWi"
                + "632+Px9vHx9eX7QF2wl8PBdLrE"),
        CodedSample(
            .zstd, by: "zstd -19",
            "KLUv/WSsA50DAIKFERGgb7B111sL/lFS36Vfrt9WKP7DC/cLF3wIvxnmFMLEDD+DcJvBR5BT+t94KU3efZTuZweVsmZluCksViujE0oVkAgsuh"
                + "coqHFMff87oJurARE0BP83hDE/yJkrD+SMLpWOd4Uu0Cb40PYPwkwA2GqkoL7J"),
        CodedSample(
            .gzip, by: "Python's gzip, with a file's name, and gzip -1", isSeries: true,
            "H4sICAEAAAAC/25hbWVkLnR4dAB90UEOQDAQQNG9U8wRqHaU42ASklJpbdxerCV//TY/+Wk/TdpJlnxcxWq1VeZH8r1ZqU360Hek0ZE6VO1JEb"
                + "3HqIBRqKqoGDVgVMQoVB1JEcN/7gva0aYX9AEAAB+LCAAAAAAABAN90b0NgCAUAOHeKRhB/sFx1JdoomKAxu0trbz6y1XXN6ltOPZLVNaTWsp5"
                + "V2lNVjU/qvRPLWo01GpUb6nNjtSiRk+tRvWB2hxJLWpM1GpUn7EdR2KHmnCwQQ04GNHh/fT39wVWtB4juAIAAA=="),
        CodedSample(
            .zstd, by: "zstd, with a frame to be skipped between", isSeries: true,
            "KLUv/QRYBQMAhANsaW5lIDA6IGNvbXByZXNzZWQgYnkgb3RoZXJzCmxpbmUgNDE4MjI2MzQ0ODUyNjY0Nzg4MjY5NRAA4MsTcAPAILgZYFpQTA"
                + "PGghvBzQDTgmIaqNsCBsHNANMYGEUGrgkEQlAqTRgDAAAAYWJjKLUv/QBYnQMAAgQPFpBFHWsojbFOTvIwM7JtCleGZTYrMRfJmMewpdm1Hi9u"
                + "Hz1dzEY9s4gqMFTh/56WBBElXJcrBxJ8cgMQFwCgxoDBD+IOcB+4mQBxC2AwEJgBGAQ3A0wDtwAMBgyCmwGmgVsABgMGwc0A08AVhlg5AQ=="),
    ]

    /// Creates a gzip member with one stored block (RFC 1952, RFC 1951 §3.2.4).
    static func stored(_ bytes: Data) -> Data {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        let little = { (number: UInt32) in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let count = UInt32(bytes.count)
        let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        return Data(head + [1] + little(count).prefix(2) + little(~count).prefix(2)) + bytes + Data(little(~crc) + little(count))
    }

    /// 300,000 zeros compressed by gzip to about 400 bytes.
    static let zeros =
        Data(base64Encoded: "H4sIAAAAAAACA+3BAQ0AAADCoPdPbQ8HF" + String(repeating: "A", count: 387) + "/Bj74rL24JMEAA==") ?? Data()
}
