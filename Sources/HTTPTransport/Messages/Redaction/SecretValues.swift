extension SecretScanner {
    /// Finds `name=value` and `name: value` in all spellings.
    ///
    /// - Returns: The position where the scan continues.
    mutating func namedValue(at separator: Int) -> Int {
        guard forms.contains(.namedValues), let names = rules.names, let name = name(before: separator) else { return separator + 1 }
        if bytes[separator] == UInt8(ascii: ":"), !name.isQuoted, starts(at: separator + 1, with: "//") { return separator + 1 }
        let start = valueStart(after: separator, crossesLines: name.isQuoted)
        guard start < bytes.count else { return separator + 1 }
        let isHidden = names.hides(bytes[name.range], isParameter: name.isParameter) || namesInTwoWords(name, names)
        if !isHidden, let part = partContent(named: name.range, from: start, names) {
            if !part.isEmpty, !isHarmless(part) { found.append(part) }
            return part.upperBound
        }
        if !isHidden {
            let isValuing = bytes.isValuing(name.range)
            let isAwaited = awaitsValue && isValuing
            if isAwaited || !awaitsValue, bytes.isNaming(name.range) {
                let isSecret = quotedName(from: start).map { names.hides(bytes[$0], isParameter: true) } ?? false
                let value = valueBefore(name.range)
                if isSecret, let value, !value.isEmpty, !isHarmless(value) { found.append(value) }
                awaitsValue = isSecret && value == nil
                lastName = value == nil ? name.range.upperBound : nil
            }
            if isValuing, !isAwaited {
                // The value of a name before it isn't that of a name after it.
                lastValue = lastName.map { hasBorder($0..<start) } ?? true ? start : nil
                lastName = nil
            }
            guard isAwaited else { return separator + 1 }
            awaitsValue = false
            lastName = nil
        }
        let content =
            (name.isQuoted ? nil : block(after: separator, of: name.range))
            ?? (isHidden && SecretNames.isLine(bytes[name.range]) && !bytes[start].isQuote
                ? line(from: start, quote: name.openQuote) : valueContent(from: start, isParameter: name.isParameter))
        guard !content.isEmpty, !isHarmless(content) else { return separator + 1 }
        found.append(content)
        return content.upperBound
    }

    /// Returns the content of the last value if it is in quotes, and in the same object or tag as this name, whose value it is. The searches
    /// don't overlap.
    private mutating func valueBefore(_ name: Range<Int>) -> Range<Int>? {
        guard let start = lastValue, start < name.lowerBound else { return nil }
        lastValue = nil
        guard bytes[start].isQuote, let end = closing(of: start, to: name.lowerBound), !hasBorder(end..<name.lowerBound) else { return nil }
        return start + 1..<end
    }

    /// Whether an object or a tag begins or ends here.
    private func hasBorder(_ range: Range<Int>) -> Bool {
        range.lowerBound < range.upperBound && bytes[range].contains { "{}<>()".utf8.contains($0) }
    }

    /// Returns the content of a secret part of a multipart form (RFC 7578 §4.2). It follows the part's fields, one of which is
    /// `Content-Disposition: form-data; name="password"`, and ends at the next boundary or at the end of the text.
    ///
    /// - Parameter start: The position of the value of `name`.
    private func partContent(named name: Range<Int>, from start: Int, _ names: SecretNames) -> Range<Int>? {
        guard bytes.isText(name, "name") else { return nil }
        var line = name.lowerBound
        let first = max(0, line - Self.reach)
        while line > first, !bytes[line - 1].isLineEnd { line -= 1 }
        guard (line..<name.lowerBound).contains(where: { starts(at: $0, with: "form-data") }) else { return nil }
        let partName = quotedName(from: start) ?? start..<(bytes[start...].prefix(Self.reach).firstIndex { !isNamePart($0) } ?? bytes.count)
        guard names.hides(bytes[partName], isParameter: false) else { return nil }
        // An empty line ends the fields of the part.
        var index = partName.upperBound
        let limit = min(bytes.count, index + 1_024)
        var isEmptyLine = false
        while index < limit {
            if bytes[index] == 0x0A {
                if isEmptyLine { break }
                isEmptyLine = true
            } else if bytes[index] != 0x0D {
                isEmptyLine = false
            }
            index += 1
        }
        guard index < limit else { return nil }
        let content = index + 1
        index = content
        let boundary = boundary(before: line)
        while index < bytes.count, !(bytes[index] == 0x0A && isBoundary(boundary, at: index + 1)) { index += 1 }
        if index < bytes.count, index > content, bytes[index - 1] == 0x0D { index -= 1 }
        return content..<index
    }

    /// Returns the boundary of the part whose fields include the one that begins here; `nil` if it is too far back.
    private func boundary(before field: Int) -> Range<Int>? {
        var end = field
        let first = max(0, field - 1_024)
        while end > first {
            var start = end - 1
            while start > first, bytes[start - 1] != 0x0A { start -= 1 }
            if start == 0 || bytes[start - 1] == 0x0A, starts(at: start, with: "--") {
                let boundary = start..<(bytes[start..<end].lastIndex { $0 > 0x20 } ?? start) + 1
                return boundary.count <= 72 ? boundary : nil
            }
            end = start
        }
        return nil
    }

    /// Whether a line begins with a boundary; without a known one, with two dashes.
    private func isBoundary(_ boundary: Range<Int>?, at index: Int) -> Bool {
        guard let boundary else { return starts(at: index, with: "--") }
        return bytes.count - index >= boundary.count && boundary.indices.allSatisfy { bytes[$0] == bytes[index + $0 - boundary.lowerBound] }
    }

    /// Returns the start of the value, after spaces and the rest of the separator, as in `=>`, `==` and `\":`.
    private func valueStart(after separator: Int, crossesLines: Bool) -> Int {
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

    /// Returns the range of the value without its quotes.
    func valueContent(from start: Int, isParameter: Bool = false) -> Range<Int> {
        if bytes[start].isQuote {
            if let content = tripleQuoted(at: start) { return content }
            let end = closing(of: start) ?? bytes.count
            return start + 1..<max(start + 1, end)
        }
        // Python writes `b'…'` for bytes, SQL `N'…'`.
        if start + 1 < bytes.count, bytes[start + 1].isQuote, "ubrfenUBRFEN@$".utf8.contains(bytes[start]),
            let end = closing(of: start + 1)
        {
            return start + 2..<max(start + 2, end)
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
                if depth == 0, byte.isLineEnd || !bytes.isScheme(start..<index) { return start..<index }
            default: break
            }
            index += 1
        }
        return start..<bytes.count
    }

    /// Returns the content of a literal in three quotes, as in TOML and Python; `nil` if none begins here.
    private func tripleQuoted(at start: Int) -> Range<Int>? {
        let quote = bytes[start]
        func isTriple(_ index: Int) -> Bool { index + 2 < bytes.count && bytes[index..<index + 3].allSatisfy { $0 == quote } }
        guard isTriple(start) else { return nil }
        var end = start + 3
        while end < bytes.count, !isTriple(end) { end += 1 }
        return end < bytes.count ? start + 3..<end : nil
    }

    /// Whether a comma, semicolon or ampersand ends a value: nothing follows it, or the next name does.
    private func endsValue(at index: Int) -> Bool {
        var next = index + 1
        guard next < bytes.count, !bytes[next].isBlank, !bytes[next].isLineEnd, !bytes[next].isQuote else { return true }
        let limit = min(bytes.count, next + 40)
        while next < limit, isNamePart(bytes[next]) { next += 1 }
        return next < limit && next > index + 1 && (bytes[next] == UInt8(ascii: "=") || bytes[next] == UInt8(ascii: ":"))
    }

    /// Returns the position of the closing quote; `nil` if there is none.
    private func closing(of start: Int, to limit: Int = .max) -> Int? {
        let quote = bytes[start]
        let limit = min(limit, bytes.count)
        // `\"` is closed by `\"`, in a text within a text.
        let isEscaped = start > 0 && bytes[start - 1] == UInt8(ascii: "\\")
        var index = start + 1
        while index < limit {
            if bytes[index] == UInt8(ascii: "\\") {
                if isEscaped, index + 1 < limit, bytes[index + 1] == quote { return index }
                index += 1
            } else if bytes[index] == quote {
                return index
            }
            index += 1
        }
        return nil
    }

    /// Returns the rest of a line, or of the enclosing quotes.
    private func line(from start: Int, quote: UInt8?) -> Range<Int> {
        var index = start
        while index < bytes.count, !bytes[index].isLineEnd, bytes[index] != quote {
            if bytes[index] == UInt8(ascii: "\\"), quote != nil { index += 1 }
            index += 1
        }
        return start..<min(index, bytes.count)
    }

    /// Whether a value is harmless: null, a Boolean, a placeholder, or the mask.
    func isHarmless(_ range: Range<Int>) -> Bool {
        if range.count > 8 { return isPlaceholder(range) }
        let words: [StaticString] = ["nil", "null", "none", "true", "false", "yes", "no", "<masked>"]
        if words.contains(where: { isText(range, $0) }) { return true }
        return isPlaceholder(range)
    }

    /// Whether a value is a template's placeholder, such as `%%0%%` or `%%token%%`.
    private func isPlaceholder(_ range: Range<Int>) -> Bool {
        range.count >= 5 && range.count <= 64 && bytes[range].starts(with: "%%".utf8)
            && bytes[range].suffix(2).elementsEqual("%%".utf8)
            && bytes[range].dropFirst(2).dropLast(2).allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
    }
}

