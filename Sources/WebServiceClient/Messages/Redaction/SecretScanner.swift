/// Goes through a text once and finds the secrets in it. Most bytes belong to words, which are passed over by one look at a table each.
struct SecretScanner {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    let bytes: Bytes
    let rules: SecretRules
    private let kinds = ByteKind.table
    var found: [Range<Int>] = []
    /// Runs of the digits of Base64 that may be text, to be decoded.
    private(set) var runs: [Range<Int>] = []
    /// Whether there is something to be unescaped.
    private(set) var hasEscapes = false
    /// A name said that the next value is secret: `"name": "X-Api-Key", "value": "…"`.
    var awaitsValue = false
    /// How many bytes were looked at in search of ends of elements.
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

    /// The end of the word that begins at a place, and what its bytes are: the loop that takes most of the time. Within the one that calls it, it
    /// would have to share the registers.
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

    /// Whether a word is none of those that ``look(at:_:)`` is for: that is what most words are.
    private func isPlain(_ word: Range<Int>, _ first: ByteKind, _ seen: ByteKind) -> Bool {
        word.count < SecretSearch.shortestRun && !seen.contains(.digit) && !first.contains(.opening)
            && !(first.contains(.schemeInitial) && isScheme(word))
    }

    /// Whether a word is the name of an authentication scheme with something behind it.
    private func isScheme(_ word: Range<Int>) -> Bool {
        word.upperBound < bytes.count && bytes[word.upperBound].isBlank && bytes.isScheme(word)
    }

    /// Looks at a word: letters, digits, and `-_./+~`.
    ///
    /// - Parameter seen: what its bytes are.
    /// - Returns: where to go on.
    private mutating func look(at word: Range<Int>, _ seen: ByteKind) -> Int {
        let first = bytes[word.lowerBound]
        var end = word.upperBound
        if first == UInt8(ascii: "-") {
            if word.count >= 10, let end = pemBlock(at: word.lowerBound) { return end }
            if word.count > 2 { end = max(end, option(word)) }
            if isUserOption(word) { end = max(end, userAndPassword(behind: word)) }
        } else if first == UInt8(ascii: "/"), word.count >= 2 {
            end = max(end, userInfo(at: word.lowerBound))
        }
        if seen.contains(.digit), mayHaveCard(word) { end = max(end, cardNumbers(in: word)) }
        if isScheme(word), let behind = scheme(word) { return max(end, behind) }
        if word.count >= SecretSearch.shortestRun { longWord(word, seen) }
        return end
    }

    /// Looks at a sign.
    ///
    /// - Returns: where to go on.
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
        // No token is shorter.
        let limit = word.upperBound - 10
        // Searched for when something begins like a web token, and once, however often that is.
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
            // Something begins behind a sign only, not within a word.
            while index < limit, kinds[Int(bytes[index - 1])].contains(.alphanumeric) { index += 1 }
        }
        // All that is looked for in them has a capital.
        if seen.contains(.capital) { pieces(of: word) }
    }

    /// The pieces of a word that have only digits of Base64.
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
        // Keys without a prefix: secret access keys of AWS, account keys and client secrets of Azure, a bot's of Telegram, lines of PEM.
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

    /// Whether a JSON Web Token in its compact form may begin here, given a dot behind: parts of Base64 with dots between, the first of which
    /// is an object.
    private func mayBeWebToken(at start: Int) -> Bool {
        forms.contains(.webTokens) && bytes[start].lowercased == UInt8(ascii: "e") && bytes[start + 1].lowercased == UInt8(ascii: "y")
            && bytes[start + 2].lowercased == UInt8(ascii: "j")
    }

    // MARK: Numbers

    /// Whether a card's number can begin in a word: the word is long enough, or the number goes on behind it.
    private func mayHaveCard(_ word: Range<Int>) -> Bool {
        word.count >= CardNumber.fewest || bytes[word.upperBound - 1].isDigit && CardNumber.goesOn(at: word.upperBound, in: bytes)
    }

    private mutating func cardNumbers(in word: Range<Int>) -> Int {
        guard forms.contains(.cardNumbers) else { return word.upperBound }
        let bytes = bytes
        var index = word.lowerBound
        var behind = word.upperBound
        // What a number before the word has left.
        while index > 0, index < word.upperBound, bytes[index - 1].isDigit, bytes[index].isDigit { index += 1 }
        while true {
            while index < word.upperBound, !bytes[index].isDigit { index += 1 }
            guard index < word.upperBound else { break }
            let start = index
            while index < word.upperBound, bytes[index].isDigit { index += 1 }
            if CardNumber.mayBegin(start..<index, in: bytes), let end = CardNumber.end(from: start, in: bytes) {
                found.append(start..<end)
                index = end
                behind = max(behind, end)
            }
        }
        return behind
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
