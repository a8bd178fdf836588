import WebServiceClient

/// The variable of one `any` or `all`.
///
/// Variables have a number instead of a name. Printers name them by depth, so nested lambdas never collide. While a predicate is being
/// built, its variable has a unique number; a finished lambda numbers its variable by the depth of lambdas nested inside, so that equal
/// queries compare equal.
public struct LambdaVariable: Sendable, Hashable {
    package let number: UInt64

    package init(number: UInt64) {
        self.number = number
    }

    private static let openBit: UInt64 = 1 << 63
    private static let counter = Locked<UInt64>(0)

    /// Returns a variable that differs from every other.
    package static func open() -> LambdaVariable {
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
    /// Returns a lambda over the elements of a collection, with its variable numbered by the nesting depth inside.
    package static func lambda(
        _ quantifier: LambdaQuantifier, over path: QueryPath, where predicate: (LambdaVariable) -> QueryExpression
    ) -> QueryExpression {
        let open = LambdaVariable.open()
        return .lambda(quantifier, over: path, variable: open, body: predicate(open))
    }

    /// Returns a lambda whose open variable is replaced by a numbered one.
    package static func lambda(
        _ quantifier: LambdaQuantifier, over path: QueryPath, variable open: LambdaVariable, body: QueryExpression
    ) -> QueryExpression {
        let closed = LambdaVariable(number: body.lambdaHeight + 1)
        let predicate = body.mapPaths { path in
            guard path.root == .variable(open) else { return path }
            return QueryPath(root: .variable(closed), segments: path.segments)
        }
        return .lambda(quantifier, path, closed, predicate)
    }

    /// The maximum depth of lambdas nested inside.
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
