public import Foundation

/// The body of a response: an asynchronous sequence of pieces, read once, at the reader's pace.
///
/// Dropping the body without reading it to its end cancels the transfer behind it.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A piece of the body.
    public typealias Element = Data

    fileprivate enum Storage: Sendable {
        case data(Data)
        case source(Source)
    }

    /// What a transfer has for its reader by now.
    package enum Arrival: Sendable {
        /// A piece, or `nil` at the end.
        case piece(Data?)
        /// Nothing yet.
        case nothing
    }

    /// Owns the transfer: the last reference cancels it.
    fileprivate final class Source: Sendable {
        /// Gives a piece: the number is how many bytes the reader would rather wait for than be woken for fewer.
        let next: @Sendable (Int) async throws -> Data?
        /// Gives a piece only where it needn't be waited for.
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
    /// The number of bytes, when it is known before they are read. With a compressed body it isn't.
    public let expectedLength: Int64?

    /// A body that is in memory.
    public init(_ data: Data = Data()) {
        storage = .data(data)
        expectedLength = Int64(data.count)
    }

    /// A body that is pulled from a transfer.
    ///
    /// - Parameters:
    ///   - expectedLength: the number of bytes, if it is known.
    ///   - next: gives the next piece, `nil` at the end; called by one reader at a time, again only after it has returned.
    ///   - cancel: ends the transfer. Called at least once, also after the end: it must bear that.
    public init(
        expectedLength: Int64?, next: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void
    ) {
        self.init(expectedLength: expectedLength, next: { _ in try await next() }, cancel: cancel)
    }

    /// The same, for a transfer that can let its reader sleep until more than a few bytes have come.
    ///
    /// - Parameters:
    ///   - next: gives the next piece; how many bytes it is asked for is a hint of how many are worth waiting for.
    ///   - arrived: gives the next piece, too, where it is there already: asked first, and without a change of executors, since most
    ///     bodies are there as a whole by the time they are read.
    package init(
        expectedLength: Int64?, next: @escaping @Sendable (Int) async throws -> Data?,
        arrived: @escaping @Sendable (Int) throws -> Arrival = { _ in .nothing }, cancel: @escaping @Sendable () -> Void
    ) {
        storage = .source(Source(next: next, arrived: arrived, cancel: cancel))
        self.expectedLength = expectedLength
    }

    /// The bytes, when they are in memory already.
    public var data: Data? {
        if case .data(let data) = storage { data } else { nil }
    }

    /// Ends the transfer without reading the rest.
    public func cancel() {
        if case .source(let source) = storage { source.cancel() }
    }

    /// Reads all of the body into memory.
    ///
    /// - Parameter limit: the most bytes to take.
    /// - Throws: ``ResponseBodyTooLarge`` above the limit, and what the transfer throws when it breaks.
    public func collect(upTo limit: Int) async throws -> Data {
        var whole = Data()
        try await collect(upTo: limit, into: &whole)
        return whole
    }

    /// The same; behind an error there is what had come before it, at most the limit.
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
                // The first one is kept as it is, and not copied.
                if whole.isEmpty { whole = chunk } else { whole.append(chunk) }
            }
        }
    }

    /// The same body, with every piece passed through a closure as it is read.
    ///
    /// - Parameter expectedLength: the length of what comes out, if it is known.
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

    /// The same body, whose reader gets another error when it breaks off.
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

    /// An iterator over the pieces. A second one goes on where the first stands.
    public func makeAsyncIterator() -> Iterator {
        Iterator(storage: storage)
    }

    /// Reads the pieces.
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

/// A response body was larger than the bound that its reader set.
public struct ResponseBodyTooLarge: DescribedError, Sendable {
    /// The bound in bytes.
    public let limit: Int

    /// An error for that bound.
    public init(limit: Int) {
        self.limit = limit
    }

    /// What happened and what to do.
    public var description: String {
        "The response body is larger than the bound of \(limit) bytes: raise the client's bodyLimit, or read the body as a stream."
    }
}
