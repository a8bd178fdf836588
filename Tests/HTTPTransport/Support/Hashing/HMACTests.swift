import Testing

@testable import HTTPTransport

/// The vectors of RFC 4231 for SHA-256; case 5, which only differs by truncation, is left out.
@Suite struct HMACTests {
    static let vectors: [(key: [UInt8], message: [UInt8], code: String)] = [
        (Array(repeating: 0x0b, count: 20), Array("Hi There".utf8), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Array(repeating: 0xaa, count: 20), Array(repeating: 0xdd, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (Array(1...25), Array(repeating: 0xcd, count: 50), "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        (
            Array(repeating: 0xaa, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            Array(repeating: 0xaa, count: 131),
            Array(
                """
                This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before \
                being used by the HMAC algorithm.
                """.utf8), "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    @Test(arguments: vectors.indices) func `the vectors of RFC 4231`(index: Int) {
        let (key, message, code) = Self.vectors[index]
        #expect(Hexadecimal.text(of: HMAC<SHA256>.code(of: message, key: key)) == code)
        var pieces = HMAC<SHA256>(key: key)
        for byte in message { withUnsafeBytes(of: byte) { pieces.update($0) } }
        #expect(Hexadecimal.text(of: pieces.finalize()) == code)
    }

    @Test func `a key of exactly one block is used as it is, and an empty key is zeros`() {
        let zeros = [UInt8](repeating: 0, count: 64)
        #expect(HMAC<SHA256>.code(of: [1], key: []) == HMAC<SHA256>.code(of: [1], key: zeros))
        #expect(HMAC<SHA256>.code(of: [1], key: zeros + [0]) != HMAC<SHA256>.code(of: [1], key: zeros))
    }
}
