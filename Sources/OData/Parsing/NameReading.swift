extension QueryReader {
    private static func isNameByte(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 128...: true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): !first
        default: false
        }
    }

    /// Whether a name begins here.
    var isAtName: Bool {
        byte().map { Self.isNameByte($0, first: true) } ?? false
    }

    /// Whether the byte at a place could continue a word.
    func isWordByte(at place: Int) -> Bool {
        place < bytes.count && Self.isNameByte(bytes[place], first: false)
    }

    /// Where a name that begins at a place ends; the place itself where none does.
    private func endOfName(from place: Int) -> Int {
        guard place < bytes.count, Self.isNameByte(bytes[place], first: true) else { return place }
        var end = place
        while isWordByte(at: end) { end += 1 }
        return end
    }

    /// The word that comes next, without reading it.
    var nextWord: String {
        String(decoding: bytes[index..<endOfName(from: index)], as: UTF8.self)
    }

    /// The byte behind the word that comes next.
    var byteBehindWord: UInt8? {
        let end = endOfName(from: index)
        return end < bytes.count ? bytes[end] : nil
    }

    /// A name: letters, digits and `_`.
    mutating func name(_ what: String) throws(QueryParsingError) -> String {
        let end = endOfName(from: index)
        let name = try text(index..<end)
        guard ODataName.isIdentifier(name) else { throw expected(what) }
        index = end
        return name
    }

    /// A name with its namespace, if it has one. A dot that no name follows is left.
    mutating func qualifiedName(_ what: String) throws(QueryParsingError) -> String {
        let start = index
        _ = try name(what)
        while isNext("."), index + 1 < bytes.count, Self.isNameByte(bytes[index + 1], first: true) {
            index += 1
            _ = try name(what)
        }
        return try text(start..<index)
    }

    /// `Ns.Type`, or `Collection(Ns.Type)`; in V2 in quotes.
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

    /// A word that must have blanks before it: whether it was there and was read.
    mutating func skipWord(_ word: String) -> Bool {
        let start = index
        if skipBlanks(), isNext(word), !isWordByte(at: index + word.utf8.count) {
            index += word.utf8.count
            return true
        }
        index = start
        return false
    }

    /// ` as Name`.
    mutating func alias() throws(QueryParsingError) -> String {
        guard skipWord("as"), skipBlanks() else { throw expected("' as ' and a name") }
        return try name("the name of the result")
    }

    /// Digits as a number that is at least 0.
    mutating func wholeNumber(_ what: String) throws(QueryParsingError) -> Int {
        let start = index
        while let next = byte(), (0x30...0x39).contains(next) { index += 1 }
        guard index > start, let number = Int(try text(start..<index)) else { throw expected(what, at: start) }
        return number
    }

    /// Items with commas between, blanks allowed.
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
