import HTTPTransport
import Testing

@Suite struct SHA1Tests {
    /// The examples of FIPS 180-4's companion document of NIST.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"),
        (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ])
    func `known digests`(message: String, digest: String) {
        #expect(SHA1.hexadecimal(of: message) == digest)
        // In pieces.
        var hash = SHA1()
        let bytes = Array(message.utf8)
        for start in stride(from: 0, to: bytes.count, by: 61) { hash.update(Array(bytes[start..<min(start + 61, bytes.count)])) }
        #expect(Hexadecimal.text(of: hash.finalize()) == digest)
    }
}
