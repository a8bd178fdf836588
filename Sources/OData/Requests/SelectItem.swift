/// One item of `$select` (URL Conventions, section 5.1.4).
public struct SelectItem: Sendable, Hashable {
    /// The property, `*`, all operations of a schema, or an operation by its qualified name.
    public var path: QueryPath
    /// The names of a function's parameters, which tell its overloads apart; `nil` where they aren't needed.
    public var parameters: [String]?
    /// The options inside the parentheses, for complex values and collections. Version 4.01. Without any of them the array is empty; more
    /// than one element has no meaning.
    private(set) var nested: [QueryOptions] = []
    /// How many levels of options there are.
    private(set) var height = 0

    /// An item from its parts.
    public init(_ path: QueryPath, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.options = options
    }

    /// A function by its qualified name and the names of its parameters.
    public init(function name: String, parameters: [String]) {
        path = QueryPath(segments: [.cast(name)])
        self.parameters = parameters
    }

    /// The options inside the parentheses.
    public var options: QueryOptions {
        get { nested.first ?? QueryOptions() }
        set {
            let options = newValue.height > QueryOptions.heightLimit ? QueryOptions.tooDeep : newValue
            nested = options == QueryOptions() ? [] : [options]
            height = nested.isEmpty ? 0 : options.height
        }
    }

    /// `*`: all properties.
    public static let all = SelectItem(QueryPath(segments: [.all]))
}
