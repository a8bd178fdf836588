import Foundation
import WebServiceClient

/// Follows one call to its end and logs it once.
final class CallReport: Sendable {
    private struct Progress {
        var received: Int64 = 0
        var hasEnded = false
        var excerpt: BodyExcerpt?

        mutating func take(_ piece: Data) {
            received += Int64(piece.count)
            excerpt?.append(piece)
        }
    }

    private let logger: RemoteLogger
    private let level: LogLevel
    private let logsHeaders: Bool
    private let bodyLimit: Int
    private let request: ServiceRequest
    private let context: CallContext
    private let start: UInt64
    /// The trace and the provided metadata of the task that made the call. Its response may be read in another task.
    private let trace: TraceContext?
    private let provided: LogMetadata
    private let progress: Locked<Progress>

    init(logger: RemoteLogger, level: LogLevel, logsHeaders: Bool, bodyLimit: Int, request: ServiceRequest, context: CallContext) {
        // Evaluated once, before the call, because the call may end in another task, with other task-local values.
        (provided, trace) = logger.providedMetadata(or: TracePropagation.current?.trace)
        self.logger = logger.with(metadataProvider: nil)
        self.level = level
        self.logsHeaders = logsHeaders
        self.bodyLimit = bodyLimit
        progress = Locked(Progress(excerpt: BodyExcerpt(upTo: bodyLimit)))
        self.request = request
        self.context = context
        start = logger.pipeline.clock.uptime
    }

    /// Returns the response with a body that reports when it has been read. A body in memory is reported at once.
    func watch(_ response: TransportResponse) -> TransportResponse {
        if let data = response.body.data {
            progress.withLock { $0.take(data) }
            end(with: response)
            return response
        }
        let body = response.body
        let reader = Locked(body.makeAsyncIterator())
        var watched = response
        watched.body = ResponseBody(
            expectedLength: body.expectedLength,
            next: { [self] in
                do {
                    var iterator = reader.withLock { $0 }
                    let piece = try await iterator.next()
                    let after = iterator
                    reader.withLock { $0 = after }
                    if let piece {
                        progress.withLock { $0.take(piece) }
                    } else {
                        end(with: response)
                    }
                    return piece
                } catch {
                    end(with: error, response: response)
                    throw error
                }
            },
            cancel: { [self] in
                body.cancel()
                end(with: response, isLeft: true)
            })
        return watched
    }

    // MARK: Ends

    /// Reports a body that was read, or abandoned before its end.
    private func end(with response: TransportResponse, isLeft: Bool = false) {
        guard let body = finish() else { return }
        let level = response.status >= 500 ? max(self.level, .error) : response.status >= 400 ? max(self.level, .warning) : self.level
        let remark = isLeft ? ", body not read to its end" : ""
        let elapsed = elapsed
        log(level, "\(name) \(response.status) in \(Self.text(elapsed))" + remark, metadata(response, body, elapsed))
    }

    /// Reports a missing response, or a body that ended early.
    func end(with error: any Error, response: TransportResponse? = nil) {
        guard let body = finish() else { return }
        let isCancelled = error is CancellationError
        let outcome = isCancelled ? "cancelled" : response == nil ? "failed" : "broke off"
        let elapsed = elapsed
        log(
            isCancelled ? .debug : max(level, .error), "\(name) \(outcome) after \(Self.text(elapsed))",
            metadata(response, body, elapsed), error: isCancelled ? nil : shown(error))
    }

    /// An error's text may contain the request's URL in any form, so its secrets are masked by searching for their values.
    private func shown(_ error: any Error) -> any Error {
        guard let secrets else { return error }
        return ShownError(description: secrets.masked(ValueText.text(of: error)))
    }

    /// An error that is reduced to its text.
    private struct ShownError: Error, CustomStringConvertible {
        let description: String
    }

