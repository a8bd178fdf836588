extension QueryPrinter {
    /// The options of a request, as they stand behind the `?`; empty where there are none.
    ///
    /// - Throws: ``ODataQueryError`` where an option can't be said.
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
                throw .invalidOption("'\(option.name)'", reason: "the name of a custom option isn't empty and begins neither with $ nor @")
            }
            guard version < .v401 || !QueryParser.isSystemOption(option.name) else {
                throw .invalidOption(
                    "'\(option.name)'", reason: "4.01 reads it as $\(option.name.lowercased()), which has a method of its own")
            }
            guard !list.isNested else { throw .invalidOption("'\(option.name)'", reason: "only a request as a whole has custom options") }
            list.begin("")
            list.text.value(option.name)
            list.text.syntax("=")
            // As literals have them: what V2 takes as a parameter of a function is read as such an option.
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

    /// What is decoded but for what is expanded: expanded properties come anyway, and with their own selection.
    private func writeDecoded(_ options: QueryOptions, to list: inout OptionList) throws(ODataQueryError) {
        guard let names = options.decodedNames else { return }
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
                throw .invalidOption("$select", reason: "only functions have parameters, and these have no options")
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

    /// References, counts and the star take few of the options.
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
            throw .invalidOption("$expand", reason: "\(option.0) has no meaning where references, a count or everything is expanded")
        }
    }

    private func writeNested(_ options: QueryOptions, to text: inout QueryText) throws(ODataQueryError) {
        var list = OptionList(separator: ";", isNested: true)
        swap(&list.text, &text)
        // In case of an error the text is lost, as it is then anyway.
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

/// Options one behind the other, with what stands before, between and behind them.
struct OptionList {
    var text = QueryText()
    let separator: String
    /// Whether they stand in the parentheses of another option.
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
