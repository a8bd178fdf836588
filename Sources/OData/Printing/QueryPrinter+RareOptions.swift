extension QueryPrinter {
    /// The options that the others may depend on.
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
            guard list.isNested else { throw .invalidOption("$levels", reason: "it belongs into an expand") }
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
                throw .invalidOption(option.0, reason: "only a request as a whole has it")
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
        for (index, alias) in options.aliases.enumerated() {
            guard !options.aliases[..<index].contains(where: { $0.name == alias.name }) else {
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
