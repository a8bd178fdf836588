public import Foundation

/// The body of a response: an asynchronous sequence of pieces that is read once, at the reader's pace.
///
/// Releasing the body before its end cancels the transfer.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    fileprivate enum Storage: Sendable {
        case data(Data)
        case source(Source)
    }

    /// The data that a transfer has available for its reader.
    package enum Arrival: Sendable {
        /// A piece, or `nil` at the end.
        case piece(Data?)
        /// No data yet.
        case nothing
    }

    /// Owns the transfer, which is cancelled when the last reference is released.
    fileprivate final class Source: Sendable {
        /// Returns the next piece. The number is the minimum number of bytes that are worth waking the reader for.
        let next: @Sendable (Int) async throws -> Data?
        /// Returns the next piece if it is available without waiting.
        let arrived: @Sendable (Int) throws -> Arrival
        let cancel: @Sendable () -> Void

        init(
            next: @escaping @Sendable (Int) async throws -> Data?, arrived: @escaping @Sendable (Int) throws -> Arrival,
            cancel: @escaping @Sendable () -> Void
        ) {
            self.next = next
            self.arrived = arrived
            self.cancel = cancel
        }

        deinit { cancel() }
    }

    private let storage: Storage
    /// The number of bytes, if it is known in advance. It is unknown for a compressed body.
    public let expectedLength: Int64?

    /// Creates a body from bytes in memory.
    public init(_ data: Data = Data()) {
        storage = .data(data)
        expectedLength = Int64(data.count)
    }

    /// Creates a body that is pulled from a transfer.
    ///
    /// - Parameters:
    ///   - expectedLength: The number of bytes, if known.
    ///   - next: Returns the next piece, `nil` at the end. Calls don't overlap.
    ///   - cancel: Ends the transfer. It is called at least once, also after the end, so it must be idempotent.
    public init(
        expectedLength: Int64?, next: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void
    ) {
        self.init(expectedLength: expectedLength, next: { _ in try await next() }, cancel: cancel)
    }

    /// Creates a body from a transfer whose reader can sleep until more than a few bytes have arrived.
    ///
    /// - Parameters:
    ///   - next: Returns the next piece. Its argument is a hint: the number of bytes that are worth waiting for.
    ///   - arrived: Returns the next piece if it has already arrived. It is called first, without a change of executors, because most
    ///     bodies have arrived completely by the time they are read.
    package init(
        expectedLength: Int64?, next: @escaping @Sendable (Int) async throws -> Data?,
        arrived: @escaping @Sendable (Int) throws -> Arrival = { _ in .nothing }, cancel: @escaping @Sendable () -> Void
    ) {
        storage = .source(Source(next: next, arrived: arrived, cancel: cancel))
        self.expectedLength = expectedLength
    }

    /// The bytes, if they are already in memory.
    public var data: Data? {
        if case .data(let data) = storage { data } else { nil }
    }

    /// Ends the transfer without reading the remaining bytes.
    public func cancel() {
        if case .source(let source) = storage { source.cancel() }
    }

    /// Reads the whole body into memory.
    ///
    /// - Parameter limit: The maximum number of bytes to read.
    /// - Throws: ``ResponseBodyTooLarge`` above the limit, and the error of a transfer that fails.
    public func collect(upTo limit: Int) async throws -> Data {
        var whole = Data()
        try await collect(upTo: limit, into: &whole)
        return whole
    }

    /// Reads the whole body into memory. After an error, `whole` contains the bytes received before it, at most `limit`.
    @inline(__always)
    package func collect(upTo limit: Int, into whole: inout Data) async throws {
        let limit = Swift.max(0, limit)
        switch storage {
        case .data(let data):
            whole = data.prefix(limit)
            guard data.count <= limit else { throw ResponseBodyTooLarge(limit: limit) }
        case .source(let source):
            while true {
                let wanted = Swift.max(1, limit - whole.count)
                let chunk: Data? =
                    switch try source.arrived(wanted) {
                    case .piece(let piece): piece
                    case .nothing: try await source.next(wanted)
                    }
                guard let chunk else { return }
                guard chunk.count <= limit - whole.count else {
                    whole.append(chunk.prefix(limit - whole.count))
                    source.cancel()
                    throw ResponseBodyTooLarge(limit: limit)
                }
                // The first piece is kept without copying it.
                if whole.isEmpty { whole = chunk } else { whole.append(chunk) }
            }
        }
    }

    /// Returns the same body with each piece transformed during reading.
    ///
    /// - Parameter expectedLength: The length of the transformed body, if known.
    public func map(expectedLength: Int64? = nil, _ transform: @escaping @Sendable (Data) throws -> Data) -> ResponseBody {
        let reader = Locked(makeAsyncIterator())
        return ResponseBody(
            expectedLength: expectedLength,
            next: {
                var iterator = reader.withLock { $0 }
                let chunk = try await iterator.next()
                let after = iterator
                reader.withLock { $0 = after }
                return try chunk.map(transform)
            },
            cancel: { self.cancel() })
    }

    /// Returns the same body with its errors mapped to other errors.
    package func failing(as error: @escaping @Sendable (any Error) -> any Error) -> ResponseBody {
        guard case .source(let source) = storage else { return self }
        return ResponseBody(
            expectedLength: expectedLength,
            next: { wanted in
                do { return try await source.next(wanted) } catch let cause { throw error(cause) }
            },
            arrived: { wanted in
                do { return try source.arrived(wanted) } catch let cause { throw error(cause) }
            },
            cancel: { source.cancel() })
    }

    /// Returns the same body, which calls a function when it has ended, has failed, is cancelled, or is released.
    ///
    /// - Parameter action: It may be called several times. It isn't called for a body in memory, which has no transfer.
    package func whenEnded(_ action: @escaping @Sendable () -> Void) -> ResponseBody { observed(check: {}, ended: action) }

    /// Returns the same body, observed while it is read.
    ///
    /// - Parameters:
    ///   - check: Called before each piece; an error that it throws ends the body.
    ///   - ended: Called when the body has ended, failed, or was cancelled or released; several times, and at least once.
    package func observed(check: @escaping @Sendable () throws -> Void, ended: @escaping @Sendable () -> Void) -> ResponseBody {
        guard case .source(let source) = storage else { return self }
        @Sendable func passed(_ piece: Data?) throws -> Data? {
            try check()
            if piece == nil { ended() }
            return piece
        }
        return ResponseBody(
            expectedLength: expectedLength,
            next: { wanted in
                do {
                    try check()
                    return try passed(try await source.next(wanted))
                } catch {
                    // The check's error takes precedence over the error of a cancelled transfer.
                    defer { ended() }
                    try check()
                    throw error
                }
            },
            arrived: { wanted in
                do {
                    try check()
                    guard case .piece(let piece) = try source.arrived(wanted) else { return .nothing }
                    return .piece(try passed(piece))
                } catch {
                    defer { ended() }
                    try check()
                    throw error
                }
            },
            cancel: {
                ended()
                source.cancel()
            })
    }

    /// A function that cancels the body if another reference retains it; `nil` for a body in memory.
    package var canceller: (@Sendable () -> Void)? {
        guard case .source(let source) = storage else { return nil }
        return { [weak source] in source?.cancel() }
    }

    /// Returns the same body with an observer, which receives each piece while it is read, and `nil` at the end. If the body is released,
    /// is cancelled or fails before its end, `stopped` is called. It may be called more than once, also after the end.
    package func observed(
        by observe: @escaping @Sendable (Data?) -> Void, stopped: @escaping @Sendable () -> Void
    ) -> ResponseBody {
        guard case .source(let source) = storage else {
            if let data, !data.isEmpty { observe(data) }
            observe(nil)
            return self
        }
        return ResponseBody(
            expectedLength: expectedLength,
            next: { wanted in
                do {
                    let piece = try await source.next(wanted)
                    observe(piece)
                    return piece
                } catch {
                    stopped()
                    throw error
                }
            },
            arrived: { wanted in
                do {
                    let arrival = try source.arrived(wanted)
                    if case .piece(let piece) = arrival { observe(piece) }
                    return arrival
                } catch {
                    stopped()
                    throw error
                }
            },
            cancel: {
                stopped()
                source.cancel()
            })
    }

    /// Returns an iterator over the pieces. A second iterator continues where the first one stopped.
    public func makeAsyncIterator() -> Iterator {
        Iterator(storage: storage)
    }

    /// An iterator over the pieces of a body.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var storage: Storage?

        fileprivate init(storage: Storage) {
            self.storage = storage
        }

        /// The next piece, `nil` at the end.
        public mutating func next() async throws -> Data? {
            switch storage {
            case .data(let data):
                storage = nil
                return data.isEmpty ? nil : data
            case .source(let source):
                if case .piece(let piece) = try source.arrived(1) { return piece }
                return try await source.next(1)
            case nil:
                return nil
            }
        }
    }
}

/// An error for a response body that is larger than its reader's limit.
public struct ResponseBodyTooLarge: DescribedError, Sendable {
    /// The limit in bytes.
    public let limit: Int

    /// Creates an error for a limit.
    public init(limit: Int) {
        self.limit = limit
    }

    /// What happened and how to fix it.
    public var description: String {
        "The response body is larger than the limit of \(limit) bytes: raise the client's bodyLimit, or read the body as a stream."
    }
}
