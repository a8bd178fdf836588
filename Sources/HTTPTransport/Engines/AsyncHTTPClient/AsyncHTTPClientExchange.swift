#if AsyncHTTPClient
import AsyncHTTPClient
import Dispatch
import Foundation
import NIOCore

/// A response body received by an `HTTPClient`: pulled at the reader's pace, subject to the deadlines, and ended exactly once.
///
/// A wait in the engine's iterator can be left only by cancelling its task. Therefore each piece is read in a separate task; the reader
/// awaits that, and can receive an error at any moment. Without a reader, nothing is requested from the server.
final class AsyncHTTPClientExchange: Sendable {
    private enum Phase {
        case open
        case received
        case failed(any Error)
    }

    private struct State {
        var phase = Phase.open
        var source: Source?
        var reader: CheckedContinuation<Data?, any Error>?
        var readingSince = MonotonicInstant.now
        var reading: Task<Void, Never>?
        var timer: DeadlineTimer?
    }

    private let hasBody: Bool
    private let host: String
    private let upload: AsyncHTTPClientUpload
    private let deadlines: ExchangeDeadlines
    private let state: Locked<State>

    /// Creates the exchange of a response.
    ///
    /// - Parameter hasBody: Whether a body may follow. If not, any result of the engine is the end: the engine reports the missing body of
    ///   a HEAD as broken if the head names a coding.
    init(
        _ body: HTTPClientResponse.Body, hasBody: Bool, host: String, upload: AsyncHTTPClientUpload, deadlines: ExchangeDeadlines
    ) {
        self.hasBody = hasBody
        self.host = host
        self.upload = upload
        self.deadlines = deadlines
        state = Locked(State(source: Source(body)))
    }

    /// Starts to watch the deadlines.
    func watch(on queue: DispatchQueue) {
        guard let due = deadlines.dueWhileReceiving(lastArrival: .now) else { return }
        let timer = DeadlineTimer(queue: queue) { [weak self] in self?.checkDeadlines() }
        state.withLock { $0.timer = timer }
        timer.schedule(at: due.instant)
    }

    private func checkDeadlines() -> MonotonicInstant? {
        guard let due else { return nil }
        guard due.instant <= .now else { return due.instant }
        guard due.code == .timedOutIdle else {
            end(.failed(deadlines.error(due.code, host: host)))
            return nil
        }
        // On a busy machine, a piece may have arrived whose reader hasn't run yet: the check is queued after it.
        Task { judge() }
        return nil
    }

    private func judge() {
        guard let due else { return }
        if due.instant <= .now {
            end(.failed(deadlines.error(due.code, host: host)))
        } else {
            state.withLock { $0.timer }?.schedule(at: due.instant)
        }
    }

    /// The next deadline. The server is silent only while a reader waits: a slow reader doesn't count.
    private var due: ExchangeDeadlines.Due? {
        let silentSince: MonotonicInstant? = state.withLock { state in
            guard case .open = state.phase else { return nil }
            guard state.reader != nil else { return .now }
            return upload.lastSent.map { max($0, state.readingSince) } ?? state.readingSince
        }
        return silentSince.flatMap { deadlines.dueWhileReceiving(lastArrival: $0) }
    }

    /// Returns the next piece of the body, `nil` at the end.
    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            if Task.isCancelled { end(.failed(CancellationError())) }
            return try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Data?, any Error>? = state.withLock { state in
                    switch state.phase {
                    case .received: return .success(nil)
                    case .failed(let error): return .failure(error)
                    case .open: break
                    }
                    guard state.reader == nil, let source = state.source else {
                        return .failure(TransportError(.other, "A response body has one reader: two read it at once."))
                    }
                    state.reader = continuation
                    state.readingSince = .now
                    state.reading = Task { await self.read(source) }
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            end(.failed(CancellationError()))
        }
    }

    private func read(_ source: Source) async {
        state.withLock { $0.readingSince = .now }
        do {
            guard let buffer = try await source.next() else { return end(.received) }
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: Data(buffer.readableBytesView))
        } catch {
            guard hasBody else { return end(.received) }
            end(.failed(upload.failure ?? TransportError.reading(error, host: host, headArrived: true)))
        }
    }

    /// Called when the reader drops or cancels the body.
    func drop() {
        end(.failed(TransportError(.other, "The body of the response from \(host) was cancelled by its reader.")))
    }

    /// Ends the exchange unless it has ended. The engine cancels the transfer when its iterator is released, or when the task that uses it
    /// is cancelled.
    private func end(_ phase: Phase) {
        let old: State? = state.withLock { state in
            guard case .open = state.phase else { return nil }
            let old = state
            state = State(phase: phase)
            return old
        }
        guard let old else { return }
        old.timer?.cancel()
        upload.abort()
        switch phase {
        case .failed(let error):
            old.reading?.cancel()
            old.reader?.resume(throwing: error)
        case .received, .open:
            old.reader?.resume(returning: nil)
        }
    }
}

extension AsyncHTTPClientExchange {
    /// Reads the engine's body.
    ///
    /// `@unchecked Sendable`: one task at a time uses the iterator, because the single reader waits for each piece.
    private final class Source: @unchecked Sendable {
        private var iterator: HTTPClientResponse.Body.AsyncIterator

        init(_ body: HTTPClientResponse.Body) {
            iterator = body.makeAsyncIterator()
        }

        func next() async throws -> ByteBuffer? {
            try await iterator.next()
        }
    }
}
#endif
