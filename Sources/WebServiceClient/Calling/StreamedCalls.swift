import Foundation

/// A result that is read while the body arrives: ``EventStream`` and ``ElementStream``. The method's result type selects streaming at run
/// time, so `call` needs no overload for it.
protocol StreamedResult: Sendable {
    /// Sends a bound request, and returns its stream with the response.
    static func open(_ dispatcher: Dispatcher, _ bound: Dispatcher.BoundRequest) async throws -> ServiceResponse<Self>
}

extension Dispatcher {
    /// Returns the body of a call as a stream. Reading the stream throws the call's errors. If the response is a failure, the first 64 KiB
    /// of its body are read to judge it.
    func stream(to bound: BoundRequest) async throws -> ServiceResponse<ResponseBody> {
        var bound = bound
        bound.isStream = true
        // The caller receives the bytes unparsed, so any media type is acceptable.
        if !endpoint.hasOwnAccept { bound.request.headers[.accept] = "*/*" }
        let (response, reader) = try await streamWithReader(to: bound)
        return response.map { $0.failing(as: reader.broken) }
    }

    /// Returns the body of a call as a stream, with the reader that creates the call's errors while the body is read.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes of a failure's body that are read to judge it.
    ///   - wait: The time to wait before the request is sent. The call's deadline begins afterwards.
    ///   - keeps: Whether the caller judges a response itself, so that its body is returned whatever its status.
    func streamWithReader(
        to bound: BoundRequest, failuresUpTo limit: Int = ResponseSummary.bodyLimit, after wait: Duration = .zero,
        keeping keeps: @Sendable (TransportResponse) -> Bool = { _ in false }
    ) async throws -> (response: ServiceResponse<ResponseBody>, reader: ResponseReader) {
        var bound = bound
        bound.isStream = true
        let (record, place) = try begin(bound)
        // The call ends with its body, or when the body is released.
        let end = ending(record, place)
        let exchange: Exchange
        do {
            exchange = try await waiting(wait, bound, record).send(bound, record)
        } catch {
            end()
            throw error
        }
        let reader = ResponseReader(endpoint: endpoint, exchange: exchange)
        let body: ResponseBody
        do {
            let isKept = keeps(exchange.response)
            let judged = isKept ? exchange.response.body : try await reader.judgedStream(failuresUpTo: limit)
            try checkCancellation()
            try record.cancellation.check()
            body = judged.observed(check: { try record.cancellation.check() }, ended: end)
            if body.data != nil { end() }
            // The caller judges other kept responses, such as the 416 of a resumed download.
            if !isKept || (200..<300).contains(exchange.response.status) {
                state.canary?.note(endpoint.plan.key, error: nil, generation: state.profileGeneration)
            }
        } catch {
            end()
            if let cause = record.cancellation.cause { throw reader.ended(by: cause, error) }
            try checkCancellation()
            state.canary?.note(endpoint.plan.key, error: error, generation: state.profileGeneration)
            throw error
        }
        let response = exchange.response
        var result = ServiceResponse(
            value: body, status: response.status, headers: response.headers, url: response.url,
            duration: state.runtime.clock.now() - started, httpVersion: response.httpVersion, report: response.report)
        result.secrets = response.secrets
        result.source = response.source
        return (result, reader)
    }

    /// Waits before a call is sent, and returns the dispatcher whose deadline begins then.
    private func waiting(_ wait: Duration, _ bound: BoundRequest, _ record: CallRecord) async throws -> Dispatcher {
        guard wait > .zero else { return self }
        do {
            try await state.runtime.clock.sleep(wait, unless: record.cancellation)
        } catch {
            throw wrap(record.cancellation.cause ?? error, stage: .chain, request: bound.request)
        }
        var dispatcher = self
        dispatcher.started = state.runtime.clock.now()
        return dispatcher
    }

    /// Sends a bound request of a streamed call.
    @inline(never)
    func streamed<Value>(
        _ result: any StreamedResult.Type, as type: Value.Type, to bound: BoundRequest
    ) async throws -> ServiceResponse<Value> {
        func open<Result: StreamedResult>(_ result: Result.Type) async throws -> ServiceResponse<Value?> {
            try await result.open(self, bound).map { $0 as? Value }
        }
        let response = try await open(result)
        // `Result` and `Value` are the same type.
        guard let value = response.value else { throw StreamError.readTwice }
        return response.map { _ in value }
    }

