// The parts of a text around its elements: the XML declaration, the document type, instructions, names and characters.
extension XMLTextParser {
    /// `<?xml …?>`, only at the beginning. The charset in it has been used before.
    mutating func skipDeclaration() throws {
        guard begins(with: "<?xml"), index + 5 < text.count, XMLCharacters.isBlank(text[index + 5]) else { return }
        index += 5
        let end = try find("?>", for: "the XML declaration")
        var rest = XMLPseudoAttributes(text[index..<end])
        var read = 0
        while let (name, value) = rest.next() {
            guard let place = ["version", "encoding", "standalone"].firstIndex(of: name), place >= read, (place == 0) == (read == 0),
                Self.isValid(value, in: place)
            else {
                read = 0
                break
            }
            read = place + 1
        }
        guard rest.isAtEnd, read > 0 else {
            throw fault(.syntax, "The XML declaration isn't valid: it is <?xml version=\"1.0\" encoding=\"…\"?>")
        }
        index = end + 2
    }

    /// Whether a value suits the version, the charset or `standalone` (XML 1.0 §2.8 and §4.3.3).
    private static func isValid(_ value: String, in place: Int) -> Bool {
        switch place {
        case 0: return value.hasPrefix("1.") && value.utf8.count > 2 && value.utf8.dropFirst(2).allSatisfy { (0x30...0x39).contains($0) }
        case 1:
            let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
            return value.utf8.first.map(isLetter) ?? false
                && value.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "._-".utf8.contains($0) }
        default: return value == "yes" || value == "no"
        }
    }

    /// Skips a document type with its internal subset: quoted texts, comments and instructions may contain brackets.
    mutating func skipDocumentType() throws {
        guard !hasDocumentType else { throw fault(.syntax, "The XML has two document types") }
        hasDocumentType = true
        index += 9
        var isInSubset = false
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let end = text[(index + 1)...].firstIndex(of: text[index]) else { break }
                index = end + 1
                continue
            case UInt8(ascii: "<") where begins(with: "<!--"):
                index += 4
                index = try find("-->", for: "a comment") + 3
                continue
            case UInt8(ascii: "<") where begins(with: "<?"):
                index += 2
                index = try find("?>", for: "an instruction") + 2
                continue
            case UInt8(ascii: "["): isInSubset = true
            case UInt8(ascii: "]"): isInSubset = false
            case UInt8(ascii: ">") where !isInSubset:
                index += 1
                return
            default: break
            }
            index += 1
        }
        throw fault(.truncated, "The XML ends within its document type: it was cut short")
    }

    mutating func skipInstruction() throws {
        let start = index
        index += 2
        let target = try readName("an instruction's target")
        guard !text[target].contains(UInt8(ascii: ":")) else { throw fault(.namespace, "An instruction's target has a colon", at: start) }
        guard !text[target].elementsEqual("xml".utf8, by: { $0 | 0x20 == $1 }) else {
            throw fault(.syntax, "The XML declaration is allowed only at the beginning", at: start)
        }
        let end = try find("?>", for: "an instruction")
        guard end == index || XMLCharacters.isBlank(text[index]) else {
            throw fault(.syntax, "White space must follow an instruction's target")
        }
        try checkCharacters(index..<end)
        index = end + 2
    }

    /// Checks the characters of a comment, an instruction or a CDATA section.
    func checkCharacters(_ range: Range<Int>) throws {
        for index in range { try checkCharacter(at: index) }
    }

    @inline(__always) func checkCharacter(at index: Int) throws {
        let byte = text[index]
        guard byte < 0x20 || byte == 0xEF else { return }
        try checkRareCharacter(at: index)
    }

    /// Control characters, U+FFFE and U+FFFF aren't allowed. The text is UTF-8, which has no surrogates.
    @inline(never) func checkRareCharacter(at index: Int) throws {
        switch text[index] {
        case 0x09, 0x0A, 0x0D: return
        case 0xEF where index + 2 < text.count && text[index + 1] == 0xBF && text[index + 2] >= 0xBE: break
        case 0xEF: return
        default: break
        }
        throw fault(.syntax, "A character was found that XML doesn't allow, such as a control character", at: index)
    }

    // MARK: Names

    /// Reads a name with at most one colon.
    mutating func readName(_ what: String) throws -> Range<Int> {
        let start = index
        var colon: Int?
        var isFirst = true
        while index < text.count {
            let byte = text[index]
            switch byte {
            case 0x61...0x7A, 0x41...0x5A, 0x5F: index += 1
            case 0x2D, 0x2E, 0x30...0x39:
                if isFirst { throw fault(.syntax, "\(what.capitalizedFirst) was expected here") }
                index += 1
            case UInt8(ascii: ":"):
                guard colon == nil, !isFirst else { throw fault(.namespace, "\(what.capitalizedFirst) has a colon at a wrong place") }
                colon = index
                index += 1
                isFirst = true
                continue
            case 0x80...:
                let (scalar, length) = scalar(at: index)
                guard isFirst ? XMLCharacters.beginsName(scalar) : XMLCharacters.continuesName(scalar) else {
                    throw fault(.syntax, "\(what.capitalizedFirst) has a character that isn't allowed in names")
                }
                index += length
            default:
                guard index > start else { throw fault(.syntax, "\(what.capitalizedFirst) was expected here") }
                guard !isFirst else { throw fault(.namespace, "\(what.capitalizedFirst) has a colon at a wrong place") }
                return start..<index
            }
            isFirst = false
        }
        throw fault(.truncated, "The XML ends within a tag: it was cut short")
    }

    func scalar(at index: Int) -> (Unicode.Scalar, Int) {
        let first = text[index]
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard index + length <= text.count else { return ("\u{FFFD}", 1) }
        let scalar = String(decoding: UnsafeBufferPointer(rebasing: text[index..<index + length]), as: UTF8.self).unicodeScalars.first
        return (scalar ?? "\u{FFFD}", length)
    }

    // MARK: Support

    @inline(__always) mutating func skipBlanks() {
        while index < text.count, XMLCharacters.isBlank(text[index]) { index += 1 }
    }

    func begins(with mark: StaticString) -> Bool {
        guard text.count - index >= mark.utf8CodeUnitCount else { return false }
        return mark.withUTF8Buffer { mark in
            for offset in 0..<mark.count where text[index + offset] != mark[offset] { return false }
            return true
        }
    }

    /// Returns the index of the next occurrence of a mark.
    func find(_ mark: StaticString, for what: String) throws -> Int {
        let found = mark.withUTF8Buffer { mark -> Int? in
            var place = index
            while place + mark.count <= text.count {
                var length = 0
                while length < mark.count, text[place + length] == mark[length] { length += 1 }
                if length == mark.count { return place }
                place += 1
            }
            return nil
        }
        guard let found else { throw fault(.truncated, "The XML ends within \(what): it was cut short") }
        return found
    }

    func string(_ range: Range<Int>) -> String { String(decoding: UnsafeBufferPointer(rebasing: text[range]), as: UTF8.self) }

    func shown(_ range: Range<Int>) -> String { SerializationError.excerpt(string(range), upTo: 40) }

    func fault(_ kind: XMLSyntaxError.Kind, _ message: String, at place: Int? = nil) -> XMLSyntaxError {
        let position = XMLPosition(offset: place ?? index, in: text)
        let names = open.suffix(20).map { shown($0.name) }
        let path = "/" + (open.count > names.count ? "…/" : "") + names.joined(separator: "/")
        return XMLSyntaxError(kind: kind, path: path, line: position.line, column: position.column, message: message)
    }
}

extension String {
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
