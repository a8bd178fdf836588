/// Writes queries as percent-encoded URL text in the syntax of one protocol version.
///
/// Expression trees are the same for every version; only the printer distinguishes them. Features that a version lacks throw an error with
/// their name.
public struct QueryPrinter: Sendable, Hashable {
    /// The protocol version of the output.
    public var version: ODataVersion
    /// The spelling of enumeration members.
    public var enumerations: EnumerationSpelling
    /// The spelling of V2 instants.
    public var v2Dates: V2DateSpelling

    /// The maximum nesting depth of expressions. Chains of one operator count as one level.
    package static let depthLimit = Nesting.queryLimit

    /// Creates a printer for a version.
    public init(
        version: ODataVersion = .v4, enumerations: EnumerationSpelling = .qualified, v2Dates: V2DateSpelling = .dateTime
    ) {
        self.version = version
        self.enumerations = enumerations
        self.v2Dates = v2Dates
    }

    /// Returns the text of one expression, as in `$filter` or `$orderby`.
    ///
    /// - Throws: ``ODataQueryError`` if the expression can't be expressed.
    public func text(of expression: QueryExpression) throws(ODataQueryError) -> String {
        var text = QueryText()
        try write(expression, isNested: false, to: &text)
        return text.text
    }

    /// Returns the text of one literal, as in an expression or a key.
    ///
    /// - Throws: ``ODataQueryError`` if the value has no literal.
    public func text(of value: EdmValue) throws(ODataQueryError) -> String {
        var text = QueryText()
        try literals.write(value, to: &text)
        return text.text
    }

    var literals: LiteralWriter {
        LiteralWriter(version: version, enumerations: enumerations, v2Dates: v2Dates)
    }

    /// Checks that the version supports a feature.
    ///
    /// - Throws: ``ODataQueryError/unsupported(_:version:)`` if it doesn't.
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

/// The printer's position in an expression, with the lambda variables in scope, innermost last.
struct PrintingScope {
    /// The whole expression.
    let root: QueryExpression
    /// A Boolean value that indicates whether the expression belongs to the options of an expansion or of a selected property.
    var isNested: Bool
    var variables: [LambdaVariable] = []
    var depth = 0
    /// The prefix of variables' names; computed for the first variable.
    private var prefix: String?

    init(root: QueryExpression, isNested: Bool) {
        self.root = root
        self.isNested = isNested
    }

    mutating func enter(_ variable: LambdaVariable) {
        if prefix == nil { prefix = Self.prefix(for: root) }
        variables.append(variable)
    }

    mutating func leave() {
        variables.removeLast()
    }

    func name(of variable: LambdaVariable) throws(ODataQueryError) -> String {
        // Searching from the innermost is safe: a variable could only be shadowed by a nested lambda with the same number, and nested
        // lambdas always have lower numbers.
        guard let index = variables.lastIndex(of: variable) else { throw .variableOutOfScope }
        return (prefix ?? "x") + String(index + 1)
    }

    /// Returns a prefix that no property at the beginning of a path uses: a property called `x1` would be mistaken for the variable.
    private static func prefix(for expression: QueryExpression) -> String {
        var names: [String] = []
        var rest = [expression]
        while let next = rest.popLast() {
            next.visit(
                paths: { path in
                    guard path.root == .entity else { return }
                    switch path.segments.first {
                    case .property(let name), .cast(let name), .function(let name, _):
                        if name.utf8.first == UInt8(ascii: "x") { names.append(name) }
                    default: return
                    }
                },
                children: { rest.append($0) })
        }
        var prefix = "x"
        while names.contains(where: { $0.hasPrefix(prefix) && $0.dropFirst(prefix.count).allSatisfy(\.isNumber) }) {
            prefix += "x"
        }
        return prefix
    }
}

/// The spelling of enumeration members.
public enum EnumerationSpelling: String, Sendable, Hashable, CaseIterable {
    /// `Sales.Colour'Red'` if the type's name is known, which every version of the protocol accepts.
    case qualified
    /// `'Red'`, which 4.01 allows and some services require.
    case bare
}

/// The spelling of V2's literals for instants; the service's metadata determines which one applies.
public enum V2DateSpelling: String, Sendable, Hashable, CaseIterable {
    /// `datetime'2026-11-21T12:00:00'`, in UTC: for `Edm.DateTime`, the most common type.
    case dateTime
    /// `datetimeoffset'2026-11-21T12:00:00Z'`: for `Edm.DateTimeOffset`.
    case dateTimeOffset
}
