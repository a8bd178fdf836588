import Foundation

/// A text in pieces, as a transport delivers it. Only one piece of it is in memory at a time.
struct Chunks: AsyncSequence, Sendable {
    let file: URL
    let size: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        let handle: FileHandle
        let size: Int
        mutating func next() async throws -> Data? {
            guard let piece = try handle.read(upToCount: size), !piece.isEmpty else { return nil }
            return piece
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(handle: (try? FileHandle(forReadingFrom: file)) ?? .nullDevice, size: size)
    }
}
