// Bodies that are read as they arrive.
extension Dispatcher {
    /// The body of a call as it arrives, whose reader fails as the call itself does; failures are judged with the first 64 KiB of theirs.
    func stream(to bound: BoundRequest) async throws -> ServiceResponse<ResponseBody> {
        var bound = bound
        // Nothing is parsed.
        if !endpoint.hasOwnAccept { bound.request.headers[.accept] = "*/*" }
        let (response, reader) = try await streamWithReader(to: bound)
        return response.map { $0.failing(as: reader.broken) }
    }

    /// The same, with what makes the call's errors of whatever goes wrong while the body is read.
    ///
    /// - Parameter limit: how much of a failure's body is judged, in bytes.
    func streamWithReader(
        to bound: BoundRequest, failuresUpTo limit: Int = ResponseSummary.bodyLimit
    ) async throws -> (response: ServiceResponse<ResponseBody>, reader: ResponseReader) {
        let exchange = try await send(bound)
        let reader = ResponseReader(endpoint: endpoint, exchange: exchange)
        let body: ResponseBody
        do {
            body = try await reader.judgedStream(failuresUpTo: limit)
            try checkCancellation()
        } catch {
            try checkCancellation()
            throw error
        }
        let response = exchange.response
        var result = ServiceResponse(
            value: body, status: response.status, headers: response.headers, url: response.url,
            duration: MonotonicInstant.now - started, httpVersion: response.httpVersion, report: response.report)
        result.secrets = response.secrets
        return (result, reader)
    }
}
