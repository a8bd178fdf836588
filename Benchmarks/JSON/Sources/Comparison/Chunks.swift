import Foundation

/// A text in pieces, as a transport delivers it. Only one piece is in memory at a time.
struct Chunks: AsyncSequence, Sendable {
    let file: URL
    let size: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        let file: URL
        let size: Int
        private var open: FileHandle?

        init(_ chunks: Chunks) {
            (file, size) = (chunks.file, chunks.size)
        }

        mutating func next() async throws -> Data? {
            let handle = try open ?? FileHandle(forReadingFrom: file)
            open = handle
            guard let piece = try handle.read(upToCount: size), !piece.isEmpty else { return nil }
            return piece
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }
}
