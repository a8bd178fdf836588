import Foundation
import TestSupport
import Testing

@testable import RemoteLogger

// zlib is a system library that may be absent: then bodies aren't compressed, and these tests are skipped.
@Suite(.enabled(if: Gzip.isAvailable, "needs libz"))
struct GzipTests {
    @Test(
        .enabled("needs the gzip command in PATH") {
            (try? await ChildProcess.run(["sh", "-c", "command -v gzip"]))?.status == 0
        })
    func `gzip itself reads what was written`() async throws {
        var generator = SeededGenerator(seed: 5)
        for level in 1...9 {
            let count = level * 20_000
            let text = Data((0..<count).map { _ in UInt8.random(in: 97...104, using: &generator) })
            guard case .compressed(let small) = Gzip.compress(text, level: level) else {
                Issue.record("Level \(level) makes nothing smaller.")
                continue
            }
            #expect(small.count < text.count * 3 / 5)
            let result = try await ChildProcess.run(["gzip", "-dc"], input: small)
            #expect(result.status == 0)
            // Outside the expectation, which would spend minutes on the differences of such long texts.
            let isSame = result.output == text
            #expect(isSame)
        }
    }

    @Test func `the same bytes give the same bytes`() {
        let text = Data(String(repeating: "same ", count: 1_000).utf8)
        #expect(Gzip.compress(text, level: 1) == Gzip.compress(text, level: 1))
        #expect(Gzip.compress(text, level: -5) == Gzip.compress(text, level: 1))
        #expect(Gzip.compress(text, level: 100) == Gzip.compress(text, level: 9))
    }

    @Test func `what would not get smaller stays as it is`() {
        var generator = SeededGenerator(seed: 6)
        #expect(Gzip.compress(Data((0..<5_000).map { _ in UInt8.random(in: 0...255, using: &generator) }), level: 9) == .useless)
        #expect(Gzip.compress(Data("short".utf8), level: 1) == .useless)
        #expect(Gzip.compress(Data(), level: 1) == .useless)
    }
}
