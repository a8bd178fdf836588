extension QueryPrinter {
    /// The options of a request, as they stand behind the `?`; empty where there are none.
    ///
    /// - Throws: ``ODataQueryError`` where an option can't be said.
    public func text(of options: QueryOptions) throws(ODataQueryError) -> String {
        var text = QueryText()
        try write(options, separator: "&", to: &text)
        return text.text
    }

    private func write(_ options: QueryOptions, separator: String, to text: inout QueryText) throws(ODataQueryError) {
        var isFirst = true
        func begin(_ name: String) {
            if !isFirst { text.syntax(separator) }
            isFirst = false
            text.syntax(name + "=")
        }
        if let filter = options.filter {
            begin("$filter")
            try write(filter, to: &text)
        }
        if !options.search.isEmpty {
            begin("$search")
            try write(options.search, to: &text)
        }
        let selected = selection(of: options)
        if !selected.isEmpty {
            begin("$select")
            try writeList(selected, to: &text) { path, text throws(ODataQueryError) in try writePlain(path, to: &text) }
        }
        if !options.expansions.isEmpty {
            begin("$expand")
            try writeExpansions(options.expansions, to: &text)
        }
        if !options.order.isEmpty {
            begin("$orderby")
            try writeList(options.order, to: &text) { order, text throws(ODataQueryError) in
                try write(order.expression, to: &text)
                if order.isDescending { text.syntax(" desc") }
            }
        }
        for (name, number) in [("$top", options.top), ("$skip", options.skip)] {
            guard let number else { continue }
            guard number >= 0 else { throw .invalidOption(name, reason: "\(number) is negative") }
            begin(name)
            text.syntax(String(number))
        }
        if options.includesCount {
            begin("$count")
            text.syntax("true")
        }
        for option in options.custom {
            guard let first = option.name.first, first != "$", first != "@" else {
                throw .invalidOption("'\(option.name)'", reason: "the name of a custom option isn't empty and begins neither with $ nor @")
            }
            if !isFirst { text.syntax(separator) }
            isFirst = false
            text.value(option.name)
            text.syntax("=")
            text.value(option.value)
        }
    }

    /// What is decoded but for what is expanded: expanded properties come anyway, and with their own selection.
    private func selection(of options: QueryOptions) -> [QueryPath] {
        switch options.selection {
        case .all: return []
        case .properties(let paths): return paths
        case .decoded:
            let expanded = Set(options.expansions.compactMap(\.path.singleName))
            let names = (options.decodedNames ?? []).filter { !expanded.contains($0) }
            return names.map { QueryPath(segments: [.property($0)]) }
        }
    }

    private func writeExpansions(_ expansions: [QueryOptions.Expansion], to text: inout QueryText) throws(ODataQueryError) {
        var seen: Set<QueryPath> = []
        try writeList(expansions, to: &text) { expansion, text throws(ODataQueryError) in
            var path = QueryText()
            try writePlain(expansion.path, to: &path)
            guard seen.insert(expansion.path).inserted else {
                throw .invalidOption("$expand", reason: "'\(path.text)' is expanded twice; give all its options in one expand")
            }
            text.append(path)
            var nested = QueryText()
            try write(expansion.options, separator: ";", to: &nested)
            guard !nested.isEmpty else { return }
            text.syntax("(")
            text.append(nested)
            text.syntax(")")
        }
    }

    private func writeList<Item>(
        _ items: [Item], to text: inout QueryText, _ write: (Item, inout QueryText) throws(ODataQueryError) -> Void
    ) throws(ODataQueryError) {
        for (index, item) in items.enumerated() {
            if index > 0 { text.syntax(",") }
            try write(item, &text)
        }
    }
}
