package import Foundation

/// Reads, judges and decodes one response.
struct ResponseReader: Sendable {
    let endpoint: ResolvedEndpoint
    let exchange: Dispatcher.Exchange

    private var response: TransportResponse { exchange.response }

    /// The complete body.
    @inline(__always)
    func body() async throws -> Data {
        var body = Data()
        do {
            try await response.body.collect(upTo: endpoint.bodyLimit, into: &body)
            return body
        } catch {
            throw wrap(error, stage: .body, body: body)
        }
    }

    // MARK: Judging

    /// Asks the error handler, and otherwise the status, whether the response is a success.
    ///
    /// - Parameter takesEmpty: Whether the result may be empty. Then a 304 to a conditional GET or HEAD is a success (RFC 9110 §15.4.5).
    ///   For any other request a 304 is a failure, because the change wasn't made.
    @inline(__always)
    func judge(_ body: Data, takesEmpty: @autoclosure () -> Bool) async throws {
        if exchange.isAcceptedFailure { return }
        let isSuccess = endpoint.success.contains(response.status) || (response.status == 304 && isConditionalRead && takesEmpty())
        if let handler = endpoint.settings.errorHandler {
            if try await isAccepted(by: handler, body, isSuccess) { return }
        }
        guard isSuccess else { throw unsuccessful(body) }
    }

    /// Whether the error handler takes the response for a success, whatever its status.
    @inline(never)
    private func isAccepted(by handler: any ErrorHandler, _ body: Data, _ isSuccess: Bool) async throws -> Bool {
        let handled = HandledResponse(
            status: response.status, headers: response.headers, url: response.url, body: body, decoder: endpoint.decoder)
        let outcome = CallOutcome(
            call: endpoint.identity, request: exchange.request, result: .response(handled), isSuccess: isSuccess)
        switch await handler.verdict(on: outcome) {
        case .accept: return true
        case .fail(let cause): throw refused(by: cause, body: body)
        case .default: return false
        }
    }

    /// Whether the request is conditional and the server may answer that the resource is unchanged.
    private var isConditionalRead: Bool {
        let request = exchange.request
        guard request.method == .get || request.method == .head else { return false }
        return request.headers["If-None-Match"] != nil || request.headers["If-Modified-Since"] != nil
    }

    /// Judges a response whose body is delivered as a stream. Reads only the beginning of a failure's body.
    ///
    /// - Parameter limit: The number of bytes to read of it.
    /// - Returns: The complete body, even if the error handler accepted a failure.
    func judgedStream(failuresUpTo limit: Int = ResponseSummary.bodyLimit) async throws -> ResponseBody {
        let isSuccess = endpoint.success.contains(response.status)
        guard !isSuccess || endpoint.settings.errorHandler != nil else { return response.body }
        if isSuccess {
            try await judge(Data(), takesEmpty: false)
            return response.body
        }
        var reader = response.body.makeAsyncIterator()
        let (chunks, failure) = await beginning(&reader, limit)
        do {
            try await judge(chunks.reduce(into: Data()) { $0.append($1) }.prefix(limit), takesEmpty: false)
        } catch {
            response.body.cancel()
            throw error
        }
        return rejoined(chunks, failure, reader)
    }

    private func beginning(_ reader: inout ResponseBody.Iterator, _ limit: Int) async -> (chunks: [Data], failure: (any Error)?) {
        var chunks: [Data] = []
        var count = 0
        do {
            while count < limit, let chunk = try await reader.next() {
                chunks.append(chunk)
                count += chunk.count
            }
        } catch {
            // The status matters more; it is reported with the bytes that could be read.
            return (chunks, error)
        }
        return (chunks, nil)
    }

    /// Rejoins the chunks already read and the rest of the body.
    private func rejoined(_ chunks: [Data], _ failure: (any Error)?, _ rest: ResponseBody.Iterator) -> ResponseBody {
        let body = response.body
        let left = Locked((chunks: chunks[...], rest: rest))
        return ResponseBody(
            expectedLength: body.expectedLength,
            next: {
                if let chunk = left.withLock({ $0.chunks.popFirst() }) { return chunk }
                if let failure { throw failure }
                var reader = left.withLock { $0.rest }
                let chunk = try await reader.next()
                left.withLock { [reader] in $0.rest = reader }
                return chunk
            },
            cancel: { body.cancel() })
    }

