import Foundation

/// The decoded bytes of a body, produced on the reader's task while it reads.
final class DecodedBody: Sendable {
    private let decoder: Locked<ContentDecoder>
    private let source: @Sendable () async throws -> Data?
    private let check: @Sendable () throws -> Void
    private let abandon: @Sendable (TransportError) -> Void

    /// Creates a body for one reader.
    ///
    /// - Parameters:
    ///   - codings: The codings in the order in which they were applied.
    ///   - host: The origin of the body, for messages.
    ///   - source: Returns the next piece of encoded bytes, `nil` at the end.
    ///   - check: Throws if the body isn't needed any more. It is called for each decoded piece, because one piece of the source can
    ///     produce many.
    ///   - abandon: Called when the bytes can't be decoded and no more are needed.
    init(
        _ codings: [ContentCoding], host: String, source: @escaping @Sendable () async throws -> Data?,
        check: @escaping @Sendable () throws -> Void, abandon: @escaping @Sendable (TransportError) -> Void
    ) {
        decoder = Locked(ContentDecoder(codings, host: host))
        self.source = source
        self.check = check
        self.abandon = abandon
    }

    /// Returns the next piece, `nil` at the end.
    func next() async throws -> Data? {
        while true {
            try check()
            switch try pull() {
            case .piece(let piece): return piece
            case .end: return nil
            case .needsInput: break
            }
            if let bytes = try await source() {
                decoder.withLock { $0.give(bytes) }
            } else {
                decoder.withLock { $0.completeInput() }
            }
        }
    }

    private func pull() throws(TransportError) -> ContentDecoder.Output {
        do {
            return try decoder.withLock { (decoder) throws(TransportError) in try decoder.next() }
        } catch {
            abandon(error)
            throw error
        }
    }
}
