import WebServiceClient

/// An argument of an action or a function, for calls in generated code.
public struct OperationArgument: Sendable {
    /// The name of the parameter.
    public let name: String
    let value: any Encodable & Sendable
    let expression: QueryExpression
    /// Whether the argument is omitted: it is `nil`, and the parameter is optional.
    let isOmitted: Bool

    /// Creates an argument; `nil` is null.
    public init<Value: ItemValue & Encodable>(_ name: String, _ value: Value?) {
        self.init(name, value, isOptional: false)
    }

    /// Creates the argument of an optional parameter; `nil` omits it, so that the service's default applies.
    public init<Value: ItemValue & Encodable>(optional name: String, _ value: Value?) {
        self.init(name, value, isOptional: true)
    }

    private init<Value: ItemValue & Encodable>(_ name: String, _ value: Value?, isOptional: Bool) {
        self.name = name
        self.value = value
        isOmitted = value == nil && isOptional
        if let value {
            // If a value isn't a literal, its JSON is the argument.
            expression = (value as? any QueryOperand)?.queryExpression ?? Self.expression(value.odataValue)
        } else {
            expression = QueryExpression(.literal(.null))
        }
    }

    /// Returns a payload's value as JSON in a query. Payloads nest at most 512 levels deep, and expressions become invalid before that.
    private static func expression(_ value: ODataValue) -> QueryExpression {
        switch value {
        case .null: QueryExpression(.literal(.null))
        case .boolean(let value): QueryExpression(.literal(value.edmValue))
        case .integer(let value): QueryExpression(.literal(.integer(value)))
        case .decimal(let value): QueryExpression(.literal(value.edmValue))
        case .string(let text): QueryExpression(.literal(text.edmValue))
        case .array(let elements): QueryExpression(.array(elements.list.map { expression($0) }))
        case .object(let object): QueryExpression(.object(object.properties.map { .init($0.name, expression($0.value)) }))
        }
    }
}

/// A call of an action or a function with its arguments, as generated clients make it (Protocol, section 11.5).
///
///     try await client.invoke(OperationCall(action: "Shop.Cancel", on: order, [OperationArgument("reason", "late")]))
///
/// The call is named like every other one by its route, so that interceptors and logs see the operation: `Orders(…)/Shop.Cancel`.
public struct OperationCall: Sendable {
    /// The path of the operation with what applies to the request as a whole; for functions, with the arguments.
    public let query: ODataQuery
    let arguments: [OperationArgument]

    /// Creates a call of an unbound action by the name of its import.
    public init(action name: String, _ arguments: [OperationArgument] = []) {
        self.init(ODataQuery(ResourcePath(entitySet: name)), arguments)
    }

    /// Creates a call of an unbound function by the name of its import.
    public init(function name: String, _ arguments: [OperationArgument] = []) {
        self.init(ODataQuery(ResourcePath(segments: [.function(name, Self.parameters(arguments))])))
    }

    /// Creates a call of an action that is bound to a resource.
    public init(action name: String, on resource: ResourcePath, _ arguments: [OperationArgument] = []) {
        self.init(ODataQuery(resource.action(name)), arguments)
    }

    /// Creates a call of a function that is bound to a resource.
    public init(function name: String, on resource: ResourcePath, _ arguments: [OperationArgument] = []) {
        self.init(ODataQuery(resource.appending(.function(name, Self.parameters(arguments)))))
    }

    /// Creates a call of an action that is bound to an entity.
    ///
    /// Options of the entity, such as a selection, don't apply to the result: printing the call throws if there are any.
    public init<Entity>(action name: String, on entity: EntityRequest<Entity>, _ arguments: [OperationArgument] = []) {
        self.init(Self.query(entity.query, .operation(name)), arguments)
    }

    /// Creates a call of a function that is bound to an entity.
    ///
    /// Options of the entity, such as a selection, don't apply to the result: printing the call throws if there are any.
    public init<Entity>(function name: String, on entity: EntityRequest<Entity>, _ arguments: [OperationArgument] = []) {
        self.init(Self.query(entity.query, .function(name, Self.parameters(arguments))))
    }

    /// Creates a call of an action that is bound to a collection. Printing the call throws if the request of the collection has options.
    public init<Entity>(action name: String, on collection: FetchRequest<Entity>, _ arguments: [OperationArgument] = []) {
        self.init(Self.query(collection.query, .operation(name)), arguments)
    }

    /// Creates a call of a function that is bound to a collection. Printing the call throws if the request of the collection has options.
    public init<Entity>(function name: String, on collection: FetchRequest<Entity>, _ arguments: [OperationArgument] = []) {
        self.init(Self.query(collection.query, .function(name, Self.parameters(arguments))))
    }

    private init(_ query: ODataQuery, _ arguments: [OperationArgument] = []) {
        self.query = query
        self.arguments = arguments.filter { !$0.isOmitted }
    }

    private static func parameters(_ arguments: [OperationArgument]) -> [QueryPath.Parameter] {
        arguments.filter { !$0.isOmitted }.map { QueryPath.Parameter($0.name, $0.expression) }
    }

    private static func query(_ binding: ODataQuery, _ operation: ResourcePath.Segment) -> ODataQuery {
        var resource = binding.resource
        if let option = binding.options.ownNames.first {
            resource.segments.append(
                .invalid(
                    .invalidOption(option, reason: "it doesn't apply to the operation; call the operation on a request without options")))
        }
        var query = ODataQuery(resource.appending(operation))
        query.options.keepWhole(of: binding.options)
        return query
    }
}

extension ODataClient {
    /// Calls an action and returns its result. If there may be none, `Result` must be optional.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func invoke<Result: Decodable & Sendable>(
        _ action: OperationCall, returning type: Result.Type = Result.self, if condition: WriteCondition = .none
    ) async throws -> Result {
        try await invoke(action.query, arguments: action.values, returning: type, if: condition)
    }

    /// Calls an action without a result, or whose result is ignored.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func invoke(_ action: OperationCall, if condition: WriteCondition = .none) async throws {
        try await invoke(action.query, arguments: action.values, if: condition)
    }

    /// Calls a function and returns its result. If there may be none, `Result` must be optional.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func evaluate<Result: Decodable & Sendable>(_ function: OperationCall, as type: Result.Type = Result.self) async throws -> Result
    {
        try await evaluate(function.query, as: type)
    }
}

extension OperationCall {
    fileprivate var values: [(key: String, value: any Encodable & Sendable)] { arguments.map { ($0.name, $0.value) } }
}

extension FetchRequest {
    /// Creates a request for the entities that a function returns, which can be filtered, selected and paged.
    public init(_ function: OperationCall) {
        self.init(resource: function.query.resource)
        options.keepWhole(of: function.query.options)
    }
}

extension EntityRequest {
    /// Creates a request for the entity that a function returns, whose properties can be selected and expanded.
    public init(_ function: OperationCall) {
        self.init(resource: function.query.resource)
        options.keepWhole(of: function.query.options)
    }
}
