/// One item of `$expand` (URL Conventions, section 5.1.3).
public struct Expansion: Sendable, Hashable {
    /// The navigation property; it may begin with a cast or a complex property, and end with a cast, `$ref` or `$count`. `*` is all of
    /// them, `$value` the media stream.
    public var path: QueryPath
    /// The options inside the parentheses.
    public var options: QueryOptions

    /// An item from its parts.
    public init(path: QueryPath, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.options = options
    }
}

extension QueryOptions {
    /// One item of `$expand`.
    public typealias Expansion = OData.Expansion
}