    /// Sends the request of a stream of values, and checks the type of its body.
    ///
    /// - Parameters:
    ///   - wait: The time to wait before sending.
    ///   - accepted: The media types that the call reads.
    /// - Returns: The response with its framing; no framing if it has no content.
    fileprivate func opened(
        _ bound: BoundRequest, after wait: Duration = .zero, accepting accepted: String, isEvents: Bool
    ) async throws -> OpenedStream {
        var bound = bound
        if !endpoint.hasOwnAccept { bound.request.headers[.accept] = accepted }
        let (response, reader) = try await streamWithReader(to: bound, after: wait)
        let body = response.value.failing(as: reader.broken)
        guard response.status != 204, response.status != 205 else { return OpenedStream(response: response, body: body, reader: reader) }
        do {
            let framing = try StreamFraming.of(
                response.headers[.contentType], declared: reader.exchange.record.attributes[StreamFraming.self], isEvents: isEvents)
            return OpenedStream(response: response, body: body, reader: reader, framing: framing)
        } catch {
            body.cancel()
            throw reader.failure(ofStream: error)
        }
    }
}

/// The response of a stream of values.
private struct OpenedStream {
    let response: ServiceResponse<ResponseBody>
    let body: ResponseBody
    let reader: ResponseReader
    /// `nil` if the response has no content.
    var framing: StreamFraming?

    var attributes: EndpointAttributes { reader.exchange.record.attributes }
}

extension ElementStream: StreamedResult {
    static func open(_ dispatcher: Dispatcher, _ bound: Dispatcher.BoundRequest) async throws -> ServiceResponse<Self> {
        let accepted = dispatcher.attributes[StreamFraming.self]?.accepted ?? StreamFraming.elementTypes
        let opened = try await dispatcher.opened(bound, accepting: accepted, isEvents: false)
        let (reader, endpoint, url) = (opened.reader, dispatcher.endpoint, opened.response.url)
        let contentType = opened.response.headers[.contentType]
        let framing = opened.framing ?? .jsonLines
        let boundary: String
        do {
            boundary = framing == .parts ? try (MediaType(contentType ?? "") ?? .octets).multipartBoundary() : ""
        } catch {
            opened.body.cancel()
            throw reader.failure(ofStream: error)
        }
        let plan = ElementPlan<Element>(
            framing: framing, boundary: boundary, path: endpoint.plan.payloadRoot, reader: endpoint.decoder.arrayReader(contentType),
            limit: endpoint.bodyLimit
        ) { record in
            try endpoint.decoder.value(
                Element.self, from: record.bytes, contentType: record.contentType, at: endpoint.plan.payloadRoot, url: url)
        }
        let content = Content(body: opened.body, parser: { plan.parser() }, failure: reader.failure(ofStream:))
        return opened.response.map { _ in ElementStream(content) }
    }
}

extension EventStream: StreamedResult {
    static func open(_ dispatcher: Dispatcher, _ bound: Dispatcher.BoundRequest) async throws -> ServiceResponse<Self> {
        var bound = bound
        // The cache must neither store an event stream nor answer with a stored one.
        if bound.request.headers[.cacheControl] == nil { bound.request.headers[.cacheControl] = "no-store" }
        let opened = try await dispatcher.opened(bound, accepting: StreamFraming.events.accepted, isEvents: true)
        let (reader, endpoint, url) = (opened.reader, dispatcher.endpoint, opened.response.url)
        let failing = Set(opened.attributes[FailingEvents.self]?.types ?? [])
        let rules = EventRules(limit: endpoint.bodyLimit, end: opened.attributes[StreamEnd.self], failing: failing)
        let decode: @Sendable (ServerEvent) throws -> Element = { event in
            if let event = event as? Element { return event }
            return try endpoint.decoder.value(
                Element.self, from: Data(event.data.utf8), contentType: nil, at: endpoint.plan.payloadRoot, url: url)
        }
        var content = Content(
            body: opened.framing == nil ? nil : opened.body, rules: rules, decode: decode, failure: reader.failure(ofStream:))
        if let policy = opened.attributes[ReconnectionPolicy.self], policy.attempts > 0 {
            content.reconnection = dispatcher.reconnection(of: bound, policy)
        }
        return opened.response.map { [content] _ in EventStream(content) }
    }
}

