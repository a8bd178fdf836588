/// A set transformation of `$apply` (OData Extension for Data Aggregation, section 3).
///
/// Transformations nest 256 levels deep at most, more than is ever printed; what would be deeper is ``invalid(_:)`` from there on.
public struct Transformation: Sendable, Hashable {
    /// What a transformation is.
    public indirect enum Kind: Sendable, Hashable {
        /// `filter(…)`: what the condition holds for.
        case filter(QueryExpression)
        /// `search(…)`: what matches.
        case search(SearchTerm)
        /// `aggregate(…)`: one instance with totals.
        case aggregate([AggregateExpression])
        /// `groupby((…),…)`: the groups that have the same values, each transformed.
        case groupBy([Grouping], [Transformation])
        /// `compute(… as Name)`: with computed properties.
        case compute([Computation])
        /// `concat(…,…)`: the results of several sequences, one behind the other; at least two.
        case concat([[Transformation]])
        /// `topcount(n,x)` and its relatives.
        case ranked(Ranking, QueryExpression, by: QueryExpression)
        /// `identity`: the input as it is.
        case identity
        /// `orderby(…)`: sorted.
        case order([QueryOptions.Order])
        /// `top(n)`.
        case top(Int)
        /// `skip(n)`.
        case skip(Int)
        /// `expand(path,…)` of services before Data Aggregation 4.0 Committee Specification 03; later ones have ``addNested(_:_:)``.
        case expand(QueryPath, [Transformation])
        /// `nest(… as Name)`: the results of sequences as collections of one instance.
        case nest([NestedTransformation])
        /// `addnested(path,… as Name)`: each instance with a transformed collection of its own.
        case addNested(QueryPath, [NestedTransformation])
        /// `join(path as Name,…)`; an outer join keeps instances that have nothing to be joined with.
        case join(QueryPath, as: String, [Transformation], isOuter: Bool)
        /// `ancestors(…)` of what a sequence finds in a hierarchy.
        case ancestors(RecursiveHierarchy, [Transformation], distance: Int?, keepsStart: Bool)
        /// `descendants(…)` of what a sequence finds in a hierarchy.
        case descendants(RecursiveHierarchy, [Transformation], distance: Int?, keepsStart: Bool)
        /// `traverse(…)`: sorted by a hierarchy.
        case traverse(RecursiveHierarchy, isPreorder: Bool, [Transformation], [QueryOptions.Order])
        /// A function of the service's own that takes and gives a collection.
        case function(String, [QueryPath.Parameter])
        /// Text in OData's own spelling, not percent-encoded.
        case raw(String)
        /// What can't be sent, and why.
        case invalid(ODataQueryError)
    }

    /// Which instances a ranking keeps; the raw value is the transformation's name.
    public enum Ranking: String, Sendable, Hashable, CaseIterable {
        /// So many of the greatest.
        case topCount = "topcount"
        /// The greatest that make up a sum.
        case topSum = "topsum"
        /// The greatest that make up a part of the sum, in percent.
        case topPercent = "toppercent"
        /// So many of the smallest.
        case bottomCount = "bottomcount"
        /// The smallest that make up a sum.
        case bottomSum = "bottomsum"
        /// The smallest that make up a part of the sum, in percent.
        case bottomPercent = "bottompercent"
    }

    /// How many levels there are at most.
    private static let heightLimit = 256

    /// What the transformation is.
    public let kind: Kind
    /// How many levels there are, this one included.
    private let height: Int

    /// A transformation of a kind.
    public init(_ kind: Kind) {
        var height = 0
        kind.visitSteps { for step in $0 { height = max(height, step.height) } }
        let isTooDeep = height >= Self.heightLimit
        self.kind = isTooDeep ? .invalid(.tooDeep(limit: QueryPrinter.depthLimit)) : kind
        self.height = isTooDeep ? 1 : height + 1
    }
}

extension Transformation.Kind {
    /// Calls with the sequences of transformations in it.
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

/// A sequence of transformations whose result has a name.
public struct NestedTransformation: Sendable, Hashable {
    /// The sequence.
    public var steps: [Transformation]
    /// What the result is called.
    public var name: String

    /// A named sequence from its parts.
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

