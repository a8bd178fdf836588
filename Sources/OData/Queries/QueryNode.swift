/// A node of an expression's tree.
///
/// Nothing that goes through a tree has to fear its depth: it is bounded, but for the left operands in a chain of one operator, which are
/// walked, not descended.
///
/// `@unchecked Sendable`: what a node is changes only while it is released, when nothing else can see it.
final class QueryNode: @unchecked Sendable {
    /// How many levels there are at most.
    static let heightLimit = 256

    @exclusivity(unchecked) private(set) var kind: QueryExpression.Kind
    /// How many levels there are, this one included; a chain is one.
    let height: Int
    /// How many operators of the chain stand in the left operands.
    let length: Int

    init(_ kind: QueryExpression.Kind) {
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
        self.kind = isTooDeep ? .invalid(.tooDeep(limit: QueryPrinter.depthLimit)) : kind
        self.height = isTooDeep ? 1 : height + 1
        self.length = isTooDeep ? 0 : length
    }

    /// A chain would be released by as many calls in each other, and chains nest.
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
    /// What is the same for operators that are written in a row, from the left; `nil` for those that aren't.
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
    /// Whether both say the same in the same way.
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

    /// Hashes what the expression is.
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
