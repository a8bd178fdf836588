import Foundation
import WebServiceClient

// Batches that a service carries out asynchronously (Protocol 4.01, sections 11.6 and 11.7.4).
extension ODataClient {
    /// Polls a monitor until it has the response to a batch.
    ///
    /// - Parameters:
    ///   - accepted: The answer that names the monitor.
    ///   - accept: The media type of the response.
    func batchSource(
        after accepted: BatchSource, at first: JobMonitor, _ operation: ODataOperation, accept: String
    ) async throws -> BatchSource {
        // The trailers come after the body, which isn't needed.
        var isWhole = false
        do {
            isWhole = try await beginning(of: accepted.response, accepted.errors, upTo: JobReport.limit).isAll
        } catch let error as ServiceError where error.kind != .cancelled && !Task.isCancelled {
            // The monitor is known: a body that breaks off doesn't matter.
        }
        if isWhole { try accepted.checkEnd() }
        accepted.response.value.cancel()
        var monitor = first
        var pauses = MonitorPauses()
        while true {
            try await pause(for: pauses.next(monitor))
            let call = monitorCall(monitor, operation, JobForm(accept: accept), for: Data.self)
            let (response, errors) = try await openMonitor(call, operation)
            do {
                if let source = try await self.source(in: response, errors, monitor, operation) { return source }
                response.value.cancel()
                monitor = try self.monitor(after: response, monitor, operation)
            } catch {
                response.value.cancel()
                throw error
            }
        }
    }

    private func openMonitor(
        _ call: ServiceCall, _ operation: ODataOperation
    ) async throws -> (response: ServiceResponse<ResponseBody>, errors: StreamErrors) {
        do {
            return try await call.openStream(keeping: { BatchSource.isMultipart($0.headers) })
        } catch let error as ServiceError where error.stage == .status && (error.status == 404 || error.status == 410) {
            throw self.error(
                operation, .status, .job, ODataJobError.gone.description, cause: ODataJobError.gone, response: error.response)
        } catch {
            throw Self.withErrorBody(error)
        }
    }

    /// Returns the response to a batch in its monitor's response: the response itself, or a response inside of the body; `nil` if the batch
    /// isn't finished.
    private func source(
        in response: ServiceResponse<ResponseBody>, _ errors: StreamErrors, _ monitor: JobMonitor, _ operation: ODataOperation
    ) async throws -> BatchSource? {
        let isMultipart = BatchSource.isMultipart(response.headers)
        let isEmbedded = response.headers[.contentType].flatMap { MediaType($0) }?.essence == "application/http"
        // Parts are read while they arrive. Another body may be a report instead of the answer, which is short.
        let body =
            isMultipart
            ? BodyBeginning(data: Data(), isAll: false, whole: response.value)
            : try await beginning(of: response, errors, upTo: isEmbedded ? errors.bodyLimit : JobReport.limit)
        guard !isEmbedded || body.isAll else {
            throw error(
                operation, .decoding, .format,
                "The answer to the batch, a response inside of the monitor's body, is larger than the limit of \(errors.bodyLimit) bytes: "
                    + "raise the client's bodyLimit.", response: ResponseSummary(of: response))
        }
        if body.isAll { try check(trailersOf: response, operation) }
        let answer = MonitorAnswer(response.map { _ in body.data }, monitor, isBatch: true)
        guard isMultipart || !answer.isRunning else { return nil }
        let result = try self.result(in: answer, operation)
        guard (200..<300).contains(result.status) || BatchSource.isMultipart(result.headers) else { throw failure(result, operation) }
        // A failure with parts tells which of the requests failed.
        if result.status < 300 {
            try check(
                result.status, for: .calling, operation, response: result.summary, url: result.url.absoluteString,
                location: result.headers[.location])
        }
        try check(versionOf: response.headers, operation, response: ResponseSummary(of: response))
        try check(versionOf: result.headers, operation, response: result.summary)
        // The response with the monitor's location has confirmed the request as a repeatable one.
        try check(repeatabilityIn: result.headers, isExpected: false, operation, response: result.summary)
        var found = response.map { _ in isEmbedded ? ResponseBody(result.body) : body.whole }
        // Relative links are resolved against the URL of the batch.
        (found.status, found.headers, found.url) = (result.status, result.headers, result.url)
        return BatchSource(response: found, errors: errors, checkEnd: { try self.check(trailersOf: response, operation) })
    }

    /// Reads a body up to a limit.
    private func beginning(
        of response: ServiceResponse<ResponseBody>, _ errors: StreamErrors, upTo limit: Int
    ) async throws -> BodyBeginning {
        var data = Data()
        var chunks = response.value.makeAsyncIterator()
        do {
            while let chunk = try await chunks.next() {
                data.append(chunk)
                guard data.count <= limit else {
                    return BodyBeginning(data: data, isAll: false, whole: Self.body(data, chunks, cancel: response.value.cancel))
                }
            }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw errors.receiving(error)
        }
        return BodyBeginning(data: data, isAll: true, whole: ResponseBody(data))
    }

    /// Returns a body whose beginning has been read.
    private static func body(
        _ beginning: Data, _ chunks: ResponseBody.Iterator, cancel: @escaping @Sendable () -> Void
    ) -> ResponseBody {
        let state = Locked((beginning: Optional(beginning), chunks: chunks))
        return ResponseBody(
            expectedLength: nil,
            next: {
                var (beginning, chunks) = state.withLock { $0 }
                if beginning == nil { beginning = try await chunks.next() }
                let after = chunks
                state.withLock { $0 = (nil, after) }
                return beginning
            }, cancel: cancel)
    }
}

/// The beginning of a body.
private struct BodyBeginning {
    let data: Data
    /// Whether the beginning is the whole body.
    let isAll: Bool
    /// The body from its first byte on.
    let whole: ResponseBody
}

extension HTTPFields {
    /// Whether the preferences ask for an asynchronous answer (Protocol 4.01, section 8.2.8.8).
    var preferAsynchronous: Bool {
        self[values: "Prefer"].contains { value in
            value.split(separator: ",").contains { item in
                item.prefix { $0 != ";" && $0 != "=" }.trimmingCharacters(in: .whitespaces).lowercased() == "respond-async"
            }
        }
    }
}
