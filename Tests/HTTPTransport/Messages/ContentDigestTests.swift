import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct ContentDigestTests {
    /// The content of the examples in RFC 9530 appendix B, with its line end.
    private static let content = Data("{\"hello\": \"world\"}\n".utf8)
    private static let sha256 = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
    private static let sha512 =
        "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:"

    @Test func `The digests of the RFC's examples`() throws {
        #expect(ContentDigest.fieldValue(of: [.of(Self.content)]) == Self.sha256)
        #expect(ContentDigest.fieldValue(of: [.of(Self.content, .sha512)]) == Self.sha512)
        let both = try ContentDigest.digests(in: [Self.sha256 + ", " + Self.sha512])
        #expect(both == [.of(Self.content), .of(Self.content, .sha512)])
        #expect(try ContentDigest.digests(in: [Self.sha256, Self.sha512]) == both, "several fields are one")
        #expect(ContentDigest.fieldValue(of: both) == Self.sha256 + ", " + Self.sha512)
        #expect(ContentDigest.fieldValue(of: []).isEmpty)
    }

    @Test func `SHA-512 of the standard's messages, in pieces too`() {
        let abc =
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        #expect(SHA512.hexadecimal(of: "abc") == abc)
        #expect(
            SHA512.hexadecimal(of: "")
                == "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
        )
        var hash = BodyHash([.sha512, .sha256])
        for byte in "abc".utf8 { hash.update(Data([byte])) }
        #expect(hash.digests() == [.of(Data("abc".utf8)), .of(Data("abc".utf8), .sha512)])
    }

    @Test func `Unknown and outdated algorithms are left out`() throws {
        let field = "md5=:1B2M2Y8AsgTpgAmY7PhCfg==:, sha=:2jmj7l5rSw0yVb/vlWAYkK/YBwk=:, crc32c=:AAAAAA==:, x-own=:AA==:"
        #expect(try ContentDigest.digests(in: [field]).isEmpty)
        #expect(try ContentDigest.digests(in: [field + ", " + Self.sha256]) == [.of(Self.content)])
        #expect(try ContentDigest.digests(in: [Self.sha256 + ";a=1"]) == [.of(Self.content)], "parameters have no meaning")
        #expect(try ContentDigest.digests(in: []).isEmpty)
    }

    @Test(
        arguments: [
            "sha-256", "sha-256=abc", "sha-256=\"RK/0\"", "sha-256=1", "sha-256=(:AA==:)", "sha-256=:RK/0", "sha-256=:R=K:",
            "SHA-256=:AA==:",
            "=:AA==:", ",", "sha-256=:AA==:,", "\u{0}", "sha-256=:ÄÖ:",
        ]
    ) func `A field that isn't a dictionary of byte sequences is a fault`(field: String) {
        #expect(throws: StructuredFields.Fault.self) { try ContentDigest.digests(in: [field]) }
    }

    @Test func `A digest of another length is the digest of no body`() throws {
        let short = try ContentDigest.digests(in: ["sha-256=:AA==:"])
        #expect(short.count == 1 && short != [.of(Data())])
    }

    @Test func `Texts of digests`() {
        let digest = ContentDigest.of(Data())
        let hexadecimal = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(ContentDigest(.sha256, text: hexadecimal) == digest)
        #expect(ContentDigest(.sha256, text: " \(hexadecimal.uppercased())\n") == digest)
        #expect(ContentDigest(.sha256, text: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=") == digest)
        #expect(ContentDigest(.sha256, text: "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=") == digest)
        #expect(digest.description == "sha-256 \(hexadecimal)")
        for text in ["", "e3b0", hexadecimal + "00", String(repeating: "g", count: 64), String(repeating: "é", count: 32), "=", "sha256-"] {
            #expect(ContentDigest(.sha256, text: text) == nil, "\(text)")
        }
        #expect(ContentDigest(.sha512, text: hexadecimal) == nil)
    }

    @Test func `Random digests are read back`() throws {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<Sweep.rounds(ofAll: 400) {
            let data = Data((0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
            let digests = ContentDigest.Algorithm.allCases.shuffled(using: &random).map { ContentDigest.of(data, $0) }
            // MD5 is ignored in fields.
            let active = digests.filter(\.algorithm.isActive)
            #expect(try ContentDigest.digests(in: [ContentDigest.fieldValue(of: digests)]) == active && active.count == 2)
            for digest in digests {
                #expect(ContentDigest(digest.algorithm, text: Hexadecimal.text(of: [UInt8](digest.bytes))) == digest)
                #expect(ContentDigest(digest.algorithm, text: digest.bytes.base64EncodedString()) == digest)
            }
        }
    }
}
