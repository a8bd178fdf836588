/// A node of an expression's tree.
///
/// Recursion through a tree is safe because its depth is bounded. The exception is the left operands in a chain of one operator, which are
/// iterated.
///
/// `@unchecked Sendable` because `kind` changes only in `deinit`, when the node has no other reference.
package final class QueryNode: @unchecked Sendable {
    /// The maximum number of levels.
    package static let heightLimit = 256

    @exclusivity(unchecked) package private(set) var kind: QueryExpression.Kind
    /// The number of levels, including this one; a chain counts as one.
    package let height: Int
    /// The number of operators of the chain in the left operands.
    let length: Int

    package init(_ kind: QueryExpression.Kind) {
        var height = 0
        var length = 0
        if case .binary(let operation, let left, let right) = kind {
            if case .binary(let inner, _, _) = left.node.kind, let chain = operation.chain, chain == inner.chain {
                height = max(left.node.height - 1, right.node.height)
                length = left.node.length + 1
            } else {
                height = max(left.node.height, right.node.height)
            }
        } else {
            kind.visit(paths: { _ in }, children: { height = max(height, $0.node.height) })
        }
        let isTooDeep = height >= Self.heightLimit
        self.kind = isTooDeep ? .invalid(.tooDeep(limit: Nesting.queryLimit)) : kind
        self.height = isTooDeep ? 1 : height + 1
        self.length = isTooDeep ? 0 : length
    }

    /// Releases a chain iteratively: chains nest, and each operator would add a recursive call.
    deinit {
        guard length > 0, case .binary(_, var next, _) = kind else { return }
        kind = .raw("")
        while isKnownUniquelyReferenced(&next.node), case .binary(_, let left, _) = next.node.kind {
            next.node.kind = .raw("")
            next = left
        }
    }
}

extension BinaryOperator {
    /// The chain that an operator belongs to: its operators can follow each other from left to right. `nil` for operators that don't chain.
    fileprivate var chain: Int? {
        switch self {
        case .or: 0
        case .and: 1
        case .add, .subtract: 2
        case .multiply, .divide, .divideBy, .modulo: 3
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .has, .isIn: nil
        }
    }
}

extension QueryExpression: Hashable {
    /// Returns whether both expressions have the same structure.
    public static func == (left: QueryExpression, right: QueryExpression) -> Bool {
        var (left, right) = (left.node, right.node)
        while left !== right {
            guard left.height == right.height, left.length == right.length else { return false }
            guard left.length > 0, case .binary(let operation, let next, let operand) = left.kind,
                case .binary(let otherOperation, let otherNext, let otherOperand) = right.kind
            else { return left.kind == right.kind }
            guard operation == otherOperation, operand == otherOperand else { return false }
            (left, right) = (next.node, otherNext.node)
        }
        return true
    }

    /// Hashes the structure of the expression.
    public func hash(into hasher: inout Hasher) {
        var node = node
        while node.length > 0, case .binary(let operation, let next, let operand) = node.kind {
            hasher.combine(operation)
            hasher.combine(operand)
            node = next.node
        }
        hasher.combine(node.kind)
    }
}
