extension QueryParser {
    /// System query options that may be written without `$`, in lower case.
    private static let bare: Set<String> = [
        "filter", "search", "select", "expand", "orderby", "top", "skip", "count", "compute", "apply", "levels", "index", "format",
        "schemaversion", "id",
    ]
    private static let others: Set<String> = ["skiptoken", "deltatoken", "at", "from", "to", "toinclusive"]

    /// Whether 4.01 reads a name without `$` as a system query option.
    static func isSystemOption(_ name: String) -> Bool {
        bare.contains(name.lowercased())
    }

    /// What is known of the options before the one that is read.
    private struct Before {
        var names: Set<String> = []
        var hasOthers = false
        var aliases = QueryReader.AliasList()
        var count = 0

        /// Notes that an option comes that isn't the service's own.
        mutating func noteOther(_ options: inout QueryOptions) {
            guard !hasOthers else { return }
            hasOthers = true
            for index in options.custom.indices { options.custom[index].isLeading = true }
        }
    }

    /// The options between `&`s.
    func options(_ text: ArraySlice<UInt8>, at start: Int) throws(QueryParsingError) -> QueryOptions {
        var options = QueryOptions()
        var before = Before()
        var position = start
        guard !text.isEmpty else { return options }
        for part in text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            defer { position += part.count + 1 }
            guard !part.isEmpty else { throw QueryParsingError(position: position, expected: "an option", found: "&") }
            try read(part, at: position, into: &options, &before)
        }
        options.aliases = before.aliases.all
        if version == .v2 {
            // In V2 `$select` alone says what comes of what is expanded: the expansions have no selection of their own.
            for index in options.expansions.indices { options.expansions[index].options.selection = .items([]) }
        }
        return options
    }

    private func read(
        _ part: ArraySlice<UInt8>, at position: Int, into options: inout QueryOptions, _ before: inout Before
    ) throws(QueryParsingError) {
        let mark = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
        var head = try reader(part[..<mark], at: position)
        before.count += 1
        guard before.count <= QueryReader.countLimit else { throw head.expected("a query of at most \(QueryReader.countLimit) options") }
        let name = try head.rest()
        if name.hasPrefix("@") {
            before.noteOther(&options)
            var reader = try reader(part, at: position)
            _ = reader.skip("@")
            try reader.readAlias(into: &before.aliases, at: 0)
            try reader.expectEnd()
            return
        }
        let folded = name.lowercased()
        // Before 4.01 a name without `$` is the service's own: an option, or a parameter of a function import.
        let isBare = version >= .v401 && Self.bare.contains(folded)
        let system = folded.hasPrefix("$") ? String(folded.dropFirst()) : isBare ? folded : nil
        guard let system else {
            try readCustom(name, part, mark, at: position, into: &options)
            return
        }
        before.noteOther(&options)
        guard before.names.insert(system).inserted else {
            throw QueryParsingError(position: position, expected: "an option that isn't there yet", found: name)
        }
        guard mark < part.endIndex else {
            throw QueryParsingError(position: position + part.count, expected: "'='", found: "")
        }
        let start = position + (mark - part.startIndex) + 1
        var reader = try reader(part[(mark + 1)...], at: start)
        switch system {
        case "format": options.format = try textual(&reader)
        case "schemaversion": options.schemaVersion = try textual(&reader)
        case "skiptoken": options.skipToken = try textual(&reader)
        case "deltatoken": options.deltaToken = try textual(&reader)
        case "id": options.entityID = try textual(&reader)
        case "inlinecount" where version == .v2:
            let value = try reader.rest()
            guard ["allpages", "none"].contains(value) else {
                throw QueryParsingError(position: start, expected: "allpages or none", found: value)
            }
            options.includesCount = value == "allpages"
        default:
            guard Self.bare.contains(system) || Self.others.contains(system), system != "levels" else {
                throw QueryParsingError(position: position, expected: "a system query option", found: name)
            }
            try reader.read(system, into: &options, at: 0)
            try reader.expectEnd("the end of the option")
        }
    }

    private func textual(_ reader: inout QueryReader) throws(QueryParsingError) -> String {
        guard !reader.isAtEnd else { throw reader.expected("a value") }
        return try reader.rest()
    }

    private func readCustom(
        _ name: String, _ part: ArraySlice<UInt8>, _ mark: Int, at position: Int, into options: inout QueryOptions
    ) throws(QueryParsingError) {
        guard !name.isEmpty else { throw QueryParsingError(position: position, expected: "the name of an option", found: "=") }
        var value = ""
        if mark < part.endIndex {
            var reader = try reader(part[(mark + 1)...], at: position + (mark - part.startIndex) + 1)
            value = try reader.rest()
        }
        options.custom.append(QueryOptions.Custom(name: name, value: value))
    }
}
