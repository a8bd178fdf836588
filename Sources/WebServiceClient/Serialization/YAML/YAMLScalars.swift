/// The types of plain scalars in the core schema (YAML 1.2.2 §10.3.2).
enum YAMLScalar {
    /// The JSON text of a plain scalar that isn't a text; `nil` for texts, and for infinity and NaN, which JSON doesn't have.
    static func json(of scalar: [UInt8]) -> [UInt8]? {
        switch String(decoding: scalar, as: UTF8.self) {
        case "", "~", "null", "Null", "NULL": return Array("null".utf8)
        case "true", "True", "TRUE": return Array("true".utf8)
        case "false", "False", "FALSE": return Array("false".utf8)
        default: return number(scalar)
        }
    }

    private static func number(_ scalar: [UInt8]) -> [UInt8]? {
        let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
        var rest = scalar[...]
        if rest.starts(with: "0x".utf8) || rest.starts(with: "0o".utf8) {
            let digits = rest.dropFirst(2)
            guard digits.first.map({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }) == true else { return nil }
            let value = UInt64(String(decoding: digits, as: UTF8.self), radix: rest.starts(with: "0x".utf8) ? 16 : 8)
            return value.map { Array(String($0).utf8) }
        }
        let sign = rest.first.flatMap { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") ? $0 : nil }
        if sign != nil { rest = rest.dropFirst() }
        let whole = rest.prefix(while: isDigit)
        rest = rest.dropFirst(whole.count)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: isDigit)
            rest = rest.dropFirst(1 + fraction.count)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent: [UInt8] = []
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            var digits = rest.dropFirst()
            exponent = [UInt8(ascii: "e")]
            if let first = digits.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
                exponent.append(first)
                digits = digits.dropFirst()
            }
            guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
            exponent += digits
            rest = []
        }
        guard rest.isEmpty else { return nil }
        // JSON has neither a plus nor leading zeros, and digits on both sides of the dot.
        let zero = UInt8(ascii: "0")
        let integer = whole.drop { $0 == zero }
        return (sign == UInt8(ascii: "-") ? [UInt8(ascii: "-")] : []) + (integer.isEmpty ? [zero] : integer)
            + (fraction.isEmpty ? [] : [UInt8(ascii: ".")] + fraction) + exponent
    }
}

// Scalars in their styles (YAML 1.2.2 §7.3 and §8.1).
extension YAMLParser {
    // MARK: Plain

    /// Whether the byte at the position can begin a plain scalar.
    func isPlainStart(inFlow: Bool) -> Bool {
        switch byte {
        case Byte.dash, Byte.colon, UInt8(ascii: "?"):
            return !isSpace(at: position + 1) && !(inFlow && isFlowIndicator(byte(at: position + 1)))
        case UInt8(ascii: "!"), UInt8(ascii: "&"), UInt8(ascii: "*"), UInt8(ascii: "@"), UInt8(ascii: "`"), Byte.percent, Byte.hash,
            Byte.bar,
            Byte.greater, Byte.quote, Byte.apostrophe:
            return false
        default: return !isFlowIndicator(byte) && !isSpace(at: position)
        }
    }

    func isFlowIndicator(_ byte: UInt8) -> Bool {
        byte == Byte.comma || byte == Byte.openBracket || byte == Byte.closeBracket || byte == Byte.openBrace || byte == Byte.closeBrace
    }

    /// Reads the part of a plain scalar in the line of the position, without blanks at its end.
    mutating func readPlainLine(inFlow: Bool) -> [UInt8] {
        let start = position
        var end = position
        while !isAtEnd, byte != Byte.lineFeed {
            if byte == Byte.colon, isSpace(at: position + 1) || inFlow && isFlowIndicator(byte(at: position + 1)) { break }
            if byte == Byte.hash, position > start, isSpace(at: position - 1) { break }
            if inFlow, isFlowIndicator(byte) { break }
            position += 1
            if byte(at: position - 1) != Byte.blank, byte(at: position - 1) != Byte.tab { end = position }
        }
        position = end
        return Array(bytes[start..<end])
    }

    /// Reads a plain scalar of a block with its further lines, which have more indentation than the collection around it.
    mutating func readPlain(under indentation: Int) throws(YAMLSyntaxError) -> [UInt8] {
        guard isPlainStart(inFlow: false) else {
            throw error("a value can't begin with \(VisibleText.of(String(Character(Unicode.Scalar(byte))))): quote it", at: position)
        }
        var text = readPlainLine(inFlow: false)
        while true {
            try refuseColon()
            let end = position
            skipBlanks()
            guard byte == Byte.lineFeed, !isAtEnd else {
                position = end
                return text
            }
            var lineEnds = 0
            var lineStart = position
            while !isAtEnd, byte == Byte.lineFeed {
                lineEnds += 1
                position += 1
                lineStart = position
                skipBlanks()
            }
            let blanks = bytes[lineStart..<position].prefix { $0 == Byte.blank }.count
            guard !isAtEnd, blanks > indentation, byte != Byte.hash, !(blanks == 0 && isAtMarkerOfLine(lineStart)) else {
                position = end
                return text
            }
            text += lineEnds == 1 ? [Byte.blank] : [UInt8](repeating: Byte.lineFeed, count: lineEnds - 1)
            text += readPlainLine(inFlow: false)
        }
    }

