/// A resource and the options it is asked with: what the URL of a request says beneath the service's root.
public struct ODataQuery: Sendable, Hashable {
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
