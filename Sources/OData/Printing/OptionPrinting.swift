import WebServiceClient

extension QueryPrinter {
    /// Returns the options of a request as the text after the `?`; empty without options.
    ///
    /// - Throws: ``ODataQueryError`` if an option can't be expressed.
    public func text(of options: QueryOptions) throws(ODataQueryError) -> String {
        var list = OptionList(separator: "&")
        try write(options, to: &list)
        return list.text.text
    }

    func write(_ options: QueryOptions, to list: inout OptionList) throws(ODataQueryError) {
        guard list.isNested || options.height <= Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
        try writeCustom(options.custom, areLeading: true, to: &list)
        if let rare = options.rare.first { try writeFirst(rare, to: &list) }
        if let filter = options.filter {
            list.begin("$filter=")
            try write(filter, isNested: list.isNested, to: &list.text)
        }
        if let search = options.search {
            try require(.v4, "$search")
            list.begin("$search=")
            try write(search, to: &list.text)
        }
        if version == .v2 {
            try writeV2Relations(options, to: &list)
        } else {
            try writeSelection(of: options, to: &list)
            if !options.expansions.isEmpty {
                list.begin("$expand=")
                try writeExpansions(options.expansions, to: &list.text)
            }
        }
        if !options.order.isEmpty {
            list.begin("$orderby=")
            try write(options.order, isNested: list.isNested, to: &list.text)
        }
        try write("$top=", options.top, to: &list)
        try write("$skip=", options.skip, to: &list)
        if options.includesCount {
            if version == .v2 { list.begin("$inlinecount=allpages") } else { list.begin("$count=true") }
        }
        if let rare = options.rare.first { try writeLast(rare, to: &list) }
        try writeCustom(options.custom, areLeading: false, to: &list)
    }

    private func write(_ name: String, _ number: Int?, to list: inout OptionList) throws(ODataQueryError) {
        guard let number else { return }
        guard number >= 0 else { throw .invalidOption(String(name.dropLast()), reason: "\(number) is negative") }
        list.begin(name)
        list.text.number(number)
    }

    func write(_ order: [QueryOptions.Order], isNested: Bool, to text: inout QueryText) throws(ODataQueryError) {
        try writeList(order, to: &text) { item, text throws(ODataQueryError) in
            try write(item.expression, isNested: isNested, to: &text)
            if item.isDescending { text.syntax(" desc") }
        }
    }

    private func writeCustom(
        _ options: [QueryOptions.Custom], areLeading: Bool, to list: inout OptionList
    ) throws(ODataQueryError) {
        for option in options where option.isLeading == areLeading {
            guard let first = option.name.first, first != "$", first != "@" else {
                throw .invalidOption("'\(option.name)'", reason: "the name of a custom option must not be empty or begin with $ or @")
            }
            guard version < .v401 || !ODataName.isSystemOption(option.name) else {
                throw .invalidOption(
                    "'\(option.name)'", reason: "4.01 reads it as $\(option.name.lowercased()), which has its own method")
            }
            guard !list.isNested else { throw .invalidOption("'\(option.name)'", reason: "only a request as a whole has custom options") }
            list.begin("")
            list.text.value(option.name)
            list.text.syntax("=")
            // Apostrophes stay unencoded as in literals, because V2 passes function parameters this way.
            list.text.value(option.value, keeping: QueryText.apostrophe)
        }
    }

    // MARK: Select and expand

    private func writeSelection(of options: QueryOptions, to list: inout OptionList) throws(ODataQueryError) {
        switch options.selection {
        case .all:
            return
        case .items(let items):
            guard !items.isEmpty else { return }
            list.begin("$select=")
            try writeList(items, to: &list.text) { item, text throws(ODataQueryError) in try write(item, to: &text) }
        case .decoded:
            try writeDecoded(options, to: &list)
        }
    }

    /// Selects the decoded properties except expanded ones, which are returned anyway, with their own selection.
    private func writeDecoded(_ options: QueryOptions, to list: inout OptionList) throws(ODataQueryError) {
        guard let names = options.selectedNames(version) else { return }
        var isFirst = true
        for name in names where !options.expansions.contains(where: { $0.path.singleName == name }) {
            if isFirst { list.begin("$select=") } else { list.text.syntax(",") }
            isFirst = false
            list.text.value(name)
        }
    }

    private func write(_ item: SelectItem, to text: inout QueryText) throws(ODataQueryError) {
        try writePlain(item.path, for: "$select", to: &text)
        if let parameters = item.parameters {
            guard case .cast = item.path.segments.last, item.nested.isEmpty else {
                throw .invalidOption("$select", reason: "only functions can have parameters, and they can't have options")
            }
            text.syntax("(")
            try writeList(parameters, to: &text) { name, text throws(ODataQueryError) in
                guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of a parameter") }
                text.value(name)
            }
            text.syntax(")")
        }
        guard let nested = item.nested.first else { return }
        try require(.v401, "options in $select")
        try writeNested(nested, to: &text)
    }

