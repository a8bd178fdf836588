import Testing

@testable import OData

@Suite struct QueryNodeTests {
    /// Steps that each nest an expression deeper.
    private static let steps: [@Sendable (QueryExpression) -> QueryExpression] = [
        { .unary(.not, $0) },
        { .binary(.equal, $0, .literal(.integer(1))) },
        { .binary(.and, .path(QueryPath("A")), $0) },
        { .call("trim", [$0]) },
        { .cast($0, "Edm.String") },
        { .conditional([.init(when: .literal(.boolean(true)), $0)]) },
        { .array([$0]) },
        { .object([.init("a", $0)]) },
        { .path(QueryPath(segments: [.property("A"), .filter($0)])) },
        { .lambda(.any, QueryPath("A"), LambdaVariable(number: 1), $0) },
    ]

    @Test(arguments: steps.indices)
    func `unbounded nesting can be built, compared, hashed and released, and is refused when printed`(step: Int) async {
        await onSmallStack {
            func build() -> QueryExpression {
                var expression = QueryExpression.path(QueryPath("A"))
                for _ in 0..<20_000 { expression = Self.steps[step](expression) }
                return expression
            }
            let (one, other) = (build(), build())
            #expect(one == other && one.hashValue == other.hashValue)
            #expect(one != .unary(.negate, one))
            #expect(throws: ODataQueryError.tooDeep(limit: 128)) { try QueryPrinter(version: .v401).text(of: one) }
        }
    }

    @Test func `a chain of a hundred thousand operators is one level`() async throws {
        await onSmallStack {
            func build(_ last: Int64) -> QueryExpression {
                var expression = QueryExpression.literal(.integer(0))
                for number in 0..<100_000 {
                    expression = .binary(number % 3 == 0 ? .add : .subtract, expression, .literal(.integer(number == 99_999 ? last : 1)))
                }
                return expression
            }
            let (one, other) = (build(1), build(1))
            #expect(one == other && one.hashValue == other.hashValue && one != build(2))
            let lambda = QueryExpression.lambda(.any, over: QueryPath("A")) { variable in
                .binary(.equal, one, .path(QueryPath(root: .variable(variable), segments: [])))
            }
            let text = try? QueryPrinter().text(of: lambda)
            #expect(text?.hasPrefix("A/any(x1:0%20add%201%20sub%201%20sub%201") == true && text?.hasSuffix("%20eq%20x1)") == true)
        }
    }

    @Test func `unboundedly nested short chains are released`() async {
        await onSmallStack {
            func build() -> QueryExpression {
                var expression = QueryExpression.path(QueryPath("A"))
                for number in 0..<20_000 {
                    expression = .binary(number % 32 == 0 ? .equal : .add, expression, .literal(.integer(1)))
                }
                return expression
            }
            let (one, other) = (build(), build())
            #expect(one == other && one.hashValue == other.hashValue)
        }
    }

    @Test func `a shared part of a chain isn't released`() {
        var chain = QueryExpression.path(QueryPath("A"))
        var held: [QueryExpression] = []
        for number in 0..<1_000 {
            chain = .binary(.or, chain, .literal(.integer(Int64(number))))
            if number % 100 == 99 { held.append(chain) }
        }
        chain = .literal(.null)
        for (index, part) in held.enumerated() {
            let text = try? QueryPrinter().text(of: part)
            #expect(text?.hasPrefix("A%20or%200%20or%201") == true && text?.hasSuffix("or%20\(index * 100 + 99)") == true)
        }
    }
}
