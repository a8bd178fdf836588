#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore

/// The body of a request on its way into an `HTTPClient`: pulled piece by piece as the connection takes them, and counted.
///
/// The engine pulls from a task of its own that nobody can cancel; so each piece is read in a task which ``abort()`` can. Without that, a
/// stream that stands still would be held for ever after its exchange has ended.
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

    /// Up to this many bytes in memory go to the engine at once.
    private static let inlineLimit = 64 * 1024

    private let state = Locked(State())
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let loops: any EventLoopGroup

    /// Whether the engine pulls the body piece by piece.
    var isStreamed: Bool { state.withLock { $0.isStreamed } }

    /// When pieces last went to the connection; `nil` before the first, and for a body that goes there at once.
    var lastSent: MonotonicInstant? { state.withLock { $0.lastSent } }

    /// What the body's own stream or file has thrown: the engine may report it in other words.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// An upload over one of those loops that tells that closure of its progress.
    init(over loops: any EventLoopGroup, progress: (@Sendable (TransferProgress) -> Void)?) {
        self.loops = loops
        self.progress = progress
    }

    /// A body as the engine takes it: a small one that is in memory as it is, unless someone wants to hear of its progress, all others as a
    /// stream: the engine doesn't say of what it has at once how far it is with it.
    ///
    /// - Throws: ``RequestBodyError`` when a file isn't what it was when the body was made.
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

    /// Looks whether a stream that is said to be empty is: the engine would not ask it for anything.
    ///
    /// - Throws: ``RequestBodyError`` when it isn't, what it throws, and a ``TransportError`` when it stands still.
    static func checkEmptyStream(of body: RequestBody?, host: String, deadlines: ExchangeDeadlines) async throws {
        guard let body, body.length == 0, case .stream(let open) = body.source else { return }
        try await deadlines.whileWaiting(for: host, lastSent: { nil }) {
            for try await piece in open() where !piece.isEmpty { throw wrongLength("at least \(piece.count)", length: 0) }
        }
        try Task.checkCancellation()
    }

    static func wrongLength(_ count: String, length: Int64) -> RequestBodyError {
        RequestBodyError(message: "The stream gave \(count) bytes where the body's length is \(length): give the right length, or none.")
    }

    private static func checkFiles(of body: RequestBody) throws {
        guard case .segments(let segments) = body.source else { return }
        for case .file(let url, let length) in segments {
            guard try RequestBody.length(of: url) == length else {
                throw RequestBodyError(message: "The file \(url.lastPathComponent) has changed its length since the body was made of it.")
            }
        }
    }

    /// The head of the response is there: an empty body has been sent by then.
    func headArrived() {
        if state.withLock({ $0.isEmpty }) { report(0, of: 0) }
    }

    /// The exchange has ended: what is being read is let go.
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
            // A cancelled task sees its stream end early: that isn't the end of the body.
            guard !state.withLock({ $0.isAborted }) else { throw CancellationError() }
            return piece
        } catch {
            throw failed(error)
        }
    }

    /// Keeps the first error of the body, unless it comes from aborting it.
    func failed(_ error: any Error) -> any Error {
        state.withLock { state in
            if !state.isAborted, state.failure == nil { state.failure = error }
        }
        return error
    }

    /// Waits until the connection has taken note of the pieces that were handed to it, and has stopped the engine where it is full.
    ///
    /// The engine hands over what it pulls without waiting for the connection's loop: while that has no turn, on a busy machine, it would
    /// take all of a large body into memory, and its last piece would count as sent while the first one still waits. Nobody tells which
    /// loop is the connection's, so each is given a turn; ``abort()`` ends the wait.
    func waitForLoops() async {
        let barrier = EventLoopBarrier()
        let isAborted = state.withLock { state in
            if !state.isAborted { state.barrier = barrier }
            return state.isAborted
        }
        if !isAborted { await barrier.wait(for: loops) }
    }

    /// The pieces so far have been handed to the connection.
    func sent(_ completed: Int64, of total: Int64?) {
        state.withLock { $0.lastSent = .now }
        report(completed, of: total)
    }

    /// Tells of the progress, in rising order.
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
