import Foundation
import Testing
import WebServiceTesting

@Suite struct LoopbackResponseTests {
    /// Returns the bytes received for one request, and how they end.
    private func exchange(
        _ response: LoopbackResponse, method: String = "GET"
    ) async throws -> (text: String, ending: RawClient.Ending) {
        let server = try LoopbackServer { $0.fallback { _ in response } }
        let client = try RawClient(port: server.port)
        try await client.send("\(method) / HTTP/1.1\r\nConnection: close\r\n\r\n")
        let (bytes, ending) = try await client.readAll()
        return (String(decoding: bytes, as: UTF8.self), ending)
    }

    // MARK: Framing

    @Test func aKnownLengthIsSent() async throws {
        #expect(
            try await exchange(.json("{}")).text
                == "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        #expect(try await exchange(.status(299)).text == "HTTP/1.1 299 Unknown\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        #expect(try await exchange(.encoded(["a": 1])).text.hasSuffix("\r\n\r\n{\"a\":1}"))
    }

    @Test(arguments: [204, 304]) func aBodylessStatusHasNoBody(status: Int) async throws {
        #expect(try await exchange(.text("hidden", status: status)).text.hasSuffix("Connection: close\r\n\r\n"))
    }

    @Test func headGetsTheHeadOfGet() async throws {
        let text = try await exchange(.text("hidden"), method: "HEAD").text
        #expect(text.contains("Content-Length: 6\r\n") && text.hasSuffix("\r\n\r\n"))
    }