    private func writeExpansions(_ expansions: [Expansion], to text: inout QueryText) throws(ODataQueryError) {
        for (index, expansion) in expansions.enumerated() {
            if index > 0 { text.syntax(",") }
            try writePlain(expansion.path, for: "$expand", to: &text)
            guard !expansions[..<index].contains(where: { $0.path == expansion.path }) else {
                var path = QueryText()
                try writePlain(expansion.path, for: "$expand", to: &path)
                throw .invalidOption("$expand", reason: "'\(path.text)' is expanded twice; give all its options in one expand")
            }
            try checkOptions(of: expansion)
            try writeNested(expansion.options, to: &text)
        }
    }

    /// References, counts and `*` support only some options.
    private func checkOptions(of expansion: Expansion) throws(ODataQueryError) {
        let options = expansion.options
        let isList: Bool
        let isFiltered: Bool
        switch expansion.path.segments.last {
        case .ref: (isList, isFiltered) = (true, true)
        case .count: (isList, isFiltered) = (false, true)
        case .all, .value: (isList, isFiltered) = (false, false)
        default: return
        }
        var rare = options.rare.first ?? RareOptions()
        if case .all = expansion.path.segments.last { rare.levels = nil }
        var isSelective = false
        if case .items(let items) = options.selection { isSelective = !items.isEmpty }
        let misplaced: [(String, Bool)] = [
            ("$select", isSelective), ("$expand", !options.expansions.isEmpty), ("$filter", !isFiltered && options.filter != nil),
            ("$search", !isFiltered && options.search != nil), ("$orderby", !isList && !options.order.isEmpty),
            ("$top", !isList && options.top != nil), ("$skip", !isList && options.skip != nil),
            ("$count", !isList && options.includesCount), ("$levels", rare.levels != nil), ("an option", rare != RareOptions()),
        ]
        if let option = misplaced.first(where: \.1) {
            throw .invalidOption("$expand", reason: "\(option.0) isn't supported if references, a count or everything is expanded")
        }
    }

    private func writeNested(_ options: QueryOptions, to text: inout QueryText) throws(ODataQueryError) {
        var list = OptionList(separator: ";", isNested: true)
        swap(&list.text, &text)
        // If writing fails, `text` isn't restored, because the error discards it.
        try write(options, to: &list)
        if !list.isEmpty { list.text.syntax(")") }
        swap(&list.text, &text)
    }

    func write(_ levels: ExpansionLevels, to text: inout QueryText) throws(ODataQueryError) {
        switch levels {
        case .max: text.syntax("max")
        case .levels(let number):
            guard number > 0 else { throw .invalidOption("$levels", reason: "\(number) isn't at least 1") }
            text.number(number)
        }
    }
}

/// A list of options with their prefix, separators and closing parenthesis.
struct OptionList {
    var text = QueryText()
    let separator: String
    /// A Boolean value that indicates whether the options are in the parentheses of another option.
    let isNested: Bool
    private(set) var isEmpty = true

    init(separator: String, isNested: Bool = false) {
        self.separator = separator
        self.isNested = isNested
    }

    /// Begins an option with its name and `=`.
    mutating func begin(_ name: String) {
        if !isEmpty { text.syntax(separator) } else if isNested { text.syntax("(") }
        isEmpty = false
        text.syntax(name)
    }
}

extension QueryPrinter {
    /// Writes the options that others may depend on.
    func writeFirst(_ options: RareOptions, to list: inout OptionList) throws(ODataQueryError) {
        if !options.apply.isEmpty {
            try require(.v4, "$apply")
            list.begin("$apply=")
            try write(options.apply, to: &list.text)
        }
        if !options.compute.isEmpty {
            try require(.v401, "$compute")
            list.begin("$compute=")
            let isNested = list.isNested
            try writeList(options.compute, to: &list.text) { item, text throws(ODataQueryError) in
                try write(item, isNested: isNested, to: &text)
            }
        }
    }

    func write(_ item: Computation, isNested: Bool, to text: inout QueryText) throws(ODataQueryError) {
        guard ODataName.isIdentifier(item.name) else { throw .invalidName(item.name, role: "the name of a computed property") }
        try write(item.expression, isNested: isNested, to: &text)
        text.syntax(" as ")
        text.value(item.name)
    }

