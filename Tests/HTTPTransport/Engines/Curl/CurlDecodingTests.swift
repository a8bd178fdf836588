import Foundation
import TestSupport
import Testing
import WebServiceTesting

@_spi(Fuzzing) @testable import HTTPTransport

/// Coded bodies through the whole transport. The decoder has separate tests, and the conformance suite has more of these.
@Suite(
    .enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil },
    .enabled("zlib can't be opened here") { ContentCoding.gzip.isAvailable })
struct CurlDecodingTests {
    private func transport() throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        return try CurlTransport(configuration: configuration)
    }

    private func server(_ bytes: Data, _ coding: String) throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.fallback { _ in .data(bytes, type: "text/plain").with("Content-Encoding", coding) }
        }
    }

    /// 600 MB in 0.8 MB.
    private static let bomb = Data((0..<2_000).flatMap { _ in CodedSample.zeros })

    @Test(arguments: CodedSample.all) func `every coding that is offered is undone`(sample: CodedSample) async throws {
        let server = try server(sample.bytes, sample.coding.name)
        let transport = try transport()
        let progress = Locked<[TransferProgress]>([])
        var request = ServiceRequest(url: server.url)
        request.downloadProgress = { step in progress.withLock { $0.append(step) } }
        let response = try await transport.send(request)
        #expect(response.body.expectedLength == nil)
        #expect(try await response.body.collect(upTo: 100_000) == CodedSample.plain)
        #expect(response.headers[.contentEncoding] == sample.coding.name)
        #expect(response.headers[.contentLength] == String(sample.bytes.count))
        #expect(response.report?.metrics.bytesReceived == Int64(sample.bytes.count))
        let count = Int64(CodedSample.plain.count)
        #expect(progress.withLock { $0.last } == TransferProgress(completed: count, total: count))
        #expect(server.requests.first?.fields.values(of: "Accept-Encoding") == [try #require(ContentCoding.acceptable)])
    }

    @Test func `who names codings sends those, and known ones are undone all the same`() async throws {
        let sample = try #require(CodedSample.single.first)
        let server = try server(sample.bytes, "gzip")
        let transport = try transport()
        for (given, isDecoded) in [("gzip;q=0.5, br", true), ("unheard-of", true), ("Identity", false), ("", false)] {
            server.forgetRequests()
            let request = ServiceRequest(url: server.url, headers: ["Accept-Encoding": given])
            let response = try await transport.send(request)
            #expect(response.body.expectedLength == (isDecoded ? nil : Int64(sample.bytes.count)))
            #expect(try await response.body.collect(upTo: 100_000) == (isDecoded ? CodedSample.plain : sample.bytes), "\(given)")
            #expect(server.requests.first?.fields.values(of: "Accept-Encoding") == [given])
        }
        let range = ServiceRequest(url: server.url, headers: ["Range": "bytes=0-"])
        server.forgetRequests()
        #expect(try await transport.send(range).body.collect(upTo: 100_000) == sample.bytes)
        #expect(server.requests.first?.fields.values(of: "Accept-Encoding") == [])
    }

    @Test func `unknown codings leave body and length as they are`() async throws {
        for coding in ["unheard-of", "gzip, unheard-of", "unheard-of, gzip"] {
            let server = try server(Data("as it is".utf8), coding)
            let response = try await transport().send(ServiceRequest(url: server.url))
            #expect(response.body.expectedLength == 8)
            #expect(try await response.body.collect(upTo: 100) == Data("as it is".utf8))
        }
    }

    @Test func `bodies that can't be decoded are errors that name the host, also when they are read on`() async throws {
        let sample = try #require(CodedSample.single.first)
        let towers = Array(repeating: "gzip", count: 6).joined(separator: ",")
        for (bytes, coding, code) in [
            (sample.bytes.dropLast(), "gzip", TransportError.Code.truncated), (Data("plain".utf8), "gzip", .unreadableResponse),
            (sample.bytes + Data("more".utf8), "gzip", .unreadableResponse), (sample.bytes, towers, .unreadableResponse),
        ] {
            let server = try server(bytes, coding)
            let transport = try transport()
            do {
                let response = try await transport.send(ServiceRequest(url: server.url))
                let first = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 100_000) }
                let second = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 100_000) }
                #expect(first?.code == code)
                #expect(second?.code == code)
                #expect(first?.message.contains("127.0.0.1:\(server.port)") == true)
            } catch let error as TransportError {
                #expect(coding == towers && error.code == code)
            }
            // The transport goes on.
            #expect(
                try await transport.send(ServiceRequest(method: .head, url: server.url, headers: ["Accept-Encoding": "identity"])).status
                    == 200)
        }
    }

    @Test func `a connection that breaks within a coded body says so, and not that the coding does`() async throws {
        let bytes = CodedSample.stored(SeededGenerator.bytes(60_000))
        let server = try LoopbackServer { routes in
            routes.fallback { _ in
                .data(bytes.prefix(30_000)).with("Content-Encoding", "gzip").framed(.contentLength(bytes.count))
            }
        }
        let response = try await transport().send(ServiceRequest(url: server.url))
        let error = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 100_000) }
        #expect(error?.code == .truncated)
        #expect(error?.underlying is CurlError)
    }

    @Test func `a bomb is made as it is read, in small pieces, and ends with its reader's interest`() async throws {
        let server = try server(Self.bomb, "gzip")
        let transport = try transport()
        let response = try await transport.send(ServiceRequest(url: server.url))
        var iterator = response.body.makeAsyncIterator()
        for _ in 0..<50 {
            let piece = try #require(try await iterator.next())
            #expect(piece.count <= 64 * 1024 && piece.allSatisfy { $0 == 0 })
        }
        response.body.cancel()
        await #expect(throws: TransportError.self) { try await iterator.next() }
        try await server.waitForOpenConnections(atMost: 0, within: .seconds(300))

        let limited = try await transport.send(ServiceRequest(url: server.url))
        await #expect(throws: ResponseBodyTooLarge.self) { try await limited.body.collect(upTo: 1_000_000) }
        try await server.waitForOpenConnections(atMost: 0, within: .seconds(300))

        // Dropped unread, and after a piece.
        _ = try await transport.send(ServiceRequest(url: server.url))
        try await server.waitForOpenConnections(atMost: 0, within: .seconds(300))
        do {
            let dropped = try await transport.send(ServiceRequest(url: server.url))
            var iterator = dropped.body.makeAsyncIterator()
            _ = try await iterator.next()
        }
        try await server.waitForOpenConnections(atMost: 0, within: .seconds(300))
    }

    @Test func `what has come whole is cancelled too, while it still lasts for more`() async throws {
        let server = try server(Self.bomb.prefix(CodedSample.zeros.count * 20), "gzip")
        let transport = try transport()
        let response = try await transport.send(ServiceRequest(url: server.url))
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
        // By the time of the second response, the first has come whole.
        _ = try await transport.send(ServiceRequest(url: server.url))
        response.body.cancel()
        let error = await #expect(throws: TransportError.self) { try await iterator.next() }
        #expect(error?.message.contains("cancelled by its reader") == true)
    }

    @Test func `a cancelled task reads no further, though what came would give much more`() async throws {
        let server = try server(Self.bomb.prefix(CodedSample.zeros.count * 400), "gzip")
        let transport = try transport()
        let url = server.url
        let isReading = Locked(false)
        let task = Task {
            let response = try await transport.send(ServiceRequest(url: url))
            var iterator = response.body.makeAsyncIterator()
            while try await iterator.next() != nil {
                isReading.withLock { $0 = true }
                // Stays within the first pieces until it is cancelled.
                while !Task.isCancelled { await Task.yield() }
            }
        }
        try await watched {
            while !isReading.withLock({ $0 }) { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `a slow reader of a coded body slows the server down, and gets every byte`() async throws {
        let part = SeededGenerator.bytes(50_000)
        let member = CodedSample.stored(part)
        let (count, sent) = (1_000, Locked(0))
        let server = try LoopbackServer { routes in
            routes.fallback { _ in
                .script { wire in
                    try wire.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(count * member.count)\r\n\r\n")
                    for _ in 0..<count {
                        try wire.write(member)
                        sent.withLock { $0 += 1 }
                    }
                }
            }
        }
        let response = try await transport().send(ServiceRequest(url: server.url))
        var iterator = response.body.makeAsyncIterator()
        var received = try #require(try await iterator.next())
        // The server is blocked when its count stands still; a transport that takes all lets it come to its end.
        var last = -1
        while case let now = sent.withLock({ $0 }), now != last, now < count {
            last = now
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(sent.withLock { $0 } < count / 2)
        var parts = 0
        while let piece = try await iterator.next() {
            received += piece
            while received.count >= part.count {
                if received.prefix(part.count) == part { parts += 1 }
                received = Data(received.dropFirst(part.count))
            }
        }
        #expect(parts == count)
        #expect(received.isEmpty)
    }
}
