import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite struct DownloadTests {
    private let folder = TemporaryFolder()
    private struct Broken: Error {}

    private var file: URL { folder.url.appending(path: "result.bin") }

    private func body(_ pieces: [String], length: Int64? = nil, failing: Bool = false) -> ResponseBody {
        let rest = Locked(pieces[...])
        return ResponseBody(
            expectedLength: length,
            next: {
                if let piece = rest.withLock({ $0.popFirst() }) { return Data(piece.utf8) }
                if failing { throw Broken() }
                return nil
            }, cancel: {})
    }

    @Test func `the pieces make the file, and nothing else stays`() async throws {
        let seen = Locked<[TransferProgress]>([])
        let count = try await body(["one", "two"]).write(to: file) { progress in seen.withLock { $0.append(progress) } }
        #expect(count == 6)
        #expect(try Data(contentsOf: file) == Data("onetwo".utf8))
        #expect(folder.names == ["result.bin"])
        #expect(
            seen.withLock { $0 } == [
                TransferProgress(completed: 3, total: nil), TransferProgress(completed: 6, total: nil),
                TransferProgress(completed: 6, total: 6),
            ])
    }

    @Test func `an empty body makes an empty file`() async throws {
        #expect(try await TransportResponse(status: 200, url: file).write(to: file) == 0)
        #expect(try Data(contentsOf: file).isEmpty)
    }

    @Test func `a file that is there is refused unless it may be replaced`() async throws {
        try Data("old".utf8).write(to: file)
        let error = await #expect(throws: DownloadError.self) { try await body(["new"]).write(to: file) }
        #expect(error?.destinationExists == true)
        #expect(error?.message.contains("result.bin") == true)
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(try await body(["new"]).write(to: file, replacing: true) == 3)
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(folder.names == ["result.bin"])
    }

    @Test func `a file that appears meanwhile isn't replaced`() async throws {
        let file = file
        let isFirst = Locked(true)
        let body = ResponseBody(
            expectedLength: nil,
            next: {
                let first = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard first else { return nil }
                try Data("other".utf8).write(to: file)
                return Data("mine".utf8)
            }, cancel: {})
        await #expect(throws: DownloadError.self) { try await body.write(to: file) }
        #expect(try Data(contentsOf: file) == Data("other".utf8))
        #expect(folder.names == ["result.bin"])
    }

    @Test func `a transfer that breaks leaves nothing, and the old file`() async throws {
        await #expect(throws: Broken.self) { try await body(["one"], failing: true).write(to: file) }
        #expect(folder.names.isEmpty)
        try Data("old".utf8).write(to: file)
        await #expect(throws: Broken.self) { try await body(["one"], failing: true).write(to: file, replacing: true) }
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(folder.names == ["result.bin"])
    }

    @Test func `a cancelled task leaves nothing`() async throws {
        let file = file
        let body = body(["one", "two"])
        await #expect(throws: CancellationError.self) {
            try await Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await body.write(to: file)
            }.value
        }
        #expect(folder.names.isEmpty)
    }

    @Test func `a destination that can't be is named`() async throws {
        await #expect(throws: DownloadError.self) { try await body([]).write(to: folder.url, replacing: true) }
        await #expect(throws: DownloadError.self) { try await body([]).write(to: folder.url.appending(path: "missing/a")) }
        let web = try #require(URL(string: "https://example.com/a?token=hidden"))
        let error = await #expect(throws: DownloadError.self) { try await body([]).write(to: web) }
        #expect(error?.message.contains("hidden") == false)
    }

    @Test func `a download through the transport is the file that was served`() async throws {
        let data = SeededGenerator.bytes(2_000_000)
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(data.count)\r\n\r\n")
            connection.write(data)
        }
        let (request, file) = (try server.request(), file)
        let count = try await watched {
            let transport = URLSessionTransport()
            return try await transport.send(request).write(to: file)
        }
        #expect(count == 2_000_000)
        #expect(try Data(contentsOf: file) == data)
    }
}
