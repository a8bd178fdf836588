import OData

extension QueryReader {
    private static func isNameByte(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 128...: true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): !first
        default: false
        }
    }

    /// A Boolean value that indicates whether a name begins here.
    var isAtName: Bool {
        byte().map { Self.isNameByte($0, first: true) } ?? false
    }

    /// Returns whether the byte at a position could continue a word.
    func isWordByte(at place: Int) -> Bool {
        place < bytes.count && Self.isNameByte(bytes[place], first: false)
    }

    /// Returns the end of a name that begins at a position, or the position itself without a name.
    private func endOfName(from place: Int) -> Int {
        guard place < bytes.count, Self.isNameByte(bytes[place], first: true) else { return place }
        var end = place
        while isWordByte(at: end) { end += 1 }
        return end
    }

    /// The next word, without consuming it.
    var nextWord: String {
        String(decoding: bytes[index..<endOfName(from: index)], as: UTF8.self)
    }

    /// The byte after the next word.
    var byteBehindWord: UInt8? {
        let end = endOfName(from: index)
        return end < bytes.count ? bytes[end] : nil
    }

    /// Reads a name: letters, digits and `_`.
    mutating func name(_ what: String) throws(QueryParsingError) -> String {
        let end = endOfName(from: index)
        let name = try text(index..<end)
        guard ODataName.isIdentifier(name) else { throw expected(what) }
        index = end
        return name
    }

    /// Reads a name with its namespace, if it has one. Stops before a dot that no name follows.
    mutating func qualifiedName(_ what: String) throws(QueryParsingError) -> String {
        let start = index
        _ = try name(what)
        while isNext("."), index + 1 < bytes.count, Self.isNameByte(bytes[index + 1], first: true) {
            index += 1
            _ = try name(what)
        }
        return try text(start..<index)
    }

    /// Reads `Ns.Type`, or `Collection(Ns.Type)`; in V2 in quotes.
    mutating func typeName() throws(QueryParsingError) -> String {
        let isQuoted = version == .v2 && skip("'")
        var type: String
        if skip("Collection(") {
            type = "Collection(" + (try qualifiedName("the name of a type")) + ")"
            try expect(")")
        } else {
            type = try qualifiedName("the name of a type")
        }
        if isQuoted { try expect("'") }
        return type
    }

    /// Reads a word after required blanks, and returns whether it was there.
    mutating func skipWord(_ word: String) -> Bool {
        let start = index
        if skipBlanks(), isNext(word), !isWordByte(at: index + word.utf8.count) {
            index += word.utf8.count
            return true
        }
        index = start
        return false
    }

    /// Reads ` as Name`.
    mutating func alias() throws(QueryParsingError) -> String {
        guard skipWord("as"), skipBlanks() else { throw expected("' as ' and a name") }
        return try name("the name of the result")
    }

    /// Returns the names that the options of a query introduce, `… as Name`, which other options may use before and after.
    ///
    /// Texts in literals are included, which at worst makes the parser accept a name that the model doesn't have.
    static func aliases(in text: ArraySlice<UInt8>) -> [String] {
        guard let reader = try? QueryReader(text, at: 0, version: .v401, names: nil) else { return [] }
        let bytes = reader.bytes
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var names: [String] = []
        var index = 1
        while index + 3 < bytes.count {
            defer { index += 1 }
            guard bytes[index] == UInt8(ascii: "a"), bytes[index + 1] == UInt8(ascii: "s"), isBlank(bytes[index - 1]),
                isBlank(bytes[index + 2])
            else { continue }
            var start = index + 3
            while start < bytes.count, isBlank(bytes[start]) { start += 1 }
            let end = reader.endOfName(from: start)
            if end > start { names.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
            index = max(index, start - 1)
        }
        return names
    }

    /// Reads digits as a nonnegative number.
    mutating func wholeNumber(_ what: String) throws(QueryParsingError) -> Int {
        let start = index
        while let next = byte(), (0x30...0x39).contains(next) { index += 1 }
        guard index > start, let number = Int(try text(start..<index)) else { throw expected(what, at: start) }
        return number
    }

    /// Reads items separated by commas with optional blanks.
    mutating func list<Item>(
        _ item: (inout QueryReader) throws(QueryParsingError) -> Item
    ) throws(QueryParsingError) -> [Item] {
        var items = [try item(&self)]
        while true {
            let start = index
            skipBlanks()
            guard skip(",") else {
                index = start
                return items
            }
            skipBlanks()
            try countOne()
            items.append(try item(&self))
        }
    }
}
