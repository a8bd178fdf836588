import Testing

@testable import RemoteLogger

@Suite struct RecentTextsTests {
    /// Texts with the same end share a slot.
    @Test func `gives each text, whatever came before`() {
        var texts = RecentTexts()
        let ends = [
            "", "x", "same end of a text", "Same end of a text", "another end of a text", "an other end of a text",
            "ü and the end of a text",
        ]
        for _ in 0..<3 {
            for text in ends + ends.reversed() {
                #expect(Array(text.utf8).withUnsafeBytes { texts.text(of: $0) } == text)
            }
        }
        let broken: [UInt8] = [0xFF] + Array(" and the end of a text".utf8)
        for _ in 0..<2 { #expect(broken.withUnsafeBytes { texts.text(of: $0) } == "\u{FFFD} and the end of a text") }
    }
}
