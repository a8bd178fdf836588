/// Finds the secrets in a text in a single pass. Most bytes belong to words, which take one table lookup per byte.
struct SecretScanner {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    let bytes: Bytes
    let rules: SecretRules
    private let kinds = ByteKind.table
    var found: [Range<Int>] = []
    /// Runs of Base64 digits that may encode text and must be decoded.
    private(set) var runs: [Range<Int>] = []
    /// Whether the text contains escapes to decode.
    private(set) var hasEscapes = false
    /// Whether a name declared the next value secret: `"name": "X-Api-Key", "value": "…"`.
    var awaitsValue = false
    /// Whether only an attribute in the same tag can be that value: the content of the element is already found.
    var awaitsValueInTag = false
    /// The start of the last value whose name may follow: `"value": "…", "name": "X-Api-Key"`.
    var lastValue: Int?
    /// The end of the last name whose value may follow.
    var lastName: Int?
    /// The number of bytes examined in search of the ends of elements.
    var lookahead = 0

    var forms: SecretForms { rules.forms }

    init(_ bytes: Bytes, _ rules: SecretRules) {
        self.bytes = bytes
        self.rules = rules
    }

    func isNamePart(_ byte: UInt8) -> Bool { kinds[Int(byte)].contains(.namePart) }

    mutating func scan() {
        var index = 0
        while index < bytes.count {
            let kind = kinds[Int(bytes[index])]
            if kind.contains(.word) {
                let (end, seen) = Self.word(from: index, in: bytes, kinds)
                let word = index..<end
                index = isPlain(word, kind, seen) ? end : max(end, look(at: word, seen))
            } else if kind.contains(.sign) {
                index = max(index + 1, sign(at: index))
            } else {
                index += 1
            }
        }
    }

    // MARK: Words

    /// Returns the end of the word that begins at a position, and the kinds of its bytes. This loop takes most of the time; it isn't
    /// inlined, because it would compete with its caller for registers.
    @inline(never) private static func word(
        from start: Int, in bytes: Bytes, _ kinds: UnsafePointer<ByteKind>
    ) -> (end: Int, seen: ByteKind) {
        var index = start
        var seen: ByteKind = []
        while index < bytes.count {
            let kind = kinds[Int(bytes[index])]
            guard kind.contains(.word) else { break }
            seen.formUnion(kind)
            index += 1
        }
        return (index, seen)
    }

    /// Whether a word doesn't need ``look(at:_:)``. Most words don't.
    private func isPlain(_ word: Range<Int>, _ first: ByteKind, _ seen: ByteKind) -> Bool {
        word.count < SecretSearch.shortestRun && !seen.contains(.digit) && !first.contains(.opening)
            && !(first.contains(.schemeInitial) && isScheme(word))
    }

    /// Whether a word is the name of an authentication scheme that is followed by a space.
    private func isScheme(_ word: Range<Int>) -> Bool {
        word.upperBound < bytes.count && bytes[word.upperBound].isBlank && bytes.isScheme(word)
    }

    /// Examines a word of letters, digits, and `-_./+~`.
    ///
    /// - Parameter seen: The kinds of its bytes.
    /// - Returns: The position where the scan continues.
    private mutating func look(at word: Range<Int>, _ seen: ByteKind) -> Int {
        let first = bytes[word.lowerBound]
        var end = word.upperBound
        if first == UInt8(ascii: "-") {
            if word.count >= 10, let end = pemBlock(at: word.lowerBound) { return end }
            if word.count > 2 { end = max(end, option(word)) }
            if isUserOption(word) { end = max(end, userAndPassword(after: word)) }
        } else if first == UInt8(ascii: "/"), word.count >= 2 {
            end = max(end, userInfo(at: word.lowerBound))
        }
        if seen.contains(.digit), mayHaveCard(word) { end = max(end, cardNumbers(in: word)) }
        if isScheme(word), let credentialsEnd = scheme(word) { return max(end, credentialsEnd) }
        if word.count >= SecretSearch.shortestRun { longWord(word, seen) }
        return end
    }

