import WebServiceClient

// Actions and functions (Protocol, section 11.5).
extension ODataClient {
    /// Calls an action and returns its result. In version 2 it is a service operation whose parameters are literals in the URL: a value
    /// without a literal is an error, and `nil` is omitted.
    ///
    ///     let order: Order? = try await client.invoke(cart.action("Shop.Checkout"), ["express": true])
    ///
    /// - Parameters:
    ///   - action: The action's path: ``ResourcePath/init(entitySet:)`` with the import's name for an unbound action,
    ///     ``ResourcePath/action(_:)`` on the path of the bound resource for a bound one.
    ///   - parameters: The parameters by name. Entities include their type if the client's ``types`` list it as a derived one.
    ///   - condition: The required version of the entity that the action is bound to.
    /// - Returns: The result. If there may be none (204, or null in JSON), `Result` must be optional. A `String` or a `Data` is a value in
    ///   the JSON, like other types.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func invoke<Result: Decodable & Sendable>(
        _ action: ResourcePath, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:],
        returning type: Result.Type = Result.self,
        if condition: WriteCondition = .none
    ) async throws -> Result {
        try await invoke(ODataQuery(action), parameters, returning: type, if: condition)
    }

    /// Calls an action by a query, with the query's parameter aliases and its options for the result.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func invoke<Result: Decodable & Sendable>(
        _ action: ODataQuery, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:],
        returning type: Result.Type = Result.self,
        if condition: WriteCondition = .none
    ) async throws -> Result {
        try await invoke(action, arguments: parameters, returning: type, if: condition)
    }

    func invoke<Result: Decodable & Sendable>(
        _ action: ODataQuery, arguments: some Collection<(key: String, value: any Encodable & Sendable)>, returning type: Result.Type,
        if condition: WriteCondition
    ) async throws -> Result {
        let operation = try operation(action, arguments, condition)
        return try await response(try call(operation, for: Result.self), ODataOperation(operation.query.resource)).value
    }

    /// Calls an action without a result, or whose result is ignored.
    ///
    /// An accepted action (202) counts as success unless the response has the URL of a status monitor (`Location`): that is an error, whose
    /// cause is ``ODataStatusError/accepted(monitor:retryAfter:)``.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func invoke(
        _ action: ResourcePath, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:], if condition: WriteCondition = .none
    ) async throws {
        try await invoke(ODataQuery(action), parameters, if: condition)
    }

    /// Calls an action by a query, with the query's parameter aliases.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func invoke(
        _ action: ODataQuery, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:], if condition: WriteCondition = .none
    ) async throws {
        try await invoke(action, arguments: parameters, if: condition)
    }

    func invoke(
        _ action: ODataQuery, arguments: some Collection<(key: String, value: any Encodable & Sendable)>, if condition: WriteCondition
    ) async throws {
        try await send(operation(action, arguments, condition), for: .calling)
    }

    /// Calls a function and returns its result, a value or a collection of values.
    ///
    ///     let nearest: [Airport] = try await client.evaluate(ResourcePath(function: "Nearest", ["count": 3]))
    ///
    /// Collections, complex values and entities are passed as parameter aliases: `["among": ["HAM", "LEJ"]]` is
    /// `Nearest(among=@arg)?@arg=[…]`. To select, expand or page the resulting entities, make a ``FetchRequest`` or an ``EntityRequest`` of
    /// the path.
    ///
    /// - Returns: The result. If there may be none (204, or null in JSON), `Result` must be optional. A `String` or a `Data` is a value in
    ///   the JSON, like other types.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func evaluate<Result: Decodable & Sendable>(_ function: ResourcePath, as type: Result.Type = Result.self) async throws -> Result
    {
        try await evaluate(ODataQuery(function), as: type)
    }

    /// Calls a function by a query, with the query's parameter aliases and its options for the result. ``longQueries`` applies to long
    /// URLs.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func evaluate<Result: Decodable & Sendable>(_ function: ODataQuery, as type: Result.Type = Result.self) async throws -> Result {
        let operation = ODataOperation(function)
        let target = try printed(operation) { printer throws(ODataQueryError) in try printer.request(function) }
        return try await response(call(operation, to: target, for: Result.self), operation).value
    }

    /// Returns the call of an action as a change.
    func operation(
        _ action: ODataQuery, _ parameters: some Collection<(key: String, value: any Encodable & Sendable)>, _ condition: WriteCondition
    ) throws -> WriteOperation {
        var operation = WriteOperation(.action, .post, action)
        operation.condition = condition
        guard printer.version != .v2 else {
            do throws(ODataQueryError) {
                operation.query.resource = try action.resource.serviceOperation(parameters)
            } catch {
                throw self.error(ODataOperation(action.resource), .binding, .query, error.description, cause: error)
            }
            return operation
        }
        let encoder = encoder
        operation.body = try payload(action.resource) {
            .object(DynamicEntity(try parameters.map { .init($0.key, try encoder.payload(of: $0.value)) }))
        }
        return operation
    }
}

extension ResourcePath {
    /// Returns the service operation of version 2 with parameters, printed like a function's (OData 2.0, URI Conventions, section 3.3).
    ///
    /// - Throws: ``ODataQueryError`` if a parameter has no literal, or the path isn't one of a service operation.
    fileprivate func serviceOperation(
        _ parameters: some Collection<(key: String, value: any Encodable & Sendable)>
    ) throws(ODataQueryError) -> ResourcePath {
        guard !parameters.isEmpty else { return self }
        var all: [QueryPath.Parameter] = []
        let name: String
        switch segments.first {
        case .name(let text), .raw(let text): name = text
        case .function(let text, let given): (name, all) = (text, given)
        default: name = ""
        }
        guard segments.count == 1, ODataName.isIdentifier(name) else {
            throw .invalidPath(
                route, reason: "version 2 has operations with parameters only at the service root: use only the operation's name")
        }
        for (name, value) in parameters {
            // An empty optional of any type.
            let mirror = Mirror(reflecting: value)
            if mirror.displayStyle == .optional, mirror.children.isEmpty { continue }
            guard let literal = (value as? any EdmConvertible)?.edmValue else {
                throw .invalidOption(
                    "parameter '\(name)'",
                    reason: "in version 2 it is a literal in the URL, and \(type(of: value)) has no literal; make it EdmConvertible")
            }
            if literal != .null { all.append(QueryPath.Parameter(name, .literal(literal))) }
        }
        return ResourcePath(segments: [.function(name, all)])
    }
}
