#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore

/// The body of a request for an `HTTPClient`: pulled in pieces as the connection accepts them, and counted.
///
/// The engine pulls from an internal task that can't be cancelled. Therefore each piece is read in a task that ``abort()`` can cancel.
/// Otherwise a stream that stalls would be retained forever after its exchange has ended.
final class AsyncHTTPClientUpload: Sendable {
    private struct State {
        var reading: Task<Data?, any Error>?
        var barrier: EventLoopBarrier?
        var isAborted = false
        var failure: (any Error)?
        var reported: Int64 = -1
        var lastSent: MonotonicInstant?
        var isEmpty = false
        var isStreamed = false
    }

    /// The maximum size of a body in memory that is passed to the engine at once.
    private static let inlineLimit = 64 * 1024

    private let state = Locked(State())
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let loops: any EventLoopGroup

    /// Whether the engine pulls the body in pieces.
    var isStreamed: Bool { state.withLock { $0.isStreamed } }

    /// The last time when pieces were passed to the connection; `nil` before the first, and for a body that is passed at once.
    var lastSent: MonotonicInstant? { state.withLock { $0.lastSent } }

    /// The error thrown by the body's stream or file, which the engine may report in another form.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// Creates an upload over event loops that reports its progress.
    init(over loops: any EventLoopGroup, progress: (@Sendable (TransferProgress) -> Void)?) {
        self.loops = loops
        self.progress = progress
    }

    /// Returns a body in the engine's form: a small body in memory as bytes, unless progress is observed, and all others as a stream. The
    /// engine reports no progress for bytes.
    ///
    /// - Throws: ``RequestBodyError`` if a file has changed since the body was created.
    func body(of body: RequestBody?) throws -> HTTPClientRequest.Body? {
        guard let body else { return nil }
        try Self.checkFiles(of: body)
        if body.length == 0 {
            state.withLock { $0.isEmpty = true }
            return .bytes(ByteBuffer())
        }
        if progress == nil, let data = body.data, data.count <= Self.inlineLimit { return .bytes(ByteBuffer(bytes: data)) }
        state.withLock { $0.isStreamed = true }
        let pieces = Pieces(body: body, upload: self)
        return .stream(pieces, length: body.length.map { .known($0) } ?? .unknown)
    }

    /// Checks that a stream declared as empty is empty: the engine would not read it.
    ///
    /// - Throws: ``RequestBodyError`` if it isn't empty, any error that it throws, and ``TransportError`` if it stalls.
    static func checkEmptyStream(of body: RequestBody?, host: String, deadlines: ExchangeDeadlines) async throws {
        guard let body, body.length == 0, case .stream(let open) = body.source else { return }
        try await deadlines.whileWaiting(for: host, lastSent: { nil }) {
            for try await piece in open() where !piece.isEmpty { throw wrongLength("at least \(piece.count)", length: 0) }
        }
        try Task.checkCancellation()
    }

    static func wrongLength(_ count: String, length: Int64) -> RequestBodyError {
        RequestBodyError(
            message: "The stream provided \(count) bytes, but the body's length is \(length): give the correct length, or "
                + "none.")
    }

    private static func checkFiles(of body: RequestBody) throws {
        guard case .segments(let segments) = body.source else { return }
        for case .file(let url, let length) in segments {
            guard try RequestBody.length(of: url) == length else {
                throw RequestBodyError(
                    message: "The file \(url.lastPathComponent) has changed its length since the body was created: create the body again.")
            }
        }
    }

    /// Called when the head of the response has arrived: an empty body has been sent by then.
    func headArrived() {
        if state.withLock({ $0.isEmpty }) { report(0, of: 0) }
    }

    /// Called when the exchange has ended: cancels reading.
    func abort() {
        let (reading, barrier) = state.withLock { state in
            state.isAborted = true
            defer { (state.reading, state.barrier) = (nil, nil) }
            return (state.reading, state.barrier)
        }
        reading?.cancel()
        barrier?.end()
    }

    /// Reads a piece in a task that ``abort()`` cancels.
    func read(_ next: @escaping @Sendable () async throws -> Data?) async throws -> Data? {
        let task: Task<Data?, any Error>? = state.withLock { state in
            guard !state.isAborted else { return nil }
            let task = Task { try await next() }
            state.reading = task
            return task
        }
        do {
            let piece = try await task?.value
            // In a cancelled task, a stream ends early: that isn't the end of the body.
            guard !state.withLock({ $0.isAborted }) else { throw CancellationError() }
            return piece
        } catch {
            throw failed(error)
        }
    }

    /// Stores the first error of the body, unless aborting caused it.
    func failed(_ error: any Error) -> any Error {
        state.withLock { state in
            if !state.isAborted, state.failure == nil { state.failure = error }
        }
        return error
    }

    /// Waits until the connection has received the pieces passed to it, and has paused the engine if it is full.
    ///
    /// The engine passes pieces on without waiting for the connection's event loop. If that doesn't get to run, on a busy machine, the
    /// engine would read all of a large body into memory, and the last piece would count as sent while the first one still waits. The
    /// connection's loop is unknown, so each loop is awaited; ``abort()`` ends the wait.
    func waitForLoops() async {
        let barrier = EventLoopBarrier()
        let isAborted = state.withLock { state in
            if !state.isAborted { state.barrier = barrier }
            return state.isAborted
        }
        if !isAborted { await barrier.wait(for: loops) }
    }

    /// Called when pieces have been passed to the connection.
    func sent(_ completed: Int64, of total: Int64?) {
        state.withLock { $0.lastSent = .now }
        report(completed, of: total)
    }

    /// Reports the progress, in ascending order.
    private func report(_ completed: Int64, of total: Int64?) {
        guard let progress else { return }
        let isNews = state.withLock { state in
            guard completed > state.reported, !state.isAborted else { return false }
            state.reported = completed
            return true
        }
        if isNews { progress(TransferProgress(completed: completed, total: total)) }
    }
}
#endif
