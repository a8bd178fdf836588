extension SecretScanner {
    /// How far it is looked back for a name, and ahead for the next one.
    static let reach = SecretNames.longest

    /// The name before a separator.
    struct Name {
        var range: Range<Int>
        /// It stands behind `?`, `&` or `#`.
        var isParameter = false
        /// The quote before the name that isn't closed behind it.
        var openQuote: UInt8?
        var isQuoted = false
    }

    func name(before separator: Int) -> Name? {
        var end = separator
        // Blanks may align what is printed in columns.
        let limit = max(0, separator - Self.reach)
        var quote: UInt8?
        while end > limit,
            bytes[end - 1].isBlank || bytes[end - 1].isQuote || bytes[end - 1] == UInt8(ascii: "]")
                || bytes[end - 1] == UInt8(ascii: "\\") || bytes[end - 1] == UInt8(ascii: "!")
        {
            end -= 1
            if bytes[end].isQuote { quote = bytes[end] }
        }
        var start = end
        let first = max(0, end - Self.reach)
        var hasLetters = false
        while start > first, isNamePart(bytes[start - 1]) {
            start -= 1
            hasLetters = hasLetters || !bytes[start].isDigit
        }
        guard start < end, hasLetters else { return nil }
        var name = Name(range: start..<end)
        name.isQuoted = quote != nil
        guard start > 0 else { return name }
        let before = bytes[start - 1]
        name.isParameter = before == UInt8(ascii: "?") || before == UInt8(ascii: "&") || before == UInt8(ascii: "#")
        if before.isQuote, quote == nil { name.openQuote = before }
        return name
    }

    /// `API key: …`
    func namesInTwoWords(_ name: Name, _ names: SecretNames) -> Bool {
        guard name.range.count <= 10, name.range.lowerBound >= 2, bytes[name.range.lowerBound - 1] == UInt8(ascii: " ") else {
            return false
        }
        var start = name.range.lowerBound - 1
        let limit = max(0, start - 24)
        while start > limit, isNamePart(bytes[start - 1]) { start -= 1 }
        guard start < name.range.lowerBound - 1 else { return false }
        return names.hides(bytes[start..<name.range.upperBound], isParameter: false)
    }

    /// A name that is a value: short, and in quotes.
    func quotedName(from start: Int) -> Range<Int>? {
        guard bytes[start].isQuote else { return nil }
        let rest = bytes[(start + 1)..<min(bytes.count, start + 1 + Self.reach)]
        return rest.firstIndex { $0.isQuote || $0 == UInt8(ascii: "\\") }.map { start + 1..<$0 }
    }
}
