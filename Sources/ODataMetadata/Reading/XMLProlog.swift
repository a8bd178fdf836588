import Foundation

/// The beginning of an XML document, before its root element.
enum XMLProlog {
    static let refusal =
        "The metadata document has a document type declaration. CSDL allows none, and its entities could expand without limit: "
        + "remove the declaration."

    static let page =
        "The document is an HTML page and not metadata of OData: check the address, and whether the service requires credentials."

    /// Returns the document in UTF-8 with a valid XML declaration or without one, and refuses a document type declaration.
    ///
    /// On Linux, libxml2 accepts some invalid UTF-8, and `XMLParser` traps on it, so the parser must only get valid UTF-8.
    static func checked(_ data: Data, state: ReadingState) throws -> Data {
        var data = try unicode(data, state: state)
        var index = data.startIndex
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { index += 3 }
        let start = index
        // `line` is the line at `counted`; `place()` counts only the lines from there to `index`.
        var (line, counted) = (1, index)
        func place() -> Place {
            line += data[counted..<index].count { $0 == UInt8(ascii: "\n") }
            counted = index
            return Place(line: line, column: 1)
        }
        var misplaced: [Range<Data.Index>] = []
        while index < data.endIndex {
            if let end = skipped(in: data, from: index) {
                if index > start, data[index...].starts(with: "<?xml ".utf8) {
                    state.report(
                        .misplacedElement, "the XML declaration isn't at the beginning of the document", assuming: "it is ignored",
                        at: place())
                    misplaced.append(index..<end)
                }
                index = end
            } else if data[index...].starts(with: "<!".utf8) {
                let start = String(decoding: data[index...].prefix(20), as: UTF8.self).lowercased()
                let isPage = start.hasPrefix("<!doctype html")
                throw ServiceModelError(
                    kind: isPage ? .noSchema : .documentType, message: isPage ? page : refusal, line: Int(place().line), column: 1)
            } else {
                break
            }
        }
        blank(misplaced, in: &data)
        return data
    }

    /// Returns the end of the blank, comment or processing instruction at an index, or `nil` if something else is there.
    private static func skipped(in data: Data, from index: Data.Index) -> Data.Index? {
        if [0x20, 0x09, 0x0A, 0x0D].contains(data[index]) { return index + 1 }
        let rest = data[index...]
        if rest.starts(with: "<?".utf8) { return end(of: rest, "?>") ?? data.endIndex }
        if rest.starts(with: "<!--".utf8) { return end(of: rest.dropFirst(4), "-->") ?? data.endIndex }
        return nil
    }

    /// Returns the range of the first XML declaration before the root element. Blanks or comments can precede it by mistake.
    private static func declaration(in data: Data) -> Range<Data.Index>? {
        var index = data.startIndex
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { index += 3 }
        while index < data.endIndex, let end = skipped(in: data, from: index) {
            if data[index...].starts(with: "<?xml ".utf8) { return index..<end }
            index = end
        }
        return nil
    }

