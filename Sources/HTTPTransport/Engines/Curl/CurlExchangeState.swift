import Foundation

/// The state of a ``CurlExchange``: a value that is changed under its lock, and says what to do after unlocking.
struct CurlExchangeState {
    // Unchecked: this state takes each out before it is resumed, and an exchange always ends; the check would cost memory and as much time
    // as all else here.
    typealias HeadReader = UnsafeContinuation<CurlHead, any Error>
    typealias BodyReader = UnsafeContinuation<Data?, any Error>

    /// How an exchange ended.
    enum End {
        case received
        case failed(any Error)
    }

    /// What has to happen once the lock is free.
    struct Effects {
        var head: (HeadReader, Result<CurlHead, any Error>)?
        var reader: (BodyReader, Result<Data?, any Error>)?
        var dropped = BlockQueue()
        var feeder: Task<Void, Never>?

        /// Does it.
        func perform(_ blocks: BodyBlocks) {
            blocks.give(dropped)
            feeder?.cancel()
            if let head { head.0.resume(with: head.1) }
            if let reader { reader.0.resume(with: reader.1) }
        }
    }

    /// Awaits the head.
    var headReader: HeadReader?
    /// Feeds the request's body.
    var feeder: Task<Void, Never>?
    /// Times and bytes, as far as they are known.
    var metrics = CurlMetrics()
    /// The trailer lines.
    var trailers: [UInt8] = []
    /// The head, once it is there.
    private(set) var head: CurlHead?
    /// How it ended; `nil` while it goes on.
    private(set) var end: End?
    /// Why nothing more is to be read, not even what has come.
    private(set) var abandonment: (any Error)?
    /// Whether all has been received and read, so that there is nothing left to give up.
    var isConsumed: Bool {
        guard case .received = end else { return false }
        return blocks.isEmpty
    }

    /// The bytes that wait for their reader.
    private(set) var waiting = 0
    /// Whether the loop stopped taking bytes until some have been read.
    var isPaused = false

    /// The bytes that are still to come, where the head told; else 0.
    private var expected = 0
    private var blocks = BlockQueue()
    private var bodyReader: (reader: BodyReader, least: Int)?
    /// Whether its reader collects: what has come belongs to its error then, as far as it hasn't been read.
    private(set) var isCollected = false

    /// The head is complete.
    ///
    /// - Parameter length: the length of the body that it tells.
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

    /// The engine is done. Bytes that wait are still read, before an error.
    mutating func finish(_ error: (any Error)?) {
        if end == nil { end = error.map(End.failed) ?? .received }
        isPaused = false
    }

    /// Ends the exchange from the caller's side, also one that was received and is still being read.
    ///
    /// - Returns: what to do, and whether the engine still has the exchange.
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

    /// What the readers get by now.
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

    /// What waits first; `nil` when nothing does, or less than the reader would have, and more may come.
    mutating func takeBlock(ofAtLeast least: Int = 1) -> BodyBlocks.Block? {
        guard waiting >= least || end != nil || isPaused, let block = blocks.popFirst() else { return nil }
        waiting -= block.count
        return block
    }

    /// How many bytes are worth waking a reader for who wants so many: all of the rest where it is known and there is room for it.
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

    /// Whether the loop is to be told that there is room again.
    mutating func resumes(below limit: Int) -> Bool {
        guard isPaused, waiting <= limit else { return false }
        isPaused = false
        return true
    }

    /// What a reader finds.
    enum Reading {
        /// Bytes that waited.
        case block(BodyBlocks.Block)
        /// The end, or an error.
        case end(Result<Data?, any Error>)
        /// Nothing yet: the reader is told.
        case waits
    }

    /// Answers a reader, or lets it wait. Both under one lock: what came between a look and the wait would wake nobody.
    ///
    /// - Parameter wanted: how many bytes the reader would rather wait for than be woken for fewer.
    mutating func read(_ reader: BodyReader, _ wanted: Int) -> Reading {
        let reading = readAtOnce(wanted)
        if case .waits = reading { bodyReader = (reader, least(of: wanted)) }
        return reading
    }

    /// What is there for a reader; most bodies are there as a whole by the time they are read.
    mutating func readAtOnce(_ wanted: Int) -> Reading {
        guard bodyReader == nil else {
            return .end(.failure(TransportError(.other, "A response body has one reader: two read it at once.")))
        }
        if wanted > 1 { isCollected = true }
        // Who is awake may as well take what is full.
        return reading(ofAtLeast: blocks.isFirstFull ? 1 : least(of: wanted))
    }

    /// Gives back what nobody will read any more.
    mutating func takeRest() -> BlockQueue {
        waiting = 0
        return blocks.popAll()
    }
}
