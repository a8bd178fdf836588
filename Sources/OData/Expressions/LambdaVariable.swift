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
        let body = predicate(open)
        let closed = LambdaVariable(number: body.lambdaHeight + 1)
        return .lambda(quantifier, path, closed, body.replacing(open, by: closed))
    }

    /// How many lambdas nest inside, at the deepest place.
    private var lambdaHeight: UInt64 {
        switch self {
        case .literal, .path, .raw, .invalid: 0
        case .unary(_, let operand), .membership(let operand, _): operand.lambdaHeight
        case .binary(_, let left, let right): max(left.lambdaHeight, right.lambdaHeight)
        case .call(_, let arguments): arguments.map(\.lambdaHeight).max() ?? 0
        case .lambda(_, _, let variable, let predicate): max(variable.number, predicate?.lambdaHeight ?? 0)
        }
    }

    private func replacing(_ old: LambdaVariable, by new: LambdaVariable) -> QueryExpression {
        switch self {
        case .literal, .raw, .invalid:
            self
        case .path(let path):
            .path(path.replacing(old, by: new))
        case .unary(let operation, let operand):
            .unary(operation, operand.replacing(old, by: new))
        case .binary(let operation, let left, let right):
            .binary(operation, left.replacing(old, by: new), right.replacing(old, by: new))
        case .membership(let operand, let values):
            .membership(operand.replacing(old, by: new), values)
        case .call(let name, let arguments):
            .call(name, arguments.map { $0.replacing(old, by: new) })
        case .lambda(let quantifier, let path, let variable, let predicate):
            .lambda(quantifier, path.replacing(old, by: new), variable, predicate?.replacing(old, by: new))
        }
    }
}

extension QueryPath {
    fileprivate func replacing(_ old: LambdaVariable, by new: LambdaVariable) -> QueryPath {
        guard root == .variable(old) else { return self }
        return QueryPath(root: .variable(new), segments: segments)
    }
}
