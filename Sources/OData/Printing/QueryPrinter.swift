/// Writes queries as URL text, percent-encoded, in the spelling of one version of the protocol.
///
/// Another dialect is another way through these switches; the tree stays the same.
public struct QueryPrinter: Sendable, Hashable {
    /// The version whose spelling is used.
    public var version: ODataVersion
    /// How enumeration members are written.
    public var enumerations: EnumerationSpelling

    /// How deep expressions may nest. Chains of `and` and of `or` don't count.
    static let depthLimit = 128

    /// A printer for a version.
    public init(version: ODataVersion = .v4, enumerations: EnumerationSpelling = .qualified) {
        self.version = version
        self.enumerations = enumerations
    }

    /// The text of one expression as it stands in `$filter` or `$orderby`.
    ///
    /// - Throws: ``ODataQueryError`` where the expression can't be said.
    public func text(of expression: QueryExpression) throws(ODataQueryError) -> String {
        var text = QueryText()
        try write(expression, to: &text)
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
        LiteralWriter(enumerations: enumerations)
    }

    func write(_ expression: QueryExpression, to text: inout QueryText) throws(ODataQueryError) {
        var scope = PrintingScope(prefix: PrintingScope.prefix(for: expression))
        try write(expression, in: &scope, to: &text)
    }
}

/// The lambda variables that are known where the printer is, innermost last.
struct PrintingScope {
    /// What variables' names begin with: longer than `x` where a property is called like a variable.
    let prefix: String
    var variables: [LambdaVariable] = []
    var depth = 0

    func name(of variable: LambdaVariable) throws(ODataQueryError) -> String {
        // The innermost of equal numbers would be wrong only if a variable were used inside a lambda that hides it, and
        // inner lambdas always have lower numbers than those around them.
        guard let index = variables.lastIndex(of: variable) else { throw .variableOutOfScope }
        return prefix + String(index + 1)
    }

    /// A prefix that no property has which a path begins with: a property called `x1` would be taken for the variable.
    static func prefix(for expression: QueryExpression) -> String {
        var names: [String] = []
        var hasLambda = false
        func collect(_ path: QueryPath) {
            guard path.root == .entity, case .property(let name)? = path.segments.first else { return }
            if name.utf8.first == UInt8(ascii: "x") { names.append(name) }
        }
        var rest = [expression]
        while let next = rest.popLast() {
            switch next {
            case .literal, .raw, .invalid: continue
            case .path(let path): collect(path)
            case .unary(_, let operand), .membership(let operand, _): rest.append(operand)
            case .binary(_, let left, let right): rest += [left, right]
            case .call(_, let arguments): rest += arguments
            case .lambda(_, let path, _, let predicate):
                hasLambda = true
                collect(path)
                if let predicate { rest.append(predicate) }
            }
        }
        var prefix = "x"
        while hasLambda, names.contains(where: { $0.hasPrefix(prefix) && $0.dropFirst(prefix.count).allSatisfy(\.isNumber) }) {
            prefix += "x"
        }
        return prefix
    }
}