    /// A hierarchy from its parts.
    public init(nodes: QueryPath, qualifier: String, node: QueryPath) {
        self.nodes = nodes
        self.qualifier = qualifier
        self.node = node
    }
}

/// What `groupby` groups by.
public enum Grouping: Sendable, Hashable {
    /// A property.
    case property(QueryPath)
    /// `rollup(…)`: also the groups without the last property, without the last two and so on. One identifier alone names a leveled
    /// hierarchy of the service.
    case rollup([QueryPath])
    /// `rolluprecursive(…)`: also the groups of a node's ancestors.
    case rollupRecursive(RecursiveHierarchy, [Transformation])
}

extension Transformation {
    /// `filter(…)`: what the condition holds for.
    public static func filter(_ condition: QueryExpression) -> Transformation {
        Transformation(.filter(condition))
    }

    /// `search(…)`: what matches.
    public static func search(_ term: SearchTerm) -> Transformation {
        Transformation(.search(term))
    }

    /// `aggregate(…)`: one instance with totals.
    public static func aggregate(_ items: [AggregateExpression]) -> Transformation {
        Transformation(.aggregate(items))
    }

    /// `groupby((…),…)`: the groups that have the same values, each transformed.
    public static func groupBy(_ groupings: [Grouping], _ steps: [Transformation]) -> Transformation {
        Transformation(.groupBy(groupings, steps))
    }

    /// `compute(… as Name)`: with computed properties.
    public static func compute(_ items: [Computation]) -> Transformation {
        Transformation(.compute(items))
    }

    /// `concat(…,…)`: the results of several sequences, one behind the other; at least two.
    public static func concat(_ sequences: [[Transformation]]) -> Transformation {
        Transformation(.concat(sequences))
    }

    /// `topcount(n,x)` and its relatives.
    public static func ranked(_ ranking: Ranking, _ amount: QueryExpression, by value: QueryExpression) -> Transformation {
        Transformation(.ranked(ranking, amount, by: value))
    }

    /// `identity`: the input as it is.
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

    /// `expand(path,…)` of services before Data Aggregation 4.0 Committee Specification 03; later ones have ``addNested(_:_:)``.
    public static func expand(_ path: QueryPath, _ steps: [Transformation]) -> Transformation {
        Transformation(.expand(path, steps))
    }

    /// `nest(… as Name)`: the results of sequences as collections of one instance.
    public static func nest(_ items: [NestedTransformation]) -> Transformation {
        Transformation(.nest(items))
    }

    /// `addnested(path,… as Name)`: each instance with a transformed collection of its own.
    public static func addNested(_ path: QueryPath, _ items: [NestedTransformation]) -> Transformation {
        Transformation(.addNested(path, items))
    }

    /// `join(path as Name,…)`; an outer join keeps instances that have nothing to be joined with.
    public static func join(_ path: QueryPath, as name: String, _ steps: [Transformation], isOuter: Bool) -> Transformation {
        Transformation(.join(path, as: name, steps, isOuter: isOuter))
    }

    /// `ancestors(…)` of what a sequence finds in a hierarchy.
    public static func ancestors(
        _ hierarchy: RecursiveHierarchy, _ steps: [Transformation], distance: Int?, keepsStart: Bool
    ) -> Transformation {
        Transformation(.ancestors(hierarchy, steps, distance: distance, keepsStart: keepsStart))
    }

    /// `descendants(…)` of what a sequence finds in a hierarchy.
    public static func descendants(
        _ hierarchy: RecursiveHierarchy, _ steps: [Transformation], distance: Int?, keepsStart: Bool
    ) -> Transformation {
        Transformation(.descendants(hierarchy, steps, distance: distance, keepsStart: keepsStart))
    }

    /// `traverse(…)`: sorted by a hierarchy.
    public static func traverse(
        _ hierarchy: RecursiveHierarchy, isPreorder: Bool, _ steps: [Transformation], _ order: [QueryOptions.Order]
    ) -> Transformation {
        Transformation(.traverse(hierarchy, isPreorder: isPreorder, steps, order))
    }

    /// A function of the service's own that takes and gives a collection.
    public static func function(_ name: String, _ parameters: [QueryPath.Parameter]) -> Transformation {
        Transformation(.function(name, parameters))
    }

    /// Text in OData's own spelling, not percent-encoded.
    public static func raw(_ text: String) -> Transformation {
        Transformation(.raw(text))
    }

    /// What can't be sent, and why.
    public static func invalid(_ error: ODataQueryError) -> Transformation {
        Transformation(.invalid(error))
    }
}
