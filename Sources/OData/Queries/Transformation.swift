/// A set transformation of `$apply` (OData Extension for Data Aggregation, section 3).
///
/// Transformations nest at most 256 levels deep, more than the printer accepts; deeper parts become ``invalid(_:)``.
public struct Transformation: Sendable, Hashable {
    /// The kinds of transformations.
    public indirect enum Kind: Sendable, Hashable {
        /// `filter(…)`: the instances that satisfy the condition.
        case filter(QueryExpression)
        /// `search(…)`: the instances that match.
        case search(SearchTerm)
        /// `aggregate(…)`: one instance with totals.
        case aggregate([AggregateExpression])
        /// `groupby((…),…)`: groups of instances with equal values, each transformed.
        case groupBy([Grouping], [Transformation])
        /// `compute(… as Name)`: adds computed properties.
        case compute([Computation])
        /// `concat(…,…)`: the concatenated results of at least two sequences.
        case concat([[Transformation]])
        /// `topcount(n,x)` and the other rankings.
        case ranked(Ranking, QueryExpression, by: QueryExpression)
        /// `identity`: the unchanged input.
        case identity
        /// `orderby(…)`: sorted.
        case order([QueryOptions.Order])
        /// `top(n)`.
        case top(Int)
        /// `skip(n)`.
        case skip(Int)
        /// `expand(path,…)` for services before Data Aggregation 4.0 Committee Specification 03; later ones have ``addNested(_:_:)``.
        case expand(QueryPath, [Transformation])
        /// `nest(… as Name)`: the results of sequences as collections of one instance.
        case nest([NestedTransformation])
        /// `addnested(path,… as Name)`: adds a transformed collection to each instance.
        case addNested(QueryPath, [NestedTransformation])
        /// `join(path as Name,…)`; an outer join keeps instances without a related instance.
        case join(QueryPath, as: String, [Transformation], isOuter: Bool)
        /// `ancestors(…)` of the nodes that a sequence finds in a hierarchy.
        case ancestors(RecursiveHierarchy, [Transformation], distance: Int?, keepsStart: Bool)
        /// `descendants(…)` of the nodes that a sequence finds in a hierarchy.
        case descendants(RecursiveHierarchy, [Transformation], distance: Int?, keepsStart: Bool)
        /// `traverse(…)`: sorts by a hierarchy.
        case traverse(RecursiveHierarchy, isPreorder: Bool, [Transformation], [QueryOptions.Order])
        /// A service-defined function from a collection to a collection.
        case function(String, [QueryPath.Parameter])
        /// Text in OData syntax, not percent-encoded.
        case raw(String)
        /// A transformation that can't be sent, and the reason.
        case invalid(ODataQueryError)
    }

    /// The instances that a ranking keeps; the raw value is the transformation's name.
    public enum Ranking: String, Sendable, Hashable, CaseIterable {
        /// The given number of greatest instances.
        case topCount = "topcount"
        /// The greatest instances that reach a sum.
        case topSum = "topsum"
        /// The greatest instances that reach a percentage of the sum.
        case topPercent = "toppercent"
        /// The given number of smallest instances.
        case bottomCount = "bottomcount"
        /// The smallest instances that reach a sum.
        case bottomSum = "bottomsum"
        /// The smallest instances that reach a percentage of the sum.
        case bottomPercent = "bottompercent"
    }

    /// The maximum number of levels.
    private static let heightLimit = 256

    /// The kind of the transformation.
    public let kind: Kind
    /// The number of levels, including this one.
    private let height: Int

    /// Creates a transformation of a kind.
    public init(_ kind: Kind) {
        var height = 0
        kind.visitSteps { for step in $0 { height = max(height, step.height) } }
        let isTooDeep = height >= Self.heightLimit
        self.kind = isTooDeep ? .invalid(.tooDeep(limit: Nesting.queryLimit)) : kind
        self.height = isTooDeep ? 1 : height + 1
    }
}

extension Transformation.Kind {
    /// Visits the nested sequences of transformations.
    fileprivate func visitSteps(_ visit: ([Transformation]) -> Void) {
        switch self {
        case .groupBy(let groupings, let steps):
            for case .rollupRecursive(_, let steps) in groupings { visit(steps) }
            visit(steps)
        case .concat(let sequences):
            for steps in sequences { visit(steps) }
        case .nest(let items), .addNested(_, let items):
            for item in items { visit(item.steps) }
        case .expand(_, let steps), .join(_, _, let steps, _), .ancestors(_, let steps, _, _), .descendants(_, let steps, _, _),
            .traverse(_, _, let steps, _):
            visit(steps)
        case .filter, .search, .aggregate, .compute, .ranked, .identity, .order, .top, .skip, .function, .raw, .invalid:
            return
        }
    }
}

/// A sequence of transformations with a named result.
public struct NestedTransformation: Sendable, Hashable {
    /// The sequence.
    public var steps: [Transformation]
    /// The name of the result.
    public var name: String

    /// Creates a named sequence from its parts.
    public init(_ steps: [Transformation], as name: String) {
        self.steps = steps
        self.name = name
    }
}

