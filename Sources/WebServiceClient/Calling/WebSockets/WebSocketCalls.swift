import Foundation

extension WebSocket: StreamedResult {
    static func open(_ dispatcher: Dispatcher, _ bound: Dispatcher.BoundRequest) async throws -> ServiceResponse<WebSocket> {
        try await dispatcher.webSocket(bound)
    }
}

extension Dispatcher {
    /// Opens a WebSocket: sends the handshake through the chain.
    ///
    /// - Throws: ``ServiceError`` for any response with another status than 101.
    fileprivate func webSocket(_ bound: BoundRequest) async throws -> ServiceResponse<WebSocket> {
        let settings = attributes[WebSocketSettings.self] ?? WebSocketSettings()
        if let fault = settings.faults.first {
            // The attributes of a single call aren't verified with the table.
            throw wrap(
                InvalidRequest(message: "The settings of the WebSocket are invalid: \(fault.problem); \(fault.fix)."), stage: .binding,
                request: bound.request)
        }
        let opening = WebSocketOpening(messageLimit: settings.maximumMessageSize)
        let bound = handshake(bound, settings, opening)
        let (record, place) = try begin(bound)
        do {
            let exchange = try await send(bound, record)
            let reader = ResponseReader(endpoint: endpoint, exchange: exchange)
            guard exchange.response.status == 101, let channel = opening.take() else { throw try await refused(reader) }
            let socket = try opened(channel, settings, reader) {
                _ = record.cancellation.finish()
                self.end(place)
            }
            state.canary?.note(endpoint.plan.key, error: nil, generation: state.profileGeneration)
            return socket
        } catch {
            opening.discard()
            let isCancelled = record.cancellation.finish() != nil || Task.isCancelled
            end(place)
            if !isCancelled { state.canary?.note(endpoint.plan.key, error: error, generation: state.profileGeneration) }
            throw error
        }
    }

    private func handshake(_ bound: BoundRequest, _ settings: WebSocketSettings, _ opening: WebSocketOpening) -> BoundRequest {
        var bound = bound
        bound.isStream = true
        bound.cacheIdentifier = nil
        bound.request.webSocket = opening
        // A cached response opens nothing.
        if bound.request.headers[.cacheControl] == nil { bound.request.headers[.cacheControl] = "no-store" }
        if !settings.subprotocols.isEmpty, bound.request.headers["Sec-WebSocket-Protocol"] == nil {
            bound.request.headers["Sec-WebSocket-Protocol"] = settings.subprotocols.joined(separator: ", ")
        }
        return bound
    }

    /// The error of a response that doesn't open a WebSocket.
    private func refused(_ reader: ResponseReader) async throws -> any Error {
        let body = try await reader.judgedStream(failuresUpTo: endpoint.bodyLimit)
        body.cancel()
        return reader.withoutWebSocket()
    }

    private func opened(
        _ channel: any WebSocketChannel, _ settings: WebSocketSettings, _ reader: ResponseReader,
        whenEnded end: @escaping @Sendable () -> Void
    ) throws -> ServiceResponse<WebSocket> {
        let record = reader.exchange.record
        let serializer = endpoint.serializer
        let socket = WebSocket(
            channel,
            WebSocket.Context(
                settings: settings, clock: state.runtime.clock, encode: { try serializer.encode($0) }, decoder: endpoint.decoder,
                payloadRoot: endpoint.plan.payloadRoot, url: reader.exchange.response.url, failure: reader.failure(ofSocket:)))
        do {
            try checkCancellation()
            _ = record.cancellation.onCancel { channel.end($0) }
            try record.cancellation.check()
        } catch {
            channel.end(error)
            throw reader.failure(ofSocket: error)
        }
        channel.onEnd(end)
        let response = reader.exchange.response
        var result = ServiceResponse(
            value: socket, status: response.status, headers: response.headers, url: response.url,
            duration: state.runtime.clock.now() - started, httpVersion: response.httpVersion, report: response.report)
        result.secrets = response.secrets
        return result
    }
}

extension ServiceCall {
    /// Sends the call as the handshake of a WebSocket: see ``WebSocket``.
    ///
    ///     let socket = try await client.http.get("/chat").webSocket()
    ///
    /// - Parameter settings: The settings; `nil` for those of the client or the class, or else the default ones.
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func webSocket(_ settings: WebSocketSettings? = nil) async throws -> WebSocket {
        guard let settings else { return try await value() }
        return try await describing { $0.webSocket(settings) }.value()
    }
}