    private func isAtMarkerOfLine(_ start: Int) -> Bool { start == position && isAtMarker }

    private func refuseColon() throws(YAMLSyntaxError) {
        guard byte == Byte.colon, isSpace(at: position + 1) else { return }
        throw error("a key isn't allowed here: check the indentation, or quote the value that the line continues", at: position)
    }

    // MARK: Quoted

    /// The index after the quoted scalar at the position; `nil` if it has no end in its line.
    func endOfQuoted() -> Int? {
        let quote = byte
        var index = position + 1
        while index < bytes.count {
            if bytes[index] == quote {
                guard quote == Byte.apostrophe, byte(at: index + 1) == quote else { return index + 1 }
                index += 1
            } else if quote == Byte.quote, bytes[index] == Byte.backslash {
                index += 1
            } else if quote == Byte.quote || quote == Byte.apostrophe, bytes[index] == Byte.lineFeed {
                // Keys have one line, and only they need the end.
                return nil
            }
            index += 1
        }
        return nil
    }

    /// Reads a quoted scalar, whose lines are folded.
    mutating func readQuoted() throws(YAMLSyntaxError) -> [UInt8] {
        let start = position
        let quote = byte
        position += 1
        var text: [UInt8] = []
        // The length up to which blanks aren't removed at the end of a line: escapes are content.
        var kept = 0
        while !isAtEnd {
            switch byte {
            case quote:
                position += 1
                guard quote == Byte.apostrophe, byte == quote else { return text }
                text.append(quote)
                position += 1
            case Byte.backslash where quote == Byte.quote:
                if byte(at: position + 1) == Byte.lineFeed {
                    // An escaped line end joins the lines without a blank.
                    position += 2
                    text += [UInt8](repeating: Byte.lineFeed, count: try skipToLine())
                } else {
                    try readEscape(into: &text)
                }
                kept = text.count
            case Byte.lineFeed:
                while text.count > kept, text.last == Byte.blank || text.last == Byte.tab { text.removeLast() }
                position += 1
                let lineEnds = try skipToLine()
                text += lineEnds == 0 ? [Byte.blank] : [UInt8](repeating: Byte.lineFeed, count: lineEnds)
                kept = text.count
            default:
                text.append(byte)
                position += 1
            }
        }
        throw error("the text has no \(quote == Byte.quote ? "\"" : "'") at its end", at: start)
    }

