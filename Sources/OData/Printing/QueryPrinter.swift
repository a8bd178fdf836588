/// Writes queries as URL text, percent-encoded, in the spelling of one version of the protocol.
///
/// Another dialect is another way through these switches; the tree stays the same. What a dialect can't say is an error that names it.
public struct QueryPrinter: Sendable, Hashable {
    /// The version whose spelling is used.
    public var version: ODataVersion
    /// How enumeration members are written.
    public var enumerations: EnumerationSpelling
    /// How V2 instants are written.
    public var v2Dates: V2DateSpelling

    /// How deep expressions may nest. Chains of one operator don't count.
    static let depthLimit = 128

    /// A printer for a version.
    public init(
        version: ODataVersion = .v4, enumerations: EnumerationSpelling = .qualified, v2Dates: V2DateSpelling = .dateTime
    ) {
        self.version = version
        self.enumerations = enumerations
        self.v2Dates = v2Dates
    }

    /// The text of one expression as it stands in `$filter` or `$orderby`.
    ///
    /// - Throws: ``ODataQueryError`` where the expression can't be said.
    public func text(of expression: QueryExpression) throws(ODataQueryError) -> String {
        var text = QueryText()
        try write(expression, isNested: false, to: &text)
        return text.text
    }

    /// The text of one literal as it stands in an expression or a key.
    ///
    /// - Throws: ``ODataQueryError`` where the value has no literal.
    public func text(of value: EdmValue) throws(ODataQueryError) -> String {
        var text = QueryText()
        try literals.write(value, to: &text)
        return text.text
    }

    var literals: LiteralWriter {
        LiteralWriter(version: version, enumerations: enumerations, v2Dates: v2Dates)
    }

    /// Whether the version has something.
    ///
    /// - Throws: ``ODataQueryError/unsupported(_:version:)`` where it hasn't.
    func require(_ since: ODataVersion, _ what: @autoclosure () -> String) throws(ODataQueryError) {
        if version < since { throw .unsupported(what(), version: version) }
    }

    func write(_ expression: QueryExpression, isNested: Bool, to text: inout QueryText) throws(ODataQueryError) {
        var scope = PrintingScope(root: expression, isNested: isNested)
        try write(expression, in: &scope, to: &text)
    }

    func writeList<Item>(
        _ items: [Item], to text: inout QueryText, _ write: (Item, inout QueryText) throws(ODataQueryError) -> Void
    ) throws(ODataQueryError) {
        for (index, item) in items.enumerated() {
            if index > 0 { text.syntax(",") }
            try write(item, &text)
        }
    }
}
