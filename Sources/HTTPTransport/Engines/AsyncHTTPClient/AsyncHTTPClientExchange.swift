#if AsyncHTTPClient
import AsyncHTTPClient
import Dispatch
import Foundation
import NIOCore

/// The body of a response while an `HTTPClient` receives it: pulled at the reader's pace, watched by the deadlines, ended exactly once.
///
/// The engine's own iterator can be left only by cancelling the task that waits in it; so each piece is read in a task of its own, and the
/// reader, who awaits that, can be given an error at any moment. While nobody reads, nothing is requested from the server.
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

    /// The exchange whose response has that body.
    ///
    /// - Parameter hasBody: whether bytes may follow. Where none may, whatever the engine still says is the end: it takes the missing body of
    ///   a HEAD for a broken one when the head names a coding.
    init(
        _ body: HTTPClientResponse.Body, hasBody: Bool, host: String, upload: AsyncHTTPClientUpload, deadlines: ExchangeDeadlines
    ) {
        self.hasBody = hasBody
        self.host = host
        self.upload = upload
        self.deadlines = deadlines
        state = Locked(State(source: Source(body)))
    }

    /// Begins to watch the deadlines.
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
        // On a busy machine a piece may be here whose reader hasn't had its turn: the verdict queues up behind it.
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

    /// What passes next. A server is silent only while someone waits for it: a slow reader is no silence.
    private var due: ExchangeDeadlines.Due? {
        let silentSince: MonotonicInstant? = state.withLock { state in
            guard case .open = state.phase else { return nil }
            guard state.reader != nil else { return .now }
            return upload.lastSent.map { max($0, state.readingSince) } ?? state.readingSince
        }
        return silentSince.flatMap { deadlines.dueWhileReceiving(lastArrival: $0) }
    }

    /// The next piece of the body, `nil` at the end.
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

    /// The body was dropped or cancelled by its reader.
    func drop() {
        end(.failed(TransportError(.other, "The body of the response from \(host) was cancelled by its reader.")))
    }

    /// Ends the exchange, unless it has ended. The engine cancels the transfer when its iterator is let go, and by cancelling the task in it.
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
    /// `@unchecked Sendable`: the iterator is used by one task at a time, since there is one reader, who waits for each piece.
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
