import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request on its way through URLSession, and its response. The delegate delivers, the caller awaits.
///
/// The head is delivered once. The pieces of the body then wait for their reader in a bounded buffer. The exchange ends exactly once:
/// complete, failed, or abandoned. Continuations are resumed, and the task is cancelled, outside the lock.
final class URLSessionExchange: Sendable {
    /// The head of a response.
    struct Head: Sendable {
        let status: Int
        let headers: HTTPFields
        /// The number of bytes that the reader will receive, if known.
        let expectedLength: Int64?
    }

    /// The host, for messages.
    let host: String
    private let method: ServiceRequest.Method
    private let bufferLimit: Int
    private let deadlines: ExchangeDeadlines
    private let uploadProgress: (@Sendable (TransferProgress) -> Void)?
    private let state: Locked<ExchangeState>

    init(_ request: ServiceRequest, host: String, upload: URLSessionUpload, deadlines: ExchangeDeadlines, bufferLimit: Int) {
        self.host = host
        method = request.method
        uploadProgress = request.uploadProgress
        self.bufferLimit = bufferLimit
        self.deadlines = deadlines
        state = Locked(ExchangeState(upload: upload))
    }
}

// MARK: - Start

extension URLSessionExchange {
    /// Stores the continuation that awaits the head. Returns `false` if the exchange has already been abandoned: then nothing may be
    /// started.
    func begin(_ continuation: CheckedContinuation<Head, any Error>, timers: DispatchQueue) -> Bool {
        let ended: (any Error)? = state.withLock { state in
            guard case .failed(let error) = state.end else {
                state.headReader = continuation
                return nil
            }
            return error
        }
        if let ended {
            continuation.resume(throwing: ended)
            return false
        }
        guard !deadlines.isEmpty else { return true }
        let timer = DeadlineTimer(queue: timers) { [weak self] in self?.checkDeadlines() }
        let lastSent = state.withLock { state in
            state.timer = state.end == nil ? timer : nil
            return state.lastSent
        }
        if let due = deadlines.dueWhileWaiting(lastSent: lastSent) { timer.schedule(at: due.instant) }
        return true
    }

    /// Whether the exchange hasn't ended.
    var isWanted: Bool { state.withLock { $0.end == nil } }

    /// Stores the task once it has been resumed: it must not be cancelled before. If the exchange has ended in the meantime, the task is
    /// cancelled.
    func attach(_ running: RunningTask) {
        let late: Bool? = state.withLock { state in
            switch state.end {
            case nil:
                state.running = running
                return nil
            case .received: return false
            case .failed: return true
            }
        }
        if let late { running.release(cancelling: late) }
    }

    private func checkDeadlines() -> MonotonicInstant? {
        let due = state.withLock { state -> ExchangeDeadlines.Due? in
            guard state.end == nil else { return nil }
            guard state.head != nil else { return deadlines.dueWhileWaiting(lastSent: state.lastSent) }
            let lastArrival = state.lastArrival
            return deadlines.dueWhileReceiving(lastArrival: state.lastSent.map { max($0, lastArrival) } ?? lastArrival)
        }
        guard let due else { return nil }
        guard due.instant <= .now else { return due.instant }
        let error = deadlines.error(due.code, host: host)
        state.withLock { $0.abandon(error, keepingPieces: due.code == .timedOutIdle) }.perform()
        return nil
    }
}

// MARK: - Events from the delegate