    /// Examines a punctuation character.
    ///
    /// - Returns: The position where the scan continues.
    private mutating func sign(at index: Int) -> Int {
        switch bytes[index] {
        case UInt8(ascii: "="), UInt8(ascii: ":"): return namedValue(at: index)
        case UInt8(ascii: "<"): return element(at: index)
        case UInt8(ascii: "@"): mailAddress(at: index)
        default: hasEscapes = hasEscapes || EscapedText.isEscape(at: index, in: bytes)
        }
        return index + 1
    }

    // MARK: Long words

    private mutating func longWord(_ word: Range<Int>, _ seen: ByteKind) {
        let (bytes, kinds, prefixes) = (bytes, kinds, rules.prefixes)
        // The shortest tokens have at least this length.
        let limit = word.upperBound - 10
        // Computed at most once, when something looks like a web token.
        lazy var lastDot = bytes[word].lastIndex(of: UInt8(ascii: ".")) ?? word.lowerBound
        var index = word.lowerBound
        while index < limit {
            if mayBeWebToken(at: index), lastDot >= index + 10 {
                found.append(index..<word.upperBound)
                break
            }
            let end = prefixes.end(from: index, to: word.upperBound, in: bytes)
            if let end { found.append(index..<end) }
            index = end ?? index + 1
            // Tokens begin after punctuation, never within a word.
            while index < limit, kinds[Int(bytes[index - 1])].contains(.alphanumeric) { index += 1 }
        }
        // Everything that it searches for contains a capital letter.
        if seen.contains(.capital) { pieces(of: word) }
    }

    /// Examines the parts of a word that consist of Base64 digits.
    private mutating func pieces(of word: Range<Int>) {
        var start = word.lowerBound
        for index in word.lowerBound...word.upperBound {
            let isEnd = index == word.upperBound
            guard isEnd || bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: "~") else { continue }
            if index - start >= SecretSearch.shortestRun { piece(start..<index) }
            start = index + 1
        }
    }

    private mutating func piece(_ piece: Range<Int>) {
        var end = piece.upperBound
        while end < bytes.count, end < piece.upperBound + 2, bytes[end] == UInt8(ascii: "=") { end += 1 }
        if Base64Run.isCandidate(piece, in: bytes) { runs.append(piece) }
        // Keys without a prefix: AWS secret access keys, Azure account keys and client secrets, Telegram bot tokens, lines of PEM.
        if forms.contains(.serviceKeys) {
            let isKey = (piece.count == 40 || piece.count == 86 && end == piece.upperBound + 2) && Base64Run.isRandom(piece, in: bytes)
            if isKey || isBotToken(piece) { found.append(piece.lowerBound..<end) }
            if end == piece.upperBound, end < bytes.count, bytes[end] == UInt8(ascii: "~") || bytes[end] == UInt8(ascii: ".") { return }
        }
        if forms.contains(.pemBlocks), piece.count == 64, Base64Run.isRandom(piece, in: bytes) { found.append(piece.lowerBound..<end) }
    }

    private func isBotToken(_ piece: Range<Int>) -> Bool {
        guard piece.count == 35, piece.lowerBound >= 2, bytes[piece.lowerBound - 1] == UInt8(ascii: ":"),
            bytes[piece.lowerBound - 2].isDigit
        else { return false }
        return bytes[piece.lowerBound] == UInt8(ascii: "A") && bytes[piece.lowerBound + 1] == UInt8(ascii: "A")
    }

    /// Whether a JSON Web Token in compact form may begin here, if a dot follows. It consists of Base64 parts separated by dots, the first
    /// of which is an object.
    private func mayBeWebToken(at start: Int) -> Bool {
        forms.contains(.webTokens) && bytes[start].lowercased == UInt8(ascii: "e") && bytes[start + 1].lowercased == UInt8(ascii: "y")
            && bytes[start + 2].lowercased == UInt8(ascii: "j")
    }

    // MARK: Numbers

    /// Whether a card number can begin in a word: the word is long enough, or the number continues after it.
    private func mayHaveCard(_ word: Range<Int>) -> Bool {
        word.count >= CardNumber.fewest || bytes[word.upperBound - 1].isDigit && CardNumber.continues(at: word.upperBound, in: bytes)
    }

    private mutating func cardNumbers(in word: Range<Int>) -> Int {
        guard forms.contains(.cardNumbers) else { return word.upperBound }
        let bytes = bytes
        var index = word.lowerBound
        var reached = word.upperBound
        // Skips digits that belong to a number before the word.
        while index > 0, index < word.upperBound, bytes[index - 1].isDigit, bytes[index].isDigit { index += 1 }
        while true {
            while index < word.upperBound, !bytes[index].isDigit { index += 1 }
            guard index < word.upperBound else { break }
            let start = index
            while index < word.upperBound, bytes[index].isDigit { index += 1 }
            if CardNumber.mayBegin(start..<index, in: bytes), let end = CardNumber.end(from: start, in: bytes) {
                found.append(start..<end)
                index = end
                reached = max(reached, end)
            }
        }
        return reached
    }

    // MARK: Addresses

    private mutating func mailAddress(at index: Int) {
        guard forms.contains(.emailAddresses) else { return }
        let isPart = { (byte: UInt8) in byte.isAlphanumeric || ".-_+".utf8.contains(byte) }
        var (start, end) = (index, index + 1)
        while start > 0, index - start < 64, isPart(bytes[start - 1]) { start -= 1 }
        while end < bytes.count, end - index < 255, isPart(bytes[end]) { end += 1 }
        if start < index, bytes[index + 1..<end].contains(UInt8(ascii: ".")) { found.append(start..<end) }
    }
}