/// A recursive hierarchy: its nodes, the qualifier of its annotation, and the property that identifies a node.
public struct RecursiveHierarchy: Sendable, Hashable {
    /// The collection of nodes, from `$root`.
    public var nodes: QueryPath
    /// The qualifier of the annotation that defines the hierarchy.
    public var qualifier: String
    /// The path to the node's identifier.
    public var node: QueryPath

    /// Creates a hierarchy from its parts.
    public init(nodes: QueryPath, qualifier: String, node: QueryPath) {
        self.nodes = nodes
        self.qualifier = qualifier
        self.node = node
    }
}

/// A grouping criterion of `groupby`.
public enum Grouping: Sendable, Hashable {
    /// A property.
    case property(QueryPath)
    /// `rollup(…)`: adds the groups without the last property, without the last two and so on. A single identifier refers to a leveled
    /// hierarchy of the service.
    case rollup([QueryPath])
    /// `rolluprecursive(…)`: adds the groups of a node's ancestors.
    case rollupRecursive(RecursiveHierarchy, [Transformation])
}

extension Transformation {
    /// `filter(…)`: the instances that satisfy the condition.
    public static func filter(_ condition: QueryExpression) -> Transformation {
        Transformation(.filter(condition))
    }

    /// `search(…)`: the instances that match.
    public static func search(_ term: SearchTerm) -> Transformation {
        Transformation(.search(term))
    }

    /// `aggregate(…)`: one instance with totals.
    public static func aggregate(_ items: [AggregateExpression]) -> Transformation {
        Transformation(.aggregate(items))
    }

    /// `groupby((…),…)`: groups of instances with equal values, each transformed.
    public static func groupBy(_ groupings: [Grouping], _ steps: [Transformation]) -> Transformation {
        Transformation(.groupBy(groupings, steps))
    }

    /// `compute(… as Name)`: adds computed properties.
    public static func compute(_ items: [Computation]) -> Transformation {
        Transformation(.compute(items))
    }

    /// `concat(…,…)`: the concatenated results of at least two sequences.
    public static func concat(_ sequences: [[Transformation]]) -> Transformation {
        Transformation(.concat(sequences))
    }

    /// `topcount(n,x)` and the other rankings.
    public static func ranked(_ ranking: Ranking, _ amount: QueryExpression, by value: QueryExpression) -> Transformation {
        Transformation(.ranked(ranking, amount, by: value))
    }

    /// `identity`: the unchanged input.
    public static var identity: Transformation { Transformation(.identity) }

    /// `orderby(…)`: sorted.
    public static func order(_ items: [QueryOptions.Order]) -> Transformation {
        Transformation(.order(items))
    }

    /// `top(n)`.
    public static func top(_ count: Int) -> Transformation {
        Transformation(.top(count))
    }

    /// `skip(n)`.
    public static func skip(_ count: Int) -> Transformation {
        Transformation(.skip(count))
    }

    /// `expand(path,…)` for services before Data Aggregation 4.0 Committee Specification 03; later ones have ``addNested(_:_:)``.
    public static func expand(_ path: QueryPath, _ steps: [Transformation]) -> Transformation {
        Transformation(.expand(path, steps))
    }

    /// `nest(… as Name)`: the results of sequences as collections of one instance.
    public static func nest(_ items: [NestedTransformation]) -> Transformation {
        Transformation(.nest(items))
    }

    /// `addnested(path,… as Name)`: adds a transformed collection to each instance.
    public static func addNested(_ path: QueryPath, _ items: [NestedTransformation]) -> Transformation {
        Transformation(.addNested(path, items))
    }

    /// `join(path as Name,…)`; an outer join keeps instances without a related instance.
    public static func join(_ path: QueryPath, as name: String, _ steps: [Transformation], isOuter: Bool) -> Transformation {
        Transformation(.join(path, as: name, steps, isOuter: isOuter))
    }

    /// `ancestors(…)` of the nodes that a sequence finds in a hierarchy.
    public static func ancestors(
        _ hierarchy: RecursiveHierarchy, _ steps: [Transformation], distance: Int?, keepsStart: Bool
    ) -> Transformation {
        Transformation(.ancestors(hierarchy, steps, distance: distance, keepsStart: keepsStart))
    }

    /// `descendants(…)` of the nodes that a sequence finds in a hierarchy.
    public static func descendants(
        _ hierarchy: RecursiveHierarchy, _ steps: [Transformation], distance: Int?, keepsStart: Bool
    ) -> Transformation {
        Transformation(.descendants(hierarchy, steps, distance: distance, keepsStart: keepsStart))
    }

    /// `traverse(…)`: sorts by a hierarchy.
    public static func traverse(
        _ hierarchy: RecursiveHierarchy, isPreorder: Bool, _ steps: [Transformation], _ order: [QueryOptions.Order]
    ) -> Transformation {
        Transformation(.traverse(hierarchy, isPreorder: isPreorder, steps, order))
    }

    /// A service-defined function from a collection to a collection.
    public static func function(_ name: String, _ parameters: [QueryPath.Parameter]) -> Transformation {
        Transformation(.function(name, parameters))
    }

    /// Text in OData syntax, not percent-encoded.
    public static func raw(_ text: String) -> Transformation {
        Transformation(.raw(text))
    }

    /// A transformation that can't be sent, and the reason.
    public static func invalid(_ error: ODataQueryError) -> Transformation {
        Transformation(.invalid(error))
    }
}
