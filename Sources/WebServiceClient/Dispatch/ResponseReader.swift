import Foundation

/// Reads, judges and decodes one response.
struct ResponseReader: Sendable {
    let endpoint: ResolvedEndpoint
    let exchange: Dispatcher.Exchange

    private var response: TransportResponse { exchange.response }

    /// All of the body.
    func body() async throws -> Data {
        do {
            return try await response.body.collect(upTo: endpoint.bodyLimit)
        } catch {
            throw wrap(error, stage: .body, body: Data())
        }
    }

    // MARK: Judging

    /// Lets the error handler, or else the status, decide.
    ///
    /// - Parameter takesEmpty: whether the result may be nothing; then a 304 is as good as a success (RFC 9110 §15.4.5).
    func judge(_ body: Data, takesEmpty: Bool) async throws {
        if exchange.isAcceptedFailure { return }
        let isSuccess = endpoint.success.contains(response.status) || (takesEmpty && response.status == 304)
        if let handler = endpoint.settings.errorHandler {
            let handled = HandledResponse(
                status: response.status, headers: response.headers, url: response.url, body: body, decoder: endpoint.decoder)
            let outcome = CallOutcome(
                call: endpoint.identity, request: RequestSummary(exchange.request), result: .response(handled), isSuccess: isSuccess)
            switch await handler.verdict(on: outcome) {
            case .accept: return
            case .fail(let cause): throw refused(by: cause, body: body)
            case .default: break
            }
        }
        guard isSuccess else { throw unsuccessful(body) }
    }

    /// The same for a body that goes on as a stream: only a failure's beginning is read.
    func judgeStream() async throws {
        let isSuccess = endpoint.success.contains(response.status)
        guard !isSuccess || endpoint.settings.errorHandler != nil else { return }
        let head = isSuccess ? Data() : await beginning()
        try await judge(head, takesEmpty: false)
    }

    private func beginning() async -> Data {
        var head = Data()
        do {
            for try await chunk in response.body {
                head.append(chunk)
                if head.count >= ResponseSummary.bodyLimit { break }
            }
        } catch {
            // The status is the news; what could be read of the body goes with it.
        }
        response.body.cancel()
        return head.count > ResponseSummary.bodyLimit ? Data(head.prefix(ResponseSummary.bodyLimit)) : head
    }

    private func unsuccessful(_ body: Data) -> ServiceError {
        let hint =
            switch response.status {
            case 401: " Check the credentials."
            case 407: " Check the proxy's credentials."
            case 404: " Check the service root and the route \(endpoint.plan.route)."
            case 405: " Check the method \(endpoint.plan.method) of the endpoint."
            case 413, 414, 431: " An argument of \(endpoint.plan.key) is too long for the server."
            case 300..<400: " The redirect was not followed."
            default: ""
            }
        return error(
            .status, stage: .status, "The status \(response.status) isn't one of \(endpoint.success), which count as success.\(hint)",
            body: body)
    }

    private func refused(by cause: any Error, body: Data) -> ServiceError {
        var error = error(
            .refused, stage: .status, "The error handler refused the response: \(ServiceError.text(of: cause))", body: body, cause: cause)
        error.errorBody = (cause as? any ErrorBodyCarrier)?.anyBody
        return error
    }

    // MARK: Decoding

    /// The value in the body.
    func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        if type == NoContent.self, let nothing = ResultKind.empty(type) { return nothing }
        if body.isEmpty || response.status == 304 { return try decodeEmpty(type) }
        do {
            return try endpoint.decoder.value(
                type, from: body, contentType: response.headers[.contentType], at: endpoint.plan.payloadRoot)
        } catch {
            let isOtherFormat = (error as? SerializationError)?.kind == .format || error is RawEndpointError
            let kind: ServiceError.Kind = isOtherFormat ? .format : .decoding
            let text = DecodingErrorText.text(of: error)
            throw self.error(kind, stage: .decoding, "The body can't be read as \(type): \(text)", body: body, cause: error)
        }
    }

    private func decodeEmpty<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let empty = ResultKind.empty(type) { return empty }
        if endpoint.plan.payloadRoot.isEmpty {
            if let data = Data() as? Value { return data }
            if let text = "" as? Value { return text }
        }
        if exchange.isAcceptedFailure {
            throw error(
                .emptyBody, stage: .decoding, "The error handler accepted an exchange without a response, but a \(type) is needed.",
                body: Data())
        }
        throw error(
            .emptyBody, stage: .decoding,
            "The response has status \(response.status) and no body, but a \(type) is needed; return \(type)? or nothing if that is right.",
            body: Data())
    }

    // MARK: Errors

    private func summary(_ body: Data) -> ResponseSummary {
        ResponseSummary(status: response.status, headers: response.headers, url: response.url, body: body)
    }

    private func error(
        _ kind: ServiceError.Kind, stage: ServiceError.Stage, _ message: String, body: Data, cause: (any Error)? = nil
    ) -> ServiceError {
        ServiceError(
            call: endpoint.identity, stage: stage, kind: kind, message: message, request: RequestSummary(exchange.request),
            response: exchange.isAcceptedFailure ? nil : summary(body), cause: cause)
    }

    private func wrap(_ error: any Error, stage: ServiceError.Stage, body: Data) -> any Error {
        ErrorWrapper(call: endpoint.identity, request: exchange.request, response: summary(body)).wrap(error, stage: stage)
    }
}