extension SecretScanner {
    /// Finds `--password value`, as in commands, and `"--password", "value"`, as in lists of arguments.
    mutating func option(_ word: Range<Int>) -> Int {
        guard forms.contains(.namedValues), let names = rules.names, word.count <= Self.reach,
            bytes[word.lowerBound + 1] == UInt8(ascii: "-"), let start = argument(after: word.upperBound),
            names.hides(bytes[word], isParameter: false)
        else { return word.upperBound }
        let content = valueContent(from: start)
        guard !content.isEmpty else { return word.upperBound }
        found.append(content)
        return content.upperBound
    }

    /// Returns the start of an option's value; `nil` if another option follows, or nothing. In a list both are in quotes: in a sentence, a
    /// comma after an option begins something else.
    private func argument(after end: Int) -> Int? {
        let limit = min(bytes.count, end + Self.reach)
        guard end + 1 < limit else { return nil }
        if bytes[end] == UInt8(ascii: " ") { return bytes[end + 1] == UInt8(ascii: "-") ? nil : end + 1 }
        // The quotes are escaped in a text within a text.
        var index = bytes[end] == UInt8(ascii: "\\") ? end + 1 : end
        guard bytes[index].isQuote, index + 1 < limit, bytes[index + 1] == UInt8(ascii: ",") else { return nil }
        index += 2
        while index < limit, bytes[index].isBlank || bytes[index].isLineEnd || bytes[index] == UInt8(ascii: "\\") { index += 1 }
        guard index + 1 < limit, bytes[index].isQuote, bytes[index + 1] != UInt8(ascii: "-") else { return nil }
        return index
    }