extension SecretScanner {
    /// The number of bytes to look back for a name and ahead for the next one.
    static let reach = SecretNames.longest

    /// The name before a separator.
    struct Name {
        var range: Range<Int>
        /// Whether it follows `?`, `&` or `#`.
        var isParameter = false
        /// The quote before the name if it isn't closed after the name.
        var openQuote: UInt8?
        var isQuoted = false
    }

    func name(before separator: Int) -> Name? {
        var end = separator
        // Columns may be aligned with spaces.
        let limit = max(0, separator - Self.reach)
        var quote: UInt8?
        var hasBracket = false
        while end > limit, isAfterName(end - 1, isBracketed: hasBracket) {
            end -= 1
            if bytes[end].isQuote { quote = bytes[end] }
            hasBracket = bytes[end] == UInt8(ascii: "]") || hasBracket && bytes[end] != UInt8(ascii: "[")
        }
        var start = end
        let first = max(0, end - Self.reach)
        var hasLetters = false
        // A form writes the member of an object as `credentials[user]`.
        while start > first, isNamePart(bytes[start - 1]) || hasBracket && bytes[start - 1].isBracket {
            start -= 1
            hasLetters = hasLetters || isNamePart(bytes[start]) && !bytes[start].isDigit
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

    /// Whether a byte can come between a name and its separator: `"name" =`, `name[]=`, `AnyHashable("name"):`.
    private func isAfterName(_ index: Int, isBracketed: Bool) -> Bool {
        let byte = bytes[index]
        if byte == UInt8(ascii: "[") { return isBracketed }
        if byte == UInt8(ascii: ")") { return index > 0 && bytes[index - 1].isQuote }
        return byte.isBlank || byte.isQuote || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "!")
    }

    /// Matches names of two words, such as `API key: …`.
    func namesInTwoWords(_ name: Name, _ names: SecretNames) -> Bool {
        guard name.range.count <= 10, name.range.lowerBound >= 2, bytes[name.range.lowerBound - 1] == UInt8(ascii: " ") else {
            return false
        }
        var start = name.range.lowerBound - 1
        let limit = max(0, start - 24)
        while start > limit, isNamePart(bytes[start - 1]) { start -= 1 }
        let first = start..<name.range.lowerBound - 1
        guard !first.isEmpty else { return false }
        // Parameters of a challenge whose scheme is the first word: `Bearer error="invalid_token"`.
        if bytes[first].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
            ["error", "realm", "scope"].contains(where: { bytes[name.range].elementsEqual($0.utf8) })
        {
            return false
        }
        return names.hides(bytes[start..<name.range.upperBound], isParameter: false)
    }

    /// Returns the range of a value that is a name: short and in quotes.
    func quotedName(from start: Int) -> Range<Int>? {
        guard bytes[start].isQuote else { return nil }
        let rest = bytes[(start + 1)..<min(bytes.count, start + 1 + Self.reach)]
        return rest.firstIndex { $0.isQuote || $0 == UInt8(ascii: "\\") }.map { start + 1..<$0 }
    }
}

extension SecretScanner {
    /// Returns the content of a YAML block (YAML 1.2.2 §8): the indented lines after `password: |`, or a list or an object after `tokens:`.
    ///
    /// - Parameter name: The name of the block.
    /// - Returns: The lines, without the indentation of the first; `nil` if no block begins here.
    func block(after separator: Int, of name: Range<Int>) -> Range<Int>? {
        guard bytes[separator] == UInt8(ascii: ":"), var line = endOfBlockHeader(after: separator, of: name.lowerBound) else { return nil }
        let indentation = column(of: name.lowerBound)
        var content: Range<Int>?
        while line < bytes.count {
            let start = end(from: line, to: bytes.count, while: \.isBlank)
            let end = end(from: start, to: bytes.count) { !$0.isLineEnd }
            if start < end {
                // The dashes of a list may be below the first letter of its name.
                let isItem = starts(at: start, with: "- ") && start - line == indentation
                guard start - line > indentation || isItem else { break }
                content = (content?.lowerBound ?? start)..<end
            }
            line = end + 1
        }
        return content
    }