extension URLSessionExchange {
    /// Receives the head of the response. Heads of informational responses (RFC 9110 §15.2) are ignored, because the final one follows.
    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else {
            return abandon(TransportError(.unreadableResponse, "The response from \(host) isn't an HTTP response."))
        }
        guard response.statusCode >= 200 || response.statusCode == 101 else { return }
        let framing = ResponseFraming(response, method: method)
        let head = Head(status: response.statusCode, headers: framing.headers, expectedLength: framing.expectedLength)
        let (effects, timer) = state.withLock { ($0.deliver(head, framing: framing), $0.timer) }
        guard let effects else { return }
        reportUpload(isComplete: (200..<300).contains(head.status))
        if let timer, let due = deadlines.dueWhileReceiving(lastArrival: .now) { timer.schedule(at: due.instant) }
        effects.perform()
    }

    /// Receives a piece of the body.
    func receive(_ data: Data) {
        guard !data.isEmpty else { return }
        let limit = bufferLimit
        let error = TransportError(
            .readerTooSlow,
            "The response from \(host) is read more slowly than it arrives, and \(limit) bytes wait: read faster, "
                + "write the body to a file, raise the transport's bufferLimit, or use a transport with back-pressure.")
        state.withLock { $0.receive(data, limit: limit, tooSlow: error) }.perform()
    }

    /// Called with the total number of sent bytes of the request's body.
    func sent(_ total: Int64) {
        state.withLock { $0.lastSent = .now }
        report(completed: total)
    }

    /// Called at the end of the task, with or without an error. A response that URLSession held back is passed as well.
    func complete(_ failure: (any Error)?, response: URLResponse?) {
        if failure == nil, let response { receive(response) }
        let headArrived = state.withLock { $0.head != nil }
        let error: TransportError?
        if let failure {
            error = failure as? TransportError ?? TransportError(urlSession: failure, host: host, headArrived: headArrived)
        } else {
            error = headArrived ? nil : TransportError(.unreadableResponse, "The response from \(host) isn't an HTTP response.")
        }
        let host = host
        state.withLock { $0.finish(error, host: host) }.perform()
    }
}

// MARK: - Operations of the caller

extension URLSessionExchange {
    /// Ends the exchange at once with an error: buffered pieces are discarded, and the task is cancelled.
    func abandon(_ error: any Error) {
        state.withLock { $0.abandon(error) }.perform()
    }

    /// Called when the reader drops or cancels the body. Without a body there is nothing to cancel, and the connection remains usable.
    func drop() {
        guard state.withLock({ $0.mayStillReceive }) else { return }
        abandon(TransportError(.other, "The body of the response from \(host) was cancelled by its reader."))
    }

    /// Returns the next piece of the body, `nil` at the end.
    func next() async throws -> Data? {
        if Task.isCancelled { abandon(CancellationError()) }
        if let piece = state.withLock({ $0.takePiece() }) { return piece }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                state.withLock { $0.read(continuation) }?.perform()
            }
        } onCancel: {
            abandon(CancellationError())
        }
    }

    private func reportUpload(isComplete: Bool) {
        guard isComplete, uploadProgress != nil else { return }
        report(completed: state.withLock { $0.upload.length })
    }

    /// Reports the upload in ascending order: only the delegate's queue calls this.
    private func report(completed: Int64) {
        guard let uploadProgress else { return }
        let total: Int64? = state.withLock { state in
            guard completed > state.sent, state.hasUpload else { return nil }
            state.sent = completed
            return state.uploadLength
        }
        guard let total else { return }
        uploadProgress(TransferProgress(completed: min(completed, total), total: total))
    }
}

/// Checks repeatedly, at scheduled instants, whether a deadline has passed.
///
/// `@unchecked Sendable`: the only property is a dispatch source, which any thread may schedule and cancel.
final class DeadlineTimer: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    /// Creates a timer that calls `check` on the queue; `check` returns the instant of its next call, or `nil` for none.
    init(queue: DispatchQueue, check: @escaping @Sendable () -> MonotonicInstant?) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .distantFuture)
        source.setEventHandler { [weak self] in
            guard let next = check() else { return }
            self?.schedule(at: next)
        }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Schedules the next call of `check` at an instant, or in an hour if that is earlier: a later deadline is checked again then.
    func schedule(at instant: MonotonicInstant) {
        let remaining = min(max(MonotonicInstant.now.duration(to: instant), .zero), .seconds(3_600))
        let (seconds, attoseconds) = remaining.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        source.schedule(deadline: .now() + .nanoseconds(nanoseconds + 1), leeway: .milliseconds(1))
    }

    /// Ends the timer.
    func cancel() {
        source.cancel()
    }
}