    /// Whether a word is the option for a user with a password, as in curl.
    func isUserOption(_ word: Range<Int>) -> Bool {
        switch word.count {
        case 2: isText(word, "-u")
        case 6: isText(word, "--user")
        case 12: isText(word, "--proxy-user")
        default: false
        }
    }

    /// Finds `-u user:password`. Two numbers are a user and a group, and text that continues with slashes is a URL.
    ///
    /// - Returns: The position where the scan continues.
    mutating func userAndPassword(after word: Range<Int>) -> Int {
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

    /// Finds `<password>value</password>`, `<key>password</key><string>value</string>`, and `<property name="password">value</property>`.
    mutating func element(at start: Int) -> Int {
        guard forms.contains(.namedValues), let names = rules.names else { return start + 1 }
        if awaitsValueInTag || starts(at: start, with: "<masked>") { awaitsValue = false }
        awaitsValueInTag = false
        var end = start + 1
        let limit = min(bytes.count, start + 1 + Self.reach)
        while end < limit, isNamePart(bytes[end]) || bytes[end] == UInt8(ascii: ":") { end += 1 }
        let tag = start + 1..<end
        guard !tag.isEmpty else { return start + 1 }
        let attributes = min(bytes.count, end + 4_096)
        while end < attributes, bytes[end] != UInt8(ascii: ">") {
            guard bytes[end] != UInt8(ascii: "<"), bytes[end] != UInt8(ascii: "/") || bytes[end - 1].isQuote == false else {
                // An element without content has its value in another attribute.
                awaitsValueInTag = bytes[end] == UInt8(ascii: "/") && namesSecret(tag.upperBound..<end, names)
                return start + 1
            }
            end += 1
        }
        guard end < bytes.count, bytes[end] == UInt8(ascii: ">"), bytes[end - 1] != UInt8(ascii: "/") else { return start + 1 }
        let content = end + 1..<(bytes[(end + 1)...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count)
        // The scan of the text also covers a tag's attributes.
        let isNamedSecret = namesSecret(tag.upperBound..<end, names)
        let isHidden = isNamedSecret || names.hides(bytes[tag], isParameter: false)
        awaitsValueInTag = isNamedSecret && starts(at: end + 1, with: "<masked>")
        if isHidden || awaitsValue, let inner = markup(in: tag, from: end + 1) {
            awaitsValue = false
            awaitsValueInTag = isNamedSecret
            found.append(inner)
            return start + 1
        }
        if isHidden || awaitsValue, !content.isEmpty {
            awaitsValue = false
            if !bytes[content].allSatisfy({ $0.isBlank || $0.isLineEnd }) {
                if !isHarmless(content) { found.append(content) }
                awaitsValueInTag = isNamedSecret
            }
            return start + 1
        }
        if isText(tag, "key") || isText(tag, "name"), content.count <= Self.reach {
            awaitsValue = names.hides(bytes[content], isParameter: true)
        }
        return start + 1
    }

    /// Whether an attribute in a tag, such as `name="password"`, marks the element's content as secret.
    private func namesSecret(_ attributes: Range<Int>, _ names: SecretNames) -> Bool {
        attributes.contains { equals in
            guard bytes[equals] == UInt8(ascii: "="), let name = name(before: equals), bytes.isNaming(name.range),
                let start = bytes[(equals + 1)..<attributes.upperBound].firstIndex(where: { !$0.isBlank }),
                let value = quotedName(from: start)
            else { return false }
            return names.hides(bytes[value], isParameter: true)
        }
    }

    /// Returns the content of an element that begins with a CDATA section, a comment or another element. It ends at the closing tag or at the
    /// end of the text.
    ///
    /// - Returns: `nil` if the content begins with anything else, or only spaces precede the other element: `<token> <user>` is a usage
    ///   text.
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
        let isMarkup = bytes[index + 1].isAlphanumeric || bytes[index + 1] == UInt8(ascii: "!") || bytes[index + 1] == UInt8(ascii: "?")
        guard isMarkup, !starts(at: index, with: "<masked>") else { return nil }
        let end = place(from: index) { scanner, place in
            scanner.bytes[place] == UInt8(ascii: "<") && place + 1 + tag.count < scanner.bytes.count
                && scanner.bytes[place + 1] == UInt8(ascii: "/")
                && tag.indices.allSatisfy { scanner.bytes[$0] == scanner.bytes[place + 2 - tag.lowerBound + $0] }
        }
        return index..<end
    }

    /// Returns the first matching position, or the end of the text. All these searches share a budget, which keeps the time linear. When it
    /// is used up, the rest of the text counts as secret.
    private mutating func place(from start: Int, _ matches: (SecretScanner, Int) -> Bool) -> Int {
        var index = start
        while index < bytes.count, lookahead < Self.lookaheadLimit + 4 * bytes.count {
            if matches(self, index) { return index }
            index += 1
            lookahead += 1
        }
        return bytes.count
    }

    private static let lookaheadLimit = 4_096
}
