#if AsyncHTTPClient
import Foundation
import NIOCore

extension AsyncHTTPClientUpload {
    /// The pieces of a body, in the engine's type.
    struct Pieces: AsyncSequence, Sendable {
        let body: RequestBody
        let upload: AsyncHTTPClientUpload

        func makeAsyncIterator() -> Iterator {
            Iterator(body: body, upload: upload)
        }
    }

    /// Reads the pieces. When the next one is requested, the previous ones have been passed to the connection.
    struct Iterator: AsyncIteratorProtocol {
        /// The maximum number of bytes to pass at once: progress is reported in between.
        private static let size = 64 * 1024
        /// The number of bytes after which the loops are awaited.
        private static let window = 1024 * 1024

        private let chunks: PieceReader<AsyncThrowingStream<Data, any Error>>
        private let upload: AsyncHTTPClientUpload
        private let length: Int64?
        private var rest: Data = Data()
        private var passed: Int64 = 0
        private var ahead = 0

        init(body: RequestBody, upload: AsyncHTTPClientUpload) {
            chunks = PieceReader(body.chunks(of: Self.size))
            self.upload = upload
            length = body.length
        }

        mutating func next() async throws -> ByteBuffer? {
            if passed > 0 { upload.sent(passed, of: length) }
            if ahead >= Self.window {
                ahead = 0
                await upload.waitForLoops()
                // The wait may have been long, and the last piece is passed only now.
                upload.sent(passed, of: length)
            }
            while rest.isEmpty {
                let chunks = chunks
                guard let chunk = try await upload.read({ try await chunks.next() }) else {
                    try checkLength(isComplete: true)
                    upload.sent(passed, of: length)
                    return nil
                }
                rest = chunk
            }
            let piece = rest.prefix(Self.size)
            rest = rest.dropFirst(piece.count)
            passed += Int64(piece.count)
            ahead += piece.count
            try checkLength(isComplete: false)
            return ByteBuffer(bytes: piece)
        }

        private func checkLength(isComplete: Bool) throws {
            guard let length, passed > length || isComplete && passed < length else { return }
            throw upload.failed(AsyncHTTPClientUpload.wrongLength(isComplete ? "\(passed)" : "at least \(passed)", length: length))
        }
    }
}
#endif
