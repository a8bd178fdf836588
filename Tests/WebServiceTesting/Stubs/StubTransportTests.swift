import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct StubTransportTests {
    @Test func answersComeByKey() async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .json(#"{"id":1}"#, status: 201, headers: ["X-A": "b"])
        let response = try await stub.send(request())
        #expect(response.status == 201)
        #expect(response.headers["content-type"] == "application/json")
        #expect(response.headers["X-A"] == "b")
        #expect(response.url.absoluteString == "https://api.example/users/1")
        #expect(try await text(of: response) == #"{"id":1}"#)
        #expect(stub["user(id:)"] != nil)
        #expect(stub.capabilities.contains([.http2, .trailers]))
    }

    @Test func answersOfEveryKindAreGiven() async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .inTurn(
            .status(204), try .encoded(["a"]), .text("t"), .data(Data([1, 2]), type: "x/y"), .redirect(to: "/there", status: 307),
            .answering { request in .text(request.pathSegments.joined(separator: "+")) },
            StubAnswer { request in TransportResponse(status: 299, url: request.request.url) },
            .pieces([Data("ab".utf8), Data("cd".utf8)]))
        var answers: [String] = []
        for _ in 0..<9 {
            let response = try await stub.send(request())
            answers.append(
                "\(response.status) \(response.headers["Content-Type"] ?? response.headers["Location"] ?? "-") \(try await text(of: response))"
            )
        }
        #expect(
            answers == [
                "204 - ", #"200 application/json ["a"]"#, "200 text/plain; charset=utf-8 t", "200 x/y \u{1}\u{2}", "307 /there ",
                "200 text/plain; charset=utf-8 users+1", "299 - ", "200 - abcd", "200 - abcd",
            ])
    }

    @Test func failuresAreThrown() async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .failure(TransportError(.cannotConnect, "nobody there"))
        let error = await #expect(throws: TransportError.self) { try await stub.send(request()) }
        #expect(error?.code == .cannotConnect)
        stub["user(id:)"] = .pieces([Data("ab".utf8)], failing: TransportError(.truncated, "cut"))
        let response = try await stub.send(request())
        await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 100) }
    }

    @Test func routesAndTheFallbackAnswerRequestsWithoutAKey() async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .text("by key")
        stub.on(.get, "/users/:id", .answering { .text("route \($0.parameters["id"] ?? "")") })
        #expect(try await text(of: stub.send(request())) == "by key")
        #expect(try await text(of: stub.send(request(key: "other()"))) == "route 1")
        stub.fallback(.text("rest"))
        #expect(try await text(of: stub.send(request(.post, key: "other()"))) == "rest")
        #expect(stub.requests.map(\.key) == ["user(id:)", "other()", "other()"])
        #expect(try await text(of: stub.send(request(.get, "https://a.example/b?c", key: nil))) == "rest")
        #expect(stub.callCount(for: "GET /b") == 1)
    }

    @Test func aMissingAnswerNamesTheNearestKey() async throws {
        let stub = StubTransport()
        var failure = await #expect(throws: TestingFailure.self) { try await stub.send(request()) }
        #expect(failure?.description.contains("Nothing is stubbed yet") == true)
        stub["user(ids:)"] = .status(200)
        failure = await #expect(throws: TestingFailure.self) {
            try await stub.send(request(.get, "https://ada:secret@api.example/users/1?token=hidden"))
        }
        let text = try #require(failure?.description)
        #expect(text.contains("“user(id:)”") && text.contains("nearest key with an answer is “user(ids:)”"))
        #expect(!text.contains("secret") && !text.contains("hidden"))
    }

    @Test func bodiesAreReadAndProgressIsReported() async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .status(204)
        let body = RequestBody(length: 4) {
            AsyncThrowingStream { continuation in
                for piece in ["ab", "cd"] { continuation.yield(Data(piece.utf8)) }
                continuation.finish()
            }
        }
        let (progress, continuation) = AsyncStream.makeStream(of: TransferProgress.self)
        var upload = try request(.put, body: body)
        upload.uploadProgress = { continuation.yield($0) }
        _ = try await stub.send(upload)
        #expect(stub.requests(for: "user(id:)").first?.body == Data("abcd".utf8))
        var iterator = progress.makeAsyncIterator()
        #expect(await iterator.next() == TransferProgress(completed: 4, total: 4))
    }

    @Test func delaysAreMeasuredByTheGivenClock() async throws {
        let clock = ManualClock()
        let stub = StubTransport(clock: clock)
        stub["user(id:)"] = .text("late").delayed(by: .seconds(3600))
        async let response = stub.send(request())
        try await clock.waitForSleepers(count: 1, within: .seconds(300))
        clock.advance(by: .seconds(3600))
        #expect(try await text(of: response) == "late")
    }

    @Test(arguments: [.never, .text("late").delayed(by: .seconds(Int64.max))] as [StubAnswer])
    func cancellingEndsAnAnswerThatNeverComes(answer: StubAnswer) async throws {
        let stub = StubTransport()
        stub["user(id:)"] = answer
        let call = Task { try await stub.send(request()) }
        while stub.callCount(for: "user(id:)") == 0 { await Task.yield() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func countsGoOnBeyondTheRecordingLimit() async throws {
        let stub = StubTransport(recordingLimit: 2)
        stub["user(id:)"] = .status(204)
        for _ in 0..<5 { _ = try await stub.send(request()) }
        #expect(stub.requests.count == 2)
        try stub.expect("user(id:)", calledTimes: 5)
        stub.forgetRequests()
        try stub.expect("user(id:)", calledTimes: 0)
    }
}
