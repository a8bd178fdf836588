/// A sort criterion: `.ascending(\.lastName)`, `.descending("Age")`, `.ascending { $0.name.length }`.
public struct Ordering<Entity>: Sendable, Hashable {
    package let item: QueryOptions.Order

    private init(_ expression: QueryExpression, isDescending: Bool) {
        item = QueryOptions.Order(expression, isDescending: isDescending)
    }

    private static func path(_ keyPath: AnyKeyPath) -> QueryExpression {
        .path(QueryPath(segments: PropertyCatalog.segments(of: keyPath, in: Entity.self)))
    }

    private static func built<Value>(_ build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> QueryExpression {
        build(QueryTerm(.path(QueryPath(segments: [])))).queryExpression
    }

    /// Sorts by a property, smallest first.
    public static func ascending<Value>(_ property: KeyPath<Entity, Value>) -> Ordering {
        Ordering(path(property), isDescending: false)
    }

    /// Sorts by a property, greatest first.
    public static func descending<Value>(_ property: KeyPath<Entity, Value>) -> Ordering {
        Ordering(path(property), isDescending: true)
    }

    /// Sorts by a property's wire name, smallest first.
    public static func ascending(_ name: String) -> Ordering {
        Ordering(.path(QueryPath(name)), isDescending: false)
    }

    /// Sorts by a property's wire name, greatest first.
    public static func descending(_ name: String) -> Ordering {
        Ordering(.path(QueryPath(name)), isDescending: true)
    }

    /// Sorts by an expression, smallest first.
    public static func ascending<Value>(by build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> Ordering {
        Ordering(built(build), isDescending: false)
    }

    /// Sorts by an expression, greatest first.
    public static func descending<Value>(by build: (QueryTerm<Entity>) -> QueryTerm<Value>) -> Ordering {
        Ordering(built(build), isDescending: true)
    }
}
