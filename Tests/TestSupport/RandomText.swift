/// Random texts from a seed that resemble hostile or unusual values.
package struct RandomText: RandomNumberGenerator {
    private var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    package mutating func next() -> UInt64 { generator.next() }

    /// Returns a text of up to `limit` pieces: ASCII of any kind, control characters, delimiters, triplets, scalars from all planes.
    package mutating func text(upTo limit: Int = 40) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...limit, using: &self) {
            switch Int.random(in: 0..<6, using: &self) {
            case 0: text.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 0...127, using: &self)))
            case 1: text.append(["%", "%2", "%41", "%zz", "%%0%%", "%C3%A9", "%ff"].randomElement(using: &self) ?? "%")
            case 2: text.append(["/", "..", "?", "#", "&", "=", "+", ";", ",", ":", "@", "[", "]", " "].randomElement(using: &self) ?? "/")
            case 3: text.append(["\r\n", "\0", "\t", "\u{7F}", "\u{FEFF}", "\u{FFFD}"].randomElement(using: &self) ?? "\0")
            case 4: text.append(["é", "e\u{301}", "日本", "👩‍👩‍👧", "🇩🇪", "\u{200B}"].randomElement(using: &self) ?? "é")
            default:
                if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self)) { text.unicodeScalars.append(scalar) }
            }
        }
        return text
    }

    /// Returns one to five of the pieces, concatenated.
    package mutating func choice(of pieces: [String]) -> String {
        (0..<Int.random(in: 1...5, using: &self)).map { _ in pieces.randomElement(using: &self) ?? "" }.joined()
    }

    /// Returns common hostile values, followed by random ones.
    package static func hostile(seed: UInt64, count: Int) -> [String] {
        var random = RandomText(seed: seed)
        let known = [
            "", "%", "%%", "%2", "%2F", "%%1%%", "../", ".", "..", "?a=b&c", "#", "\r\nX: y", "\0", "+", " ", "a b", "&", "=", ";", "🎉",
            "%C3%28", "\u{301}", "a\u{301}/", String(repeating: "ä%\n", count: 3_334), String(repeating: "x", count: 10_000),
        ]
        return known + (0..<count).map { _ in random.text() }
    }
}
