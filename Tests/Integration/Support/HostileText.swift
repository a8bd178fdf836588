/// Values that a service must not misinterpret, the same on each run.
struct HostileText: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let shifted = (state ^ (state >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        return shifted ^ (shifted >> 29)
    }

    private static let pieces = [
        "%", "%%", "%%0%%", "%%1%%", "%%value%%", "%2F", "%2f", "%00", "%zz", "%C3", "{x}", "{+x}", "{?x*}", "/", "//", "\\", ".", "..",
        "../",
        "?", "a=b", "&", "=", "#", ";", ":", "@", "+", " ", ",", "'", "''", "\"", "<b>", "(", ")", "[", "]", "$", "!", "*", "|", "^", "`",
        "~",
        "\r", "\n", "\r\n", "\t", "\0", "\u{1}", "\u{1B}", "\u{7F}", "\u{85}", "\u{A0}", "\u{200B}", "\u{2028}", "\u{202E}", "\u{FEFF}",
        "\u{FFFD}", "\u{10FFFF}", "é", "e\u{301}", "ß", "日本", "🎉", "👩‍👩‍👧", "🇩🇪", "a", "Z", "0", "null", "%22", "HTTP/1.1",
    ]

    private static let known = [
        "", "%", "%%1%%", "%%0%%", "%%value%%", "../", "..", ".", "...", "./", "/..", "a/../b", "..;/", "%2e%2e", "?a=b&c", "?", "#",
        "#top",
        "\r\nX-Injected: 1", "\r\n\r\nGET / HTTP/1.1\r\n\r\n", "\n", "\r", "\0", "a\0b", "%2F", "%252F", "%00", "%0d%0a", "/", "//",
        "//host/",
        "http://host/", "a b", " a", "a ", " ", "\t", "+", "a+b", "&", "=", "a=b", ";", ",", ":", "@", "user@host", "\\", "\\\\host\\share",
        "'",
        "O'Hara", "''", "'; DROP TABLE x; --", "' or 1 eq 1", "\"", "\"}", "{\"a\":1}", "[]", "<script>", "{value}", "{?value*}",
        "${jndi:x}", "🎉",
        "👩‍👩‍👧 🇩🇪", "é", "e\u{301}", "\u{301}", "\u{202E}abc", "\u{FEFF}bom", "日本語/テスト", "true", "null", "-0", "1e999", "~", "*", "!$&'()*+,;=",
        "0", "NaN",
    ]

    /// Longer than servers accept in a request line or a header.
    static let long = [
        String(repeating: "x", count: 8_192), String(repeating: "ä%/?\u{1F389} ", count: 700), String(repeating: "9", count: 20_000),
    ]

    /// The common values, the long ones, and many made of bad pieces.
    static func values(random count: Int = 220) -> [String] {
        var random = HostileText(seed: 7)
        let made = (0..<count).map { _ in
            (0..<Int.random(in: 1...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        }
        return known + long + made
    }
}
