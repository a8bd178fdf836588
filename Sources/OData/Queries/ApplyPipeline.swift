/// The steps of a typed `$apply`: each transforms the result of the previous one and determines its result type.
///
///     FetchRequest<Sale>(from: "Sales").apply {
///         $0.filter { $0.amount > 3 }
///             .group(by: \.customer, \.country, into: CountrySales.self, .sum(\.amount, as: \.total), .count(as: \.sales))
///             .ranked(.topCount, 5) { $0.total }
///     }
///
/// The result type of a grouping declares coding keys for the wire names of the grouped properties, and one for each aggregate.
public struct ApplyPipeline<Entity: Decodable & Sendable>: Sendable, Hashable {
    /// The steps so far.
    public var steps: [Transformation]

    init(steps: [Transformation]) {
        self.steps = steps
    }

    private func adding<Other>(_ step: Transformation, as type: Other.Type = Entity.self) -> ApplyPipeline<Other> {
        ApplyPipeline<Other>(steps: steps + [step])
    }

    private func expression<Value>(_ build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> QueryExpression {
        build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression
    }

    private static func path(_ property: PartialKeyPath<Entity>) -> QueryPath {
        QueryPath(segments: PropertyCatalog.segments(of: property, in: Entity.self))
    }

    // MARK: The same type

    /// Keeps only the instances that satisfy the predicate.
    public func filter(_ predicate: (QueryTerm<Entity>) -> QueryTerm<Bool>) -> ApplyPipeline {
        adding(.filter(expression(predicate)))
    }

    /// Keeps only the instances that match.
    public func search(_ term: SearchTerm) -> ApplyPipeline {
        adding(.search(term))
    }

    /// Sorts by these terms in order of priority.
    public func order(by terms: Ordering<Entity>...) -> ApplyPipeline {
        adding(.order(terms.map(\.item)))
    }

    /// Limits the number of instances.
    public func top(_ count: Int) -> ApplyPipeline {
        adding(.top(count))
    }

    /// Skips the first `count` instances.
    public func skip(_ count: Int) -> ApplyPipeline {
        adding(.skip(count))
    }

    /// Keeps the greatest or smallest instances by a value: a number of them, or those that reach a sum or a percentage of it.
    public func ranked<Value>(
        _ ranking: Transformation.Ranking, _ amount: some QueryNumberOperand, by value: (QueryTerm<Entity>) -> QueryTerm<Value>
    ) -> ApplyPipeline {
        adding(.ranked(ranking, amount.queryExpression, by: expression(value)))
    }

    /// Concatenates the results of several sequences.
    public func concat(_ sequences: (ApplyPipeline) -> ApplyPipeline...) -> ApplyPipeline {
        adding(
            .concat(
                sequences.map { build in
                    let steps = build(ApplyPipeline(steps: [])).steps
                    return steps.isEmpty ? [.identity] : steps
                }))
    }

    /// Adds a custom step that keeps the type.
    public func transform(_ step: Transformation) -> ApplyPipeline {
        adding(step)
    }

    // MARK: Other types

    /// Adds a custom step with another result type.
    public func transform<Other>(_ step: Transformation, into type: Other.Type) -> ApplyPipeline<Other> {
        adding(step, as: type)
    }

    /// Adds computed properties, which the other type declares: `.compute(into: Taxed.self, .init(\.tax) { $0.amount * $0.rate })`.
    public func compute<Other>(into type: Other.Type, _ items: ComputedProperty<Entity, Other>...) -> ApplyPipeline<Other> {
        adding(items.lazy.compactMap(\.failure).first.map { .invalid($0) } ?? .compute(items.map(\.item)), as: type)
    }

    /// Aggregates to one instance with totals.
    public func aggregate<Other>(into type: Other.Type, _ items: Aggregate<Entity, Other>...) -> ApplyPipeline<Other> {
        adding(Self.aggregating(items), as: type)
    }

    /// Groups by these properties: one instance for each combination of their values, with totals for its group.
    public func group<Other>(
        by properties: PartialKeyPath<Entity>..., into type: Other.Type, _ items: Aggregate<Entity, Other>...
    ) -> ApplyPipeline<Other> {
        grouping(properties.map { .property(Self.path($0)) }, items)
    }

    /// Groups like ``group(by:into:_:)``, and adds the groups without the last property, without the last two and so on.
    public func rollup<Other>(
        by properties: PartialKeyPath<Entity>..., into type: Other.Type, _ items: Aggregate<Entity, Other>...
    ) -> ApplyPipeline<Other> {
        grouping([.rollup(properties.map { Self.path($0) })], items)
    }

    private func grouping<Other>(_ groupings: [Grouping], _ items: [Aggregate<Entity, Other>]) -> ApplyPipeline<Other> {
        adding(.groupBy(groupings, items.isEmpty ? [] : [Self.aggregating(items)]), as: Other.self)
    }

    private static func aggregating<Other>(_ items: [Aggregate<Entity, Other>]) -> Transformation {
        items.lazy.compactMap(\.failure).first.map { .invalid($0) } ?? .aggregate(items.map(\.item))
    }
}

extension FetchRequest {
    /// Applies set transformations, whose result has another type. Later options apply to that result. Printing throws if an earlier option
    /// would apply to it too. Options of the request as a whole are kept: aliases, custom options, `$format`, `$schemaversion`, temporal
    /// bounds and header fields.
    public func apply<Result>(_ build: (ApplyPipeline<Entity>) -> ApplyPipeline<Result>) -> FetchRequest<Result> {
        var request = FetchRequest<Result>(resource: resource)
        // The result has exactly the properties its type decodes, so a `$select` would be redundant.
        request.options.selection = .all
        request.options.keepWhole(of: options)
        request.options.apply = options.apply + build(ApplyPipeline<Entity>(steps: [])).steps
        if let option = options.ownNames.first(where: { $0 != "$apply" }) {
            request.options.apply.append(
                .invalid(
                    .invalidOption(
                        "$apply", reason: "\(option) must be a step of apply, or come after it")))
        }
        return request
    }
}
