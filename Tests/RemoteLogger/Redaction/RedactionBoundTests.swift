import Foundation
import RemoteLogger
import TestSupport
import Testing

/// Hostile text takes linear time and never traps.
@Suite struct RedactionBoundTests {
    static let hostile: [String] = [
        "password=(", "key:\"", "key:(", "{\"name\":\"", "//a:b", "://x:y/", "<a ", "<password>", "\\\"", "\\", "%25", "%2525", "eyJ-",
        "eyJhbGciOi.", "hf_-", "sk-a-",
        "Bearer a ", "basic a", "a=a,", "token=a,", "-----BEGIN ", "-----BEGIN A-----", "QUJD", "cGFzc3dvcmQ9", "--token a", "4 ", "41-",
        "1", "&quot;", "\\u0022", "'\"`",
        "secret:[{(", "secret:'\\", "a: \"", "Authorization: ", "@a.b", "é=", "\u{0}", "ghp_aaaaaaaa", "UFFGQ1FVSkQ=",
        "password: |\n", "password: |\n ", "- token: >-\n\n", "pin: !a |\n  x\n", "pwd: | # ", "  pwd: |\r  ",
    ]

    @Test(arguments: hostile) func `the work grows with the length alone`(piece: String) {
        func time(_ count: Int) -> UInt64 {
            let text = String(repeating: piece, count: count / piece.utf8.count)
            return (0..<3).map { _ in threadWork { _ = LogRedaction.standard.masked(text) } }.min() ?? 0
        }
        // Sixteen times as much text: quadratic work would take 256 times as long.
        let (short, long) = (time(1_000), time(16_000))
        #expect(long < short * 120 + 50_000_000, "\(short), \(long)")
    }

    @Test func `any text is masked without a trap, and stays masked`() {
        var generator = SeededGenerator(seed: 11)
        let pieces =
            Self.hostile + [
                "password", "=", ":", "\"", "hunter22", " ", "\n", "Ω", "🦊", "</", ">", "&", "?", "x", "4111111111111111", "%", "\\u00",
            ]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 0...12, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let masked = LogRedaction.standard.masked(text)
            #expect(!masked.contains("hunter22") || !text.contains("password=hunter22"), "\(text.debugDescription)")
        }
    }
}
