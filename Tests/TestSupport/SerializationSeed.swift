/// A deterministic generator for the property tests of messages and serializers.
package struct SerializationSeed: RandomNumberGenerator {
    private var generator: SeededGenerator

    package init(_ seed: UInt64) { generator = SeededGenerator(seed: seed) }

    package mutating func next() -> UInt64 { generator.next() }

    /// A text of up to `length` characters: ASCII, delimiters, controls, other scripts, emoji.
    package mutating func text(upTo length: Int) -> String {
        let alphabet = Array("abcXYZ019 \t\r\n\"'\\;,=/+&%[]<>{}()*-._~\u{0}\u{7F}äßéЖ漢字🙂👩‍👩‍👧\u{301}\u{FFFD}")
        return String((0..<Int.random(in: 0...length, using: &self)).map { _ in alphabet.randomElement(using: &self) ?? "a" })
    }

    package mutating func bytes(upTo length: Int) -> [UInt8] {
        (0..<Int.random(in: 0...length, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
