extension QueryReader {
    /// `$search` (ABNF, "searchExpr"): `OR` binds less than `AND`, which binds less than `NOT`; blanks mean `AND`.
    mutating func search() throws(QueryParsingError) -> SearchTerm {
        skipBlanks()
        if isNext("'") {
            // Not an expression, but what somebody typed.
            return .text(try string())
        }
        let term = try searchDisjunction()
        try check(height: term.height)
        return term
    }

    private mutating func searchDisjunction() throws(QueryParsingError) -> SearchTerm {
        try descendLevel()
        defer { depth -= 1 }
        var terms = [try searchConjunction()]
        while operatorBehindBlanks("OR") {
            try countOne()
            terms.append(try searchConjunction())
        }
        return .any(terms)
    }

    private mutating func searchConjunction() throws(QueryParsingError) -> SearchTerm {
        var terms = [try searchTerm()]
        while true {
            let start = index
            if operatorBehindBlanks("AND") {
                try countOne()
                terms.append(try searchTerm())
                continue
            }
            if operatorBehindBlanks("OR") {
                index = start
                return .all(terms)
            }
            guard skipBlanks(), isAtSearchTerm else {
                index = start
                return .all(terms)
            }
            try countOne()
            let right = try searchTerm()
            // Words behind one another are one list of words.
            if case .words(let last) = right.kind, case .words(let words)? = terms.last?.kind, terms.count == 1 || isPlainList(start) {
                terms[terms.count - 1] = .words(words + " " + last)
            } else {
                terms.append(right)
            }
        }
    }

    /// Whether the word before a place is one that a list of words can go on from.
    private func isPlainList(_ place: Int) -> Bool {
        place > 0 && bytes[place - 1] != 0x29
    }

    /// Whether the word comes next as an operator: between blanks, with something to work on.
    private mutating func operatorBehindBlanks(_ word: String) -> Bool {
        let start = index
        if skipBlanks(), skip(word), skipBlanks(), isAtSearchTerm { return true }
        index = start
        return false
    }

    private var isAtSearchTerm: Bool {
        guard let next = byte() else { return false }
        return next == 0x28 || next == 0x22 || isSearchByte(at: index)
    }

    private func isSearchByte(at place: Int) -> Bool {
        guard place < bytes.count else { return false }
        switch bytes[place] {
        case 0x20, 0x09, 0x22, 0x28, 0x29: return false
        case UInt8(ascii: ";"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"), UInt8(ascii: "}"): return isEncoded(at: place)
        case UInt8(ascii: "'"), 0..<0x20, 0x7F: return isEncoded(at: place)
        default: return true
        }
    }

    private mutating func searchTerm() throws(QueryParsingError) -> SearchTerm {
        if skip("(") {
            skipBlanks()
            let inner = try searchDisjunction()
            skipBlanks()
            try expect(")")
            return inner
        }
        if isNext("\"") { return .phrase(try phrase()) }
        if isNext("NOT") {
            let start = index
            index += 3
            if skipBlanks(), isAtSearchTerm {
                try descendLevel()
                defer { depth -= 1 }
                return .not(try searchTerm())
            }
            index = start
        }
        let start = index
        guard isSearchByte(at: index) else { throw expected("a word or a phrase") }
        index += 1
        while isSearchByte(at: index) || isNext("'") { index += 1 }
        let word = try text(start..<index)
        // The printer would quote it, so that it is a phrase of one word.
        return SearchTerm.isPlain(word) ? .words(word) : .phrase(word)
    }

    private mutating func phrase() throws(QueryParsingError) -> String {
        index += 1
        let start = index
        var content: [UInt8] = []
        while let next = byte() {
            if next == 0x22 {
                guard index > start else { throw expected("a phrase") }
                index += 1
                guard let text = String(validating: content, as: UTF8.self) else { throw expected("UTF-8", at: start) }
                return text
            }
            // The writer doubles backslashes, as later versions of the grammar ask for.
            if next == 0x5C, byte(1) == 0x5C { index += 1 }
            content.append(next)
            index += 1
        }
        throw expected("the phrase's closing quote")
    }
}
