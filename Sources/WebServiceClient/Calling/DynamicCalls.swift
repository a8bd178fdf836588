/// Calls endpoints that have no method: `client.dynamic.repository(owner: "swiftlang", name: "swift")`.
///
/// The name and the labels form the key `repository(owner:name:)`. Arguments that are ``EndpointDescriptor/optional(_:)`` may be left out,
/// and then the others may have any order. The context determines the result's type.
@dynamicMemberLookup
public struct DynamicCalls: Sendable {
    let client: WebServiceClient
    var options = CallOptions.none

    /// Returns the calls with a name.
    public subscript(dynamicMember name: String) -> DynamicCall {
        DynamicCall(client: client, options: options, name: name)
    }

    /// Returns the calls with a name, whose arguments have the service's names: `client.dynamic["getPets"](["$filter": "age gt 2"])`.
    ///
    /// - Parameter name: The base name of a key with ``EndpointDescriptor/optional(_:)`` arguments, or the `operationId` of an OpenAPI
    ///   document.
    public subscript(_ name: String) -> NamedCall {
        NamedCall(client: client, options: options, name: name)
    }

    /// Returns the same calls with options for one call: `client.dynamic(timeout: .seconds(5)).repository(owner: "swiftlang", name:
    /// "swift")`.
    ///
    /// - Parameters:
    ///   - timeout: The deadline of the whole call.
    ///   - prepare: Changes the request, after the client's preparers.
    public func callAsFunction(
        timeout: Duration? = nil, prepare: (@Sendable (inout ServiceRequest) async throws -> Void)? = nil
    ) -> DynamicCalls {
        DynamicCalls(client: client, options: CallOptions(prepare: prepare ?? options.prepare, timeout: timeout ?? options.timeout))
    }
}

/// The calls with one name. Call it with the labels of the key.
@dynamicCallable
public struct DynamicCall: Sendable {
    let client: WebServiceClient
    var options = CallOptions.none
    let name: String

    /// Calls the endpoint and returns its value.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func dynamicallyCall<Value: Decodable>(withKeywordArguments arguments: KeyValuePairs<String, (any Sendable)?>) async throws
        -> Value
    {
        try await bound(arguments).value()
    }

    /// Calls the endpoint and discards the response's body.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, (any Sendable)?>) async throws {
        try await bound(arguments).send()
    }

    /// Calls the endpoint and returns the value with its response.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func dynamicallyCall<Value: Decodable>(
        withKeywordArguments arguments: KeyValuePairs<String, (any Sendable)?>
    ) async throws -> ServiceResponse<Value> {
        try await bound(arguments).response()
    }

    /// Calls the endpoint and returns the body as a stream.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled. Reading the body throws the same errors.
    @_disfavoredOverload  // A call with an unused result resolves to the overload without one.
    public func dynamicallyCall(
        withKeywordArguments arguments: KeyValuePairs<String, (any Sendable)?>
    ) async throws -> ServiceResponse<ResponseBody> {
        try await bound(arguments).stream()
    }

    private func bound(_ arguments: KeyValuePairs<String, (any Sendable)?>) -> KeyedCall {
        var key = name + "("
        for (label, _) in arguments { key += label.isEmpty ? "_:" : label + ":" }
        return KeyedCall(client: client, options: options, key: key + ")", arguments: arguments.map(\.value))
    }
}

/// The calls with one name, whose arguments have the names that the service gives them. For names that aren't labels, such as `$filter`,
/// and for names that are known at run time.
///
///     let pets: [Pet] = try await client.dynamic["getPets"](["$filter": "age gt 2", "$top": 10])
///
/// An argument has its label, an ``EndpointDescriptor/alias(_:of:)``, or the name of its query item, header or cookie. If several arguments
/// have one of these names, only their labels serve.
public struct NamedCall: Sendable {
    let client: WebServiceClient
    var options = CallOptions.none
    let name: String

