import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The state of a ``URLSessionExchange``: a value that is changed under its lock, and says what to do after unlocking.
struct ExchangeState {
    /// How an exchange ended.
    enum End {
        /// Everything was received.
        case received
        /// It failed or was abandoned.
        case failed(any Error)
    }

    /// What has to happen once the lock is free.
    struct Effects {
        fileprivate var head: (CheckedContinuation<URLSessionExchange.Head, any Error>, Result<URLSessionExchange.Head, any Error>)?
        fileprivate var reader: (CheckedContinuation<Data?, any Error>, Result<Data?, any Error>)?
        fileprivate var task: (RunningTask, cancelling: Bool)?
        fileprivate var timer: DeadlineTimer?

        /// Does it.
        func perform() {
            timer?.cancel()
            if let task { task.0.release(cancelling: task.cancelling) }
            if let head { head.0.resume(with: head.1) }
            if let reader { reader.0.resume(with: reader.1) }
        }
    }

    /// Pieces are joined up to this many bytes when several wait: each handover costs more than the copy.
    private static let joined = 256 * 1024

    /// The request's body; `none` once it isn't needed any more.
    private(set) var upload: UploadSource
    /// The number of bytes of the request's body.
    let uploadLength: Int64
    /// Whether the request has a body.
    let hasUpload: Bool
    /// The bytes of the body that were reported as sent; −1 before the first report.
    var sent: Int64 = -1
    /// When some of them last went out, or all of them into a file of ours.
    var lastSent: MonotonicInstant?
    /// The task while it runs.
    var running: RunningTask?
    /// Watches the deadlines.
    var timer: DeadlineTimer?
    /// Awaits the head.
    var headReader: CheckedContinuation<URLSessionExchange.Head, any Error>?
    /// The head, once it is there.
    private(set) var head: URLSessionExchange.Head?
    /// How it ended; `nil` while it goes on.
    private(set) var end: End?
    /// When something last arrived.
    private(set) var lastArrival = MonotonicInstant.now

    private var framing = ResponseFraming.unknown
    private var received: Int64 = 0
    private var pieces: [Data] = []
    private var first = 0
    private var waiting = 0
    private var reader: CheckedContinuation<Data?, any Error>?

    /// An exchange that has not begun.
    init(upload: UploadSource) {
        self.upload = upload
        uploadLength = upload.length
        if case .spool = upload { lastSent = .now }
        if case .none = upload { hasUpload = false } else { hasUpload = true }
    }

    /// Whether bytes of a body may still come.
    var mayStillReceive: Bool { end == nil && framing.hasBody }

    /// Delivers the head; `nil` when there is one already or the exchange has ended.
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

    /// Takes a piece of the body, and hands it on where someone waits for it.
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

    /// Ends the exchange from the engine's side. Pieces that wait are still read, before an error.
    mutating func finish(_ error: TransportError?, host: String) -> Effects {
        guard end == nil else { return Effects() }
        return close(error ?? framing.fault(received: received, host: host), cancelling: false)
    }

    /// Ends the exchange from the caller's side, also one that has been received and is still being read.
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

    /// What waits, up to some size; `nil` when nothing does.
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

    /// Answers a reader, or lets it wait.
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
                effects.reader = (continuation, .failure(TransportError(.other, "A response body has one reader: two read it at once.")))
                return effects
            }
            reader = continuation
            return nil
        }
        return effects
    }
}
