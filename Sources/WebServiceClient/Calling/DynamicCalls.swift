/// Calls endpoints that have no method: `client.dynamic.repository(owner: "swiftlang", name: "swift")`.
///
/// The name and the labels form the key `repository(owner:name:)`. The context determines the result's type.
@dynamicMemberLookup
public struct DynamicCalls: Sendable {
    let client: WebServiceClient
    var options = CallOptions.none

    /// Returns the calls with a name.
    public subscript(dynamicMember name: String) -> DynamicCall {
        DynamicCall(client: client, options: options, name: name)
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
        let dispatcher = try dispatcher(arguments)
        let values = arguments.map(\.value)
        if dispatcher.endpoint.isPaged {
            let labels = arguments.map(\.key)
            let series = SeriesCall(client: client, arguments: values) { try self.dispatcher(labels) }
            if let pages: Value = series.result() { return pages }
        }
        return try await dispatcher.value(values)
    }

    /// Calls the endpoint and discards the response's body.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func dynamicallyCall(withKeywordArguments arguments: KeyValuePairs<String, (any Sendable)?>) async throws {
        let _: NoContent = try await dispatcher(arguments).value(arguments.map(\.value))
    }

    /// Calls the endpoint and returns the value with its response.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func dynamicallyCall<Value: Decodable>(
        withKeywordArguments arguments: KeyValuePairs<String, (any Sendable)?>
    ) async throws -> ServiceResponse<Value> {
        try await dispatcher(arguments).response(arguments.map(\.value))
    }

    /// Calls the endpoint and returns the body as a stream.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled. Reading the body throws the same errors.
    @_disfavoredOverload  // A call with an unused result resolves to the overload without one.
    public func dynamicallyCall(
        withKeywordArguments arguments: KeyValuePairs<String, (any Sendable)?>
    ) async throws -> ServiceResponse<ResponseBody> {
        let dispatcher = try dispatcher(arguments)
        return try await dispatcher.stream(to: dispatcher.bind(arguments.map(\.value)))
    }

    private func dispatcher(_ arguments: KeyValuePairs<String, (any Sendable)?>) throws -> Dispatcher {
        try dispatcher(arguments.map(\.key))
    }

    private func dispatcher(_ labels: [String]) throws -> Dispatcher {
        var key = name + "("
        for label in labels { key += label.isEmpty ? "_:" : label + ":" }
        let state = client.state
        return Dispatcher(state: state, endpoint: try state.endpoint(for: key + ")"), options: options)
    }
}

extension WebServiceClient {
    /// Calls endpoints of the table that have no method.
    public var dynamic: DynamicCalls { DynamicCalls(client: self) }
}