    /// Returns the index after the first mark. `range(of:)` isn't used, since its work grows with all of the data after the mark.
    private static func end(of data: Data, _ mark: String) -> Data.Index? {
        let mark = Array(mark.utf8)
        var rest = data
        while let index = rest.firstIndex(of: mark[0]) {
            rest = rest[index...]
            if rest.starts(with: mark) { return index + mark.count }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Replaces parts of the document by blanks. Line breaks are kept, so that positions remain right.
    private static func blank(_ ranges: [Range<Data.Index>], in data: inout Data) {
        for range in ranges {
            for index in range where data[index] != UInt8(ascii: "\n") { data[index] = UInt8(ascii: " ") }
        }
    }

    private static func unicode(_ data: Data, state: ReadingState) throws -> Data {
        if data.starts(with: [0xFE, 0xFF]) || data.starts(with: [0xFF, 0xFE]) {
            return try body(of: String(data: data, encoding: .utf16), "UTF-16")
        }
        // Without a byte order mark, the bytes of the first `<` show UTF-16 and its byte order.
        if data.starts(with: [0x3C, 0x00]) { return try body(of: String(data: data, encoding: .utf16LittleEndian), "UTF-16") }
        if data.starts(with: [0x00, 0x3C]) { return try body(of: String(data: data, encoding: .utf16BigEndian), "UTF-16") }
        // The declaration, in ASCII, states any other encoding.
        let declaration = declaration(in: data)
        let head = declaration.map { String(decoding: data[$0].prefix(1_000), as: UTF8.self) } ?? ""
        var name = "utf-8"
        if let encoding = head.range(of: "encoding"), head.hasSuffix("?>") {
            let rest = head[encoding.upperBound...].drop { $0 == " " || $0 == "=" || $0 == "\"" || $0 == "'" }
            name = rest.prefix { $0 != "\"" && $0 != "'" && $0 != " " && $0 != "?" }.lowercased()
        }
        switch name {
        case "utf-8", "utf8":
            guard String(data: data, encoding: .utf8) != nil else { return try body(of: nil, "UTF-8") }
            // A declaration that isn't at the beginning is ignored anyway.
            let start = data.startIndex + (data.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
            guard let declaration, declaration.lowerBound == start, !isStandard(head) else { return data }
            // The specification of OData 3.0 itself has an example with `standalone="true"`.
            state.report(
                .invalidValue, "the XML declaration has another version than 1.0, or a 'standalone' other than yes and no",
                assuming: "it is ignored", at: Place(line: 1, column: 1))
            var data = data
            blank([declaration], in: &data)
            return data
        case "utf-16", "utf16", "utf-16le", "utf-16be", "ucs-2", "unicode":
            // The declaration is readable, so the text isn't in UTF-16: .NET writes this name into strings, which are saved as UTF-8.
            guard String(data: data, encoding: .utf8) != nil else { return try body(of: nil, "UTF-16") }
            state.report(
                .invalidValue, "the XML declaration names the encoding '\(name)', which the document isn't in",
                assuming: "the document is in UTF-8", at: Place(line: 1, column: 1))
            var data = data
            if let declaration { blank([declaration], in: &data) }
            return data
        case "us-ascii", "ascii": return try body(of: String(data: data, encoding: .ascii), "US-ASCII")
        case "iso-8859-1", "latin1": return try body(of: String(data: data, encoding: .isoLatin1), "ISO-8859-1")
        case "windows-1252": return try body(of: String(data: data, encoding: .windowsCP1252), "windows-1252")
        default:
            throw ServiceModelError(
                kind: .malformed,
                message: "The metadata document is in the encoding '\(name.prefix(40))', which isn't supported: convert it to UTF-8.",
                line: 1, column: 1)
        }
    }

    /// Returns whether the values of an XML declaration are those that XML 1.0 allows.
    private static func isStandard(_ declaration: String) -> Bool {
        let declaration = String(declaration.map { $0.isWhitespace ? " " : $0 })
        func value(_ name: String) -> Substring? {
            guard let found = declaration.range(of: " " + name) else { return nil }
            let rest = declaration[found.upperBound...].drop { $0 == " " || $0 == "=" }
            return rest.dropFirst().prefix { $0 != rest.first }
        }
        return value("version") == "1.0" && value("standalone").map { $0 == "yes" || $0 == "no" } ?? true
    }

    /// Returns a text in UTF-8 without the XML declaration, which would contradict it. Line breaks are kept, so that positions remain
    /// right.
    private static func body(of text: String?, _ encoding: String) throws -> Data {
        guard let text else {
            throw ServiceModelError(
                kind: .malformed,
                message: "The metadata document isn't valid \(encoding): it is damaged, or its encoding is missing or stated wrongly.",
                line: 1, column: 1)
        }
        guard text.hasPrefix("<?xml"), let end = text.range(of: "?>") else { return Data(text.utf8) }
        return Data((text[..<end.lowerBound].filter { $0.isNewline } + text[end.upperBound...]).utf8)
    }
}
