import Foundation
import WebServiceClient

/// Follows one call to its end and logs it, once.
final class CallReport: Sendable {
    private struct Progress {
        var received: Int64 = 0
        var hasEnded = false
    }

    private let logger: RemoteLogger
    private let level: LogLevel
    private let logsHeaders: Bool
    private let request: ServiceRequest
    private let context: CallContext
    private let start: UInt64
    private let progress = Locked(Progress())

    init(logger: RemoteLogger, level: LogLevel, logsHeaders: Bool, request: ServiceRequest, context: CallContext) {
        self.logger = logger
        self.level = level
        self.logsHeaders = logsHeaders
        self.request = request
        self.context = context
        start = logger.pipeline.clock.uptime
    }

    /// The response with a body that tells when it has been read. One that is in memory already is reported at once.
    func watch(_ response: TransportResponse) -> TransportResponse {
        if let data = response.body.data {
            progress.withLock { $0.received = Int64(data.count) }
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
                        progress.withLock { $0.received += Int64(piece.count) }
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

    /// The body was read, or left before its end.
    private func end(with response: TransportResponse, isLeft: Bool = false) {
        guard let received = finish() else { return }
        let level = response.status >= 500 ? max(self.level, .error) : response.status >= 400 ? max(self.level, .warning) : self.level
        let remark = isLeft ? ", body left unread" : ""
        log(level, "\(name) \(response.status) in \(milliseconds)" + remark, metadata(response, received: received))
    }

    /// There is no response, or its body broke off.
    func end(with error: any Error, response: TransportResponse? = nil) {
        guard let received = finish() else { return }
        let isCancelled = error is CancellationError
        let outcome = isCancelled ? "cancelled" : response == nil ? "failed" : "broke off"
        log(
            isCancelled ? .debug : max(level, .error), "\(name) \(outcome) after \(milliseconds)",
            metadata(response, received: received), error: isCancelled ? nil : error)
    }

    /// Logs without a place in the source: the one where the call was made isn't known here.
    private func log(
        _ level: LogLevel, _ message: @autoclosure () -> String, _ metadata: @autoclosure () -> LogMetadata, error: (any Error)? = nil
    ) {
        guard logger.isEnabled(level), logger.keeps(level) else { return }
        logger.record(level, message(), metadata(), error: error, source: nil)
    }

    /// The bytes received; `nil` when the call has been reported already.
    private func finish() -> Int64? {
        progress.withLock { progress in
            guard !progress.hasEnded else { return nil }
            progress.hasEnded = true
            return progress.received
        }
    }

    // MARK: Texts

    private var name: String { "\(context.identity) \(request.method)" }

    private var elapsed: Double {
        let now = logger.pipeline.clock.uptime
        return Double(now > start ? now - start : 0) / 1e6
    }

    private var milliseconds: String {
        "\((elapsed * 10).rounded() / 10) ms"
    }

    /// The names are those of OpenTelemetry's semantic conventions, where these have one.
    private func metadata(_ response: TransportResponse?, received: Int64) -> LogMetadata {
        var metadata: LogMetadata = [
            "client": context.identity.client, "endpoint": context.identity.key, "url.template": context.identity.route,
            "http.request.method": request.method.rawValue, "url.full": SecretMask.text(of: request.url),
        ]
        metadata["duration_ms"] = .double((elapsed * 1_000).rounded() / 1_000)
        if let length = request.body?.length { metadata["http.request.body.size"] = .int(length) }
        let (repeats, redirects) = (context.progress.repeats, context.progress.redirects)
        if repeats > 0 { metadata["http.request.resend_count"] = .int(Int64(repeats)) }
        if redirects > 0 { metadata["redirects"] = .int(Int64(redirects)) }
        if logsHeaders { metadata["http.request.header"] = .dictionary(fields(request.headers)) }
        guard let response else { return metadata }
        metadata["http.response.status_code"] = .int(Int64(response.status))
        metadata["http.response.body.size"] = .int(received)
        if response.url != request.url { metadata["url.answered"] = .string(SecretMask.text(of: response.url)) }
        if logsHeaders { metadata["http.response.header"] = .dictionary(fields(response.headers)) }
        return metadata
    }

    private func fields(_ headers: HTTPFields) -> LogMetadata {
        LogMetadata(headers.map { ($0.name.canonicalName, .string(headers.masked($0.name))) })
    }
}

extension HTTPFields {
    /// The values of a name, secrets masked.
    fileprivate func masked(_ name: Name) -> String {
        self[values: name].map { SecretMask.text(of: Field(name: name, value: $0)) }.joined(separator: ", ")
    }
}
