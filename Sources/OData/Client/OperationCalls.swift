import WebServiceClient

// Actions and functions (Protocol, section 11.5).
extension ODataClient {
    /// Calls an action and gives its result. In version 2 it is a service operation, whose parameters stand in the URL as literals; what
    /// has no literal there is an error, and what is `nil` is left out.
    ///
    ///     let order: Order? = try await client.invoke(cart.action("Shop.Checkout"), ["express": true])
    ///
    /// - Parameters:
    ///   - action: the action's path: of an unbound one ``ResourcePath/init(entitySet:)`` with its import's name, of a bound one
    ///     ``ResourcePath/action(_:)`` behind what it is bound to.
    ///   - parameters: the parameters by their names; entities among them say their type where the client's ``types`` know it as a derived one.
    ///   - condition: on which version of the entity the action is bound to.
    /// - Returns: the result. Where there may be none (204, or null in JSON), `Result` has to be optional. A `String` or a `Data` is a value in the
    ///   JSON, as other types are.
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
        let operation = try operation(action, parameters, condition)
        return try await response(try call(operation, for: Result.self), ODataOperation(operation.query.resource)).value
    }

    /// Calls an action that gives nothing, or whose result doesn't matter.
    ///
    /// That the service accepted the action (202) is enough, unless it says where its progress is to be watched (`Location`): then it is an error,
    /// whose cause is ``ODataStatusError/accepted(monitor:retryAfter:)``.
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
        try await send(operation(action, parameters, condition), for: .calling)
    }

    /// Calls a function and gives its result, a value or a collection of values.
    ///
    ///     let nearest: [Airport] = try await client.evaluate(ResourcePath(function: "Nearest", ["count": 3]))
    ///
    /// Parameters that are collections, complex values or entities go as aliases: `["among": ["HAM", "LEJ"]]` is `Nearest(among=@arg)?@arg=[…]`.
    /// For entities that are to be selected, expanded or paged, make a ``FetchRequest`` or an ``EntityRequest`` of the path.
    ///
    /// - Returns: the result. Where there may be none (204, or null in JSON), `Result` has to be optional. A `String` or a `Data` is a value in the
    ///   JSON, as other types are.
    /// - Throws: `ServiceError`, or `CancellationError` when the task was cancelled.
    public func evaluate<Result: Decodable & Sendable>(_ function: ResourcePath, as type: Result.Type = Result.self) async throws -> Result
    {
        try await evaluate(ODataQuery(function), as: type)
    }

    /// The same by a query, whose options are sent as well: what the path's aliases stand for, how the result is filtered. Where its URL is
    /// long, ``longQueries`` says what happens.
    public func evaluate<Result: Decodable & Sendable>(_ function: ODataQuery, as type: Result.Type = Result.self) async throws -> Result {
        let operation = ODataOperation(function)
        let target = try printed(operation) { printer throws(ODataQueryError) in try printer.request(function) }
        return try await response(call(operation, to: target, for: Result.self), operation).value
    }

    private func operation(
        _ action: ODataQuery, _ parameters: KeyValuePairs<String, any Encodable & Sendable>, _ condition: WriteCondition
    ) throws -> WriteOperation {
        var operation = WriteOperation(.post, action)
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
    /// The service operation of version 2 with parameters, which are printed as a function's (OData 2.0, URI Conventions, section 3.3).
    ///
    /// - Throws: ``ODataQueryError`` where a parameter has no literal, or the path is none of a service operation.
    fileprivate func serviceOperation(
        _ parameters: KeyValuePairs<String, any Encodable & Sendable>
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
                route, reason: "version 2 has operations with parameters only at the service's root: give the operation's name alone")
        }
        for (name, value) in parameters {
            // An optional without a value, of whatever type.
            let mirror = Mirror(reflecting: value)
            if mirror.displayStyle == .optional, mirror.children.isEmpty { continue }
            guard let literal = (value as? any EdmConvertible)?.edmValue else {
                throw .invalidOption(
                    "parameter '\(name)'",
                    reason: "in version 2 it stands in the URL, and \(type(of: value)) has no literal; make it EdmConvertible")
            }
            if literal != .null { all.append(QueryPath.Parameter(name, .literal(literal))) }
        }
        return ResourcePath(segments: [.function(name, all)])
    }
}
