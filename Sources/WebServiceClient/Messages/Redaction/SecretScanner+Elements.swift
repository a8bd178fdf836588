extension SecretScanner {
    /// `--password value`, as commands have it.
    mutating func option(_ word: Range<Int>) -> Int {
        guard forms.contains(.namedValues), let names = rules.names, word.count <= Self.reach,
            bytes[word.lowerBound + 1] == UInt8(ascii: "-"),
            word.upperBound + 1 < bytes.count, bytes[word.upperBound] == UInt8(ascii: " "), bytes[word.upperBound + 1] != UInt8(ascii: "-"),
            names.hides(bytes[word], isParameter: false)
        else { return word.upperBound }
        let content = valueContent(from: word.upperBound + 1)
        guard !content.isEmpty else { return word.upperBound }
        found.append(content)
        return content.upperBound
    }

    /// Whether a word is the option by which programs such as curl take a user with a password.
    func isUserOption(_ word: Range<Int>) -> Bool {
        switch word.count {
        case 2: isText(word, "-u")
        case 6: isText(word, "--user")
        case 12: isText(word, "--proxy-user")
        default: false
        }
    }

    /// `-u user:password`. Two numbers are a user and a group, and what goes on with slashes is a URL.
    ///
    /// - Returns: where to go on.
    mutating func userAndPassword(behind word: Range<Int>) -> Int {
        guard forms.contains(.namedValues), word.upperBound + 1 < bytes.count,
            bytes[word.upperBound].isBlank || bytes[word.upperBound] == UInt8(ascii: "=")
        else { return word.upperBound }
        var start = word.upperBound + 1
        let limit = min(bytes.count, start + Self.reach)
        while start < limit, bytes[start].isBlank { start += 1 }
        let content = valueContent(from: start)
        guard let colon = bytes[content].firstIndex(of: UInt8(ascii: ":")), colon + 1 < content.upperBound,
            !(bytes[content].allSatisfy { $0.isDigit || $0 == UInt8(ascii: ":") }), !starts(at: colon, with: "://")
        else { return word.upperBound }
        found.append(colon + 1..<content.upperBound)
        return content.upperBound
    }

    /// `<password>value</password>`, and `<key>password</key><string>value</string>`.
    mutating func element(at start: Int) -> Int {
        guard forms.contains(.namedValues), let names = rules.names else { return start + 1 }
        var end = start + 1
        let limit = min(bytes.count, start + 1 + Self.reach)
        while end < limit, isNamePart(bytes[end]) || bytes[end] == UInt8(ascii: ":") { end += 1 }
        let tag = start + 1..<end
        guard !tag.isEmpty else { return start + 1 }
        let attributes = min(bytes.count, end + 512)
        while end < attributes, bytes[end] != UInt8(ascii: ">") {
            guard bytes[end] != UInt8(ascii: "<"), bytes[end] != UInt8(ascii: "/") || bytes[end - 1].isQuote == false else {
                return start + 1
            }
            end += 1
        }
        guard end < bytes.count, bytes[end] == UInt8(ascii: ">"), bytes[end - 1] != UInt8(ascii: "/") else { return start + 1 }
        let content = end + 1..<(bytes[(end + 1)...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count)
        // A tag's attributes are searched like any text.
        let isHidden = names.hides(bytes[tag], isParameter: false)
        if isHidden || awaitsValue, let inner = markup(in: tag, from: end + 1) {
            awaitsValue = false
            found.append(inner)
            return start + 1
        }
        if isHidden || awaitsValue, !content.isEmpty {
            awaitsValue = false
            if !bytes[content].allSatisfy({ $0.isBlank || $0.isLineEnd }), !isInnocent(content) { found.append(content) }
            return start + 1
        }
        if isText(tag, "key") || isText(tag, "name"), content.count <= Self.reach {
            awaitsValue = names.hides(bytes[content], isParameter: true)
        }
        return start + 1
    }

    /// The content of an element that begins with a CDATA section or with another element. It ends at the closing tag, or at the end of the
    /// text.
    ///
    /// - Returns: `nil` if the content begins with anything else, or with blanks only: `<token> <user>` is a usage text.
    private mutating func markup(in tag: Range<Int>, from start: Int) -> Range<Int>? {
        var index = start
        let limit = min(bytes.count, start + Self.reach)
        var hasLineEnd = false
        while index < limit, bytes[index].isBlank || bytes[index].isLineEnd {
            hasLineEnd = hasLineEnd || bytes[index].isLineEnd
            index += 1
        }
        guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "<"), index == start || hasLineEnd else { return nil }
        if starts(at: index, with: "<![cdata[") {
            let end = place(from: index + 9) { scanner, place in scanner.starts(at: place, with: "]]>") }
            return index + 9..<end
        }
        guard bytes[index + 1].isAlphanumeric, !starts(at: index, with: "<masked>") else { return nil }
        let end = place(from: index) { scanner, place in
            scanner.bytes[place] == UInt8(ascii: "<") && place + 1 + tag.count < scanner.bytes.count
                && scanner.bytes[place + 1] == UInt8(ascii: "/")
                && tag.indices.allSatisfy { scanner.bytes[$0] == scanner.bytes[place + 2 - tag.lowerBound + $0] }
        }
        return index..<end
    }

    /// The first position that fits, or the end of the text. All these searches share a budget, so that the time stays linear; when it is used
    /// up, the rest of the text counts as secret.
    private mutating func place(from start: Int, _ isMeant: (SecretScanner, Int) -> Bool) -> Int {
        var index = start
        while index < bytes.count, lookahead < Self.lookaheadLimit + 4 * bytes.count {
            if isMeant(self, index) { return index }
            index += 1
            lookahead += 1
        }
        return bytes.count
    }

    private static let lookaheadLimit = 4_096
}
