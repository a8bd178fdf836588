import OData

extension QueryReader {
    /// The owner of the parentheses that contain options.
    enum OptionOwner {
        case expansion, reference, count, star, selection

        /// The names of the allowed options.
        fileprivate var names: Set<String> {
            let few: Set<String> = ["filter", "search"]
            let list: Set<String> = ["filter", "search", "orderby", "skip", "top", "count"]
            return switch self {
            case .count: few
            case .reference: list
            case .star: ["levels"]
            case .selection: list.union(["compute", "select", "expand"])
            case .expansion: list.union(["select", "expand", "compute", "levels", "apply", "at", "from", "to", "toinclusive"])
            }
        }
    }

    /// Reads `$filter=…;$top=…)` after an opening parenthesis, including the closing one.
    mutating func nestedOptions(_ owner: OptionOwner) throws(QueryParsingError) -> QueryOptions {
        try descendLevel()
        defer { depth -= 1 }
        var options = QueryOptions()
        var seen: Set<String> = []
        var aliases = AliasList()
        repeat {
            try countOne()
            let start = index
            if skip("@") {
                guard owner == .expansion || owner == .selection else { throw expected("an option", at: start) }
                try readAlias(into: &aliases, at: start)
                continue
            }
            guard skip("$") || version >= .v401 else { throw expected("'$' and the name of an option") }
            let name = try name("an option").lowercased()
            guard owner.names.contains(name) else { throw expected("an option that is allowed here", at: start) }
            guard seen.insert(name).inserted else { throw expected("an option that isn't there yet", at: start) }
            try expect("=")
            if owner == .star {
                options.levels = try levels()
            } else {
                try read(name, into: &options, at: start)
            }
        } while skip(";")
        try expect(")")
        options.aliases = aliases.all
        return options
    }

    /// The aliases of a list of options, each name once. They are assigned at the end because there may be thousands.
    struct AliasList {
        fileprivate(set) var all: [ParameterAlias] = []
        fileprivate var names: Set<String> = []
    }

    /// Reads `name=value` after the `@`.
    mutating func readAlias(into aliases: inout AliasList, at start: Int) throws(QueryParsingError) {
        let name = try name("the name of a parameter alias")
        guard aliases.names.insert(name).inserted else { throw expected("an alias that isn't there yet", at: start) }
        try expect("=")
        aliases.all.append(ParameterAlias(name, try expression()))
    }

    /// Reads the value of a structured option, by its lowercase name without the `$`.
    mutating func read(_ name: String, into options: inout QueryOptions, at start: Int) throws(QueryParsingError) {
        switch name {
        case "filter": options.filter = try expression()
        case "search": options.search = try search()
        case "select":
            options.selection = .items(try list { reader throws(QueryParsingError) in try reader.selectItem() })
            try check(height: options.height)
        case "expand":
            options.expansions = try list { reader throws(QueryParsingError) in try reader.expansion() }
            try check(height: options.height)
        case "orderby": options.order = try list { reader throws(QueryParsingError) in try reader.order() }
        case "compute": options.compute = try list { reader throws(QueryParsingError) in try reader.computation() }
        case "apply": options.apply = try transformations()
        case "top": options.top = try wholeNumber("a number")
        case "skip": options.skip = try wholeNumber("a number")
        case "levels": options.levels = try levels()
        case "count": options.includesCount = try boolean()
        case "index": options.index = try signedNumber()
        case "at", "from", "to", "toinclusive":
            let kind: TemporalBound.Kind =
                switch name {
                case "at": .at
                case "from": .from
                case "to": .to
                default: .toInclusive
                }
            options.temporal.append(TemporalBound(kind, try expression()))
        default: throw expected("an option", at: start)
        }
    }

    mutating func order() throws(QueryParsingError) -> QueryOptions.Order {
        let expression = try expression()
        if skipAnyCase("desc") { return QueryOptions.Order(expression, isDescending: true) }
        _ = skipAnyCase("asc")
        return QueryOptions.Order(expression)
    }

    private mutating func skipAnyCase(_ word: String) -> Bool {
        let start = index
        if skipBlanks(), nextWord.lowercased() == word {
            index += word.utf8.count
            return true
        }
        index = start
        return false
    }

    private mutating func levels() throws(QueryParsingError) -> ExpansionLevels {
        if skipWordHere("max") { return .max }
        let start = index
        let number = try wholeNumber("a number from 1, or max")
        guard bytes[start] != 0x30 else { throw expected("a number from 1, or max", at: start) }
        return .levels(number)
    }

    private mutating func skipWordHere(_ word: String) -> Bool {
        guard nextWord.lowercased() == word else { return false }
        index += word.utf8.count
        return true
    }

    private mutating func boolean() throws(QueryParsingError) -> Bool {
        if skipWordHere("true") { return true }
        if skipWordHere("false") { return false }
        throw expected("true or false")
    }

    private mutating func signedNumber() throws(QueryParsingError) -> Int {
        let isNegative = skip("-")
        let number = try wholeNumber("a whole number")
        return isNegative ? -number : number
    }
}

extension QueryReader {
    /// Reads a `$search` (ABNF, "searchExpr"): `OR` binds less tightly than `AND`, which binds less tightly than `NOT`; blanks mean `AND`.
    mutating func search() throws(QueryParsingError) -> SearchTerm {
        skipBlanks()
        if isNext("'") {
            // A quoted string is literal user input, not an expression.
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
            // Consecutive words form one list of words.
            if case .words(let last) = right.kind, case .words(let words)? = terms.last?.kind, terms.count == 1 || isPlainList(start) {
                terms[terms.count - 1] = .words(words + " " + last)
            } else {
                terms.append(right)
            }
        }
    }

    /// Returns whether a list of words can continue after the word before `place`.
    private func isPlainList(_ place: Int) -> Bool {
        place > 0 && bytes[place - 1] != 0x29
    }

    /// Reads the word as an operator, between blanks and before a term, and returns whether it did.
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
        // The printer would quote such a word, so it becomes a phrase.
        return SearchTerm.isPlain(word) ? .words(word) : .phrase(word)
    }

    private mutating func phrase() throws(QueryParsingError) -> String {
        index += 1
        let start = index
        var content: [UInt8] = []
        while let next = byte() {
            if next == 0x22 {
                guard content.contains(where: { $0 != 0x20 }) else { throw expected("a phrase", at: start) }
                index += 1
                guard let text = String(validating: content, as: UTF8.self) else { throw expected("UTF-8", at: start) }
                return text
            }
            // The printer doubles backslashes, as later versions of the grammar require.
            if next == 0x5C, byte(1) == 0x5C { index += 1 }
            content.append(next)
            index += 1
        }
        throw expected("the phrase's closing quote")
    }
}
