import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The state of a ``URLSessionExchange``: a value that is changed under its lock, and returns the work to do after unlocking.
struct ExchangeState {
    /// The end of an exchange.
    enum End {
        /// Everything was received.
        case received
        /// The exchange failed or was abandoned.
        case failed(any Error)
    }

    /// Work to do after unlocking.
    struct Effects {
        fileprivate var head: (CheckedContinuation<URLSessionExchange.Head, any Error>, Result<URLSessionExchange.Head, any Error>)?
        fileprivate var reader: (CheckedContinuation<Data?, any Error>, Result<Data?, any Error>)?
        fileprivate var task: (RunningTask, cancelling: Bool)?
        fileprivate var timer: DeadlineTimer?

        /// Does the work.
        func perform() {
            timer?.cancel()
            if let task { task.0.release(cancelling: task.cancelling) }
            if let head { head.0.resume(with: head.1) }
            if let reader { reader.0.resume(with: reader.1) }
        }
    }

    /// The maximum size of joined pieces if several wait: each handover costs more than the copy.
    private static let joined = 256 * 1024

    /// The request's body; `none` once it is no longer needed.
    private(set) var upload: URLSessionUpload
    /// The number of bytes of the request's body.
    let uploadLength: Int64
    /// Whether the request has a body.
    let hasUpload: Bool
    /// The number of bytes of the body that were reported as sent; −1 before the first report.
    var sent: Int64 = -1
    /// The last time when bytes of the body were sent, or written to the spool file.
    var lastSent: MonotonicInstant?
    /// The task while it runs.
    var running: RunningTask?
    /// The timer for the deadlines.
    var timer: DeadlineTimer?
    /// The continuation that awaits the head.
    var headReader: CheckedContinuation<URLSessionExchange.Head, any Error>?
    /// The head, once it has arrived.
    private(set) var head: URLSessionExchange.Head?
    /// The end; `nil` while the exchange goes on.
    private(set) var end: End?
    /// The last time when bytes arrived.
    private(set) var lastArrival = MonotonicInstant.now

    private var framing = ResponseFraming.unknown
    private var received: Int64 = 0
    private var pieces: [Data] = []
    private var first = 0
    private var waiting = 0
    private var reader: CheckedContinuation<Data?, any Error>?

    /// Creates the state of an exchange that has not begun.
    init(upload: URLSessionUpload) {
        self.upload = upload
        uploadLength = upload.length
        if case .spool = upload { lastSent = .now }
        if case .none = upload { hasUpload = false } else { hasUpload = true }
    }

    /// Whether bytes of a body may still arrive.
    var mayStillReceive: Bool { end == nil && framing.hasBody }

    /// Delivers the head; `nil` if there already is one, or if the exchange has ended.
    mutating func deliver(_ head: URLSessionExchange.Head, framing: ResponseFraming) -> Effects? {
        guard end == nil, self.head == nil else { return nil }
        self.head = head
        self.framing = framing
        lastArrival = .now
        var effects = Effects()
        effects.head = headReader.map { ($0, .success(head)) }
        headReader = nil
        return effects
    }

    /// Receives a piece of the body, and delivers it if a reader waits.
    mutating func receive(_ data: Data, limit: Int, tooSlow: @autoclosure () -> TransportError) -> Effects {
        guard end == nil else { return Effects() }
        lastArrival = .now
        received += Int64(data.count)
        if let reader {
            self.reader = nil
            var effects = Effects()
            effects.reader = (reader, .success(data))
            return effects
        }
        guard data.count <= limit - waiting else { return abandon(tooSlow()) }
        pieces.append(data)
        waiting += data.count
        return Effects()
    }

    /// Ends the exchange from the engine's side. Waiting pieces are still read, before an error.
    mutating func finish(_ error: TransportError?, host: String) -> Effects {
        guard end == nil else { return Effects() }
        return close(error ?? framing.fault(received: received, host: host), cancelling: false)
    }

    /// Ends the exchange from the caller's side, even if it was received and is still being read.
    mutating func abandon(_ error: any Error, keepingPieces: Bool = false) -> Effects {
        if case .failed = end { return Effects() }
        let isRunning = end == nil
        if !keepingPieces {
            pieces = []
            (first, waiting) = (0, 0)
        }
        return close(error, cancelling: isRunning)
    }

    private mutating func close(_ error: (any Error)?, cancelling: Bool) -> Effects {
        var effects = Effects()
        effects.timer = timer
        effects.task = running.map { ($0, cancelling) }
        if let error {
            end = .failed(error)
            effects.head = headReader.map { ($0, .failure(error)) }
            effects.reader = reader.map { ($0, .failure(error)) }
        } else {
            end = .received
            effects.reader = reader.map { ($0, .success(nil)) }
        }
        (timer, running, headReader, reader, upload) = (nil, nil, nil, nil, .none)
        return effects
    }

    /// Removes waiting pieces, up to a size; `nil` if there are none.
    mutating func takePiece() -> Data? {
        guard first < pieces.count else { return nil }
        var piece = pieces[first]
        first += 1
        while first < pieces.count, pieces[first].count <= Self.joined - piece.count {
            piece.append(pieces[first])
            first += 1
        }
        waiting -= piece.count
        if first == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            first = 0
        }
        return piece
    }

    /// Returns a piece, or stores the continuation.
    mutating func read(_ continuation: CheckedContinuation<Data?, any Error>) -> Effects? {
        var effects = Effects()
        if let piece = takePiece() {
            effects.reader = (continuation, .success(piece))
            return effects
        }
        switch end {
        case .received:
            effects.reader = (continuation, .success(nil))
        case .failed(let error):
            effects.reader = (continuation, .failure(error))
        case nil:
            guard reader == nil else {
                effects.reader = (continuation, .failure(TransportError(.other, "A response body can have only one reader at a time.")))
                return effects
            }
            reader = continuation
            return nil
        }
        return effects
    }
}
