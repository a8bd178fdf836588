import WebServiceClient

// Actions and functions (Protocol, section 11.5).
extension ODataClient {
    /// Calls an action and gives its result.
    ///
    ///     let order: Order? = try await client.invoke(cart.action("Shop.Checkout"), ["express": true])
    ///
    /// - Parameters:
    ///   - action: the action's path: of an unbound one ``ResourcePath/init(entitySet:)`` with its import's name, of a bound one
    ///     ``ResourcePath/action(_:)`` behind what it is bound to.
    ///   - parameters: the parameters by their names; entities among them say their type where the client's ``types`` know it as a derived one.
    ///   - condition: on which version of the entity the action is bound to.
    /// - Returns: the result. Where there may be none (204), `Result` has to be optional.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func invoke<Result: Decodable & Sendable>(
        _ action: ResourcePath, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:],
        returning type: Result.Type = Result.self,
        if condition: WriteCondition = .none
    ) async throws -> Result {
        try await invoke(ODataQuery(action), parameters, returning: type, if: condition)
    }

    /// The same by a query, whose options are sent with the action: what the path's aliases stand for, what its result is to have.
    public func invoke<Result: Decodable & Sendable>(
        _ action: ODataQuery, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:],
        returning type: Result.Type = Result.self,
        if condition: WriteCondition = .none
    ) async throws -> Result {
        try await response(try call(operation(action, parameters, condition)), ODataOperation(action.resource)).value
    }

    /// Calls an action that gives nothing, or whose result doesn't matter.
    ///
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func invoke(
        _ action: ResourcePath, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:], if condition: WriteCondition = .none
    ) async throws {
        try await invoke(ODataQuery(action), parameters, if: condition)
    }

    /// The same by a query, whose options are sent with the action: what the path's aliases stand for.
    public func invoke(
        _ action: ODataQuery, _ parameters: KeyValuePairs<String, any Encodable & Sendable> = [:], if condition: WriteCondition = .none
    ) async throws {
        try await send(operation(action, parameters, condition))
    }

    /// Calls a function and gives its result, a value or a collection of values.
    ///
    ///     let nearest: [Airport] = try await client.evaluate(ResourcePath(function: "Nearest", ["count": 3]))
    ///
    /// Parameters that are collections, complex values or entities go as aliases: `["among": ["HAM", "LEJ"]]` is `Nearest(among=@arg)?@arg=[…]`.
    /// For entities that are to be selected, expanded or paged, make a ``FetchRequest`` or an ``EntityRequest`` of the path.
    ///
    /// - Returns: the result. Where there may be none (204), `Result` has to be optional.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func evaluate<Result: Decodable & Sendable>(_ function: ResourcePath, as type: Result.Type = Result.self) async throws -> Result
    {
        try await evaluate(ODataQuery(function), as: type)
    }

    /// The same by a query, whose options are sent as well: what the path's aliases stand for, how the result is filtered. Where its URL is
    /// long, ``longQueries`` says what happens.
    public func evaluate<Result: Decodable & Sendable>(_ function: ODataQuery, as type: Result.Type = Result.self) async throws -> Result {
        let operation = ODataOperation(function.resource)
        let target = try printed(operation) { printer throws(ODataQueryError) in try printer.request(function) }
        return try await response(call(operation, to: target), operation).value
    }

    private func operation(
        _ action: ODataQuery, _ parameters: KeyValuePairs<String, any Encodable & Sendable>, _ condition: WriteCondition
    ) throws -> WriteOperation {
        var operation = WriteOperation(.post, action)
        operation.condition = condition
        // Version 2 has parameters in the URL, where a function's path has them.
        if printer.version != .v2 || parameters.count > 0 {
            let encoder = encoder
            operation.body = try payload(action.resource) {
                .object(DynamicEntity(try parameters.map { .init($0.key, try encoder.payload(of: $0.value)) }))
            }
        }
        return operation
    }
}