    /// Logs without a source location, since that of the call is unknown here.
    private func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata, error: (any Error)? = nil
    ) {
        // Logged in the span of the last request, so that the record appears beside the server's span, its child.
        let logger = (context.record.spans.last ?? trace).map(self.logger.with(trace:)) ?? self.logger
        guard logger.isEnabled(level), logger.keeps(level) else { return }
        logger.record(level, message(), provided.merging(metadata()), error: error, source: nil)
    }

    /// The progress so far; `nil` if the call has already been reported.
    private func finish() -> Progress? {
        progress.withLock { progress in
            guard !progress.hasEnded else { return nil }
            progress.hasEnded = true
            return progress
        }
    }

    // MARK: Texts

    /// The secrets of the request, and the credentials that it was sent with, which the server may repeat.
    private var secrets: RequestSecrets? { context.record.secrets(adding: request.secrets) }

    private var name: String { "\(context.identity) \(request.method)" }

    /// Milliseconds since the call began.
    private var elapsed: Double {
        let now = logger.pipeline.clock.uptime
        return Double(now > start ? now - start : 0) / 1e6
    }

    private static func text(_ milliseconds: Double) -> String {
        "\((milliseconds * 10).rounded() / 10) ms"
    }

    /// The names follow OpenTelemetry's semantic conventions where these define one.
    private func metadata(_ response: TransportResponse?, _ body: Progress, _ elapsed: Double) -> LogMetadata {
        var metadata: LogMetadata = [
            "client": context.identity.client, "endpoint": context.identity.key, "url.template": context.identity.route,
            "http.request.method": request.method.rawValue, "url.full": SecretMask.text(of: request),
        ]
        metadata["duration_ms"] = .double((elapsed * 1_000).rounded() / 1_000)
        if let length = request.body?.length { metadata["http.request.body.size"] = .int(length) }
        addAttempts(to: &metadata)
        // Lazy, because collecting the secrets costs more than logging a line without header fields and bodies.
        lazy var secrets = self.secrets
        if logsHeaders { metadata["http.request.header"] = .dictionary(fields(request.headers, secrets)) }
        metadata["http.request.body.content"] = requestBody.map { .string($0) }
        guard let response else { return metadata }
        metadata["http.response.status_code"] = .int(Int64(response.status))
        metadata["http.response.body.size"] = .int(body.received)
        if response.url != request.url { metadata["url.answered"] = .string(SecretMask.text(of: response.url, of: secrets)) }
        if logsHeaders { metadata["http.response.header"] = .dictionary(fields(response.headers, secrets)) }
        let text = body.excerpt?.text(
            contentType: response.headers[.contentType], size: body.received, redaction: logger.pipeline.redaction, secrets: secrets)
        metadata["http.response.body.content"] = text.map { .string($0) }
        return metadata
    }

    /// Adds the generation of the client's profile and the work of the chain: the number of resends for any reason, as OpenTelemetry counts
    /// them; the number of repeats; the number of redirects; the waits with their reasons; and the span of each request.
    private func addAttempts(to metadata: inout LogMetadata) {
        let record = context.record
        let (repeats, redirects) = (record.repeats, record.redirects)
        // Without the chain's own stages, as in a test, only `repeats` and `redirects` are known.
        let resends = max(record.exchanges - 1, repeats + redirects)
        if resends > 0 { metadata["http.request.resend_count"] = .int(Int64(resends)) }
        if repeats > 0 { metadata["repeats"] = .int(Int64(repeats)) }
        if redirects > 0 { metadata["redirects"] = .int(Int64(redirects)) }
        if record.profileGeneration > 0 { metadata["profile_generation"] = .int(Int64(record.profileGeneration)) }
        let waits = record.waits
        if !waits.isEmpty {
            metadata["waited_ms"] = .double(waits.reduce(0) { $0 + Self.milliseconds($1.duration) })
            metadata["waits"] = .array(waits.map(Self.value))
        }
        let spans = record.spans
        if spans.count > 1 { metadata["span_ids"] = .array(spans.compactMap(\.spanID).map { .string($0) }) }
    }

    private static func value(of wait: CallRecord.Wait) -> LogValue {
        var value: LogMetadata = [
            "reason": wait.reason.rawValue, "duration_ms": milliseconds(wait.duration), "attempt": wait.attempt,
        ]
        if !wait.cause.isEmpty { value["cause"] = .string(wait.cause) }
        return .dictionary(value)
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.clampedComponents
        return Double(seconds) * 1_000 + Double(attoseconds) / 1e15
    }

    /// The beginning of the request's body, if bodies are logged and it is in memory.
    private var requestBody: String? {
        guard request.headers[.contentEncoding] == nil, var excerpt = BodyExcerpt(upTo: bodyLimit), let body = request.body,
            case .segments(let segments) = body.source
        else { return nil }
        for segment in segments {
            guard case .data(let data) = segment else { return nil }
            excerpt.append(data)
        }
        let contentType = request.headers[.contentType] ?? body.contentType
        return excerpt.text(
            contentType: contentType, size: body.length ?? 0, redaction: logger.pipeline.redaction, secrets: request.secrets)
    }

    private func fields(_ headers: HTTPFields, _ secrets: RequestSecrets?) -> LogMetadata {
        HeaderExcerpt.metadata(of: RequestSecrets.masked(headers, secrets), redaction: logger.pipeline.redaction)
    }
}