    /// Skips empty lines, and the blanks at the start of the next line of a quoted scalar.
    ///
    /// - Returns: The number of empty lines.
    private mutating func skipToLine() throws(YAMLSyntaxError) -> Int {
        var count = 0
        while true {
            if isAtMarker { throw error("the document ends within a quoted text", at: position) }
            skipBlanks()
            guard !isAtEnd, byte == Byte.lineFeed else { return count }
            count += 1
            position += 1
        }
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(YAMLSyntaxError) {
        let start = position
        let letter = byte(at: position + 1)
        position += 2
        let scalar: UInt32
        switch letter {
        case UInt8(ascii: "0"): scalar = 0
        case UInt8(ascii: "a"): scalar = 7
        case UInt8(ascii: "b"): scalar = 8
        case UInt8(ascii: "t"), Byte.tab: scalar = 9
        case UInt8(ascii: "n"): scalar = 10
        case UInt8(ascii: "v"): scalar = 11
        case UInt8(ascii: "f"): scalar = 12
        case UInt8(ascii: "r"): scalar = 13
        case UInt8(ascii: "e"): scalar = 27
        case Byte.blank, Byte.quote, Byte.backslash, UInt8(ascii: "/"): scalar = UInt32(letter)
        case UInt8(ascii: "N"): scalar = 0x85
        case UInt8(ascii: "_"): scalar = 0xA0
        case UInt8(ascii: "L"): scalar = 0x2028
        case UInt8(ascii: "P"): scalar = 0x2029
        case UInt8(ascii: "x"): scalar = try readHexadecimal(2, start)
        case UInt8(ascii: "u"):
            let first = try readHexadecimal(4, start)
            // JSON's pairs of surrogates are one character.
            if 0xD800...0xDBFF ~= first, byte == Byte.backslash, byte(at: position + 1) == UInt8(ascii: "u") {
                position += 2
                let second = try readHexadecimal(4, start)
                guard 0xDC00...0xDFFF ~= second else { throw error("the escape isn't a character", at: start) }
                scalar = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
            } else {
                scalar = first
            }
        case UInt8(ascii: "U"): scalar = try readHexadecimal(8, start)
        default: throw error("the escape isn't known: write \\\\ for a backslash", at: start)
        }
        guard let character = Unicode.Scalar(scalar) else { throw error("the escape isn't a character", at: start) }
        text += Array(String(Character(character)).utf8)
    }

    private mutating func readHexadecimal(_ count: Int, _ start: Int) throws(YAMLSyntaxError) -> UInt32 {
        let end = position + count
        guard end <= bytes.count, bytes[position..<end].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 128 }),
            let value = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
        else { throw error("the escape has fewer than \(count) hexadecimal digits", at: start) }
        position = end
        return value
    }

    // MARK: Block scalars

    /// What happens to the line ends at the end of a block scalar.
    private enum Chomping { case strip, clip, keep }

    /// Reads a literal (`|`) or folded (`>`) scalar and writes it.
    mutating func readBlockScalar(under indentation: Int) throws(YAMLSyntaxError) {
        let isFolded = byte == Byte.greater
        position += 1
        var chomping = Chomping.clip
        var added: Int?
        for _ in 0..<2 {
            switch byte {
            case Byte.dash where chomping == .clip: chomping = .strip
            case UInt8(ascii: "+") where chomping == .clip: chomping = .keep
            case UInt8(ascii: "1")...UInt8(ascii: "9") where added == nil: added = Int(byte - UInt8(ascii: "0"))
            default: continue
            }
            position += 1
        }
        let start = position
        skipBlanks()
        guard isAtEnd || byte == Byte.lineFeed || byte == Byte.hash && position > start else {
            throw error("the text of a block begins on the next line", at: position)
        }
        while !isAtEnd, byte != Byte.lineFeed { position += 1 }
        position += isAtEnd ? 0 : 1
        let outer = max(indentation, -1)
        let own = if let added { max(outer, 0) + added } else { try detectedIndentation(above: outer) }
        write(text: readLines(indentedBy: own, isFolded, chomping))
    }

    /// The indentation of the first line of a block scalar that isn't empty.
    private func detectedIndentation(above outer: Int) throws(YAMLSyntaxError) -> Int {
        var index = position
        var longestEmpty = (count: 0, place: position)
        while index < bytes.count {
            let start = index
            while byte(at: index) == Byte.blank { index += 1 }
            guard index < bytes.count, bytes[index] != Byte.lineFeed else {
                if index - start > longestEmpty.count { longestEmpty = (index - start, start) }
                index += 1
                continue
            }
            let found = index - start
            guard found > outer else { break }
            guard longestEmpty.count <= found else {
                throw error("an empty line at the beginning has more blanks than the first line of the text", at: longestEmpty.place)
            }
            return found
        }
        return max(outer + 1, longestEmpty.count)
    }

    private mutating func readLines(indentedBy own: Int, _ isFolded: Bool, _ chomping: Chomping) -> [UInt8] {
        var text: [UInt8] = []
        var emptyLines = skipEmptyLines(indentedBy: own)
        while isAtLine(indentedBy: own) {
            text += [UInt8](repeating: Byte.lineFeed, count: emptyLines)
            let isIndented = byte == Byte.blank || byte == Byte.tab
            let start = position
            while !isAtEnd, byte != Byte.lineFeed { position += 1 }
            text += bytes[start..<position]
            let hasLineEnd = !isAtEnd
            position += hasLineEnd ? 1 : 0
            emptyLines = hasLineEnd ? skipEmptyLines(indentedBy: own) : 0
            guard isAtLine(indentedBy: own) else {
                if chomping != .strip, hasLineEnd { text.append(Byte.lineFeed) }
                break
            }
            if isFolded, !isIndented, byte != Byte.blank, byte != Byte.tab {
                if emptyLines == 0 { text.append(Byte.blank) }
            } else {
                text.append(Byte.lineFeed)
            }
        }
        if chomping == .keep { text += [UInt8](repeating: Byte.lineFeed, count: emptyLines) }
        return text
    }

    /// Skips empty lines, and the indentation of the next line.
    private mutating func skipEmptyLines(indentedBy own: Int) -> Int {
        var count = 0
        while true {
            let start = position
            while byte == Byte.blank, position - start < own { position += 1 }
            guard !isAtEnd, byte == Byte.lineFeed else { return count }
            count += 1
            position += 1
        }
    }

    /// Whether the position is at the first byte after the indentation of a line of the scalar.
    private func isAtLine(indentedBy own: Int) -> Bool {
        guard !isAtEnd, position >= own, bytes[(position - own)..<position].allSatisfy({ $0 == Byte.blank }) else { return false }
        guard position == own || bytes[position - own - 1] == Byte.lineFeed else { return false }
        return !(own == 0 && isAtMarker)
    }
}
