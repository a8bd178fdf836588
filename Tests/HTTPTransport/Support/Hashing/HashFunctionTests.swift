import Foundation
import Testing

@testable import HTTPTransport

@Suite struct HashFunctionTests {
    /// RFC 1321 appendix A.5.
    @Test(
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
            (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
        ])
    func `MD5 gives the digests of RFC 1321`(message: String, digest: String) {
        #expect(MD5.hexadecimal(of: message) == digest)
    }

    private static let twoBlocksOf64 = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
    private static let twoBlocksOf128 =
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"

    /// The example messages published by NIST with FIPS 180-4.
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (twoBlocksOf64, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
            (twoBlocksOf128, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"),
        ])
    func `SHA-256 gives NIST's digests`(message: String, digest: String) {
        #expect(SHA256.hexadecimal(of: message) == digest)
    }

    /// The example messages published by NIST with FIPS 180-4.
    @Test(
        arguments: [
            ("", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
            ("abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
            (twoBlocksOf64, "bde8e1f9f19bb9fd3406c90ec6bc47bd36d8ada9f11880dbc8a22a7078b6a461"),
            (twoBlocksOf128, "3928e184fb8690f840da3988121d31be65cb9d3ef83ee6146feac861e19b563a"),
        ])
    func `SHA-512/256 gives NIST's digests`(message: String, digest: String) {
        #expect(SHA512_256.hexadecimal(of: message) == digest)
    }

    @Test func `a million letters a, in pieces of uneven length`() {
        #expect(Self.digestOfAMillion(MD5()) == "7707d6ae4e027c70eea2a935c2296f21")
        #expect(Self.digestOfAMillion(SHA256()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
        #expect(Self.digestOfAMillion(SHA512_256()) == "9a59a052930187a97038cae692f30708aa6491923ef5194394dc68d56c74fb21")
    }

    private static func digestOfAMillion(_ empty: some HashFunction) -> String {
        var hash = empty
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 4_097)
        var left = 1_000_000
        while left > 0 {
            let count = min(left, piece.count)
            hash.update(Array(piece.prefix(count)))
            left -= count
        }
        return Hexadecimal.text(of: hash.finalize())
    }

    @Test func `a digest doesn't depend on how the message is cut`() {
        let message = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
        for cut in 0...message.count {
            var hashes: [any HashFunction] = [MD5(), SHA256(), SHA512_256()]
            for index in hashes.indices {
                hashes[index].update(Array(message[..<cut]))
                _ = hashes[index].finalize()
                hashes[index].update(Array(message[cut...]))
            }
            #expect(Hexadecimal.text(of: hashes[0].finalize()) == MD5.hexadecimal(of: message))
            #expect(Hexadecimal.text(of: hashes[1].finalize()) == SHA256.hexadecimal(of: message))
            #expect(Hexadecimal.text(of: hashes[2].finalize()) == SHA512_256.hexadecimal(of: message))
        }
    }

    @Test func `a copy of a hash goes its own way`() {
        var first = SHA256()
        first.update("ab")
        var second = first
        first.update("c")
        second.update("x")
        #expect(Hexadecimal.text(of: first.finalize()) == SHA256.hexadecimal(of: "abc"))
        #expect(Hexadecimal.text(of: second.finalize()) == SHA256.hexadecimal(of: "abx"))
    }

    @Test func `numbers have eight hexadecimal digits`() {
        #expect(Hexadecimal.text(of: 1 as UInt32) == "00000001")
        #expect(Hexadecimal.text(of: UInt32.max) == "ffffffff")
        #expect(Hexadecimal.text(of: 0x00ab_cdef as UInt32) == "00abcdef")
        #expect(Hexadecimal.text(of: []) == "")
    }
}