// Reconnects event streams.
extension Dispatcher {
    fileprivate func reconnection(of bound: BoundRequest, _ policy: ReconnectionPolicy) -> EventReconnection {
        // The stream may be read outside the closure that gave the call its attributes.
        let attributes = CallAttributes.current
        return EventReconnection(
            policy: policy,
            open: { lastID, wait in
                try await CallAttributes.$current.withValue(attributes) { try await reopened(bound, lastID: lastID, after: wait) }
            },
            permits: { Self.isOfConnection($0) && bound.request.body?.isReplayable != false })
    }

    /// Sends the call again, through the whole chain.
    private func reopened(_ bound: BoundRequest, lastID: String, after wait: Duration) async throws -> EventReconnection.Outcome {
        var bound = bound
        guard bound.request.body?.isReplayable != false else {
            throw StreamError(
                .reconnection, "The stream can't be reconnected, because the call's body can't be sent again: make it replayable.")
        }
        if !lastID.isEmpty {
            if let fault = URLEncoding.headerFault(in: lastID) {
                throw StreamError(.reconnection, "The stream can't be resumed, because its last event ID isn't a field value: \(fault).")
            }
            bound.request.headers["Last-Event-ID"] = lastID
        }
        let opened: OpenedStream
        do {
            opened = try await self.opened(bound, after: wait, accepting: StreamFraming.events.accepted, isEvents: true)
        } catch {
            guard Self.isOfConnection(error) else { throw error }
            return .failed(error)
        }
        guard opened.framing != nil else { return .ended }
        guard opened.response.status == 200 else {
            opened.body.cancel()
            throw opened.reader.failure(
                ofStream: StreamError(
                    .reconnection, "The service responded to the reconnection with status \(opened.response.status), but 200 is expected."))
        }
        return .opened(opened.body, failure: opened.reader.failure(ofStream:))
    }

    /// Whether an error comes from the connection, so that another connection may succeed.
    private static func isOfConnection(_ error: any Error) -> Bool {
        guard let error = error as? ServiceError else { return false }
        return error.kind == .transport || error.kind == .timeout || error.kind == .circuitOpen
    }
}

extension BodyDecoder {
    /// The reader of an array's elements, with the settings of the endpoint's serializer if that reads JSON.
    fileprivate func arrayReader(_ contentType: String?) -> JSONReader {
        let chosen: (any SerializationDelegate)? =
            switch parsing {
            case .forced(let parser): parser
            case .byContentType, .off: contentType.flatMap { MediaType($0) }.flatMap { parsers.delegate(for: $0) }
            }
        return (chosen as? JSONSerializer)?.reader ?? (serializer as? JSONSerializer)?.reader ?? JSONReader()
    }
}

extension MediaType {
    /// The type of bodies whose type is unknown.
    fileprivate static let octets = MediaType(checkedType: "application", subtype: "octet-stream", parameters: [])
}

extension ServiceCall {
    /// Sends the call and returns its events: see ``EventStream``.
    ///
    ///     for try await event in try await client.http.get("/prices").events() { … }
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func events<Element: Decodable & Sendable>(of type: Element.Type = ServerEvent.self) async throws -> EventStream<Element> {
        try await value()
    }

    /// Sends the call and returns its elements: see ``ElementStream``.
    ///
    /// - Throws: ``ServiceError``, or `CancellationError` when the task was cancelled.
    public func elements<Element: Decodable & Sendable>(of type: Element.Type = Element.self) async throws -> ElementStream<Element> {
        try await value()
    }
}

extension ServiceResponse where Value == ResponseBody {
    /// The parts of a multipart response: see ``BodyParts``.
    ///
    /// - Throws: ``StreamError`` if the response isn't multipart, or its boundary is missing or too long.
    public func parts() throws -> BodyParts { try value.parts(contentType: headers[.contentType] ?? "application/octet-stream") }
}
