/// A deterministic generator (SplitMix64) for the property tests of messages and serializers.
struct SerializationSeed: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A text of up to `length` characters: ASCII, delimiters, controls, other scripts, emoji.
    mutating func text(upTo length: Int) -> String {
        let alphabet = Array("abcXYZ019 \t\r\n\"'\\;,=/+&%[]<>{}()*-._~\u{0}\u{7F}äßéЖ漢字🙂👩‍👩‍👧\u{301}\u{FFFD}")
        return String((0..<Int.random(in: 0...length, using: &self)).map { _ in alphabet.randomElement(using: &self) ?? "a" })
    }

    mutating func bytes(upTo length: Int) -> [UInt8] {
        (0..<Int.random(in: 0...length, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
