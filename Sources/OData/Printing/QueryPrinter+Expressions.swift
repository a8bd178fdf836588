/// How strongly an expression holds together where it is an operand, weakest first (URL Conventions, section 5.1.1.14).
///
/// Where the specification's table and its grammar differ (`has`, `in`, `not` and `-` beside other operators), the rank is low enough
/// that parentheses leave no doubt.
private enum Rank: Int, Comparable {
    case or, and, prefix, comparison, additive, multiplicative, primary

    static func < (left: Rank, right: Rank) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Whether operators of the rank are written in a row, from the left.
    var isChain: Bool {
        switch self {
        case .or, .and, .additive, .multiplicative: true
        case .prefix, .comparison, .primary: false
        }
    }
}

extension BinaryOperator {
    fileprivate var rank: Rank {
        switch self {
        case .or: .or
        case .and: .and
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .has, .isIn: .comparison
        case .add, .subtract: .additive
        case .multiply, .divide, .divideBy, .modulo: .multiplicative
        }
    }

    fileprivate var since: ODataVersion {
        switch self {
        case .divideBy, .isIn: .v401
        case .has: .v4
        default: .v2
        }
    }
}

extension QueryPrinter {
    private func rank(of expression: QueryExpression) -> Rank {
        switch expression.kind {
        case .literal, .path, .call, .cast, .isOf, .conditional, .array, .object, .lambda, .invalid: .primary
        case .unary: .prefix
        case .binary(let operation, _, _): operation.rank
        case .membership(_, let values): usesIn(values) ? .comparison : values.count > 1 ? .or : values.isEmpty ? .primary : .comparison
        case .raw: .or
        }
    }

    private func write(
        _ expression: QueryExpression, atLeast rank: Rank, in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        let needsParentheses = self.rank(of: expression) < rank
        if needsParentheses { text.syntax("(") }
        try write(expression, in: &scope, to: &text)
        if needsParentheses { text.syntax(")") }
    }

    func write(_ expression: QueryExpression, in scope: inout PrintingScope, to text: inout QueryText) throws(ODataQueryError) {
        guard scope.depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
        scope.depth += 1
        defer { scope.depth -= 1 }
        switch expression.kind {
        case .literal(let value):
            try literals.write(value, to: &text)
        case .path(let path):
            try write(path, in: &scope, to: &text)
        case .unary(let operation, let operand):
            try write(operation, operand, in: &scope, to: &text)
        case .binary(let operation, let left, let right):
            try write(operation, left, right, in: &scope, to: &text)
        case .membership(let operand, let values):
            try writeMembership(operand, values, in: &scope, to: &text)
        case .call(let name, let arguments):
            try writeCall(name, arguments, in: &scope, to: &text)
        case .cast(let operand, let type):
            try writeTyped("cast", operand, type, in: &scope, to: &text)
        case .isOf(let operand, let type):
            try writeTyped("isof", operand, type, in: &scope, to: &text)
        case .conditional(let branches):
            try writeCase(branches, in: &scope, to: &text)
        case .array, .object:
            try writeJSON(expression, in: &scope, to: &text)
        case .lambda(let quantifier, let path, let variable, let predicate):
            try writeLambda(quantifier, path, variable, predicate, in: &scope, to: &text)
        case .raw(let raw):
            guard !raw.isEmpty else { throw .invalidOption("expression", reason: "raw text is empty") }
            text.raw(raw)
        case .invalid(let error):
            throw error
        }
    }

    private func write(
        _ operation: UnaryOperator, _ operand: QueryExpression, in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        text.syntax(operation == .not ? "not " : "-")
        // `-5` would be a literal and `-INF` one too, not the negation of what follows.
        var needsParentheses = rank(of: operand) < .primary
        if operation == .negate, case .literal = operand.kind { needsParentheses = true }
        if needsParentheses { text.syntax("(") }
        try write(operand, in: &scope, to: &text)
        if needsParentheses { text.syntax(")") }
    }

    private func write(
        _ operation: BinaryOperator, _ left: QueryExpression, _ right: QueryExpression, in scope: inout PrintingScope,
        to text: inout QueryText
    ) throws(ODataQueryError) {
        let rank = operation.rank
        // Chains lean to the left and may be long, so they are walked, not descended.
        var first = left
        var chain = [(operation, right)]
        while rank.isChain, case .binary(let next, let operand, let right) = first.kind, next.rank == rank {
            chain.append((next, right))
            first = operand
        }
        if rank.isChain {
            try write(first, atLeast: rank, in: &scope, to: &text)
        } else {
            try write(first, atLeast: operation == .has || operation == .isIn ? .primary : .additive, in: &scope, to: &text)
        }
        let stronger = Rank(rawValue: rank.rawValue + 1) ?? .primary
        for (operation, operand) in chain.reversed() {
            try require(operation.since, operation.rawValue)
            text.syntax(" ")
            text.syntax(operation.rawValue)
            text.syntax(" ")
            try write(operand, atLeast: operation == .has || operation == .isIn ? .primary : stronger, in: &scope, to: &text)
        }
    }

    private func usesIn(_ values: [EdmValue]) -> Bool {
        // Services are at odds over null and over enumeration members in a list, so these take the long way round.
        version >= .v401 && !values.isEmpty
            && values.allSatisfy { value in
                switch value {
                case .null, .enumeration: false
                default: true
                }
            }
    }

    private func writeMembership(
        _ operand: QueryExpression, _ values: [EdmValue], in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        guard !values.isEmpty else {
            text.syntax("false")
            return
        }
        guard usesIn(values) else {
            for (index, value) in values.enumerated() {
                if index > 0 { text.syntax(" or ") }
                try write(operand, atLeast: .additive, in: &scope, to: &text)
                text.syntax(" eq ")
                try literals.write(value, to: &text)
            }
            return
        }
        try write(operand, atLeast: .primary, in: &scope, to: &text)
        text.syntax(" in (")
        for (index, value) in values.enumerated() {
            if index > 0 { text.syntax(",") }
            try literals.write(value, to: &text)
        }
        text.syntax(")")
    }

    private func writeLambda(
        _ quantifier: LambdaQuantifier, _ path: QueryPath, _ variable: LambdaVariable, _ predicate: QueryExpression?,
        in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        try require(.v4, quantifier.rawValue)
        try write(path, in: &scope, to: &text)
        text.syntax(quantifier == .any ? "/any(" : "/all(")
        if let predicate {
            scope.enter(variable)
            text.syntax(try scope.name(of: variable))
            text.syntax(":")
            try write(predicate, in: &scope, to: &text)
            scope.leave()
        } else if quantifier == .all {
            throw .invalidOption("expression", reason: "all needs a predicate")
        }
        text.syntax(")")
    }
}
