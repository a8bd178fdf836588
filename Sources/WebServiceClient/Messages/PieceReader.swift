import Foundation

/// Reads a body's pieces where a closure that may be called by any task asks for them.
///
/// `@unchecked Sendable`: the iterator is used by one task at a time, since each body has one reader, who waits for each piece.
final class PieceReader: @unchecked Sendable {
    private var iterator: AsyncThrowingStream<Data, any Error>.Iterator

    init(_ pieces: AsyncThrowingStream<Data, any Error>) {
        iterator = pieces.makeAsyncIterator()
    }

    /// The next piece, `nil` at the end.
    func next() async throws -> Data? {
        try await iterator.next()
    }
}
