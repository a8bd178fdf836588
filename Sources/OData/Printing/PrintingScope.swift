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
