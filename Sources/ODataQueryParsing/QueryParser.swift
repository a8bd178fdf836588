public import OData
public import WebServiceClient

/// Parses URLs as queries, the inverse of ``QueryPrinter``.
///
/// Without a ``model``, names are interpreted by syntax alone: `Set(A=1)` is a key and `Ns.Name` a type. Operators are case-insensitive,
/// and in version 4.01 system query options may omit the `$`. The printer can print every parsed query.
public struct QueryParser: Sendable {
    /// The version whose literals are parsed; 4.0 also accepts those of later V4 versions.
    public var version: ODataVersion
    /// The model of the service.
    ///
    /// The parser uses its names to decide what a text means, and refuses names that the model doesn't have. Whether a type has a property,
    /// or a literal the right type, is checked by `query.verify(against: model)`.
    public let model: ServiceModel?
    /// The names of the model, and those that a query adds.
    private var names: ServiceNames?

    /// Creates a parser for a version. The names of the model are collected once, so keep the parser if the model is large.
    public init(version: ODataVersion = .v401, model: ServiceModel? = nil) {
        self.version = version
        self.model = model
        names = model.map { ServiceNames($0) }
    }

    /// Creates a parser for a service that is known by its names only.
    package init(version: ODataVersion = .v401, names: ServiceNames) {
        self.version = version
        model = nil
        self.names = names
    }

    /// Parses a percent-encoded URL relative to the service's root: `People('ada')/Trips?$top=5`.
    ///
    /// - Throws: ``QueryParsingError`` with the position of the first invalid part.
    public func query(_ url: String) throws(QueryParsingError) -> ODataQuery {
        let bytes = Array(url.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        let resource = try resource(bytes[..<mark])
        var parser = self
        if let names, case .crossjoin(let sets)? = resource.segments.first {
            // The instances have a property for each of the sets (URL Conventions, section 4.17).
            parser.names = names.adding(sets, as: .entity)
        }
        let query = ODataQuery(
            resource, options: mark < bytes.count ? try parser.options(bytes[(mark + 1)...], at: mark + 1) : QueryOptions())
        let isEntity = resource.segments.first == .entity
        let hasID = query.options.entityID != nil
        guard isEntity ? hasID : !hasID || resource.segments.last == .ref else {
            throw QueryParsingError(position: mark, expected: "$id with $entity, and otherwise only after $ref", found: "")
        }
        return query
    }

    /// Parses the percent-encoded path of a resource.
    ///
    /// - Throws: ``QueryParsingError`` with the position of the first invalid part.
    public func resource(_ path: String) throws(QueryParsingError) -> ResourcePath {
        try resource(Array(path.utf8)[...])
    }

    /// Parses the percent-encoded query options after the `?`.
    ///
    /// - Throws: ``QueryParsingError`` with the position of the first invalid part.
    public func options(_ text: String) throws(QueryParsingError) -> QueryOptions {
        try options(Array(text.utf8)[...], at: 0)
    }

    /// Parses a percent-encoded expression, as in `$filter`.
    ///
    /// - Throws: ``QueryParsingError`` with the position of the first invalid part.
    public func expression(_ text: String) throws(QueryParsingError) -> QueryExpression {
        var reader = try reader(Array(text.utf8)[...], at: 0)
        let expression = try reader.expression()
        try reader.expectEnd()
        return expression
    }

    /// Parses a percent-encoded literal, as in an expression.
    ///
    /// - Throws: ``QueryParsingError`` with the position of the first invalid part.
    public func literal(_ text: String) throws(QueryParsingError) -> EdmValue {
        var reader = try reader(Array(text.utf8)[...], at: 0)
        let value = try reader.literal()
        try reader.expectEnd("the end")
        return value
    }

    func reader(_ text: ArraySlice<UInt8>, at start: Int, isPath: Bool = false) throws(QueryParsingError) -> QueryReader {
        try QueryReader(text, at: start, isPath: isPath, version: version, names: names)
    }

    private func resource(_ text: ArraySlice<UInt8>) throws(QueryParsingError) -> ResourcePath {
        var reader = try reader(text, at: 0, isPath: true)
        return try reader.resource()
    }
}

extension QueryParser {
    private static let others: Set<String> = ["skiptoken", "deltatoken", "at", "from", "to", "toinclusive"]

    /// The state of the options read so far.
    private struct Before {
        var names: Set<String> = []
        var hasOthers = false
        var aliases = QueryReader.AliasList()
        var count = 0

        /// Records an option that isn't custom: earlier custom options become leading.
        mutating func noteOther(_ options: inout QueryOptions) {
            guard !hasOthers else { return }
            hasOthers = true
            for index in options.custom.indices { options.custom[index].isLeading = true }
        }
    }

    /// Parses the options between `&`s.
    func options(_ text: ArraySlice<UInt8>, at start: Int) throws(QueryParsingError) -> QueryOptions {
        var options = QueryOptions()
        var before = Before()
        var position = start
        guard !text.isEmpty else { return options }
        var parser = self
        if let names, !names.includesAliases {
            parser.names = names.adding(QueryReader.aliases(in: text), as: [.primitive, .complex, .entity, .entityCollection])
        }
        for part in text.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            defer { position += part.count + 1 }
            guard !part.isEmpty else { throw QueryParsingError(position: position, expected: "an option", found: "&") }
            try parser.read(part, at: position, into: &options, &before)
        }
        options.aliases = before.aliases.all
        if version == .v2 {
            // In V2, only `$select` restricts expanded entities: the expansions themselves have no selection.
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
        // Before 4.01, a name without `$` is a custom option or a parameter of a function import.
        let isBare = version >= .v401 && ODataName.systemOptions.contains(folded)
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
            guard ODataName.systemOptions.contains(system) || Self.others.contains(system), system != "levels" else {
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

/// The reason why a text isn't a valid query, with the position and the expected syntax.
public struct QueryParsingError: DescribedError, Sendable, Hashable {
    /// The zero-based position in the text's UTF-8 bytes.
    public let position: Int
    /// The syntax expected there, such as `')'` or `an expression`.
    public let expected: String
    /// The text found there, shortened; empty at the end.
    public let found: String

    /// A readable description.
    public var description: String {
        let what = found.isEmpty ? "the end" : "'\(found)'"
        return VisibleText.of("At position \(position) of the query \(expected) was expected, not \(what).")
    }
}
