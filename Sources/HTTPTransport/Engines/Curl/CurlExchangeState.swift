import Foundation

/// The state of a ``CurlExchange``: a value that is changed under its lock, and returns the work to do after unlocking.
struct CurlExchangeState {
    // Unchecked: this state removes each continuation before it is resumed, and every exchange ends. The check would cost memory, and as
    // much time as everything else here.
    typealias HeadReader = UnsafeContinuation<CurlHead, any Error>
    typealias BodyReader = UnsafeContinuation<Data?, any Error>

    /// The end of an exchange.
    enum End {
        case received
        case failed(any Error)
    }

    /// Work to do after unlocking.
    struct Effects {
        var head: (HeadReader, Result<CurlHead, any Error>)?
        var reader: (BodyReader, Result<Data?, any Error>)?
        var dropped = BlockQueue()
        var feeder: Task<Void, Never>?

        /// Does the work.
        func perform(_ blocks: BodyBlocks) {
            blocks.give(dropped)
            feeder?.cancel()
            if let head { head.0.resume(with: head.1) }
            if let reader { reader.0.resume(with: reader.1) }
        }
    }

    /// The continuation that awaits the head.
    var headReader: HeadReader?
    /// The task that reads the request's body.
    var feeder: Task<Void, Never>?
    /// The metrics known so far.
    var metrics = CurlMetrics()
    /// The trailer lines.
    var trailers: [UInt8] = []
    /// The head, once it has arrived.
    private(set) var head: CurlHead?
    /// The end; `nil` while the exchange goes on.
    private(set) var end: End?
    /// The error that prevents further reading, even of bytes that have arrived.
    private(set) var abandonment: (any Error)?
    /// Whether everything has been received and read, so that nothing is left to abandon.
    var isConsumed: Bool {
        guard case .received = end else { return false }
        return blocks.isEmpty
    }

    /// The number of bytes that wait for their reader.
    private(set) var waiting = 0
    /// Whether the loop has paused the transfer until bytes are read.
    var isPaused = false

    /// The number of bytes still to come according to the head; 0 if unknown.
    private var expected = 0
    private var blocks = BlockQueue()
    private var bodyReader: (reader: BodyReader, least: Int)?
    /// Whether the reader collects the body: unread bytes then belong to its error.
    private(set) var isCollected = false

    /// Delivers the head.
    ///
    /// - Parameter length: The length of the body according to the head.
    mutating func deliver(_ head: CurlHead, length: Int) {
        guard self.head == nil else { return }
        self.head = head
        expected = length
    }

    /// Adds bytes of the body.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, _ pool: BodyBlocks) {
        var bytes = bytes
        waiting += bytes.count
        while true {
            let count = blocks.fill(bytes)
            expected = max(0, expected - count)
            guard count < bytes.count else { return }
            bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
            blocks.append(pool.take(for: expected))
        }
    }

    /// Ends the exchange from the engine's side. Waiting bytes are still read, before an error.
    mutating func finish(_ error: (any Error)?) {
        if end == nil { end = error.map(End.failed) ?? .received }
        isPaused = false
    }

    /// Ends the exchange from the caller's side, even if it was received and is still being read.
    ///
    /// - Returns: The work to do, and whether the engine still has the exchange.
    mutating func abandon(_ error: any Error, keepingBytes: Bool = false, _ pool: BodyBlocks) -> (Effects, isRunning: Bool) {
        if case .failed = end { return (Effects(), false) }
        let isRunning = end == nil
        end = .failed(error)
        isPaused = false
        var effects = Effects()
        if !keepingBytes {
            abandonment = error
            effects.dropped = blocks.popAll()
            waiting = 0
        }
        wake(&effects, pool)
        return (effects, isRunning)
    }

    /// Returns what can be delivered to the readers now.
    mutating func flush(_ pool: BodyBlocks) -> Effects {
        var effects = Effects()
        wake(&effects, pool)
        return effects
    }

    private mutating func wake(_ effects: inout Effects, _ pool: BodyBlocks) {
        if let reader = headReader {
            if let head {
                effects.head = (reader, .success(head))
                headReader = nil
            } else if case .failed(let error) = end {
                effects.head = (reader, .failure(error))
                headReader = nil
            }
        }
        if end != nil {
            effects.feeder = feeder
            feeder = nil
        }
        guard let (reader, least) = bodyReader else { return }
        switch reading(ofAtLeast: least) {
        case .block(let block): effects.reader = (reader, .success(pool.data(of: block)))
        case .end(let result): effects.reader = (reader, result)
        case .waits: return
        }
        bodyReader = nil
    }

    /// Removes the first waiting block; `nil` if there is none, or if it is smaller than the reader prefers and more may follow.
    mutating func takeBlock(ofAtLeast least: Int = 1) -> BodyBlocks.Block? {
        guard waiting >= least || end != nil || isPaused, let block = blocks.popFirst() else { return nil }
        waiting -= block.count
        return block
    }

    /// Returns the minimum number of bytes for waking a reader: the whole rest if it is known and fits.
    private func least(of wanted: Int) -> Int {
        let rest = waiting.addingReportingOverflow(expected)
        let fits = expected > 0 && !rest.overflow && rest.partialValue <= CurlExchange.fullAt
        return min(wanted, fits ? rest.partialValue : CurlExchange.piece)
    }

    private mutating func reading(ofAtLeast least: Int) -> Reading {
        if let block = takeBlock(ofAtLeast: least) { return .block(block) }
        switch end {
        case .received: return .end(.success(nil))
        case .failed(let error): return .end(.failure(error))
        case nil: return .waits
        }
    }

    /// Returns whether the loop must resume the transfer.
    mutating func resumes(below limit: Int) -> Bool {
        guard isPaused, waiting <= limit else { return false }
        isPaused = false
        return true
    }

    /// The result of a read.
    enum Reading {
        /// Bytes that were waiting.
        case block(BodyBlocks.Block)
        /// The end, or an error.
        case end(Result<Data?, any Error>)
        /// Nothing yet: the reader will be resumed.
        case waits
    }

    /// Returns bytes, or stores the continuation, both under one lock: otherwise bytes that arrive in between would wake no reader.
    ///
    /// - Parameter wanted: The number of bytes for which the reader prefers to wait rather than being woken for fewer.
    mutating func read(_ reader: BodyReader, _ wanted: Int) -> Reading {
        let reading = readAtOnce(wanted)
        if case .waits = reading { bodyReader = (reader, least(of: wanted)) }
        return reading
    }

    /// Returns what is available; most bodies are complete by the time they are read.
    mutating func readAtOnce(_ wanted: Int) -> Reading {
        guard bodyReader == nil else {
            return .end(.failure(TransportError(.other, "A response body has one reader: two read it at once.")))
        }
        if wanted > 1 { isCollected = true }
        // A running reader can take a full block at once.
        return reading(ofAtLeast: blocks.isFirstFull ? 1 : least(of: wanted))
    }

    /// Removes blocks that will not be read.
    mutating func takeRest() -> BlockQueue {
        waiting = 0
        return blocks.popAll()
    }
}
