import Foundation

@testable import OData

extension QueryGenerator {
    mutating func path(_ variables: [LambdaVariable], depth: Int = 0) -> QueryPath {
        var segments = list(1...3) { QueryPath.Segment.property($0.name()) }
        if isOne(in: 6) { segments.insert(.cast(pick(["Ns.Type", "A.B.C"])), at: below(segments.count)) }
        if isOne(in: 8) { segments.append(.property(annotation())) }
        if isOne(in: 8) { segments.append(.function("Ns.Function", parameters(depth))) }
        if depth > 0, isOne(in: 8) { segments.append(.filter(predicate(depth - 1, variables))) }
        let isAnnotated = segments.contains { if case .property(let name) = $0 { name.hasPrefix("@") } else { false } }
        if case .filter? = segments.last, !isAnnotated, isOne(in: 3) { segments.append(.key(key())) }
        // A single entity has no count.
        var isOneEntity = false
        if case .key? = segments.last { isOneEntity = true }
        if !isOneEntity, isOne(in: 8) { segments.append(.count) }
        if depth > 0, !isOneEntity, segments.last != .count, isOne(in: 10) {
            segments.append(.countWhere(predicate(depth - 1, variables), isOne(in: 2) ? search(1) : nil))
        }
        if let variable = variables.randomElement(using: &random), isOne(in: 2) {
            if case .property = segments[0] { return QueryPath(root: .variable(variable), segments: Array(segments.dropFirst(below(2)))) }
            return QueryPath(root: .variable(variable), segments: segments)
        }
        switch below(12) {
        case 0: return QueryPath(root: pick([.it, .this]), segments: segments)
        case 1: return QueryPath(root: .alias(pick(["p", "größe"])), segments: [])
        case 2: return QueryPath(root: .root, segments: [.property("Products"), .key(key()), .property("Name")])
        case 3: return QueryPath(root: pick([.it, .this, .alias("a")]), segments: [])
        default: break
        }
        // Reserved words are printed and read with `$it`.
        if case .property(let name) = segments[0], ["null", "true", "INF", "not"].contains(name) {
            return QueryPath(root: .it, segments: segments)
        }
        if case .property(let name) = segments[0], name.hasPrefix("@"), !name.contains(".") { return QueryPath(segments: [.property("A")]) }
        return QueryPath(segments: segments)
    }

    private mutating func parameters(_ depth: Int) -> [QueryPath.Parameter] {
        var names = ["a", "b", "größe"]
        return list(0...2) { generator in
            let name = names.remove(at: generator.below(names.count))
            return QueryPath.Parameter(name, generator.isOne(in: 2) ? generator.json(1) : generator.operand(min(depth, 1), []))
        }
    }

    mutating func key() -> [ResourcePath.KeyPart] {
        func value(_ generator: inout QueryGenerator) -> ResourcePath.KeyPart.Value {
            if generator.isOne(in: 6) { return .alias("key") }
            while true {
                let value = generator.value()
                switch value {
                case .null, .double, .single, .binary, .spatial: continue
                default: return .literal(value)
                }
            }
        }
        guard isOne(in: 3) else { return [ResourcePath.KeyPart(value(&self))] }
        return ["A", "Größe"].map { ResourcePath.KeyPart(name: $0, value(&self)) }
    }

    mutating func json(_ depth: Int) -> QueryExpression {
        func item(_ generator: inout QueryGenerator) -> QueryExpression {
            switch generator.below(5) {
            case 0:
                let text = generator.text()
                return .literal(.string(generator.isForJudge ? text.replacing("\"", with: "") : text))
            case 1: return .literal(generator.pick([.null, .boolean(true), .integer(-5), .number("1.50")]))
            case 2: return .path(QueryPath(root: .root, segments: [.property("Customers"), .key(generator.key())]))
            default: return depth > 0 ? generator.json(depth - 1) : .array([])
            }
        }
        if isOne(in: 2) { return .array(list(0...3) { item(&$0) }) }
        var names = ["@odata.id", "Name", isForJudge ? "b" : "a \"b\"", "\u{1}ä"]
        return .object(
            list(0...3) { generator in QueryExpression.Member(names.remove(at: generator.below(names.count)), item(&generator)) })
    }

