/// Goes through a text once and finds the secrets in it. Most bytes belong to words, which are passed over by one look at a table each.
struct SecretScanner {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    let bytes: Bytes
    let redaction: LogRedaction
    var found: [Range<Int>] = []
    /// Runs of the digits of Base64 that may be text, to be decoded.
    private(set) var runs: [Range<Int>] = []
    /// Whether there is something to be unescaped.
    private(set) var hasEscapes = false
    /// A name said that the next value is secret: `"name": "X-Api-Key", "value": "…"`.
    var awaitsValue = false

    var forms: SecretForms { redaction.forms }

    init(_ bytes: Bytes, _ redaction: LogRedaction) {
        self.bytes = bytes
        self.redaction = redaction
    }

    /// What a byte means: 0 nothing, 1 part of a word, 2 something to look at.
    static let kinds: [UInt8] = {
        var kinds = [UInt8](repeating: 0, count: 256)
        for byte in UInt8.min...UInt8.max where byte.isAlphanumeric { kinds[Int(byte)] = 1 }
        for byte in "-_./+~".utf8 { kinds[Int(byte)] = 1 }
        for byte in "=:%\\&<@".utf8 { kinds[Int(byte)] = 2 }
        return kinds
    }()

    /// - Parameter start: where to begin, of what ``firstSuspect(in:)`` says.
    mutating func scan(from start: Int) {
        Self.kinds.withUnsafeBufferPointer { kinds in
            var index = start
            while index < bytes.count {
                switch kinds[Int(bytes[index])] {
                case 0:
                    index += 1
                case 1:
                    let start = index
                    var hasDigits = false
                    while index < bytes.count, kinds[Int(bytes[index])] == 1 {
                        hasDigits = hasDigits || bytes[index].isDigit
                        index += 1
                    }
                    index = max(index, word(start..<index, hasDigits: hasDigits))
                default:
                    index = max(index + 1, sign(at: index))
                }
            }
        }
    }

    /// Looks at a word: letters, digits, and `-_./+~`.
    ///
    /// - Returns: where to go on.
    private mutating func word(_ word: Range<Int>, hasDigits: Bool) -> Int {
        let first = bytes[word.lowerBound]
        var end = word.upperBound
        if first == UInt8(ascii: "-") {
            if word.count >= 10, let end = pemBlock(at: word.lowerBound) { return end }
            if word.count > 2 { end = max(end, option(word)) }
        } else if first == UInt8(ascii: "/"), word.count >= 2 {
            end = max(end, userInfo(at: word.lowerBound))
        }
        if hasDigits { end = max(end, cardNumbers(in: word)) }
        if word.count <= 9, let behind = scheme(word) { return max(end, behind) }
        if word.count >= SecretSearch.shortestRun { longWord(word) }
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

    // MARK: Words

    private mutating func longWord(_ word: Range<Int>) {
        let lastDot = bytes[word].lastIndex(of: UInt8(ascii: "."))
        var index = word.lowerBound
        while index < word.upperBound {
            // Something begins behind a sign only, not within a word.
            guard index == word.lowerBound || !bytes[index - 1].isAlphanumeric else {
                index += 1
                continue
            }
            if forms.contains(.webTokens), let lastDot, isWebToken(at: index, lastDot: lastDot) {
                found.append(index..<word.upperBound)
                index = word.upperBound
            } else if let end = redaction.prefixes.end(from: index, to: word.upperBound, in: bytes) {
                found.append(index..<end)
                index = end
            } else {
                index += 1
            }
        }
        pieces(of: word)
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

    /// Whether a JSON Web Token in its compact form begins here: parts of Base64 with dots between, the first of which is an object.
    private func isWebToken(at start: Int, lastDot: Int) -> Bool {
        lastDot >= start + 10 && bytes[start].lowercased == UInt8(ascii: "e") && bytes[start + 1].lowercased == UInt8(ascii: "y")
            && bytes[start + 2].lowercased == UInt8(ascii: "j")
    }

    // MARK: Numbers

    private mutating func cardNumbers(in word: Range<Int>) -> Int {
        guard forms.contains(.cardNumbers) else { return word.upperBound }
        var index = word.lowerBound
        var behind = word.upperBound
        while index < word.upperBound {
            guard bytes[index].isDigit, index == 0 || !bytes[index - 1].isDigit else {
                index += 1
                continue
            }
            if let end = CardNumber.end(from: index, in: bytes) {
                found.append(index..<end)
                index = end
                behind = max(behind, end)
            } else {
                index += 1
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
