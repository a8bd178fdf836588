/// One item of `$select` (URL Conventions, section 5.1.4).
public struct SelectItem: Sendable, Hashable {
    /// The property, `*`, all operations of a schema, or an operation by its qualified name.
    public var path: QueryPath
    /// The names of a function's parameters, which tell its overloads apart; `nil` where they aren't needed.
    public var parameters: [String]?
    /// The options inside the parentheses, for complex values and collections. Version 4.01. Without any of them the array is empty; more
    /// than one element has no meaning.
    var nested: [QueryOptions]

    /// An item from its parts.
    public init(_ path: QueryPath, options: QueryOptions = QueryOptions()) {
        self.path = path
        nested = options == QueryOptions() ? [] : [options]
    }

    /// A function by its qualified name and the names of its parameters.
    public init(function name: String, parameters: [String]) {
        path = QueryPath(segments: [.cast(name)])
        self.parameters = parameters
        nested = []
    }

    /// The options inside the parentheses.
    public var options: QueryOptions {
        get { nested.first ?? QueryOptions() }
        set { nested = newValue == QueryOptions() ? [] : [newValue] }
    }

    /// `*`: all properties.
    public static let all = SelectItem(QueryPath(segments: [.all]))
}