    /// Returns the end of a line with nothing, or with `|` or `>` and an optional prefix (a tag, an anchor) and suffix (indentation, chomping,
    /// a comment); `nil` if the line contains anything else.
    private func endOfBlockHeader(after separator: Int, of name: Int) -> Int? {
        let limit = min(bytes.count, separator + Self.reach)
        var index = end(from: separator + 1, to: limit, while: \.isBlank)
        while index < limit, bytes[index] == UInt8(ascii: "!") || bytes[index] == UInt8(ascii: "&") {
            index = end(from: index, to: limit) { !$0.isBlank && !$0.isLineEnd }
            index = end(from: index, to: limit, while: \.isBlank)
        }
        guard index < limit else { return nil }
        if bytes[index].isLineEnd {
            // The lines after the end of a sentence, such as `Invalid password:`, are no value.
            guard beginsLine(name) else { return nil }
            if bytes[index] == 0x0A { return index + 1 }
            if index + 1 < limit, bytes[index + 1] == 0x0A { return index + 2 }
        }
        guard bytes[index] == UInt8(ascii: "|") || bytes[index] == UInt8(ascii: ">") else { return nil }
        index = end(from: index + 1, to: min(limit, index + 3)) { $0.isDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        index = end(from: index, to: limit, while: \.isBlank)
        if index < limit, bytes[index] == UInt8(ascii: "#") { index = end(from: index, to: limit) { !$0.isLineEnd } }
        guard index < limit, bytes[index].isLineEnd else { return nil }
        return index + 1
    }

    /// Whether only blanks and the dashes of sequences precede a place in its line.
    private func beginsLine(_ place: Int) -> Bool {
        let limit = max(0, place - Self.reach)
        let before = bytes[limit..<place].last { !$0.isBlank && $0 != UInt8(ascii: "-") }
        return before.map(\.isLineEnd) ?? (limit == 0)
    }

    /// Returns the indentation of a line's content, including the dashes of sequences; 0 if the line begins too far back.
    private func column(of place: Int) -> Int {
        let limit = max(0, place - Self.reach)
        var start = place
        while start > limit, !bytes[start - 1].isLineEnd { start -= 1 }
        guard start == 0 || bytes[start - 1].isLineEnd else { return 0 }
        return end(from: start, to: place) { $0.isBlank || $0 == UInt8(ascii: "-") } - start
    }

    private func end(from start: Int, to limit: Int, while matches: (UInt8) -> Bool) -> Int {
        var index = start
        while index < limit, matches(bytes[index]) { index += 1 }
        return index
    }
}

extension SecretScanner {
    func isText(_ range: Range<Int>, _ text: StaticString) -> Bool { bytes.isText(range, text) }

