import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@Suite struct CassetteTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url.appending(path: "calls.har") }

    private func json(_ text: String, to url: String, key: String? = "find()") throws -> ServiceRequest {
        try request(.post, url, key: key, body: RequestBody(Data(text.utf8), contentType: "application/json"))
    }

    private func recorded(_ stub: StubTransport, _ calls: [ServiceRequest], mode: Cassette.Mode = .once) async throws -> Cassette {
        let cassette = try Cassette(file, mode: mode)
        let transport = cassette.transport(around: stub)
        for call in calls { _ = try await transport.send(call) }
        return cassette
    }

    // MARK: Recording and replaying

    @Test func `recorded calls are replayed`() async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .inTurn(.json(#"{"a": 1.10}"#, headers: ["X-Request-Id": "1"]), .data(Data([0xFF, 0x00]), status: 203))
        stub["other()"] = .status(204)
        let calls = [
            try request(), try request(),
            try request(.post, "https://api.example/o?q=1", key: "other()", body: RequestBody(Data("x".utf8))),
        ]
        let recorder = try Cassette(file).transport(around: stub)
        var live: [TransportResponse] = []
        for call in calls { live.append(try await recorder.send(call)) }
        #expect(stub.requests.count == 3)

        // The file exists, so nothing is sent.
        let cassette = try Cassette(file)
        let replay = cassette.transport(around: StubTransport())
        for (call, expected) in zip(calls, live) {
            let response = try await replay.send(call)
            #expect(response.status == expected.status)
            #expect(response.headers == expected.headers)
            #expect(response.body.data == expected.body.data)
        }
        // The last one repeats, on any origin.
        #expect(try await replay.send(request(.get, "http://127.0.0.1:1/users/1")).status == 203)
        try cassette.expectAllCalled()
    }

    @Test func `bodies distinguish recordings`() async throws {
        let stub = StubTransport()
        stub["find()"] = .answering { .json("{\"of\": \(String(decoding: $0.body ?? Data(), as: UTF8.self))}") }
        let url = "https://api.example/find"
        _ = try await recorded(stub, [try json(#"{"q": "a", "n": 1}"#, to: url), try json(#"{"q": "b", "n": 1}"#, to: url)])

        let replay = try Cassette(file, mode: .none).transport()
        // In another order of members.
        #expect(try await text(of: replay.send(json(#"{"n": 1, "q": "b"}"#, to: url))) == #"{"of": {"q": "b", "n": 1}}"#)
        #expect(try await text(of: replay.send(json(#"{"q":"a","n":1}"#, to: url))) == #"{"of": {"q": "a", "n": 1}}"#)
        let failure = await #expect(throws: TestingFailure.self) { try await replay.send(json(#"{"q": "c", "n": 1}"#, to: url)) }
        #expect(failure?.description.contains("body at q: recorded “a”, requested “c”") == true, "\(failure as Any)")

        // A member that changes each time isn't compared.
        let lenient = try Cassette(file, mode: .none, ignoring: ["q"]).transport()
        #expect(try await lenient.send(json(#"{"q": "c", "n": 1}"#, to: url)).status == 200)
        let withoutBody = try Cassette(file, mode: .none, matching: [.path]).transport()
        #expect(try await withoutBody.send(json(#"{"n": 9}"#, to: url, key: "else()")).status == 200)
    }

    @Test func `queries match in any order of names, forms too, and multipart with any boundary`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(204))
        let form = RequestBody(Data("a=1+2&b=3".utf8), contentType: "application/x-www-form-urlencoded")
        func parts(_ boundary: String) -> RequestBody {
            let text = "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--\(boundary)--\r\n"
            return RequestBody(Data(text.utf8), contentType: "multipart/form-data; boundary=\(boundary)")
        }
        _ = try await recorded(
            stub,
            [
                try request(.get, "https://api.example/a%2Fb?x=1&y=2&x=3"), try request(.post, "https://api.example/f", body: form),
                try request(.post, "https://api.example/m", body: parts("abc")),
            ])
        let replay = try Cassette(file, mode: .none).transport()
        #expect(try await replay.send(request(.get, "https://other.example/a%2fb?y=2&x=1&x=3")).status == 204)
        await #expect(throws: TestingFailure.self) { try await replay.send(request(.get, "https://api.example/a%2Fb?x=3&y=2&x=1")) }
        let other = RequestBody(Data("b=3&a=1%202".utf8), contentType: "application/x-www-form-urlencoded")
        #expect(try await replay.send(request(.post, "https://api.example/f", body: other)).status == 204)
        #expect(try await replay.send(request(.post, "https://api.example/m", body: parts("0123456789"))).status == 204)
        let strict = try Cassette(file, mode: .none, matching: [.key, .origin, .path]).transport()
        await #expect(throws: TestingFailure.self) { try await strict.send(request(.get, "https://other.example/a%2Fb")) }
    }

    @Test func `errors of the transport are replayed`() async throws {
        let stub = StubTransport()
        var lost = TransportError(.connectionLost, "The connection to api.example ended.")
        lost.isConnectionStale = true
        stub["user(id:)"] = .inTurn(
            .failure(lost), .pieces([Data("ab".utf8), Data("cd".utf8)], failing: TransportError(.truncated, "It ended early.")),
            .status(204))
        let recorder = try Cassette(file).transport(around: stub)
        for replaying in [false, true] {
            let transport = replaying ? try Cassette(file, mode: .none).transport() : recorder
            let first = await #expect(throws: TransportError.self) { try await transport.send(request()) }
            #expect(first?.code == .connectionLost && first?.isConnectionStale == true && first?.message == lost.message)
            let body = try await transport.send(request()).body
            var pieces: [Data] = []
            let second = await #expect(throws: TransportError.self) { for try await piece in body { pieces.append(piece) } }
            #expect(second?.code == .truncated && pieces == [Data("ab".utf8), Data("cd".utf8)])
            #expect(try await transport.send(request()).status == 204)
        }
    }

    @Test func `streams are passed on while they are recorded, and replayed in their pieces`() async throws {
        let stub = StubTransport()
        let pieces = (0..<4).map { Data("data: \($0)\n\n".utf8) }
        stub["user(id:)"] = .pieces(pieces)
        let recorder = try Cassette(file).transport(around: stub)
        var whole = try await recorder.send(request()).body.makeAsyncIterator()
        #expect(try await whole.next() == pieces[0])
        while try await whole.next() != nil {}
        do {
            var part = try await recorder.send(request()).body.makeAsyncIterator()
            #expect(try await part.next() == pieces[0])
        }
        let cassette = try Cassette(file, mode: .none)
        #expect(cassette.exchanges.map(\.isCut) == [false, true])
        let replay = cassette.transport()
        var received: [Data] = []
        for try await piece in try await replay.send(request()).body { received.append(piece) }
        #expect(received == pieces)
        var part = try await replay.send(request()).body.makeAsyncIterator()
        #expect(try await part.next() == pieces[0])
        let failure = await #expect(throws: TestingFailure.self) { try await part.next() }
        #expect(failure?.description.contains("its reader stopped after 9 bytes") == true)
    }

    @Test(arguments: ["", "[1]", "\u{FEFF}", "é"]) func `a byte order mark stays part of a body`(text: String) async throws {
        let body = Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8)
        let stub = StubTransport()
        stub["find()"] = .inTurn(.pieces([body.prefix(1), body.dropFirst()]), .data(body, type: "application/json"))
        let calls = try ["/a", "/b"].map { path in
            try request(
                .post, "https://api.example\(path)", key: "find()", body: RequestBody(body, contentType: "text/plain; charset=utf-8"))
        }
        let recorder = try Cassette(file).transport(around: stub)
        for call in calls { #expect(try await recorder.send(call).body.collect(upTo: 100) == body) }
        let cassette = try Cassette(file, mode: .none)
        #expect(cassette.exchanges.map(\.requestBody) == [body, body] && cassette.exchanges.map(\.pieces.count) == [2, 0])
        for call in calls { #expect(try await cassette.transport().send(call).body.collect(upTo: 100) == body) }
    }

    @Test func `bodies of streams are sent once and compared`() async throws {
        let stub = StubTransport()
        stub["up()"] = .status(201)
        let body = RequestBody(contentType: "application/octet-stream") {
            AsyncThrowingStream { stream in
                for byte in UInt8.min...3 { stream.yield(Data([byte, 0xFF])) }
                stream.finish()
            }
        }
        _ = try await recorded(stub, [try request(.put, "https://api.example/up", key: "up()", body: body)])
        #expect(stub.requests[0].body == Data([0, 0xFF, 1, 0xFF, 2, 0xFF, 3, 0xFF]))
        let replay = try Cassette(file, mode: .none).transport()
        #expect(try await replay.send(request(.put, "https://api.example/up", key: "up()", body: body)).status == 201)
        let other = RequestBody(Data([0xFF]), contentType: "application/octet-stream")
        await #expect(throws: TestingFailure.self) {
            try await replay.send(request(.put, "https://api.example/up", key: "up()", body: other))
        }
        // Secrets can't be found in a compressed body, so it stays out of the file.
        let gzip = try request(
            .put, "https://api.example/zip", key: "up()", headers: ["Content-Encoding": "gzip"], body: RequestBody(Data("hush".utf8)))
        let added = try await recorded(stub, [gzip], mode: .new)
        #expect(added.exchanges.last?.isRequestBodyOmitted == true && added.exchanges.last?.requestBody.isEmpty == true)
        #expect(try await Cassette(file, mode: .none).transport().send(gzip).status == 201)
    }

    // MARK: Modes

    @Test func `each mode sends its kind of requests`() async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .inTurn(.text("1"), .text("2"), .text("3"), .text("4"), .text("5"))
        let (one, two) = (try request(), try request(.get, "https://api.example/users/2"))
        #expect(throws: TestingFailure.self) { try Cassette(file, mode: .none) }
        _ = try await recorded(stub, [one])
        let once = try Cassette(file).transport(around: stub)
        #expect(try await text(of: once.send(one)) == "1")
        await #expect(throws: TestingFailure.self) { try await once.send(two) }

        // New requests are sent each time, and known requests aren't.
        let new = try Cassette(file, mode: .new).transport(around: stub)
        #expect(try await text(of: new.send(one)) == "1")
        #expect(try await text(of: new.send(two)) == "2")
        #expect(try await text(of: new.send(two)) == "3")
        let none = try Cassette(file, mode: .none).transport(around: stub)
        #expect(try await text(of: none.send(two)) == "2")
        #expect(try await text(of: none.send(two)) == "3")

        // Everything is sent; what isn't requested stays.
        let all = try Cassette(file, mode: .all)
        #expect(try await text(of: all.transport(around: stub).send(two)) == "4")
        #expect(all.exchanges.map { String(decoding: $0.responseBody ?? Data(), as: UTF8.self) } == ["1", "4"])
        #expect(stub.requests.count == 4)
        #expect(try Cassette.exchanges(of: file).count == 2)
    }

    @Test func `a call that fails without an outcome keeps the old recording`() async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .inTurn(.text("1"), .failure(CancellationError()))
        _ = try await recorded(stub, [try request()])
        let all = try Cassette(file, mode: .all)
        await #expect(throws: CancellationError.self) { try await all.transport(around: stub).send(request()) }
        try all.save()
        #expect(try Cassette.exchanges(of: file).count == 1)
    }

    @Test(arguments: Cassette.Expiry.Action.allCases) func `expired recordings are reported, refused or recorded again`(
        action: Cassette.Expiry.Action
    ) async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .inTurn(.text("old"), .text("new"))
        _ = try await recorded(stub, [try request()])
        let later = Date().addingTimeInterval(40 * 86_400)
        let cassette = try Cassette(file, expiry: .days(30, then: action), now: { later })
        let transport = cassette.transport(around: stub)
        switch action {
        case .warn:
            #expect(try await text(of: transport.send(request())) == "old")
            #expect(cassette.warnings.count == 1 && cassette.warnings[0].contains("expired"), "\(cassette.warnings)")
        case .fail:
            let failure = await #expect(throws: TestingFailure.self) { try await transport.send(request()) }
            #expect(failure?.description.contains("expired") == true)
        case .recordAgain:
            #expect(try await text(of: transport.send(request())) == "new")
            #expect(try Cassette.exchanges(of: file).map(\.responseBody) == [Data("new".utf8)])
            let none = try Cassette(file, mode: .none, expiry: .days(0, then: .recordAgain), now: { later.addingTimeInterval(1) })
            await #expect(throws: TestingFailure.self) { try await none.transport(around: stub).send(request()) }
        }
        let young = try Cassette(file, expiry: .days(30, then: .fail)).transport(around: stub)
        #expect(try await young.send(request()).status == 200)
    }

    @Test(arguments: [Duration.seconds(1e19), .seconds(Int64.max), .milliseconds(500)])
    func `an expiry has any length`(age: Duration) async throws {
        let stub = StubTransport()
        stub["user(id:)"] = .text("old")
        _ = try await recorded(stub, [try request()])
        let start = try #require(try Cassette.exchanges(of: file).first).startedAt
        let cassette = try Cassette(file, mode: .none, expiry: .after(age, then: .warn), now: { start.addingTimeInterval(0.25) })
        #expect(try await text(of: cassette.transport().send(request())) == "old")
        #expect(cassette.warnings.isEmpty)
    }

    @Test func `unused recordings are listed, and an unknown request is compared with the nearest recording`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(204))
        let calls = [
            try request(), try request(.get, "https://api.example/issues?page=1&state=open", key: "issues(page:)"),
            try request(.delete, "https://api.example/users/1", key: "remove(id:)"),
        ]
        let recorder = try await recorded(stub, calls)
        #expect(recorder.uncalledKeys.isEmpty)
        let cassette = try Cassette(file, mode: .none)
        let replay = cassette.transport()
        _ = try await replay.send(calls[0])
        #expect(cassette.uncalledKeys == ["issues(page:)", "remove(id:)"])
        let failure = #expect(throws: TestingFailure.self) { try cassette.expectAllCalled() }
        #expect(failure?.description.contains("2 of 3 recordings") == true)
        let missing = await #expect(throws: TestingFailure.self) {
            try await replay.send(request(.get, "https://api.example/issues?page=2&token=hush&state=open", key: "issues(page:)"))
        }
        let text = missing?.description ?? ""
        #expect(text.contains("The nearest of 3 is GET https://api.example/issues?page=1&state=open of “issues(page:)”"), "\(text)")
        #expect(text.contains("query item “page”: recorded “1”, requested “2”"), "\(text)")
        #expect(text.contains("query item “token”: recorded none, requested “<masked>”") && !text.contains("hush"), "\(text)")
    }

    // MARK: The file

    @Test func `concurrent calls are recorded in the order of their requests`() async throws {
        let stub = StubTransport()
        stub.fallback(
            StubAnswer { TransportResponse(status: 200, url: $0.request.url, body: ResponseBody(Data($0.request.url.path.utf8))) })
        let cassette = try Cassette(file)
        let transport = cassette.transport(around: stub)
        let calls = try (0..<40).map { try request(.get, "https://api.example/n/\($0)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for call in calls { group.addTask { _ = try await text(of: transport.send(call)) } }
            try await group.waitForAll()
        }
        try cassette.save()
        let exchanges = try Cassette.exchanges(of: file)
        #expect(exchanges.count == 40 && exchanges.map(\.url) == cassette.exchanges.map(\.url))
        // No temporary file is left.
        #expect(folder.names == ["calls.har"])
        let replay = try Cassette(file, mode: .none).transport()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, call) in calls.enumerated() {
                group.addTask {
                    let found = try await text(of: replay.send(call))
                    #expect(found == "/n/\(number)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a file that can't be written fails the call`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(204))
        let blocked = folder.url.appending(path: "taken")
        try Data().write(to: blocked)
        let cassette = try Cassette(blocked.appending(path: "calls.har"))
        let failure = await #expect(throws: TestingFailure.self) { try await cassette.transport(around: stub).send(request()) }
        #expect(failure?.description.contains("calls.har can't be written") == true)
        let socket = try request(.get, "https://api.example/")
        #expect(!cassette.transport(around: stub).capabilities.contains(.webSockets) && socket.url.path == "/")
    }

    @Test func `a relative path begins at the calling file`() throws {
        let failure = #expect(throws: TestingFailure.self) { try Cassette("no-such.har", mode: .none) }
        #expect(failure?.description.contains("no-such.har") == true)
        try HARReaderTests.browser.write(to: folder.url.appending(path: "a.har"))
        let cassette = try Cassette("a.har", source: folder.url.appending(path: "Tests.swift").path(percentEncoded: false))
        #expect(cassette.exchanges.count == 4)
    }
}
