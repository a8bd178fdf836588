import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite struct URLSessionUploadTests {
    private let folder = TemporaryFolder()
    private let transport: URLSessionTransport

    init() {
        var configuration = URLSessionTransport.Configuration()
        configuration.spoolFolder = folder.url
        transport = URLSessionTransport(configuration: configuration)
    }

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

    private var leftovers: [String] {
        folder.names.filter { !$0.hasPrefix("source-") }
    }

    @Test(arguments: [0, 1, 100, 1_000_000]) func `bytes in memory come back`(count: Int) async throws {
        let data = SeededGenerator.bytes(count)
        let (back, request) = try await echo(RequestBody(data, contentType: "image/png"), method: .put)
        #expect(back == data)
        #expect(request.line == "PUT / HTTP/1.1")
        #expect(request.field("Content-Type") == "image/png")
        #expect(request.field("Content-Length") == "\(count)")
    }

    @Test(arguments: [0, 3_000_000]) func `a file comes back`(count: Int) async throws {
        let data = SeededGenerator.bytes(count)
        let (back, request) = try await echo(try RequestBody(file: try file(data)))
        #expect(back == data)
        #expect(request.field("Content-Type") == "application/octet-stream")
        #expect(leftovers.isEmpty)
    }

    @Test func `several segments come back in their order`() async throws {
        let (first, second) = (SeededGenerator.bytes(200_000, seed: 2), SeededGenerator.bytes(300_000, seed: 3))
        let body = RequestBody(segments: [
            .data(Data("head".utf8)), .file(try file(first), length: 200_000), .data(Data("mid".utf8)),
            .file(try file(second), length: 300_000), .data(Data()),
        ])
        let (back, _) = try await echo(body)
        #expect(back == Data("head".utf8) + first + Data("mid".utf8) + second)
        #expect(leftovers.isEmpty)
    }

    @Test(arguments: [nil, 60_000] as [Int64?]) func `a stream comes back`(length: Int64?) async throws {
        let pieces = (0..<6).map { SeededGenerator.bytes(10_000, seed: UInt64($0)) }
        let body = RequestBody(length: length) {
            AsyncThrowingStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }
        let (back, request) = try await echo(body)
        #expect(back == pieces.reduce(Data(), +))
        #expect(request.field("Content-Length") == "60000")
        #expect(request.field("Transfer-Encoding") == nil)
        #expect(leftovers.isEmpty)
    }

    @Test func `a stream that fails or has another length sends nothing and leaves nothing`() async throws {
        struct Broken: Error {}
        let failing = RequestBody {
            AsyncThrowingStream {
                $0.yield(Data("x".utf8)); $0.finish(throwing: Broken())
            }
        }
        await #expect(throws: Broken.self) { try await echo(failing) }
        let short = RequestBody(length: 5) {
            AsyncThrowingStream {
                $0.yield(Data("x".utf8)); $0.finish()
            }
        }
        await #expect(throws: RequestBodyError.self) { try await echo(short) }
        #expect(leftovers.isEmpty)
    }

    @Test func `a stream that stands still ends with the time to the first byte`() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let stream = AsyncThrowingStream<Data, any Error>.makeStream()
        var request = try server.request(.post, body: RequestBody { stream.stream })
        request.timeouts.firstByte = .milliseconds(200)
        let sent = request
        let code = try await failureCode { [transport] in _ = try await transport.send(sent) }
        #expect(code == .timedOutWaiting)
        #expect(leftovers.isEmpty)
        stream.continuation.finish()
    }

    @Test func `cancelling while a stream is written leaves nothing`() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let stream = AsyncThrowingStream<Data, any Error>.makeStream()
        stream.continuation.yield(Data("x".utf8))
        let request = try server.request(.post, body: RequestBody { stream.stream })
        await #expect(throws: CancellationError.self) {
            try await watched { [transport] in
                let task = Task { try await transport.send(request) }
                try await Task.sleep(for: .milliseconds(50))
                task.cancel()
                _ = try await task.value
            }
        }
        #expect(leftovers.isEmpty)
        stream.continuation.finish()
    }

    @Test func `a cancelled upload leaves nothing`() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            _ = connection.waitForClose()
        }
        let data = SeededGenerator.bytes(1_000)
        let request = try server.request(
            .post,
            body: RequestBody {
                AsyncThrowingStream {
                    $0.yield(data); $0.finish()
                }
            })
        await #expect(throws: CancellationError.self) {
            try await watched { [transport] in
                let task = Task { try await transport.send(request) }
                try await Task.sleep(for: .milliseconds(200))
                task.cancel()
                _ = try await task.value
            }
        }
        try await watched { [folder] in
            while folder.names.contains(where: { !$0.hasPrefix("source-") }) { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test func `a file that has changed its length, or is gone, is refused`() async throws {
        let file = try file(SeededGenerator.bytes(10))
        let body = try RequestBody(file: file)
        try SeededGenerator.bytes(11).write(to: file)
        await #expect(throws: RequestBodyError.self) { try await echo(body) }
        try FileManager.default.removeItem(at: file)
        await #expect(throws: RequestBodyError.self) { try await echo(body) }
    }

    @Test func `a folder for spooling that isn't there is named`() async throws {
        var configuration = URLSessionTransport.Configuration()
        configuration.spoolFolder = folder.url.appending(path: "missing")
        let lost = URLSessionTransport(configuration: configuration)
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let request = try server.request(.post, body: RequestBody { AsyncThrowingStream { $0.finish() } })
        let error = await #expect(throws: RequestBodyError.self) { try await watched { try await lost.send(request) } }
        #expect(error?.message.contains("spoolFolder") == true)
    }

    @Test(arguments: [0, 3_000_000]) func `progress rises to the whole, from memory and from a file`(count: Int) async throws {
        let data = SeededGenerator.bytes(count)
        for body in [RequestBody(data), try RequestBody(file: try file(data))] {
            let seen = Locked<[TransferProgress]>([])
            _ = try await echo(body) { progress in seen.withLock { $0.append(progress) } }
            let progress = seen.withLock { $0 }
            #expect(progress.last == TransferProgress(completed: Int64(count), total: Int64(count)))
            #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completed < $1.completed })
        }
    }

    @Test func `a Content-Type is never made up into a form`() async throws {
        let body = RequestBody(Data("x".utf8))
        #expect(try await echo(body).request.field("Content-Type") == "application/octet-stream")
        #expect(try await echo(body, headers: ["content-type": "text/x"]).request.field("Content-Type") == "text/x")
        let blank = await #expect(throws: TransportError.self) { _ = try await echo(body, headers: ["Content-Type": ""]) }
        #expect(blank?.code == .badRequest)
        let none = try await echo(nil).request
        #expect(none.field("Content-Type") == nil)
        #expect(none.field("Content-Length") == "0")
        #expect(none.field("Expect") == nil)
    }

    @Test func `an answer before the body is sent is delivered`() async throws {
        let server = try RawServer { connection in
            _ = connection.readHead()
            connection.write("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlarge")
            _ = connection.waitForClose()
        }
        let request = try server.request(.post, body: RequestBody(SeededGenerator.bytes(3_000_000)))
        let response = try await watched { [transport] in try await transport.send(request) }
        #expect(response.status == 413)
    }
}
