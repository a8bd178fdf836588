extension SecretScanner {
    /// How far it is looked back for a name, and ahead for the next one.
    private static let reach = SecretNames.longest

    /// The name before a separator.
    private struct Name {
        var range: Range<Int>
        /// It stands behind `?`, `&` or `#`.
        var isParameter = false
        /// The quote before the name that isn't closed behind it.
        var openQuote: UInt8?
        var isQuoted = false
    }

    /// `name=value` and `name: value` in all their spellings.
    ///
    /// - Returns: where to go on.
    mutating func namedValue(at separator: Int) -> Int {
        guard forms.contains(.namedValues), let names = redaction.names, let name = name(before: separator) else { return separator + 1 }
        if bytes[separator] == UInt8(ascii: ":"), bytes[(separator + 1)...].starts(with: "//".utf8), !name.isQuoted { return separator + 1 }
        let start = valueStart(behind: separator, crossesLines: name.isQuoted)
        guard start < bytes.count else { return separator + 1 }
        let isHidden = names.hides(bytes[name.range], isParameter: name.isParameter) || namesInTwoWords(name, names)
        if !isHidden {
            let isAwaited = awaitsValue && isValuing(name.range)
            if isAwaited || !awaitsValue, isNaming(name.range) {
                awaitsValue = quotedName(from: start).map { names.hides(bytes[$0], isParameter: true) } ?? false
            }
            guard isAwaited else { return separator + 1 }
            awaitsValue = false
        }
        let content =
            isHidden && SecretNames.isLine(bytes[name.range]) && !bytes[start].isQuote
            ? line(from: start, quote: name.openQuote) : valueContent(from: start, isParameter: name.isParameter)
        guard !content.isEmpty, !isInnocent(content) else { return separator + 1 }
        found.append(content)
        return content.upperBound
    }

    // MARK: Names

    private func name(before separator: Int) -> Name? {
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

    private func isNamePart(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte >= 0x80
    }

    /// `API key: …`
    private func namesInTwoWords(_ name: Name, _ names: SecretNames) -> Bool {
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
    private func quotedName(from start: Int) -> Range<Int>? {
        guard bytes[start].isQuote else { return nil }
        let rest = bytes[(start + 1)..<min(bytes.count, start + 1 + Self.reach)]
        return rest.firstIndex { $0.isQuote || $0 == UInt8(ascii: "\\") }.map { start + 1..<$0 }
    }

    private func isNaming(_ range: Range<Int>) -> Bool {
        switch range.count {
        case 3: isText(range, "key")
        case 4: isText(range, "name")
        case 5: isText(range, "field")
        case 6: isText(range, "header")
        case 9: isText(range, "parameter")
        default: false
        }
    }

    private func isValuing(_ range: Range<Int>) -> Bool {
        switch range.count {
        case 3: isText(range, "val")
        case 5: isText(range, "value")
        case 6: isText(range, "values")
        case 7: isText(range, "content")
        default: false
        }
    }

    // MARK: Values

    /// Where the value begins: behind blanks, and what else belongs to the separator, as in `=>`, `==` and `\":`.
    private func valueStart(behind separator: Int, crossesLines: Bool) -> Int {
        var index = separator + 1
        while index < bytes.count {
            let byte = bytes[index]
            let isSeparator = index < separator + 3 && (byte == UInt8(ascii: "=") || byte == UInt8(ascii: ">"))
            guard byte.isBlank || isSeparator || crossesLines && byte.isLineEnd else { break }
            index += 1
        }
        if index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1].isQuote { index += 1 }
        return index
    }

    /// The value's content, without the quotes around it.
    private func valueContent(from start: Int, isParameter: Bool = false) -> Range<Int> {
        if bytes[start].isQuote {
            let end = closing(of: start) ?? bytes.count
            return start + 1..<max(start + 1, end)
        }
        var depth = 0
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case _ where byte.isQuote:
                if let end = closing(of: index), index == start || depth > 0 { index = end } else if depth == 0 { return start..<index }
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 0 { return start..<index }
                depth -= 1
            case UInt8(ascii: "<") where depth == 0 && index > start:
                return start..<index
            case UInt8(ascii: "&") where depth == 0 && isParameter, UInt8(ascii: "#") where depth == 0 && isParameter:
                return start..<index
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "&"):
                if depth == 0, endsValue(at: index) { return start..<index }
            case _ where byte.isBlank || byte.isLineEnd:
                if depth == 0, byte.isLineEnd || !isScheme(start..<index) { return start..<index }
            default: break
            }
            index += 1
        }
        return start..<bytes.count
    }

    /// Whether a comma and its like ends a value: nothing is behind it, or the next name.
    private func endsValue(at index: Int) -> Bool {
        var next = index + 1
        guard next < bytes.count, !bytes[next].isBlank, !bytes[next].isLineEnd, !bytes[next].isQuote else { return true }
        let limit = min(bytes.count, next + 40)
        while next < limit, isNamePart(bytes[next]) { next += 1 }
        return next < limit && next > index + 1 && (bytes[next] == UInt8(ascii: "=") || bytes[next] == UInt8(ascii: ":"))
    }

    /// The place of the quote that closes another one; `nil` if none does.
    private func closing(of start: Int) -> Int? {
        let quote = bytes[start]
        // `\"` closes `\"`: it is text within a text.
        let isEscaped = start > 0 && bytes[start - 1] == UInt8(ascii: "\\")
        var index = start + 1
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\\") {
                if isEscaped, index + 1 < bytes.count, bytes[index + 1] == quote { return index }
                index += 1
            } else if bytes[index] == quote {
                return index
            }
            index += 1
        }
        return nil
    }

    /// The rest of a line, or of the quotes that it stands in.
    private func line(from start: Int, quote: UInt8?) -> Range<Int> {
        var index = start
        while index < bytes.count, !bytes[index].isLineEnd, bytes[index] != quote {
            if bytes[index] == UInt8(ascii: "\\"), quote != nil { index += 1 }
            index += 1
        }
        return start..<min(index, bytes.count)
    }

    /// A value that says nothing: no value, a truth value, a place for one, or the mask.
    private func isInnocent(_ range: Range<Int>) -> Bool {
        if range.count > 8 { return false }
        let words: [StaticString] = ["nil", "null", "none", "true", "false", "yes", "no", "<masked>"]
        if words.contains(where: { isText(range, $0) }) { return true }
        return range.count >= 5 && bytes[range].starts(with: "%%".utf8) && bytes[range.upperBound - 1] == UInt8(ascii: "%")
    }

    // MARK: Options and elements

    /// `--password value`, as commands have it.
    mutating func option(_ word: Range<Int>) -> Int {
        guard forms.contains(.namedValues), let names = redaction.names, word.count <= Self.reach,
            bytes[word.lowerBound + 1] == UInt8(ascii: "-"),
            word.upperBound + 1 < bytes.count, bytes[word.upperBound] == UInt8(ascii: " "), bytes[word.upperBound + 1] != UInt8(ascii: "-"),
            names.hides(bytes[word], isParameter: false)
        else { return word.upperBound }
        let content = valueContent(from: word.upperBound + 1)
        guard !content.isEmpty else { return word.upperBound }
        found.append(content)
        return content.upperBound
    }

    /// `<password>value</password>`, and `<key>password</key><string>value</string>`.
    mutating func element(at start: Int) -> Int {
        guard forms.contains(.namedValues), let names = redaction.names else { return start + 1 }
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
}