    @Test func piecesAreChunksAndTrailersFollow() async throws {
        let response = LoopbackResponse.pieces([.init("hello"), .init("0123456789abcdef", after: .milliseconds(5))])
            .trailing(["X-Sum": "21"])
        #expect(
            try await exchange(response).text.hasSuffix(
                "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\nX-Sum: 21\r\n\r\n"))
    }

    @Test func theEndCanBeTheConnectionsEnd() async throws {
        #expect(try await exchange(.text("abc").framed(.untilClose)).text.hasSuffix("utf-8\r\nConnection: close\r\n\r\nabc"))
    }

    @Test func lengthsCanBeWrongOrDouble() async throws {
        #expect(try await exchange(.text("abc").framed(.contentLength(10))).text.contains("Content-Length: 10\r\n"))
        let double = try await exchange(.text("abc").framed(.chunkedWithContentLength(1))).text
        #expect(double.contains("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n") && double.hasSuffix("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"))
        #expect(try await exchange(.text("abc").with("Content-Length", "-5")).text.contains("Content-Length: -5\r\n"))
    }

    @Test func aConnectionEndsAfterAWrongLength() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .text("abc").framed(.contentLength(10)) } }
        let client = try RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.readAll().ending == .closed)
    }

    @Test func interimResponsesGoFirst() async throws {
        let text = try await exchange(.text("x").informing(103, ["Link": "</a>"]).informing(102)).text
        #expect(text.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n"))
    }

    @Test func fieldsAreSentAsTheirBytes() async throws {
        var response = LoopbackResponse(status: 200)
        response.reason = "As You Like"
        response.fields.append(LoopbackField(nameBytes: Array("X\u{E9} ".utf8), valueBytes: [0x66, 0xFF, 0x00]))
        let server = try LoopbackServer { [response] in $0.fallback { _ in response } }
        let client = try RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        let (bytes, _) = try await client.readAll()
        #expect(bytes.starts(with: Array("HTTP/1.1 200 As You Like\r\nX\u{E9} : f".utf8) + [0xFF, 0x00, 13, 10]))
    }

    @Test func rawBytesReplaceEverything() async throws {
        #expect(try await exchange(.raw("HTTP/9.9 hello\n\nrest")).text == "HTTP/9.9 hello\n\nrest")
        #expect(try await exchange(.raw([])).text.isEmpty)
    }

    @Test func redirectsAndChallengesHaveTheirFields() async throws {
        #expect(
            try await exchange(.redirect(to: "../x", status: 307)).text.hasPrefix("HTTP/1.1 307 Temporary Redirect\r\nLocation: ../x\r\n"))
        let challenged = try await exchange(.unauthorized("Basic realm=\"a\"", "Bearer")).text
        #expect(challenged.contains("WWW-Authenticate: Basic realm=\"a\"\r\nWWW-Authenticate: Bearer\r\n"))
    }

    // MARK: Large and slow bodies

    @Test func aGeneratedBodyOf200MegabytesIsSentAsItsBytesSay() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .generated(count: 200_000_001) } }
        let client = try RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(try await client.read(through: "\r\n\r\n").contains("Content-Length: 200000001\r\n"))
        let (count, isRight) = try await client.readThrough(into: (count: 0, isRight: true)) { all, bytes in
            for probe in [0, bytes.count - 1] where bytes.indices.contains(probe) {
                all.isRight = all.isRight && bytes[probe] == LoopbackResponse.Body.generatedByte(at: all.count + probe)
            }
            all.count += bytes.count
        }
        #expect(count == 200_000_001)
        #expect(isRight)
    }

    @Test func aFileIsSentWithItsLength() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("loopback-\(UUID().uuidString)")
        try Data(repeating: 66, count: 700_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let text = try await exchange(.file(file)).text
        #expect(text.contains("Content-Length: 700000\r\n") && text.hasSuffix(String(repeating: "B", count: 700_000)))
    }

    @Test func aMissingFileIsNotedAndEndsTheConnection() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .file(URL(fileURLWithPath: "/nowhere/at/all")) } }
        let client = try RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.readAll().bytes.isEmpty)
        while server.failures.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func aDripEndsWithItsClient() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .drip(Data("ab".utf8), every: .milliseconds(1)) } }
        let client = try RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.read(through: "2\r\nab\r\n2\r\nab\r\n2\r\nab\r\n").contains("chunked"))
    }

    @Test func aDelayComesBeforeTheHead() async throws {
        let begin = ContinuousClock.now
        #expect(try await exchange(.text("x").delayed(by: .milliseconds(50))).text.hasSuffix("x"))
        #expect(ContinuousClock.now - begin >= .milliseconds(50))
    }

    // MARK: Faults

    @Test func aDropComesBeforeTheHead() async throws {
        #expect(try await exchange(.drop).text.isEmpty)
    }

    @Test(arguments: [0, 1, 17, 60]) func aCutComesAfterItsByte(count: Int) async throws {
        let whole = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\n\r\nabc"
        let (text, ending) = try await exchange(.text("abc").failing(.cut(afterBytes: count)))
        #expect(text.utf8.elementsEqual(whole.utf8.prefix(count)))
        #expect(ending == .closed)
    }

    @Test func aFaultBeyondTheEndComesAtTheEnd() async throws {
        let (text, ending) = try await exchange(.text("abc").failing(.reset(afterBytes: 10_000)))
        #expect(text.hasSuffix("abc"))
        #expect(ending == .reset)
    }

    @Test(arguments: [0, 20]) func aResetIsAReset(count: Int) async throws {
        let (text, ending) = try await exchange(.text("abc").failing(.reset(afterBytes: count)))
        #expect(text.utf8.count == count)
        #expect(ending == .reset)
    }

    @Test func aHalfCloseStillReads() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .text("abc").failing(.halfClose) } }
        let client = try RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.readAll().ending == .closed)
        for _ in 0..<20 { try await client.send([UInt8](repeating: 0, count: 10_000)) }
    }

    @Test func anUnreadUploadDoesNotHideTheAnswer() async throws {
        let server = try LoopbackServer { $0.on("PUT", "/", reading: .headOnly) { _ in .text("enough", status: 413).closing() } }
        let client = try RawClient(port: server.port)
        try await client.send("PUT / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + String(repeating: "x", count: 400_000))
        #expect(try await client.readText().hasSuffix("enough"))
    }
}
