/// What entities are sorted by: `.ascending(\.lastName)`, `.descending("Age")`, `.ascending { $0.name.length }`.
public struct Ordering<Entity>: Sendable, Hashable {
    let item: QueryOptions.Order

    private init(_ expression: QueryExpression, isDescending: Bool) {
        item = QueryOptions.Order(expression, isDescending: isDescending)
    }

    private static func path(_ keyPath: AnyKeyPath) -> QueryExpression {
        .path(QueryPath(segments: PropertyCatalog.segments(of: keyPath, in: Entity.self)))
    }

    private static func built<Value>(_ build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> QueryExpression {
        build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression
    }

    /// The smallest first.
    public static func ascending<Value>(_ property: KeyPath<Entity, Value>) -> Ordering {
        Ordering(path(property), isDescending: false)
    }

    /// The greatest first.
    public static func descending<Value>(_ property: KeyPath<Entity, Value>) -> Ordering {
        Ordering(path(property), isDescending: true)
    }

    /// The smallest first, by a property's wire name.
    public static func ascending(_ name: String) -> Ordering {
        Ordering(.path(QueryPath(name)), isDescending: false)
    }

    /// The greatest first, by a property's wire name.
    public static func descending(_ name: String) -> Ordering {
        Ordering(.path(QueryPath(name)), isDescending: true)
    }

    /// The smallest first, by an expression.
    public static func ascending<Value>(by build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> Ordering {
        Ordering(built(build), isDescending: false)
    }

    /// The greatest first, by an expression.
    public static func descending<Value>(by build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> Ordering {
        Ordering(built(build), isDescending: true)
    }
}
