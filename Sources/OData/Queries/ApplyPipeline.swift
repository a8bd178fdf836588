/// The steps of a typed `$apply`: each works on what the one before gives, and says what type that is.
///
///     FetchRequest<Sale>(from: "Sales").apply {
///         $0.filter { $0.amount > 3 }
///             .group(by: \.customer, \.country, into: CountrySales.self, .sum(\.amount, as: \.total), .count(as: \.sales))
///             .ranked(.topCount, 5) { $0.total }
///     }
///
/// The properties of the type that a grouping gives are named by its coding keys: those of the grouped properties as the service calls
/// them, and one for every aggregate.
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

    /// Only what the predicate holds for.
    public func filter(_ predicate: (QueryTerm<Entity>) -> QueryTerm<Bool>) -> ApplyPipeline {
        adding(.filter(expression(predicate)))
    }

    /// Only what matches.
    public func search(_ term: SearchTerm) -> ApplyPipeline {
        adding(.search(term))
    }

    /// Sorted by these, the first first.
    public func order(by terms: Ordering<Entity>...) -> ApplyPipeline {
        adding(.order(terms.map(\.item)))
    }

    /// At most so many.
    public func top(_ count: Int) -> ApplyPipeline {
        adding(.top(count))
    }

    /// Without the first so many.
    public func skip(_ count: Int) -> ApplyPipeline {
        adding(.skip(count))
    }

    /// The greatest or the smallest by a value: so many, or those that make up a sum or a part of it.
    public func ranked<Value>(
        _ ranking: Transformation.Ranking, _ amount: some QueryNumberOperand, by value: (QueryTerm<Entity>) -> QueryTerm<Value>
    ) -> ApplyPipeline {
        adding(.ranked(ranking, amount.queryExpression, by: expression(value)))
    }

    /// The results of several sequences, one behind the other.
    public func concat(_ sequences: (ApplyPipeline) -> ApplyPipeline...) -> ApplyPipeline {
        adding(
            .concat(
                sequences.map { build in
                    let steps = build(ApplyPipeline(steps: [])).steps
                    return steps.isEmpty ? [.identity] : steps
                }))
    }

    /// A step of your own making; the type stays the same.
    public func transform(_ step: Transformation) -> ApplyPipeline {
        adding(step)
    }

    // MARK: Other types

    /// A step of your own making, which gives another type.
    public func transform<Other>(_ step: Transformation, into type: Other.Type) -> ApplyPipeline<Other> {
        adding(step, as: type)
    }

    /// With computed properties, which the other type has besides: `.compute(into: Taxed.self, .init(\.tax) { $0.amount * $0.rate })`.
    public func compute<Other>(into type: Other.Type, _ items: ComputedProperty<Entity, Other>...) -> ApplyPipeline<Other> {
        adding(items.lazy.compactMap(\.failure).first.map { .invalid($0) } ?? .compute(items.map(\.item)), as: type)
    }

    /// One instance with totals.
    public func aggregate<Other>(into type: Other.Type, _ items: Aggregate<Entity, Other>...) -> ApplyPipeline<Other> {
        adding(Self.aggregating(items), as: type)
    }

    /// One instance for each combination of values of these properties, with totals of the instances that have them.
    public func group<Other>(
        by properties: PartialKeyPath<Entity>..., into type: Other.Type, _ items: Aggregate<Entity, Other>...
    ) -> ApplyPipeline<Other> {
        grouping(properties.map { .property(Self.path($0)) }, items)
    }

    /// The same, and also the groups without the last property, without the last two and so on.
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
    /// What set transformations make of the entities, as another type. Options behind it work on that; earlier ones that the service
    /// would apply to the result are an error when printed. Those of the request as a whole stay: aliases, custom ones, `$format`,
    /// `$schemaversion`, bounds in time.
    public func apply<Result>(_ build: (ApplyPipeline<Entity>) -> ApplyPipeline<Result>) -> FetchRequest<Result> {
        var request = FetchRequest<Result>(resource: resource)
        // What a transformation gives is what its type decodes: a `$select` would only repeat it.
        request.options.selection = .all
        request.options.keepWhole(of: options)
        request.options.apply = options.apply + build(ApplyPipeline<Entity>(steps: [])).steps
        if let option = options.ownNames.first(where: { $0 != "$apply" }) {
            request.options.apply.append(
                .invalid(
                    .invalidOption(
                        "$apply", reason: "\(option) before it would work on its result; put it into it as a step, or behind it")))
        }
        return request
    }
}
