import Testing

@testable import OData
@testable import ODataQueryParsing

@Suite struct TransformationTests {
    private static let hierarchy = RecursiveHierarchy(
        nodes: QueryPath(root: .root, segments: [.property("Nodes")]), qualifier: "Q", node: QueryPath("ID"))

    /// Steps that each nest a transformation deeper.
    private static let steps: [@Sendable (Transformation) -> Transformation] = [
        { .groupBy([.property(QueryPath("A"))], [$0]) },
        { .groupBy([.rollupRecursive(Self.hierarchy, [$0])], []) },
        { .concat([[.identity], [$0]]) },
        { .expand(QueryPath("A"), [$0]) },
        { .nest([NestedTransformation([$0], as: "B")]) },
        { .addNested(QueryPath("A"), [NestedTransformation([$0], as: "B")]) },
        { .join(QueryPath("A"), as: "B", [.identity, $0], isOuter: false) },
        { .ancestors(Self.hierarchy, [$0], distance: nil, keepsStart: false) },
        { .descendants(Self.hierarchy, [$0], distance: 1, keepsStart: true) },
        { .traverse(Self.hierarchy, isPreorder: true, [$0], []) },
    ]

    @Test(arguments: steps.indices)
    func `unbounded nesting can be built, compared, hashed and released, and is refused when printed`(step: Int) async {
        await onSmallStack {
            func build() -> Transformation {
                var transformation = Transformation.identity
                for _ in 0..<20_000 { transformation = Self.steps[step](transformation) }
                return transformation
            }
            let (one, other) = (build(), build())
            #expect(one == other && one.hashValue == other.hashValue && one != .identity)
            var query = ODataQuery(ResourcePath("A"))
            query.options.apply = [one]
            #expect(throws: ODataQueryError.tooDeep(limit: 128)) { try QueryPrinter(version: .v401).text(of: query) }
        }
    }

    @Test func `an empty list of sequences is an error that names its transformation`() {
        for (step, name) in [(Transformation.nest([]), "nest"), (.addNested(QueryPath("Items"), []), "addnested")] {
            var query = ODataQuery(ResourcePath("A"))
            query.options.apply = [step]
            #expect(throws: ODataQueryError.invalidOption("$apply", reason: "\(name) has no sequence")) {
                try QueryPrinter(version: .v401).text(of: query)
            }
        }
    }

    @Test func `nesting within the bound is printed`() throws {
        for step in Self.steps {
            var query = ODataQuery(ResourcePath("A"))
            query.options.apply = [(0..<100).reduce(.identity) { inner, _ in step(inner) }]
            let text = try QueryPrinter(version: .v401).text(of: query)
            #expect(try QueryParser().query(text).options.apply == query.options.apply)
        }
    }
}
