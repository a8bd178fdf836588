import Foundation

/// The precedence of an expression as an operand, weakest first (URL Conventions, section 5.1.1.14).
///
/// Where the specification's table and grammar disagree (`has`, `in`, `not` and `-` next to other operators), this is the lower rank, so
/// parentheses are added.
private enum Rank: Int, Comparable {
    case or, and, prefix, comparison, additive, multiplicative, primary

    static func < (left: Rank, right: Rank) -> Bool {
        left.rawValue < right.rawValue
    }

    /// A Boolean value that indicates whether operators of the rank can follow each other from left to right.
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
        // Without parentheses, `-5` and `-INF` would be literals instead of negations.
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
        // Chains are left-associative and may be long, so they are iterated to avoid deep recursion.
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
        // Services treat null and enumeration members in lists differently, so a list that contains one is written with `or`.
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

extension QueryPrinter {
    func writeCall(
        _ name: String, _ arguments: [QueryExpression], in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        var written = name
        var arguments = arguments
        if let known = CanonicalFunction.named(name) {
            guard known.arity.contains(arguments.count) else {
                let needed = known.arity.count == 1 ? "\(known.arity.lowerBound)" : "\(known.arity.lowerBound) to \(known.arity.upperBound)"
                let noun = known.arity.upperBound == 1 ? "argument" : "arguments"
                throw .invalidOption("function \(name)", reason: "it takes \(needed) \(noun), not \(arguments.count)")
            }
            try require(known.since, name)
            if let last = known.through, version > last { throw .unsupported(name, version: version) }
            if version == .v2, name == "contains" {
                written = "substringof"
                arguments.reverse()
            }
        } else {
            guard ODataName.isQualified(name) else { throw .invalidName(name, role: "the name of a function") }
        }
        text.syntax(written)
        text.syntax("(")
        for (index, argument) in arguments.enumerated() {
            if index > 0 { text.syntax(",") }
            try write(argument, in: &scope, to: &text)
        }
        text.syntax(")")
    }

    /// Writes `cast` or `isof`.
    func writeTyped(
        _ name: String, _ operand: QueryExpression?, _ type: String, in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        guard ODataName.isType(type) else { throw .invalidName(type, role: "the name of a type") }
        text.syntax(name)
        text.syntax("(")
        if let operand {
            try write(operand, in: &scope, to: &text)
            text.syntax(",")
        }
        // V2 writes the type's name as a string.
        if version == .v2 { text.syntax("'") }
        text.value(type, keeping: QueryText.parentheses)
        text.syntax(version == .v2 ? "')" : ")")
    }

    func writeCase(
        _ branches: [QueryExpression.Branch], in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        try require(.v401, "case")
        guard !branches.isEmpty else { throw .invalidOption("expression", reason: "case needs a condition") }
        text.syntax("case(")
        for (index, branch) in branches.enumerated() {
            if index > 0 { text.syntax(",") }
            try write(branch.condition, in: &scope, to: &text)
            // The blank prevents `A gt 10:30` from being read as a time of day.
            if text.endsWithDigit { text.syntax(" ") }
            text.syntax(":")
            try write(branch.value, in: &scope, to: &text)
        }
        text.syntax(")")
    }

    // MARK: JSON

    /// Writes collections and complex values as JSON, and other kinds as expressions.
    func writeJSON(_ expression: QueryExpression, in scope: inout PrintingScope, to text: inout QueryText) throws(ODataQueryError) {
        try require(.v4, "a collection or a complex value in a URL")
        switch expression.kind {
        case .array(let items):
            text.value("[")
            for (index, item) in items.enumerated() {
                if index > 0 { text.syntax(",") }
                try writeItem(item, in: &scope, to: &text)
            }
            text.value("]")
        case .object(let members):
            text.value("{")
            for (index, member) in members.enumerated() {
                if index > 0 { text.syntax(",") }
                guard !member.name.isEmpty else { throw .invalidOption("JSON object", reason: "a member has no name") }
                guard !members[..<index].contains(where: { $0.name == member.name }) else {
                    throw .invalidOption("JSON object", reason: "the member '\(member.name)' occurs twice")
                }
                writeJSONString(member.name, to: &text)
                text.syntax(":")
                try writeItem(member.value, in: &scope, to: &text)
            }
            text.value("}")
        default:
            try write(expression, in: &scope, to: &text)
        }
    }

    private func writeItem(_ item: QueryExpression, in scope: inout PrintingScope, to text: inout QueryText) throws(ODataQueryError) {
        guard case .literal(let value) = item.kind else {
            try write(item, in: &scope, to: &text)
            return
        }
        switch value {
        case .null, .boolean, .integer, .int64, .decimal, .number:
            try literals.write(value, to: &text)
        case .spatial(let value):
            try writeGeoJSON(value, to: &text)
        case .double(let number) where number.isFinite:
            try literals.write(value, to: &text)
        case .single(let number) where number.isFinite:
            try literals.write(value, to: &text)
        case .double(let number):
            writeJSONString(NumberText.floating(number), to: &text)
        case .single(let number):
            writeJSONString(NumberText.floating(number), to: &text)
        case .string(let value):
            writeJSONString(value, to: &text)
        case .guid(let value):
            writeJSONString(value.uuidString.lowercased(), to: &text)
        case .dateTimeOffset(let value):
            writeJSONString(try LiteralText.instant(value), to: &text)
        case .timestamp(let value):
            writeJSONString(value.description, to: &text)
        case .date(let value):
            writeJSONString(value.description, to: &text)
        case .timeOfDay(let value):
            writeJSONString(value.description, to: &text)
        case .duration(let value):
            writeJSONString(LiteralText.duration(value), to: &text)
        case .binary(let value):
            writeJSONString(LiteralText.base64URL(value), to: &text)
        case .enumeration(_, let member):
            writeJSONString(member, to: &text)
        }
    }

    private func writeGeoJSON(_ value: EdmSpatial, to text: inout QueryText) throws(ODataQueryError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            text.value(String(decoding: try encoder.encode(value), as: UTF8.self))
        } catch {
            throw .unsupportedLiteral(
                "A spatial value in JSON",
                reason: "its coordinates must be finite, a measure needs an altitude, and collections can't nest more than "
                    + "\(Self.depthLimit) deep")
        }
    }

    private func writeJSONString(_ string: String, to text: inout QueryText) {
        var escaped = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": escaped += "\\\""
            case "\\": escaped += "\\\\"
            case "\u{0}"..<"\u{20}": escaped += "\\u00" + DigitText.hexadecimal(UInt8(scalar.value))
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        text.value(escaped + "\"")
    }
}
