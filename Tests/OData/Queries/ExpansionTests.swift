import Testing

@testable import OData
@testable import ODataQueryParsing

@Suite struct ExpansionTests {
    /// Steps that each nest options deeper.
    private static let steps: [@Sendable (QueryOptions) -> QueryOptions] = [
        { inner in
            var options = QueryOptions()
            options.expansions = [Expansion(path: QueryPath("A"), options: inner)]
            return options
        },
        { inner in
            var options = QueryOptions()
            options.expansions = [Expansion(path: QueryPath("A")), Expansion(path: QueryPath("B"))]
            options.expansions[1].options = inner
            return options
        },
        { inner in
            var options = QueryOptions()
            options.selection = .items([SelectItem(QueryPath("A"), options: inner)])
            return options
        },
        { inner in
            var item = SelectItem(QueryPath("A"))
            item.options = inner
            var options = QueryOptions()
            options.selection = .items([.all, item])
            return options
        },
    ]

    private static func build(_ levels: Int, _ step: Int) -> QueryOptions {
        var options = QueryOptions()
        options.filter = .literal(.boolean(true))
        for _ in 0..<levels { options = Self.steps[step](options) }
        return options
    }

    @Test(arguments: steps.indices)
    func `unbounded nesting can be built, compared, hashed and released, and is refused when printed`(step: Int) async {
        await onSmallStack {
            let (one, other) = (Self.build(20_000, step), Self.build(20_000, step))
            #expect(one == other && one.hashValue == other.hashValue && one != QueryOptions())
            for version in [ODataVersion.v4, .v401] where version == .v401 || step < 2 {
                #expect(throws: ODataQueryError.tooDeep(limit: 128)) {
                    try QueryPrinter(version: version).text(of: ODataQuery(ResourcePath("A"), options: one))
                }
            }
        }
    }

    @Test func `a part of unbounded nesting can't be sent either`() {
        for step in Self.steps.indices {
            var options = Self.build(1_000, step)
            var errors: Set<ODataQueryError> = []
            // Descend to the cut and beyond.
            for _ in 0..<1_000 {
                do {
                    _ = try QueryPrinter(version: .v401).text(of: ODataQuery(ResourcePath("A"), options: options))
                    break
                } catch {
                    errors.insert(error)
                }
                if let inner = options.expansions.last {
                    options = inner.options
                } else if case .items(let items) = options.selection, let inner = items.last {
                    options = inner.options
                } else {
                    break
                }
            }
            #expect(errors == [.tooDeep(limit: 128)], "\(step)")
        }
    }

    @Test func `nesting within the bound is printed`() throws {
        for step in Self.steps.indices {
            let query = ODataQuery(ResourcePath("A"), options: Self.build(100, step))
            let text = try QueryPrinter(version: .v401).text(of: query)
            #expect(try QueryParser().query(text).options == query.options)
        }
    }
}
