import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct CurlUploadTests {
    private func drained(_ upload: CurlUpload, by size: Int) async throws -> Data {
        var whole = Data()
        var buffer = [UInt8](repeating: 0, count: size)
        while true {
            switch buffer.withUnsafeMutableBytes({ upload.read(into: $0) }) {
            case .bytes(let count): whole.append(contentsOf: buffer.prefix(count))
            case .wait: await Task.yield()
            case .end: return whole
            }
        }
    }

    private func stream(_ pieces: [Data], length: Int64?) -> RequestBody {
        RequestBody(length: length) {
            AsyncThrowingStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }
    }

    @Test(arguments: [1, 7, 1000, 1 << 20])
    func `all bytes come, in order, whatever the sizes`(size: Int) async throws {
        let pieces = (1..<60).map { count in Data((0..<count * 13).map { UInt8(truncatingIfNeeded: $0 ^ count) }) }
        let upload = CurlUpload(stream(pieces, length: nil))
        upload.begin()
        async let feeding: Void = upload.feed {}
        let whole = try await watched { try await self.drained(upload, by: size) }
        try await feeding
        #expect(whole == Data(pieces.joined()))
        #expect(upload.taken == Int64(whole.count))
    }

    @Test func `the reader of the body waits when enough has been read`() async throws {
        let made = Locked(0)
        let body = RequestBody {
            AsyncThrowingStream {
                made.withLock { $0 += 1 }
                return made.withLock { $0 } > 200 ? nil : Data(count: 64 * 1024)
            }
        }
        let upload = CurlUpload(body)
        upload.begin()
        let feeding = Task { try await upload.feed {} }
        try await watched { while made.withLock({ $0 }) < 4 { await Task.yield() } }
        for _ in 0..<1000 { await Task.yield() }
        #expect(made.withLock { $0 } <= 6)
        let whole = try await watched { try await self.drained(upload, by: 100_000) }
        #expect(whole.count == 13_107_200)
        try await feeding.value
    }

    @Test func `a body of another length than declared is an error`() async throws {
        let short = CurlUpload(stream([Data(count: 3)], length: 4))
        short.begin()
        await #expect(throws: RequestBodyError.self) { try await short.feed {} }
        let long = CurlUpload(stream([Data(count: 3), Data(count: 3)], length: 4))
        long.begin()
        await #expect(throws: RequestBodyError.self) { try await long.feed {} }
    }

    /// Otherwise the last bytes would be sent, and possibly answered, before the fault is found.
    @Test func `of a body that is too long, less goes out than was declared, whenever the rest comes`() async throws {
        let (stream, pieces) = AsyncThrowingStream<Data, any Error>.makeStream()
        let upload = CurlUpload(RequestBody(length: 6) { stream })
        upload.begin()
        let feeding = Task { try await upload.feed {} }
        pieces.yield(Data(count: 3))
        pieces.yield(Data(count: 3))
        let taken = try await watched {
            var buffer = [UInt8](repeating: 0, count: 100)
            while true {
                if case .bytes(let count) = buffer.withUnsafeMutableBytes({ upload.read(into: $0) }) { return count }
                await Task.yield()
            }
        }
        #expect(taken == 3)
        for _ in 0..<1000 { await Task.yield() }
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(buffer.withUnsafeMutableBytes { upload.read(into: $0) } == .wait)
        pieces.yield(Data(count: 1))
        await #expect(throws: RequestBodyError.self) { try await watched { try await feeding.value } }
        #expect(buffer.withUnsafeMutableBytes { upload.read(into: $0) } == .wait)
    }

    @Test func `cancelling ends the wait`() async throws {
        let upload = CurlUpload(stream([Data](repeating: Data(count: 1 << 20), count: 5), length: nil))
        upload.begin()
        let feeding = Task { try await upload.feed {} }
        for _ in 0..<100 { await Task.yield() }
        feeding.cancel()
        await #expect(throws: CancellationError.self) { try await watched { try await feeding.value } }
    }
}