    @inline(never)
    private func unsuccessful(_ body: Data) -> ServiceError {
        let hint =
            switch response.status {
            case 401: " Check the credentials\(accepted(by: "WWW-Authenticate"))."
            case 407: " Check the proxy's credentials\(accepted(by: "Proxy-Authenticate"))."
            case 404: " Check the service root and the route \(endpoint.plan.route)."
            case 405: " Check the method \(endpoint.plan.method) of the endpoint."
            case 412: " The request's condition (If-Match, If-None-Match) doesn't hold: the resource has another state."
            case 428: " The server requires a condition, such as If-Match with the entity tag of the resource."
            case 413: tooLong("The body is too large", put: "into it", otherwise: "send less, or in parts")
            case 415: unsupported
            case 414: tooLong("The URL is too long", put: "into it", otherwise: "shorten the path or the query, or send it as a body")
            case 431: tooLong("The headers are too long", put: "into them", otherwise: "send fewer, or shorter ones")
            case 504 where response.source == .cache: " The call takes only stored responses, and the cache has none for it."
            case 304: " It is a success only for a conditional GET or HEAD with an optional result."
            case 300..<400: " The redirect was not followed."
            default: ""
            }
        let rule = "The status \(response.status) isn't one of \(endpoint.success), which count as success.\(hint)"
        let message = problem(body)?.message.map { "\($0) (status \(response.status)). \(rule)" } ?? rule
        return error(.status, stage: .status, message, body: body)
    }

    private var bodyReader: ErrorBodyReader {
        ErrorBodyReader(endpoint, exchange.record.attributes, url: response.url)
    }

    /// The problem details in the body of a failure.
    private func problem(_ body: Data) -> ProblemDetails? {
        bodyReader.problem(response.status, body, contentType: response.headers[.contentType])
    }

    /// Names the schemes that a field of challenges offers, with their algorithms: the provider may not know them.
    private func accepted(by field: HTTPFields.Name) -> String {
        let schemes = AuthenticationChallenge.challenges(inBytes: response.headers.bytes(of: field)).prefix(5).map { challenge in
            let quality = challenge.isScheme("Digest") ? [challenge["algorithm"], challenge["qop"]].compactMap { $0 } : []
            return challenge.scheme.prefix(40) + (quality.isEmpty ? "" : " (\(quality.map { $0.prefix(40) }.joined(separator: ", ")))")
        }
        return schemes.isEmpty ? "" : "; the server accepts " + VisibleText.of(schemes.joined(separator: ", "))
    }

    /// Blames the coding of the body, if it has one (RFC 9110 §15.5.16).
    private var unsupported: String {
        let headers = exchange.request.headers
        guard let coding = headers[.contentEncoding] else {
            return headers[.contentType].map { " The service doesn't take a body of the type \($0)." } ?? ""
        }
        let accepted = response.headers[.acceptEncoding].map { ", only \($0.isEmpty ? "uncoded ones" : $0)" } ?? ""
        return " The service may not take bodies in the coding \(coding)\(accepted): remove .compressed(…), or use another coding."
    }

    /// Blames arguments if a declared endpoint has some. The author of a call without a declaration sees what it sends.
    private func tooLong(_ fault: String, put: String, otherwise: String) -> String {
        let plan = endpoint.plan
        let isByArguments = plan.label == nil && plan.names.count > 0
        return " \(fault) for the server: \(isByArguments ? "see what an argument of \(plan.key) puts \(put)" : otherwise)."
    }

    private func refused(by cause: any Error, body: Data) -> ServiceError {
        var message = ServiceError.text(of: cause)
        if let carrier = cause as? any ErrorBodyCarrier {
            // The error type has no property for the server's message: the beginning of the body tells more than the type's name.
            let text = carrier.tellsMessage ? "" : problem(body)?.message ?? summary(body).bodyText(upTo: 200)
            if !text.isEmpty { message = "\(text) (status \(response.status))" }
        } else {
            message = "The error handler refused the response: \(message)"
        }
        var error = error(.refused, stage: .status, message, body: body, cause: cause)
        error.errorBody = (cause as? any ErrorBodyCarrier)?.anyBody
        return error
    }

    // MARK: Decoding