    /// Finds the credentials after a scheme.
    ///
    /// - Returns: Their end; `nil` if there are none.
    mutating func scheme(_ word: Range<Int>) -> Int? {
        guard forms.contains(.bearerTokens) else { return nil }
        var start = word.upperBound
        while start < bytes.count, start < word.upperBound + 8, bytes[start].isBlank { start += 1 }
        if start < bytes.count, bytes[start].isQuote { start += 1 }
        var end = start
        var (hasDigit, hasSign, upper, lower) = (false, false, 0, 0)
        while end < bytes.count, bytes[end].isAlphanumeric || "-._~+/=".utf8.contains(bytes[end]) {
            hasDigit = hasDigit || bytes[end].isDigit
            hasSign = hasSign || !bytes[end].isAlphanumeric && end > start
            upper += bytes[end].isUppercase ? 1 : 0
            lower += bytes[end].isLowercase ? 1 : 0
            end += 1
        }
        // "The bearer certificate" contains no credentials. A word at the end of a sentence has a dot.
        while end > start, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        let count = end - start
        let isMixed = hasDigit || hasSign && upper + lower < count - 1 || upper > 1 && lower > 0
        let isCredential =
            switch bytes[word.lowerBound].lowercased {
            case UInt8(ascii: "b") where word.count == 5: count >= 4 && isPair(start..<end)
            case UInt8(ascii: "b"), UInt8(ascii: "d"): count >= 20 || count >= 6 && isMixed
            default: count >= 16 && isMixed
            }
        guard isCredential else { return nil }
        found.append(start..<end)
        return end
    }

    /// Whether a range is the Base64 of user and password (RFC 7617 §2).
    private func isPair(_ range: Range<Int>) -> Bool {
        let decoded = Base64Run.decoded(range, of: bytes)
        return decoded.contains(UInt8(ascii: ":")) && decoded.allSatisfy { $0 >= 0x20 }
    }

    /// Finds the user info of a URL after its `//`.
    ///
    /// - Returns: The position where the scan continues.
    mutating func userInfo(at slashes: Int) -> Int {
        guard forms.contains(.urlUserInfo), slashes + 1 < bytes.count, bytes[slashes + 1] == UInt8(ascii: "/") else { return slashes }
        let start = slashes + 2
        var end = start
        var (at, colon): (Int?, Int?) = (nil, nil)
        var isAuthority = true
        let limit = min(bytes.count, start + 1_024)
        while end < limit {
            let byte = bytes[end]
            if byte.isBlank || byte.isLineEnd || byte.isQuote || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") { break }
            if isAuthority, byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
                isAuthority = false
                // A password may contain such a character by mistake. The text after the colon isn't a port then.
                guard at == nil, let colon, !bytes[(colon + 1)..<end].allSatisfy(\.isDigit) else { break }
            }
            if byte == UInt8(ascii: "@") { at = end }
            if byte == UInt8(ascii: ":"), colon == nil { colon = end }
            end += 1
        }
        guard let at, at > start else { return slashes }
        found.append(start..<at)
        return at
    }

    /// Finds a PEM block: the text between its first and last line, or up to the end of the text.
    ///
    /// - Returns: The position where the scan continues; `nil` if none begins here.
    mutating func pemBlock(at start: Int) -> Int? {
        guard forms.contains(.pemBlocks), starts(at: start, with: "-----begin") else { return nil }
        var index = start + 10
        let limit = min(bytes.count, index + 64)
        while index < limit, !starts(at: index, with: "-----") { index += 1 }
        guard index < limit else { return nil }
        let content = index + 5
        var end = content
        while end < bytes.count, !(bytes[end] == UInt8(ascii: "-") && starts(at: end, with: "-----end")) { end += 1 }
        guard end > content else { return nil }
        found.append(content..<end)
        return end
    }

    func starts(at index: Int, with text: StaticString) -> Bool {
        bytes.count - index >= text.utf8CodeUnitCount && isText(index..<index + text.utf8CodeUnitCount, text)
    }
}
