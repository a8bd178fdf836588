/// The query of one expansion: what stands in the parentheses of `$expand=Trips(…)`.
public struct NestedQuery<Entity: Decodable & Sendable>: QueryBuilding {
    /// The options so far.
    public var options: QueryOptions

    init() {
        options = QueryOptions(decoding: Entity.self)
    }
}
