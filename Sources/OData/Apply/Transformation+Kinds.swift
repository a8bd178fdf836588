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
