/// Reads URLs as queries: the other way round of ``QueryPrinter``, by the same grammar.
///
/// Names are taken as they come unless a ``model`` knows them: without one, `Set(A=1)` is a key and `Ns.Name` a type. Operators are read
/// in any letter case, and in version 4.01 system query options without `$`. What it gives is what the printer prints again.
public struct QueryParser: Sendable {
    /// The version whose literals are read; the later ones of V4 are read for 4.0 as well.
    public var version: ODataVersion
    /// What is known of the service's names.
    public var model: (any QueryModel)?

    /// A parser for a version.
    public init(version: ODataVersion = .v401, model: (any QueryModel)? = nil) {
        self.version = version
        self.model = model
    }

    /// A query from a URL relative to the service's root, percent-encoded as it goes over the wire: `People('ada')/Trips?$top=5`.
    ///
    /// - Throws: ``QueryParsingError`` with the position of what isn't a query.
    public func query(_ url: String) throws(QueryParsingError) -> ODataQuery {
        let bytes = Array(url.utf8)
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        let resource = try resource(bytes[..<mark])
        var parser = self
        if let model, case .crossjoin(let sets)? = resource.segments.first {
            parser.model = CrossjoinedNames(model: model, sets: Set(sets))
        }
        let query = ODataQuery(
            resource, options: mark < bytes.count ? try parser.options(bytes[(mark + 1)...], at: mark + 1) : QueryOptions())
        let isEntity = resource.segments.first == .entity
        let hasID = query.options.entityID != nil
        guard isEntity ? hasID : !hasID || resource.segments.last == .ref else {
            throw QueryParsingError(position: mark, expected: "$id for $entity or behind $ref, and nowhere else", found: "")
        }
        return query
    }

    /// The path of a resource, percent-encoded.
    ///
    /// - Throws: ``QueryParsingError`` with the position of what isn't a path.
    public func resource(_ path: String) throws(QueryParsingError) -> ResourcePath {
        try resource(Array(path.utf8)[...])
    }

    /// Query options as they stand behind the `?`, percent-encoded.
    ///
    /// - Throws: ``QueryParsingError`` with the position of what isn't an option.
    public func options(_ text: String) throws(QueryParsingError) -> QueryOptions {
        try options(Array(text.utf8)[...], at: 0)
    }

    /// An expression as it stands in `$filter`, percent-encoded.
    ///
    /// - Throws: ``QueryParsingError`` with the position of what isn't an expression.
    public func expression(_ text: String) throws(QueryParsingError) -> QueryExpression {
        var reader = try reader(Array(text.utf8)[...], at: 0)
        let expression = try reader.expression()
        try reader.expectEnd()
        return expression
    }

    /// A literal as it stands in an expression, percent-encoded.
    ///
    /// - Throws: ``QueryParsingError`` with the position of what isn't a literal.
    public func literal(_ text: String) throws(QueryParsingError) -> EdmValue {
        var reader = try reader(Array(text.utf8)[...], at: 0)
        let value = try reader.literal()
        try reader.expectEnd("the end")
        return value
    }

    func reader(_ text: ArraySlice<UInt8>, at start: Int, isPath: Bool = false) throws(QueryParsingError) -> QueryReader {
        try QueryReader(text, at: start, isPath: isPath, version: version, model: model)
    }

    private func resource(_ text: ArraySlice<UInt8>) throws(QueryParsingError) -> ResourcePath {
        var reader = try reader(text, at: 0, isPath: true)
        return try reader.resource()
    }
}
