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

/// Where in an expression the printer is, and the lambda variables that are known there, innermost last.
struct PrintingScope {
    /// The whole expression.
    let root: QueryExpression
    /// Whether the expression belongs to the options of an expansion or of a selected property.
    var isNested: Bool
    var variables: [LambdaVariable] = []
    var depth = 0
    /// What variables' names begin with; found when the first one is needed.
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
        // The innermost of equal numbers would be wrong only if a variable were used inside a lambda that hides it, and
        // inner lambdas always have lower numbers than those around them.
        guard let index = variables.lastIndex(of: variable) else { throw .variableOutOfScope }
        return (prefix ?? "x") + String(index + 1)
    }

    /// A prefix that no property has which a path begins with: a property called `x1` would be taken for the variable.
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

/// A version of the protocol that queries can be written for.
public enum ODataVersion: String, Sendable, Hashable, CaseIterable, Comparable {
    /// OData 2.0: literals with prefixes and suffixes, `substringof`, `$inlinecount`; no lambdas, no nested options.
    case v2 = "2.0"
    /// OData 4.0: lists of values become chains of `or`.
    case v4 = "4.0"
    /// OData 4.01: adds `in`, `divby`, `case`, `$compute` and much else.
    case v401 = "4.01"

    private var order: Int {
        switch self {
        case .v2: 0
        case .v4: 1
        case .v401: 2
        }
    }

    /// Whether the left version is the older one.
    public static func < (left: ODataVersion, right: ODataVersion) -> Bool {
        left.order < right.order
    }
}
