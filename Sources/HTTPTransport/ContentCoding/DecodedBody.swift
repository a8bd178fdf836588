import Foundation

/// The decoded bytes of a body, made on the reader's task while it reads.
final class DecodedBody: Sendable {
    private let decoder: Locked<ContentDecoder>
    private let source: @Sendable () async throws -> Data?
    private let check: @Sendable () throws -> Void
    private let abandon: @Sendable (TransportError) -> Void

    /// A body for one reader.
    ///
    /// - Parameters:
    ///   - codings: in the order in which they were applied.
    ///   - host: where the body is from, for messages.
    ///   - source: the next piece of the coded bytes, `nil` at their end.
    ///   - check: throws when nobody wants the body any more: one piece of the source may last for many pieces here.
    ///   - abandon: told that the bytes can't be decoded: no more of them is wanted.
    init(
        _ codings: [ContentCoding], host: String, source: @escaping @Sendable () async throws -> Data?,
        check: @escaping @Sendable () throws -> Void, abandon: @escaping @Sendable (TransportError) -> Void
    ) {
        decoder = Locked(ContentDecoder(codings, host: host))
        self.source = source
        self.check = check
        self.abandon = abandon
    }

    /// The next piece, `nil` at the end.
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