    /// The value in the body.
    func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        if type == NoContent.self || body.isEmpty || Self.isWithoutContent(response.status) { return try decodeRest(type, from: body) }
        return try decodeContent(type, from: body)
    }

    private static func isWithoutContent(_ status: Int) -> Bool { status == 204 || status == 205 || status == 304 }

    /// Decodes the rare cases. A separate function, because a function asks the runtime for the storage of its optional values on entry,
    /// even if it doesn't need it.
    @inline(never)
    private func decodeRest<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        if type == NoContent.self || Self.isWithoutContent(response.status), let empty = ResultKind.empty(type) { return empty }
        if body.isEmpty || response.status == 304 { return try decodeEmpty(type) }
        return try decodeContent(type, from: body)
    }

    private func decodeContent<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        do {
            return try endpoint.decoder.value(
                type, from: body, contentType: response.headers[.contentType], at: endpoint.plan.payloadRoot, url: response.url)
        } catch {
            throw unreadable(body, as: type, error)
        }
    }

    private func unreadable(_ body: Data, as type: any Any.Type, _ error: any Error) -> ServiceError {
        let isOtherFormat = (error as? SerializationError)?.kind == .format || error is RawEndpointError
        let kind: ServiceError.Kind = isOtherFormat ? .format : .decoding
        let text = DecodingErrorText.text(of: error)
        return self.error(kind, stage: .decoding, "The body can't be read as \(type): \(text)", body: body, cause: error)
    }

    private func decodeEmpty<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let empty = ResultKind.empty(type) { return empty }
        if endpoint.plan.payloadRoot.isEmpty, endpoint.decoder.takesWhole(type, contentType: response.headers[.contentType]) {
            if let data = Data() as? Value { return data }
            if let text = "" as? Value { return text }
        }
        if exchange.isAcceptedFailure {
            throw error(
                .emptyBody, stage: .decoding, "The error handler accepted an exchange without a response, but \(type) is needed.",
                body: Data())
        }
        throw error(
            .emptyBody, stage: .decoding,
            "The response has status \(response.status) and no body, but \(type) is needed; return \(type)? or nothing if that is valid.",
            body: Data())
    }

    // MARK: Errors

    private func summary(_ body: Data, isCut: Bool = false) -> ResponseSummary {
        ResponseSummary(
            status: response.status, headers: response.headers, url: response.url, body: body, isCut: isCut,
            secrets: exchange.requestOfErrors.secrets, askedWait: exchange.askedWait)
    }

    private func error(
        _ kind: ServiceError.Kind, stage: ServiceError.Stage, _ message: String, body: Data, cause: (any Error)? = nil
    ) -> ServiceError {
        var error = ServiceError(
            call: endpoint.identity, stage: stage, kind: kind, message: message, request: RequestSummary(exchange.requestOfErrors),
            response: exchange.isAcceptedFailure ? nil : summary(body), cause: cause)
        error.bodyReader = bodyReader
        return error
    }

    /// The error of a call whose response doesn't lead to the next page.
    func unpaged(_ cause: PagingError) -> ServiceError {
        error(.paging, stage: .decoding, cause.description, body: Data(), cause: cause)
    }

    /// The error that the call throws when its stream breaks off.
    func broken(_ error: any Error) -> any Error { wrap(error, stage: .body, body: Data()) }

    /// The error that the call throws when its stream can't be decoded. It equals the error of a body read as a whole if that can be
    /// determined.
    ///
    /// - Parameters:
    ///   - beginning: The first bytes of the body.
    ///   - isAll: Whether `beginning` is the complete body.
    func failure<Value: Decodable>(of error: any Error, reading type: Value.Type, from beginning: Data, isAll: Bool) -> any Error {
        if let cause = exchange.record.cancellation.cause { return broken(cause) }
        if Task.isCancelled { return CancellationError() }
        if error is ServiceError { return error }
        do {
            _ = try decode(type, from: beginning)
        } catch {
            // For a truncated body the decoder reports the truncation, unless the body has another format.
            if isAll || MarkupPage(beginning) != nil || (error as? ServiceError)?.kind == .format { return error }
        }
        return unreadable(beginning, as: type, error)
    }

    /// The error that the call throws for a fault in its stream of values. Errors of the call itself pass unchanged.
    func failure(ofStream error: any Error) -> any Error {
        if let cause = exchange.record.cancellation.cause { return broken(cause) }
        guard let fault = error as? StreamError else { return error is ServiceError ? error : broken(error) }
        let (kind, stage): (ServiceError.Kind, ServiceError.Stage) =
            switch fault.kind {
            case .format: (.format, .decoding)
            case .tooLarge: (.bodyTooLarge, .body)
            case .reported: (.refused, .status)
            case .reconnection: (.transport, .body)
            case .decoding, .truncated, .misuse: (.decoding, .decoding)
            }
        var result = self.error(kind, stage: stage, fault.description, body: Data(), cause: fault)
        result.errorBody = fault.event
        return result
    }

    /// The error that the call throws for a response that opens no WebSocket, although its status isn't one of a failure.
    func withoutWebSocket() -> any Error {
        let status = response.status == 101 ? "101, but without a WebSocket of the transport" : "\(response.status), not 101"
        return error(
            .status, stage: .status,
            "The response has the status \(status): check whether the route \(endpoint.plan.route) is one for WebSockets.", body: Data())
    }

    /// The error that the call throws for a fault of its open WebSocket.
    func failure(ofSocket error: any Error) -> any Error {
        if let cause = exchange.record.cancellation.cause { return broken(cause) }
        guard let fault = error as? WebSocketError else { return error is ServiceError ? error : broken(error) }
        let (kind, stage): (ServiceError.Kind, ServiceError.Stage) =
            switch fault.kind {
            case .closed, .connectionLost: (.transport, .body)
            case .unresponsive: (.timeout, .body)
            case .tooLarge: (.bodyTooLarge, .body)
            case .protocolViolation: (.format, .decoding)
            case .decoding, .misuse: (.decoding, .decoding)
            }
        return self.error(kind, stage: stage, fault.description, body: Data(), cause: fault)
    }

    /// The error of a call that was cancelled after the head of its response had arrived.
    ///
    /// - Parameter error: The error that the call would have otherwise, whose stage is known.
    func ended(by cause: CallCancelled, _ error: any Error) -> any Error {
        wrap(cause, stage: (error as? ServiceError)?.stage ?? .body, body: Data())
    }

    /// - Parameter body: The bytes received before the error.
    @inline(never)
    private func wrap(_ error: any Error, stage: ServiceError.Stage, body: Data) -> any Error {
        let request = exchange.requestOfErrors
        return ErrorWrapper(
            call: endpoint.identity, request: request, response: summary(body, isCut: true), secrets: request.secrets
        ).wrap(error, stage: stage)
    }
}

