#if AsyncHTTPClient
import Foundation
import Testing
import WebServiceClient

@Suite struct AsyncHTTPClientUploadTests {
    private let folder = TemporaryFolder()
    private let transport = AsyncHTTPClientEngine.transport

    private struct Broken: Error {}

    /// Sends a body to a server that sends it back, and gives what came back, and the request as the server saw it.
    private func echo(
        _ body: RequestBody?, method: ServiceRequest.Method = .post, headers: HTTPFields = [:],
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (body: Data, request: RawRequest) {
        let seen = Locked<RawRequest?>(nil)
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                seen.withLock { $0 = request }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(request.body.count)\r\n\r\n")
                connection.write(request.body)
            }
        }
        var request = try server.request(method, headers: headers, body: body)
        request.uploadProgress = progress
        let sent = request
        let back = try await watched { [transport] in try await transport.send(sent).body.collect(upTo: .max) }
        return (back, try #require(seen.withLock { $0 }))
    }

    private func file(_ data: Data) throws -> URL {
        let url = folder.url.appending(path: "source-\(UUID().uuidString)")
        try data.write(to: url)
        return url
    }

    private static func stream(_ pieces: [Data], error: (any Error)? = nil) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish(throwing: error)
        }
    }

    @Test(arguments: [0, 1, 100, 1_000_000]) func `bytes in memory come back`(count: Int) async throws {
        let data = SplitMix.bytes(count)
        let (back, request) = try await echo(RequestBody(data, contentType: "image/png"), method: .put)
        #expect(back == data)
        #expect(request.line == "PUT / HTTP/1.1")
        #expect(request.field("Content-Type") == "image/png")
        #expect(request.field("Content-Length") == "\(count)")
    }

    @Test(arguments: [0, 3_000_000]) func `a file comes back`(count: Int) async throws {
        let data = SplitMix.bytes(count)
        let (back, request) = try await echo(try RequestBody(file: try file(data)))
        #expect(back == data)
        #expect(request.field("Content-Length") == "\(count)")
    }

    @Test func `several segments come back in their order`() async throws {
        let (first, second, third) = (SplitMix.bytes(10), SplitMix.bytes(100_000), SplitMix.bytes(1))
        let body = RequestBody(segments: [.data(first), .file(try file(second), length: 100_000), .data(third)])
        #expect(try await echo(body).body == first + second + third)
    }

    @Test func `a stream of known length comes back`() async throws {
        let pieces = (0..<6).map { _ in SplitMix.bytes(10_000) }
        let (back, request) = try await echo(RequestBody(length: 60_000) { Self.stream(pieces + [Data()]) })
        #expect(back == pieces.reduce(Data(), +))
        #expect(request.field("Content-Length") == "60000")
    }

    @Test func `a stream of unknown length is sent in chunks, while it is made`() async throws {
        let stream = AsyncThrowingStream<Data, any Error>.makeStream()
        let server = try RawServer { connection in
            guard let head = connection.readHead() else { return }
            let isChunked = RawRequest(head: head, body: Data()).field("Transfer-Encoding") == "chunked"
            // The first piece is on the wire before the second is there.
            guard connection.wait(for: "3\r\none\r\n") else { return }
            stream.continuation.yield(Data("two!".utf8))
            stream.continuation.finish()
            guard connection.wait(for: "4\r\ntwo!\r\n0\r\n\r\n") else { return }
            connection.write("HTTP/1.1 \(isChunked ? 200 : 400) X\r\nContent-Length: 0\r\n\r\n")
        }
        let request = try server.request(.post, body: RequestBody { stream.stream })
        stream.continuation.yield(Data("one".utf8))
        let status = try await watched { [transport] in try await transport.send(request).status }
        #expect(status == 200)
    }

    @Test(arguments: [nil, 5] as [Int64?]) func `what a stream throws is thrown`(length: Int64?) async throws {
        let server = try RawServer { _ = $0.waitForClose() }
        let body = RequestBody(length: length) { Self.stream([Data("x".utf8)], error: Broken()) }
        let request = try server.request(.post, body: body)
        await #expect(throws: Broken.self) { try await watched { [transport] in _ = try await transport.send(request) } }
    }

    @Test(arguments: [0, 2, 4] as [Int64]) func `a stream of another length is an error`(length: Int64) async throws {
        let error = await #expect(throws: RequestBodyError.self) {
            try await echo(RequestBody(length: length) { Self.stream([Data("abc".utf8)]) })
        }
        #expect(error?.message.contains("\(length)") == true)
    }

    @Test func `a stream that stands still ends with the time to the first byte, and is let go`() async throws {
        let server = try RawServer { _ = $0.waitForClose() }
        let stream = AsyncThrowingStream<Data, any Error>.makeStream()
        let ended = AsyncStream<Void>.makeStream()
        stream.continuation.onTermination = { _ in ended.continuation.yield() }
        var request = try server.request(.post, body: RequestBody { stream.stream })
        request.timeouts.firstByte = .milliseconds(200)
        let sent = request
        let code = try await failureCode { [transport] in _ = try await transport.send(sent) }
        #expect(code == .timedOutWaiting)
        try await watched { for await _ in ended.stream { break } }
    }

    @Test func `cancelling lets a stream go`() async throws {
        let arrived = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            guard connection.wait(for: "1\r\nx\r\n") else { return }
            arrived.continuation.yield()
            _ = connection.waitForClose()
        }
        let stream = AsyncThrowingStream<Data, any Error>.makeStream()
        let ended = AsyncStream<Void>.makeStream()
        stream.continuation.onTermination = { _ in ended.continuation.yield() }
        stream.continuation.yield(Data("x".utf8))
        let request = try server.request(.post, body: RequestBody { stream.stream })
        await #expect(throws: CancellationError.self) {
            try await watched { [transport] in
                let task = Task { try await transport.send(request) }
                for await _ in arrived.stream { break }
                task.cancel()
                _ = try await task.value
            }
        }
        try await watched { for await _ in ended.stream { break } }
    }

    @Test func `a server that doesn't read slows the stream down`() async throws {
        let made = Locked(0)
        let server = try RawServer { connection in
            _ = connection.readHead()
            // It reads no more; the buffers of the system take some megabytes.
            Thread.sleep(forTimeInterval: 1)
        }
        let piece = SplitMix.bytes(100_000)
        let body = RequestBody(length: 200_000_000) {
            AsyncThrowingStream {
                made.withLock { $0 += piece.count }
                return piece
            }
        }
        var request = try server.request(.post, body: body)
        request.timeouts.firstByte = .milliseconds(700)
        let sent = request
        let code = try await failureCode { [transport] in _ = try await transport.send(sent) }
        #expect(code == .timedOutWaiting)
        #expect(made.withLock { $0 } < 50_000_000)
    }

    @Test func `a file that has changed its length, or is gone, is refused`() async throws {
        let file = try file(SplitMix.bytes(10))
        let body = try RequestBody(file: file)
        try SplitMix.bytes(11).write(to: file)
        await #expect(throws: RequestBodyError.self) { try await echo(body) }
        try FileManager.default.removeItem(at: file)
        await #expect(throws: RequestBodyError.self) { try await echo(body) }
    }

    @Test(arguments: [0, 3_000_000]) func `progress rises to the whole, from memory and from a file`(count: Int) async throws {
        let data = SplitMix.bytes(count)
        for body in [RequestBody(data), try RequestBody(file: try file(data))] {
            let seen = Locked<[TransferProgress]>([])
            _ = try await echo(body) { progress in seen.withLock { $0.append(progress) } }
            let progress = seen.withLock { $0 }
            #expect(progress.last == TransferProgress(completed: Int64(count), total: Int64(count)))
            #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completed < $1.completed })
        }
    }

    @Test func `the Content-Type is the caller's, or the body's`() async throws {
        let body = RequestBody(Data("x".utf8), contentType: "text/x")
        #expect(try await echo(body).request.field("Content-Type") == "text/x")
        #expect(try await echo(body, headers: ["content-type": "text/y"]).request.field("Content-Type") == "text/y")
        var binding = body
        binding.contentTypeIsBinding = true
        #expect(try await echo(binding, headers: ["content-type": "text/y"]).request.field("Content-Type") == "text/x")
        #expect(try await echo(nil).request.field("Content-Type") == nil)
    }

    @Test(arguments: [false, true]) func `an answer before the body is sent is delivered`(isStream: Bool) async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlarge")
            _ = connection.waitForClose()
        }
        let data = SplitMix.bytes(3_000_000)
        let body = isStream ? RequestBody { Self.stream([data]) } : RequestBody(data)
        let request = try server.request(.post, body: body)
        let (status, text) = try await watched { [transport] in
            let response = try await transport.send(request)
            return (response.status, try await response.body.collect(upTo: 100))
        }
        #expect(status == 413)
        #expect(text == Data("large".utf8))
    }
}
#endif
