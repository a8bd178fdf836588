import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ResumableDownloadTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url.appending(path: "archive.bin") }

    private func client(_ server: LoopbackServer, retry: RetryPolicy = Archive.eager, notes: Locked<[String]>? = nil) -> Archive {
        Archive(serviceRoot: server.url.absoluteString) {
            $0.retry = retry
            if let notes { $0.diagnostics = Diagnostics { event in notes.withLock { $0.append(event.description) } } }
        }
    }

    private func reason(_ body: () async throws -> Void) async -> TransferError.Reason? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? TransferError)?.reason
        }
    }

    @Test func `a declared call is downloaded`() async throws {
        let data = SeededGenerator.bytes(300_000)
        let files = FileServer(data)
        let server = try files.start()
        let seen = Locked<[TransferProgress]>([])
        let result = try await client(server).transfers.download(
            to: file, progress: { state in seen.withLock { $0.append(state) } }, { try await $0.file() })
        #expect(try Data(contentsOf: file) == data)
        #expect(result.length == 300_000 && result.received == 300_000 && result.requests == 1 && result.restarts.isEmpty)
        #expect(files.ranges == [nil] && folder.names == ["archive.bin"])
        let progress = seen.withLock { $0 }
        #expect(progress.last == TransferProgress(completed: 300_000, total: 300_000))
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completed <= $1.completed })
        let request = try #require(server.requests.first)
        #expect(request.fields["Accept-Encoding"] == "identity" && request.fields["Accept"] == "*/*")
    }

    @Test func `an interrupted download goes on where it was cut`() async throws {
        var random = SeededGenerator(seed: 3)
        for round in 0..<Sweep.rounds(ofAll: 24) {
            let data = SeededGenerator.bytes(Int.random(in: 1...400_000, using: &random), seed: UInt64(round + 1))
            let cuts = (0..<40).map { _ in Double.random(in: 0...1, using: &random) }
            let files = FileServer(data)
            // Each attempt brings something, or the fourth in a row would be the last.
            files.state.withLock { state in
                state.cut = { number, count in number > cuts.count ? nil : max(1, Int(Double(count) * cuts[number - 1] / 4)) }
            }
            let server = try files.start()
            let result = try await client(server).transfers.download(to: file, options: .init(replacing: true)) { try await $0.file() }
            #expect(try Data(contentsOf: file) == data)
            // No byte was sent twice.
            #expect(result.received == data.count && files.state.withLock { $0.sent } == data.count)
            #expect(folder.names == ["archive.bin"])
        }
    }

    @Test func `another download continues, also of another client`() async throws {
        let data = SeededGenerator.bytes(200_000)
        let files = FileServer(data)
        files.state.withLock { $0.cut = { number, _ in number < 4 ? 20_000 : nil } }
        let server = try files.start()
        for number in 1..<4 {
            let error = await serviceError { _ = try await client(server, retry: .never).http.get("/file").download(to: file) }
            #expect(error?.kind == .transport && error?.stage == .body)
            let partial = try #require(PartialDownload(to: file))
            #expect(partial.completed == Int64(20_000 * number) && partial.total == 200_000 && partial.url.hasSuffix("/file"))
            #expect(!FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
        }
        let record = folder.url.appending(path: ".archive.bin.part.json")
        let attributes = try FileManager.default.attributesOfItem(atPath: record.path(percentEncoded: false))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let result = try await client(server, retry: .never).http.get("/file").download(to: file)
        #expect(try Data(contentsOf: file) == data)
        #expect(result.received == 140_000 && files.ranges == [nil, "bytes=20000-", "bytes=40000-", "bytes=60000-"])
        #expect(server.requests.last?.fields["If-Range"] == "\"1\"")
        #expect(PartialDownload(to: file) == nil && folder.names == ["archive.bin"])
    }

    @Test func `a changed file is downloaded anew`() async throws {
        let notes = Locked<[String]>([])
        let files = FileServer(SeededGenerator.bytes(100_000))
        files.state.withLock { $0.cut = { number, _ in number == 1 ? 50_000 : nil } }
        let server = try files.start()
        _ = await serviceError { _ = try await client(server, retry: .never).http.get("/file").download(to: file) }
        let changed = SeededGenerator.bytes(90_000, seed: 9)
        files.state.withLock { ($0.data, $0.tag) = (changed, "\"2\"") }
        let result = try await client(server, notes: notes).http.get("/file").download(to: file)
        #expect(try Data(contentsOf: file) == changed)
        #expect(result.restarts.count == 1 && result.received == 90_000)
        #expect(notes.withLock { $0 }.contains { $0.contains("begins again") })
    }

    @Test func `without a validator it begins again each time`() async throws {
        let data = SeededGenerator.bytes(100_000)
        let files = FileServer(data)
        files.state.withLock { state in
            state.tag = "W/\"1\""
            state.cut = { number, _ in number < 3 ? 10_000 * number : nil }
        }
        let server = try files.start()
        let result = try await client(server).http.get("/file").download(to: file)
        #expect(try Data(contentsOf: file) == data && files.ranges == [nil, nil, nil] && result.received == 130_000)
        // And it leaves nothing when it fails.
        files.state.withLock { $0.cut = { _, _ in 10 } }
        let other = folder.url.appending(path: "other")
        let error = await serviceError { _ = try await client(server).http.get("/file").download(to: other) }
        #expect(error?.kind == .transport && folder.names == ["archive.bin"])
        // The first response has bytes; four more attempts get no further.
        #expect(files.ranges.count == 3 + 5)
    }

    @Test func `a server without ranges starts over`() async throws {
        let data = SeededGenerator.bytes(50_000)
        let files = FileServer(data)
        files.state.withLock { ($0.hasRanges, $0.cut) = (false, { number, _ in number == 1 ? 20_000 : nil }) }
        let server = try files.start()
        let result = try await client(server).http.get("/file").download(to: file)
        #expect(try Data(contentsOf: file) == data)
        #expect(result.restarts == ["the server has no ranges"] && files.ranges == [nil, "bytes=20000-"])
    }

    @Test func `a complete partial file needs no byte`() async throws {
        let files = FileServer(Data())
        // The length is unknown, so that only the server knows that nothing is missing.
        let cut =
            "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n" + String(repeating: "x", count: 1_000)
        files.state.withLock { state in
            state.answer = { number, _ in number == 1 ? .raw(cut) : nil }
            state.data = Data(String(repeating: "x", count: 1_000).utf8)
        }
        let server = try files.start()
        let result = try await client(server).http.get("/file").download(to: file)
        #expect(result.length == 1_000 && result.received == 1_000 && files.ranges == [nil, "bytes=1000-"])
    }

    // MARK: Servers that lie

    private func part(_ range: String, _ body: String, _ fields: LoopbackFields = ["ETag": "\"1\""]) -> LoopbackResponse {
        var response = LoopbackResponse(status: 206, fields: fields, body: .data(Data(body.utf8)))
        response.fields.append(LoopbackField("Content-Range", range))
        return response
    }

    @Test func `answers that can't be combined start over`() async throws {
        let text = "0123456789"
        let lies: [LoopbackResponse] = [
            part("bytes 6-9/10", "6789"), part("bytes 5-9/11", "56789"), part("bytes 5-9/10", "56789", ["ETag": "\"2\""]),
            part("items 5-9/10", "56789"), part("bytes 5-9/10", "567890123"),
            part("bytes 5-9/10", "56789", ["Content-Type": "multipart/byteranges; boundary=b"]),
            LoopbackResponse(status: 206, body: .data(Data("56789".utf8))),
            LoopbackResponse(status: 416, fields: ["Content-Range": "bytes */9"]), LoopbackResponse(status: 416),
            LoopbackResponse(status: 200, fields: ["ETag": "\"1\""], body: .data(Data(text.utf8))),
            // If-Range is ignored, and the range of another file is sent.
            part("bytes 5-9/10", "vwxyz", ["ETag": "\"3\""]),
        ]
        for (index, lie) in lies.enumerated() {
            let files = FileServer(Data(text.utf8))
            files.state.withLock { state in
                state.cut = { number, _ in number == 1 ? 5 : nil }
                state.answer = { number, _ in number == 2 ? lie : nil }
            }
            let server = try files.start()
            let result = try await client(server).http.get("/file").download(to: file, options: .init(replacing: true))
            #expect(try String(contentsOf: file, encoding: .utf8) == text, "lie \(index)")
            #expect(result.restarts.count == 1, "lie \(index)")
        }
    }

    @Test func `shorter and earlier parts are used`() async throws {
        for answer in [part("bytes 5-6/10", "56"), part("bytes 3-9/10", "3456789"), part("bytes 5-9/*", "56789")] {
            let files = FileServer(Data("0123456789".utf8))
            files.state.withLock { state in
                state.cut = { number, _ in number == 1 ? 5 : nil }
                state.answer = { number, _ in number == 2 ? answer : nil }
            }
            let server = try files.start()
            let result = try await client(server).http.get("/file").download(to: file, options: .init(replacing: true))
            #expect(try String(contentsOf: file, encoding: .utf8) == "0123456789" && result.restarts.isEmpty)
        }
    }

    @Test func `a server that always lies is left`() async throws {
        for lie in [part("bytes 0-4/5", "01234"), LoopbackResponse(status: 416, fields: ["Content-Range": "bytes */3"])] {
            let files = FileServer(Data("0123456789".utf8))
            files.state.withLock { $0.answer = { _, _ in lie } }
            let server = try files.start()
            #expect(await reason { _ = try await client(server).http.get("/file").download(to: file) } == .invalidAnswer)
            #expect(files.ranges.count == 4 && folder.names.isEmpty)
        }
        // A 204 contains no file.
        let files = FileServer(Data())
        files.state.withLock { $0.answer = { _, _ in .status(204) } }
        let server = try files.start()
        #expect(await reason { _ = try await client(server).http.get("/file").download(to: file) } == .invalidAnswer)
    }

    @Test func `a file that is always compressed is received as a whole`() async throws {
        let gzip = Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==") ?? Data()
        let files = FileServer(gzip)
        files.state.withLock { $0.fields = ["Content-Encoding": "gzip"] }
        let server = try files.start()
        let result = try await client(server).http.get("/file").download(to: file)
        #expect(try String(contentsOf: file, encoding: .utf8) == "hello" && result.length == 5)
        #expect(server.requests.map { $0.fields["Accept-Encoding"] == "identity" } == [true, false])
    }

    // MARK: Failures

    @Test func `failures of the server keep the partial file`() async throws {
        let files = FileServer(SeededGenerator.bytes(1_000))
        files.state.withLock { state in
            state.cut = { number, _ in number == 1 ? 400 : nil }
            state.answer = { number, _ in number == 2 ? .status(404) : nil }
        }
        let server = try files.start()
        let error = await serviceError { _ = try await client(server).http.get("/file").download(to: file) }
        #expect(error?.status == 404 && PartialDownload(to: file)?.completed == 400)
        try await #expect(client(server).http.get("/file").download(to: file).received == 600)
    }

    @Test func `destinations and options that can't be used`() async throws {
        let server = try FileServer(Data("x".utf8)).start()
        let client = client(server)
        try Data("old".utf8).write(to: file)
        #expect(await reason { _ = try await client.http.get("/file").download(to: file) } == .destinationExists)
        #expect(await reason { _ = try await client.http.get("/file").download(to: folder.url) } == .destinationExists)
        let missing = folder.url.appending(path: "none/file")
        #expect(await reason { _ = try await client.http.get("/file").download(to: missing) } == .storage)
        let long = folder.url.appending(path: String(repeating: "n", count: 250))
        #expect(await reason { _ = try await client.http.get("/file").download(to: long) } == .storage)
        let web = try #require(URL(string: "https://a.test/file"))
        #expect(await reason { _ = try await client.http.get("/file").download(to: web) } == .unusable)
        for options in [
            DownloadOptions(segments: 0), .init(segments: 17), .init(checksum: .sha256("abc")), .init(retry: RetryPolicy(attempts: 0)),
        ] {
            #expect(await reason { _ = try await client.http.get("/file").download(to: file, options: options) } == .unusable)
        }
        #expect(await reason { _ = try await client.http.post("/file").download(to: missing) } == .unusable)
        #expect(await reason { _ = try await client.http.get("/file").header(.range, "bytes=0-1").download(to: missing) } == .unusable)
        #expect(await reason { _ = try await client.transfers.download(to: missing) { _ in 1 } } == .unusable)
        #expect(server.requests.isEmpty)
        try await #expect(client.http.get("/file").download(to: file, options: .init(replacing: true)).length == 1)
        #expect(try String(contentsOf: file, encoding: .utf8) == "x")
    }

    @Test func `two downloads don't share a destination`() async throws {
        let files = FileServer(SeededGenerator.bytes(1_000))
        files.state.withLock { $0.answer = { number, _ in number == 1 ? .hang : nil } }
        let server = try files.start()
        let client = client(server)
        let target = file
        let first = client.start { _ in try await client.http.get("/file").download(to: target) }
        _ = try await server.waitForRequests(count: 1, within: .seconds(600))
        #expect(await reason { _ = try await client.http.get("/file").download(to: target) } == .locked)
        #expect(throws: TransferError.self) { try PartialDownload.discard(to: target) }
        first.cancel(reason: "enough")
        _ = await first.result
        // The transfer ends after its handle.
        try await watched { while await self.reason({ try PartialDownload.discard(to: target) }) == .locked { await Task.yield() } }
        try await #expect(client.http.get("/file").download(to: target).length == 1_000)
    }

    @Test func `a cancelled download keeps its bytes until they are discarded`() async throws {
        let data = SeededGenerator.bytes(500_000)
        let files = FileServer(data)
        files.state.withLock { state in
            state.answer = { number, _ in
                guard number == 1 else { return nil }
                return .script { wire in
                    try wire.write("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 500000\r\n\r\n")
                    try wire.write(data.prefix(100_000))
                    try wire.hang()
                }
            }
        }
        let server = try files.start()
        let client = client(server)
        let target = file
        let call = client.start { try await $0.transfers.download(to: target) { try await $0.file() } }
        for await progress in call.downloadProgress where progress.completed >= 100_000 {
            #expect(progress.total == 500_000)
            #expect(client.calls.count == 1)
            client.cancelAll(reason: "closed")
        }
        #expect((await call.result.failure as? ServiceError)?.kind == .cancelled)
        #expect(PartialDownload(to: target)?.completed == 100_000)
        try PartialDownload(to: target)?.discard()
        #expect(folder.names.isEmpty)
        try await #expect(client.http.get("/file").download(to: target).received == 500_000)
    }

    @Test func `a wait between attempts ends when the call is cancelled`() async throws {
        let files = FileServer(SeededGenerator.bytes(1_000))
        files.state.withLock { $0.cut = { _, _ in 100 } }
        let server = try files.start()
        let backoff = Backoff(base: .seconds(200), cap: .seconds(200), jitter: .none)
        let slow = RetryPolicy(attempts: 9, backoff: backoff, longestTotal: .seconds(9_000))
        let client = client(server, retry: slow)
        let target = file
        let call = client.start { try await $0.transfers.download(to: target) { try await $0.file() } }
        try await watched {
            while client.calls.first?.state != .waiting || PartialDownload(to: target)?.completed != 100 { await Task.yield() }
        }
        #expect(client.cancelAll(reason: "closed") == 1)
        #expect((await call.result.failure as? ServiceError)?.kind == .cancelled)
        #expect(PartialDownload(to: target)?.completed == 100)
    }

    @Test func `an expected digest is that of the whole file`() async throws {
        let data = SeededGenerator.bytes(100_000)
        let files = FileServer(data)
        files.state.withLock { $0.cut = { number, _ in number == 1 ? 30_000 : nil } }
        let server = try files.start()
        let digest = ContentDigest.of(data)
        let call = client(server).http.get("/file").describing { $0.attribute(ExpectedDigest(digest)) }
        #expect(try await call.download(to: file).length == 100_000)
        #expect(files.ranges.count == 2)
        let wrong = client(server).http.get("/file").describing { $0.attribute(ExpectedDigest(.of(Data()))) }
        #expect(await reason { _ = try await wrong.download(to: file, options: .init(replacing: true)) } == .checksum)
        let long = client(server).http.get("/file").describing { $0.attribute(ExpectedDigest(.of(data, .sha512))) }
        #expect(try await long.download(to: file, options: .init(replacing: true)).length == 100_000)
        // Both the call's digest and that of the options apply.
        let both = DownloadOptions(replacing: true, checksum: ContentDigest.of(data, .md5))
        #expect(try await call.download(to: file, options: both).length == 100_000)
        #expect(await reason { _ = try await wrong.download(to: file, options: both) } == .checksum)
        let invalid = client(server).http.get("/file").describing { $0.attribute(.expectedDigest(sha256: "7")) }
        let error = await #expect(throws: ServiceError.self) { try await invalid.download(to: file, options: .init(replacing: true)) }
        #expect(error?.description.contains("expected digest is invalid") == true)
    }

    @Test func `checksums`() async throws {
        let sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        let files = FileServer(Data("hello".utf8))
        let server = try files.start()
        try await #expect(
            client(server).http.get("/file").download(to: file, options: .init(checksum: .sha256(sum))).length == 5)
        let wrong = DownloadOptions(replacing: true, checksum: .sha256(String(repeating: "0", count: 64)))
        #expect(await reason { _ = try await client(server).http.get("/file").download(to: file, options: wrong) } == .checksum)
        #expect(try String(contentsOf: file, encoding: .utf8) == "hello" && folder.names == ["archive.bin"])
        files.state.withLock { $0.fields = ["Repr-Digest": "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"] }
        let options = DownloadOptions(replacing: true)
        #expect(await reason { _ = try await client(server).http.get("/file").download(to: file, options: options) } == .checksum)
        // The server's digest is kept for the continued download.
        files.state.withLock { state in
            state.fields = ["Content-MD5": "XUFAKrxLKna5cZ2REBfFkg=="]
            state.cut = { number, _ in number == 4 ? 2 : nil }
        }
        try await #expect(client(server).http.get("/file").download(to: file, options: options).requests == 2)
        files.state.withLock { state in
            state.fields = ["Content-MD5": "XUFAKrxLKna5cZ2REBfFkA=="]
        }
        #expect(await reason { _ = try await client(server).http.get("/file").download(to: file, options: options) } == .checksum)
    }

    // MARK: Segments

    @Test func `several ranges at the same time, with cuts`() async throws {
        var random = SeededGenerator(seed: 11)
        for round in 0..<Sweep.rounds(ofAll: 12) {
            let data = SeededGenerator.bytes(Int.random(in: 1...9 << 20, using: &random), seed: UInt64(round + 1))
            let cuts = (0..<60).map { _ in Double.random(in: 0.05...1, using: &random) }
            let files = FileServer(data)
            files.state.withLock { state in
                state.cut = { number, count in number > 24 || number % 3 == 0 ? nil : max(1, Int(Double(count) * cuts[number - 1])) }
            }
            let server = try files.start()
            let options = DownloadOptions(replacing: true, segments: Int.random(in: 2...6, using: &random))
            let result = try await client(server).http.get("/file").download(to: file, options: options)
            #expect(try Data(contentsOf: file) == data)
            #expect(result.restarts.isEmpty && files.ranges.first == "bytes=0-1048575")
            #expect(result.received == data.count)
            #expect(folder.names == ["archive.bin"])
        }
    }

    @Test func `segments fall back to one`() async throws {
        let data = SeededGenerator.bytes(5 << 20)
        for (tag, hasRanges) in [("W/\"1\"", true), ("\"1\"", false)] {
            let files = FileServer(data)
            files.state.withLock { ($0.tag, $0.hasRanges) = (tag, hasRanges) }
            let server = try files.start()
            let result = try await client(server).http.get("/file").download(
                to: file, options: .init(replacing: true, segments: 4))
            #expect(try Data(contentsOf: file) == data && result.requests <= 2)
        }
    }

    @Test func `segments continue in another download`() async throws {
        let data = SeededGenerator.bytes(8 << 20)
        let files = FileServer(data)
        files.state.withLock { $0.cut = { number, count in number == 1 ? nil : number < 8 ? count / 2 : nil } }
        let server = try files.start()
        var received: Int64 = 0
        var options = DownloadOptions(segments: 3)
        for _ in 0..<10 {
            let before = PartialDownload(to: file)?.completed ?? 0
            _ = await serviceError { _ = try await client(server, retry: .never).http.get("/file").download(to: file, options: options) }
            received += (PartialDownload(to: file)?.completed ?? Int64(data.count)) - before
            // Also with another number of them.
            options.segments = 1
            if FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) { break }
        }
        #expect(try Data(contentsOf: file) == data && received == data.count)
        // The file changes between the segments.
        try FileManager.default.removeItem(at: file)
        let changed = SeededGenerator.bytes(8 << 20, seed: 2)
        files.state.withLock { state in
            (state.ranges, state.cut) = ([], { _, _ in nil })
            state.answer = { [weak files] number, _ in
                if number == 2 { files?.state.withLock { ($0.data, $0.tag) = (changed, "\"2\"") } }
                return nil
            }
        }
        let result = try await client(server).http.get("/file").download(to: file, options: .init(segments: 3))
        #expect(try Data(contentsOf: file) == changed && !result.restarts.isEmpty)
    }

    // MARK: The chain

    @Test func `each request passes through the chain`() async throws {
        let data = SeededGenerator.bytes(10_000)
        let files = FileServer(data)
        files.state.withLock { $0.cut = { number, _ in number < 3 ? 3_000 : nil } }
        let server = try LoopbackServer { routes in
            routes.get("/files/:name") { _ in .redirect(to: "/real") }
            routes.guarded(by: .basicAuthentication(user: "ada", password: "secret", realm: "r")) { routes in
                routes.get("/real") { files.respond($0) }
            }
        }
        let calls = Locked(0)
        let archive = Archive(serviceRoot: server.url.absoluteString) {
            $0.retry = Archive.eager
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret")
            $0.cache = ResponseCache()
            $0.interceptors = [RequestPreparer { _ in calls.withLock { $0 += 1 } }]
        }
        let result = try await archive.transfers.download(to: file) { try await $0.named(name: "a") }
        #expect(try Data(contentsOf: file) == data && result.requests == 3 && calls.withLock { $0 } == 3)
        #expect(server.requests.filter { $0.path == "/files/a" }.count == 3)
    }
}