    mutating func operand(_ depth: Int, _ variables: [LambdaVariable]) -> QueryExpression {
        guard depth > 0 else { return isOne(in: 2) ? .path(path(variables)) : .literal(value()) }
        switch below(13) {
        case 0, 1: return .path(path(variables, depth: depth))
        case 2: return .literal(value())
        case 3: return .unary(.negate, operand(depth - 1, variables))
        case 4, 5, 6:
            let operators: [BinaryOperator] = [.add, .subtract, .multiply, .divide, .divideBy, .modulo]
            return .binary(pick(operators), operand(depth - 1, variables), operand(depth - 1, variables))
        case 7: return .cast(isOne(in: 3) ? nil : operand(depth - 1, variables), isOne(in: 4) ? "Collection(Ns.Type)" : type())
        case 8:
            return .conditional(list(1...3) { .init(when: $0.predicate(depth - 1, variables), $0.operand(depth - 1, variables)) })
        case 9: return json(depth)
        default: return call(depth, variables)
        }
    }

    private mutating func call(_ depth: Int, _ variables: [LambdaVariable]) -> QueryExpression {
        let (name, arity) = pick([
            ("contains", 2), ("startswith", 2), ("endswith", 2), ("tolower", 1), ("toupper", 1), ("length", 1), ("indexof", 2),
            ("substring", 2), ("substring", 3), ("trim", 1), ("concat", 2), ("year", 1), ("month", 1), ("day", 1), ("hour", 1),
            ("minute", 1), ("second", 1), ("round", 1), ("floor", 1), ("ceiling", 1), ("date", 1), ("time", 1), ("now", 0),
            ("matchesPattern", 2), ("hassubset", 2), ("hassubsequence", 2), ("fractionalseconds", 1), ("totalseconds", 1),
            ("totaloffsetminutes", 1), ("mindatetime", 0), ("maxdatetime", 0), ("geo.distance", 2), ("geo.length", 1),
            ("geo.intersects", 2),
        ])
        return .call(name, list(arity...arity) { $0.operand(depth - 1, variables) })
    }

    mutating func predicate(_ depth: Int, _ variables: [LambdaVariable] = []) -> QueryExpression {
        guard depth > 0 else { return .binary(.equal, operand(0, variables), operand(0, variables)) }
        switch below(12) {
        case 0, 1, 2: return .binary(pick([.and, .or]), predicate(depth - 1, variables), predicate(depth - 1, variables))
        case 3: return .unary(.not, predicate(depth - 1, variables))
        case 4: return membership(depth, variables)
        case 5: return .binary(.has, operand(depth - 1, variables), .literal(.enumeration(type: "Ns.Colour", member: "Red")))
        case 6, 7:
            var collection = path(variables)
            while [.count, nil].contains(collection.segments.last) { collection = path(variables) }
            if isOne(in: 8) { return .lambda(.any, collection, LambdaVariable(number: 1), nil) }
            return .lambda(pick([.any, .all]), over: collection) { predicate(depth - 1, variables + [$0]) }
        case 8: return .isOf(isOne(in: 3) ? nil : operand(depth - 1, variables), type())
        case 9: return .binary(.isIn, operand(depth - 1, variables), .path(QueryPath("Names")))
        default:
            let comparisons: [BinaryOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
            return .binary(pick(comparisons), operand(depth - 1, variables), operand(depth - 1, variables))
        }
    }

    private mutating func membership(_ depth: Int, _ variables: [LambdaVariable]) -> QueryExpression {
        let values = list(1...4) { $0.value() }.filter { value in
            switch value {
            case .null, .enumeration: false
            default: true
            }
        }
        return .membership(operand(depth - 1, variables), values.isEmpty ? [.integer(1)] : values)
    }

    mutating func search(_ depth: Int) -> SearchTerm {
        func leaf(_ generator: inout QueryGenerator) -> SearchTerm {
            if generator.isOne(in: 2) { return .words(generator.pick(["blue", "blue widgets2", "a b c"])) }
            let text = generator.text().replacing("\"", with: "").trimmingCharacters(in: .whitespacesAndNewlines)
            return .phrase(text.contains { !$0.isWhitespace } ? text : "x y")
        }
        guard depth > 0 else { return leaf(&self) }
        switch below(5) {
        case 0: return .and(search(depth - 1), search(depth - 1))
        case 1: return .or(search(depth - 1), search(depth - 1))
        case 2: return .not(search(depth - 1))
        default: return leaf(&self)
        }
    }
}
