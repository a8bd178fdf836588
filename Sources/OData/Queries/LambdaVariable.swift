import WebServiceClient

/// The variable of one `any` or `all`.
///
/// It carries a number, not a name: printers name variables by depth, so nested lambdas never collide. While a predicate is being
/// built its variable has a number nobody else has; a finished lambda numbers its own by how many lambdas nest inside, so that equal
/// queries are equal values.
public struct LambdaVariable: Sendable, Hashable {
    let number: UInt64

    init(number: UInt64) {
        self.number = number
    }

    private static let openBit: UInt64 = 1 << 63
    private static let counter = Locked<UInt64>(0)

    /// A variable that differs from every other.
    static func open() -> LambdaVariable {
        let count = counter.withLock { value in
            value &+= 1
            return value
        }
        return LambdaVariable(number: count | openBit)
    }

    var isOpen: Bool {
        number & Self.openBit != 0
    }
}

extension QueryExpression {
    /// A lambda over the elements of a collection, its variable numbered by the nesting inside.
    static func lambda(
        _ quantifier: LambdaQuantifier, over path: QueryPath, where predicate: (LambdaVariable) -> QueryExpression
    ) -> QueryExpression {
        let open = LambdaVariable.open()
        return .lambda(quantifier, over: path, variable: open, body: predicate(open))
    }

    /// A lambda whose open variable gets its number.
    static func lambda(
        _ quantifier: LambdaQuantifier, over path: QueryPath, variable open: LambdaVariable, body: QueryExpression
    ) -> QueryExpression {
        let closed = LambdaVariable(number: body.lambdaHeight + 1)
        let predicate = body.mapPaths { path in
            guard path.root == .variable(open) else { return path }
            return QueryPath(root: .variable(closed), segments: path.segments)
        }
        return .lambda(quantifier, path, closed, predicate)
    }

    /// How many lambdas nest inside, at the deepest place.
    private var lambdaHeight: UInt64 {
        var height: UInt64 = 0
        var rest = [self]
        while let next = rest.popLast() {
            if case .lambda(_, _, let variable, _) = next.kind, !variable.isOpen { height = max(height, variable.number) }
            next.visit(paths: { _ in }, children: { rest.append($0) })
        }
        return height
    }
}
