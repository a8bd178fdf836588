/// A resource and the options it is asked with: what the URL of a request says beneath the service's root.
///
///     ODataQuery(ResourcePath(function: "Nearest", ["to": QueryTerm<AnyEdm>.alias("place")])).alias("place", place)
public struct ODataQuery: QueryBuilding {
    /// Results have no type of their own.
    public typealias Entity = DynamicEntity

    /// Where the resource is.
    public var resource: ResourcePath
    /// The query options.
    public var options: QueryOptions

    /// A query from its parts.
    public init(_ resource: ResourcePath, options: QueryOptions = QueryOptions()) {
        self.resource = resource
        self.options = options
    }
}