    func writeLast(_ options: RareOptions, to list: inout OptionList) throws(ODataQueryError) {
        if let levels = options.levels {
            guard list.isNested else { throw .invalidOption("$levels", reason: "it is only allowed in an expand") }
            try require(.v4, "$levels")
            list.begin("$levels=")
            try write(levels, to: &list.text)
        }
        if list.isNested {
            let misplaced: [(String, Bool)] = [
                ("$index", options.index != nil), ("$format", options.format != nil), ("$schemaversion", options.schemaVersion != nil),
                ("$skiptoken", options.skipToken != nil), ("$deltatoken", options.deltaToken != nil), ("$id", options.entityID != nil),
                ("a header", !options.headers.isEmpty),
            ]
            if let option = misplaced.first(where: \.1) {
                throw .invalidOption(option.0, reason: "it is only allowed on a request as a whole")
            }
        }
        if let index = options.index {
            try require(.v401, "$index")
            list.begin("$index=")
            list.text.number(index)
        }
        try writeText("$format=", options.format, keeping: QueryText.mediaType, since: .v2, to: &list)
        try writeText("$schemaversion=", options.schemaVersion, keeping: QueryText.star, since: .v401, to: &list)
        try writeText("$skiptoken=", options.skipToken, keeping: nil, since: .v2, to: &list)
        try writeText("$deltatoken=", options.deltaToken, keeping: nil, since: .v4, to: &list)
        try writeText("$id=", options.entityID, keeping: QueryText.identifier, since: .v4, to: &list)
        for bound in options.temporal {
            try require(.v4, bound.kind.rawValue)
            list.begin(bound.kind.rawValue + "=")
            try write(bound.value, isNested: list.isNested, to: &list.text)
        }
        var aliases: Set<String> = []
        for alias in options.aliases {
            guard aliases.insert(alias.name).inserted else {
                throw .invalidOption("@\(alias.name)", reason: "it is given twice")
            }
            if list.isNested { try require(.v401, "parameter aliases in nested options") }
            list.begin("")
            try writeAlias(alias.name, to: &list.text)
            list.text.syntax("=")
            try write(alias.value, isNested: list.isNested, to: &list.text)
        }
    }

    private func writeText(
        _ name: String, _ value: String?, keeping kept: QueryText.Kept?, since: ODataVersion, to list: inout OptionList
    ) throws(ODataQueryError) {
        guard let value else { return }
        try require(since, String(name.dropLast()))
        guard !value.isEmpty else { throw .invalidOption(String(name.dropLast()), reason: "it is empty") }
        list.begin(name)
        list.text.value(value, keeping: kept)
    }
}

extension QueryPrinter {
    /// Writes a search. Words of ASCII letters and digits are unquoted. Everything else is quoted, because services disagree on other
    /// characters in words, and `AND`, `OR` and `NOT` would be operators.
    func write(_ search: SearchTerm, to text: inout QueryText, depth: Int = 0) throws(ODataQueryError) {
        guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
        switch search.kind {
        case .words(let words):
            try writeWords(words, to: &text)
        case .phrase(let phrase):
            guard phrase.contains(where: { !$0.isWhitespace }) else { throw .invalidSearch(phrase, reason: "it is empty") }
            try writeQuoted(phrase, to: &text)
        case .and(let terms):
            try writeChain(terms, isOr: false, to: &text, depth)
        case .or(let terms):
            try writeChain(terms, isOr: true, to: &text, depth)
        case .not(let operand):
            text.syntax("NOT ")
            try writeOperand(operand, isAtom: true, to: &text, depth)
        case .text(let typed):
            try require(.v401, "$search for typed text")
            text.syntax("'")
            text.doubled(typed)
            text.syntax("'")
        case .raw(let raw):
            guard !raw.isEmpty else { throw .invalidSearch(raw, reason: "it is empty") }
            text.raw(raw)
        case .invalid(let error):
            throw error
        }
    }

    private func writeChain(_ terms: [SearchTerm], isOr: Bool, to text: inout QueryText, _ depth: Int) throws(ODataQueryError) {
        guard !terms.isEmpty else { throw .invalidSearch("", reason: "\(isOr ? "OR" : "AND") has no terms") }
        for (index, term) in terms.enumerated() {
            if index > 0 { text.syntax(isOr ? " OR " : " AND ") }
            let needsParentheses =
                switch term.kind {
                case .or, .raw: true
                case .and: !isOr
                case .words, .phrase, .not, .text, .invalid: false
                }
            try writeOperand(term, isAtom: needsParentheses, to: &text, depth)
        }
    }

    private func writeOperand(
        _ operand: SearchTerm, isAtom: Bool, to text: inout QueryText, _ depth: Int
    ) throws(ODataQueryError) {
        let needsParentheses =
            switch operand.kind {
            case .words(let words): isAtom && words.split(whereSeparator: \.isWhitespace).count > 1
            case .phrase, .invalid: false
            case .and, .or, .not, .raw: isAtom
            case .text(let typed): throw .invalidSearch(typed, reason: "typed text can't be a part of an expression")
            }
        if needsParentheses { text.syntax("(") }
        try write(operand, to: &text, depth: depth + 1)
        if needsParentheses { text.syntax(")") }
    }

    private func writeWords(_ words: String, to text: inout QueryText) throws(ODataQueryError) {
        let parts = words.split(whereSeparator: \.isWhitespace)
        guard !parts.isEmpty else { throw .invalidSearch(words, reason: "it is empty") }
        for (index, word) in parts.enumerated() {
            if index > 0 { text.syntax(" ") }
            if SearchTerm.isPlain(word) {
                text.value(String(word))
            } else {
                try writeQuoted(String(word), to: &text)
            }
        }
    }

    private func writeQuoted(_ phrase: String, to text: inout QueryText) throws(ODataQueryError) {
        guard !phrase.unicodeScalars.contains("\"") else {
            throw .invalidSearch(phrase, reason: "OData can't search for a double quote; leave it out")
        }
        // By bytes: a combining mark makes a backslash another character.
        text.value("\"" + phrase.split(mark: "\\").joined(separator: "\\\\") + "\"")
    }
}
