import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct ChallengeFuzzTests {
    private static let seeds = [
        #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9XX", opaque="FQhe""#,
        #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"", Negotiate YII=="#,
        "Negotiate, NTLM TlRMTVNTUAAC==,,, Bearer scope=\"a b\", error = \"invalid_token\"",
        #"nextnonce="47364c23432d2e131a5fb210812c", qop=auth-int, rspauth="6629fae4", cnonce="0a4f113b", nc=00000001"#,
    ]

    private static let tokens = Array("\"\\,= \t;:@\u{0}\u{7f}é\u{10ffff}abcAZ09-._~+/*%".utf8) + [0xff, 0xc3, 0x0d, 0x0a]

    @Test func `ten thousand mutated lines are read to their end`() {
        var generator = SeededGenerator(seed: 7_616)
        for _ in 0..<10_000 {
            var bytes = Array((Self.seeds.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let position = Int.random(in: 0...bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes.insert(Self.tokens.randomElement(using: &generator) ?? 0, at: position)
                case 1 where position < bytes.count: bytes.remove(at: position)
                case 2 where position < bytes.count: bytes[position] = Self.tokens.randomElement(using: &generator) ?? 0
                default: bytes.removeSubrange(position..<min(bytes.count, position + Int.random(in: 0...9, using: &generator)))
                }
            }
            let cut = Int.random(in: 0...bytes.count, using: &generator)
            let whole = String(decoding: bytes, as: UTF8.self)
            let halves = [String(decoding: bytes[..<cut], as: UTF8.self), String(decoding: bytes[cut...], as: UTF8.self)]
            for lines in [[whole], halves] {
                let challenges = AuthenticationChallenge.challenges(in: lines)
                #expect(challenges.allSatisfy { !$0.scheme.isEmpty })
                #expect(challenges.reduce(0) { $0 + $1.parameters.count + 1 } <= bytes.count + 1)
                if let digest = DigestChallenge.strongest(of: challenges) {
                    #expect([digest.realm, digest.nonce, digest.opaque ?? ""].allSatisfy { QuotedString.canCarry($0) })
                }
                _ = AuthenticationInfo(lines: lines)
            }
        }
    }

    @Test func `long hostile lines take time in proportion to their length`() {
        for piece in ["\"", "\\", ",", "=", "a=", "a ", "a=\"", "a b,", "a b=\"\\\"", "\" ,"] {
            let line = String(repeating: piece, count: 40_000)
            _ = AuthenticationChallenge.challenges(in: [line, line])
        }
    }
}