    /// Calls the endpoint and returns its value.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func callAsFunction<Value: Decodable>(_ arguments: [String: (any Sendable)?] = [:]) async throws -> Value {
        try await bound(arguments).value()
    }

    /// Calls the endpoint and discards the response's body.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func callAsFunction(_ arguments: [String: (any Sendable)?] = [:]) async throws {
        try await bound(arguments).send()
    }

    /// Calls the endpoint and returns the value with its response.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func callAsFunction<Value: Decodable>(_ arguments: [String: (any Sendable)?] = [:]) async throws -> ServiceResponse<Value> {
        try await bound(arguments).response()
    }

    /// Calls the endpoint and returns the body as a stream.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled. Reading the body throws the same errors.
    @_disfavoredOverload  // A call with an unused result resolves to the overload without one.
    public func callAsFunction(_ arguments: [String: (any Sendable)?] = [:]) async throws -> ServiceResponse<ResponseBody> {
        try await bound(arguments).stream()
    }

    /// The call of an endpoint without optional arguments, which has all names, in the order of its key; `nil` if there is none.
    private func exactCall(_ arguments: [(key: String, value: (any Sendable)?)]) -> KeyedCall? {
        let table = client.state.table
        for endpoint in [name, MethodName.identifier(of: name)].lazy.flatMap({ table.exactEndpoints($0) }) {
            let labels = arguments.map { endpoint.label(of: $0.key) }
            let positions = endpoint.key.labels.map { label in labels.firstIndex { $0 == label } }
            guard labels.count == positions.count, !positions.contains(nil) else { continue }
            let values = positions.compactMap { $0 }.map { arguments[$0].value }
            return KeyedCall(client: client, options: options, key: endpoint.key.description, arguments: values)
        }
        return nil
    }

    /// The call with the labels of its arguments.
    private func bound(_ arguments: [String: (any Sendable)?]) throws -> KeyedCall {
        let state = client.state
        let endpoints =
            [name, MethodName.identifier(of: name)].lazy.map { state.table.partialEndpoints($0) }.first { !$0.isEmpty } ?? []
        let sorted = arguments.sorted { $0.key < $1.key }
        let fitting = endpoints.first { endpoint in sorted.allSatisfy { endpoint.label(of: $0.key) != nil } }
        if fitting == nil, let call = exactCall(sorted) { return call }
        // If none knows all names, the error is about the first one.
        let endpoint = fitting ?? endpoints.first
        var labels: [String] = []
        var faults: [TableFault] = []
        for (name, _) in sorted {
            if let label = endpoint?.label(of: name) {
                labels.append(label)
            } else if let endpoint {
                let nearest = NearestName.of(name, among: endpoint.names)
                let isAmbiguous = endpoint.names.contains(name)
                faults.append(
                    TableFault(
                        kind: .unknownArgument, key: endpoint.key.baseName,
                        problem: isAmbiguous ? "several arguments are named \"\(name)\"" : "it has no argument \"\(name)\"",
                        fix: isAmbiguous
                            ? "use their labels: \(endpoint.key)"
                            : nearest.map { "did you mean \"\($0)\"?" } ?? "its arguments are those of \(endpoint.key)"))
            } else {
                labels.append(name)
            }
        }
        let key = MethodName(baseName: endpoint?.key.baseName ?? name, labels: labels).description
        guard faults.isEmpty else {
            throw state.tableError(faults, call: CallIdentity(client: state.clientName, key: key, route: ""), isOwn: true)
        }
        return KeyedCall(client: client, options: options, key: key, arguments: sorted.map(\.value))
    }
}

/// A call of an endpoint by its key.
private struct KeyedCall: Sendable {
    let client: WebServiceClient
    let options: CallOptions
    let key: String
    let arguments: [(any Sendable)?]

    private func dispatcher() throws -> Dispatcher {
        let state = client.state
        return Dispatcher(state: state, endpoint: try state.endpoint(for: key), options: options)
    }

    func value<Value: Decodable>() async throws -> Value {
        let dispatcher = try dispatcher()
        if dispatcher.endpoint.isPaged {
            let series = SeriesCall(client: client, arguments: arguments) { try self.dispatcher() }
            if let pages: Value = series.result() { return pages }
        }
        return try await dispatcher.value(arguments)
    }

    func send() async throws {
        let _: NoContent = try await dispatcher().value(arguments)
    }

    func response<Value: Decodable>() async throws -> ServiceResponse<Value> {
        try await dispatcher().response(arguments)
    }

    func stream() async throws -> ServiceResponse<ResponseBody> {
        let dispatcher = try dispatcher()
        return try await dispatcher.stream(to: dispatcher.bind(arguments))
    }
}

extension WebServiceClient {
    /// Calls endpoints of the table that have no method.
    public var dynamic: DynamicCalls { DynamicCalls(client: self) }
}