/// Determines at run time whether result types can be empty.
enum ResultKind {
    /// Whether a response without a body can be a value of the type.
    static func takesEmpty<Value>(_ type: Value.Type) -> Bool {
        empty(type) != nil
    }

    /// The type as one that is read while the body arrives; `nil` for all others.
    @inline(__always)
    static func stream<Value>(_ type: Value.Type) -> (any StreamedResult.Type)? {
        // A cast takes hundreds of instructions, and most results are larger than the two references of a stream.
        MemoryLayout<Value>.size <= MemoryLayout<EventStream<ServerEvent>>.size ? type as? any StreamedResult.Type : nil
    }

    /// Whether an argument is a `nil` inside an existential, as generic methods pass it.
    static func isNil(_ value: any Sendable) -> Bool {
        (value as? any EmptyRepresentable)?.isNil ?? false
    }

    /// The value of a response without a body; `nil` if the type has none.
    static func empty<Value>(_ type: Value.Type) -> Value? {
        if type == NoContent.self { return NoContent() as? Value }
        guard let optional = type as? any EmptyRepresentable.Type else { return nil }
        return optional.anyEmpty as? Value
    }
}

/// A type with an empty value.
private protocol EmptyRepresentable {
    static var anyEmpty: Any { get }
    var isNil: Bool { get }
}

extension Optional: EmptyRepresentable {
    fileprivate static var anyEmpty: Any { Self.none as Any }
    fileprivate var isNil: Bool { self == nil }
}

/// Makes the errors of a call whose body is read as a stream.
package struct StreamErrors: Sendable {
    let reader: ResponseReader

    /// The limit for bodies, and for the part of a stream held in memory.
    package var bodyLimit: Int { reader.endpoint.bodyLimit }

    /// The error for a body that breaks off.
    package func receiving(_ error: any Error) -> any Error { reader.broken(error) }

    /// The error for a body that can't be decoded.
    ///
    /// - Parameters:
    ///   - beginning: The first bytes of the body.
    ///   - isAll: Whether `beginning` is the complete body.
    package func reading<Value: Decodable>(
        _ type: Value.Type, from beginning: Data, isAll: Bool, _ error: any Error
    ) -> any Error {
        reader.failure(of: error, reading: type, from: beginning, isAll: isAll)
    }
}
