import Foundation
import TestSupport
import Testing
import WebServiceTesting

@Suite struct LoopbackServerTests {
    // MARK: Routes

    @Test func routesAreFoundByMethodAndDecodedSegments() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/users/:id") { request in .text("user \(request.parameters["id"] ?? "")") }
            routes.get("/files/*rest") { request in .text("file \(request.parameters["rest"] ?? "")") }
            routes.on("POST", "/users") { request in .text("made \(request.text)", status: 201) }
            routes.get("/") { _ in .text("root") }
        }
        let client = try RawClient(port: server.port)
        let cases = [
            ("GET /users/7", "user 7"), ("GET /users/a%2Fb%20c?x=1", "user a/b c"), ("GET /files/a/b/c", "file a/b/c"), ("GET /", "root"),
            ("GET http://other.example/users/8?y", "user 8"),
        ]
        for (line, expected) in cases {
            try await client.send("\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
            let (head, body) = try await client.readResponse()
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(body == expected)
        }
        try await client.send(
            "POST /users HTTP/1.1\r\nContent-Length: 3\r\n\r\nadaGET /nowhere HTTP/1.1\r\n\r\nDELETE /users HTTP/1.1\r\n\r\n")
        #expect(try await client.readResponse().body == "made ada")
        let missing = try await client.readResponse()
        #expect(missing.head.hasPrefix("HTTP/1.1 404 ") && missing.body == "No route fits GET /nowhere\n")
        let refused = try await client.readResponse()
        #expect(refused.head.hasPrefix("HTTP/1.1 405 ") && refused.head.contains("Allow: POST\r\n"))
        #expect(server.connectionCount == 1)
        #expect(server.requests.map(\.numberOnConnection) == Array(1...8))
        #expect(server.failures.isEmpty)
    }

    @Test func responsesComeInTurnAndTheLastStays() async throws {
        let server = try LoopbackServer { $0.on("GET", "/", inTurn: [.status(503), .text("ok")]) }
        let client = try RawClient(port: server.port)
        for status in [503, 200, 200] {
            try await client.send("GET / HTTP/1.1\r\n\r\n")
            #expect(try await client.readResponse().head.hasPrefix("HTTP/1.1 \(status) "))
        }
    }

    @Test func routesCanBeReplaced() async throws {
        let server = try LoopbackServer { $0.get("/") { _ in .text("one") } }
        let client = try RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.readResponse().body == "one")
        server.replaceRoutes { $0.get("/") { _ in .text("two") } }
        try await client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.readResponse().body == "two")
    }

    @Test func aGuardAnswersInPlaceOfTheHandler() async throws {
        let server = try LoopbackServer { routes in
            routes.guarded(by: .basicAuthentication(user: "Aladdin", password: "open:sesame", realm: "a \"cave\"")) {
                $0.get("/treasure") { _ in .text("gold") }
            }
            routes.get("/door") { _ in .text("wood") }
        }
        let client = try RawClient(port: server.port)
        try await client.send("GET /treasure HTTP/1.1\r\n\r\n")
        let refused = try await client.readResponse()
        #expect(refused.head.hasPrefix("HTTP/1.1 401 "))
        #expect(refused.head.contains("WWW-Authenticate: Basic realm=\"a \\\"cave\\\"\", charset=\"UTF-8\"\r\n"))
        try await client.send(
            "GET /treasure HTTP/1.1\r\nAuthorization: Basic \(Data("Aladdin:open:sesame".utf8).base64EncodedString())\r\n\r\n")
        #expect(try await client.readResponse().body == "gold")
        try await client.send("GET /door HTTP/1.1\r\n\r\n")
        #expect(try await client.readResponse().body == "wood")
    }

    // MARK: Requests

    @Test func theTargetIsKeptAsItsBytes() async throws {
        let server = try LoopbackServer { $0.fallback { request in .text(request.target) } }
        let client = try RawClient(port: server.port)
        let target: [UInt8] = Array("/a b/%zz//..%2f?q=1 2&\u{E9}=".utf8) + [0xFF, 0x01]
        try await client.send(Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nX-Two: 1\r\nx-two:\t 2 \r\n\r\n".utf8))
        _ = try await client.readResponse()
        let request = try #require(server.requests.first)
        #expect(request.targetBytes == target)
        #expect(request.pathSegments == ["a b", "%zz", "", "../"])
        #expect(request.fields.values(of: "X-TWO") == ["1", "2"])
        #expect(request.fields["x-Two"] == "1")
        #expect(request.fields.map(\.name) == ["X-Two", "x-two"])
    }

    @Test func queryAndFormAreDecodedByTheirOwnRules() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .status(204) } }
        let client = try RawClient(port: server.port)
        try await client.send("POST /?a=1+2&b=%26%3D&c&a=%F0%9F%98%80 HTTP/1.1\r\nContent-Length: 13\r\n\r\na=1+2&b=%2B&c")
        _ = try await client.readResponse()
        let request = try #require(server.requests.first)
        #expect(request.queryItems == [("a", "1+2"), ("b", "&="), ("c", nil), ("a", "😀")].map { URLQueryItem(name: $0, value: $1) })
        #expect(request.queryValue("b") == "&=")
        #expect(request.formItems == [("a", "1 2"), ("b", "+"), ("c", nil)].map { URLQueryItem(name: $0, value: $1) })
    }

    @Test func aChunkedBodyIsDecodedAndPipelinedRequestsFollow() async throws {
        let server = try LoopbackServer { $0.fallback { request in .text(request.text) } }
        let client = try RawClient(port: server.port)
        let chunked = "PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n"
        let other = "\r\nPUT /d HTTP/1.1\r\nContent-Length: 2\r\n\r\nok"
        for byte in (chunked + other).utf8 { try await client.send([byte]) }
        #expect(try await client.readResponse().body == "hello world")
        #expect(try await client.readResponse().body == "ok")
        #expect(server.requests.first?.trailers["x-sum"] == "11")
        #expect(server.requests.first?.bodyLength == 11)
    }

    @Test func continueIsSentBeforeTheBodyIsRead() async throws {
        let server = try LoopbackServer { routes in
            routes.on("PUT", "/early", reading: .headOnly) { _ in .status(413) }
            routes.fallback { request in .text(request.text) }
        }
        let client = try RawClient(port: server.port)
        try await client.send("PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        #expect(try await client.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        try await client.send("body")
        #expect(try await client.readResponse().body == "body")
        try await client.send("PUT /early HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        #expect(try await client.readText().hasPrefix("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n"))
    }

    @Test func anEarlyAnswerLeavesTheBodyToBeDropped() async throws {
        let server = try LoopbackServer { routes in
            routes.on("PUT", "/early", reading: .headOnly) { request in .text("\(request.bodyLength)") }
        }
        let client = try RawClient(port: server.port)
        for _ in 0..<2 {
            try await client.send("PUT /early HTTP/1.1\r\nContent-Length: 4\r\n\r\n")
            #expect(try await client.readResponse().body == "0")
            try await client.send("body")
        }
    }

    @Test(arguments: [
        ("GET /\r\n\r\n", 400), ("GET / HTTP/2.0\r\n\r\n", 505), ("GET / HTTP/1.1\r\nnothing\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400), ("PUT / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("PUT / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501), ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        ("PUT / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400),
    ])
    func aMalformedRequestIsRefusedAndNoted(request: String, status: Int) async throws {
        let server = try LoopbackServer { $0.fallback { _ in .status(200) } }
        let client = try RawClient(port: server.port)
        try await client.send(request)
        #expect(try await client.readText().hasPrefix("HTTP/1.1 \(status) "))
        #expect(server.failures.count == 1)
    }

    @Test func anEndlessHeadIsRefused() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .status(200) } }
        let client = try RawClient(port: server.port)
        try await client.send("GET / HTTP/1.1\r\nX: ")
        try? await client.send([UInt8](repeating: 65, count: 3 << 20))
        #expect(try await client.readText().hasPrefix("HTTP/1.1 431 "))
    }

    @Test func bodiesOf200MegabytesAreCountedAndKeptToTheLimit() async throws {
        let server = try LoopbackServer(options: .init(bodyLimit: 1000)) { $0.fallback { request in .text("\(request.bodyLength)") } }
        let client = try RawClient(port: server.port)
        let part = [UInt8](repeating: 7, count: 1_000_000)
        try await client.send("PUT / HTTP/1.1\r\nContent-Length: 200000000\r\n\r\n")
        for _ in 0..<200 { try await client.send(part) }
        #expect(try await client.readResponse().body == "200000000")
        let request = try #require(server.requests.first)
        #expect(request.body == Data(part.prefix(1000)))
        #expect(request.isBodyCut)
    }

    @Test func recordsKeepBodiesToTheirOwnLimit() async throws {
        let server = try LoopbackServer(options: .init(recordingLimit: 5)) { $0.fallback { request in .text(request.text) } }
        let client = try RawClient(port: server.port)
        for body in ["abc", "def", "gh"] {
            try await client.send("PUT / HTTP/1.1\r\nContent-Length: \(body.count)\r\n\r\n\(body)")
            #expect(try await client.readResponse().body == body)
        }
        #expect(server.requests.map(\.text) == ["abc", "", "gh"])
        #expect(server.requests.map(\.isBodyCut) == [false, true, false])
        server.forgetRequests()
        #expect(server.requests.isEmpty)
    }

    @Test func oldClientsAreClosedUnlessTheyAskToStay() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .pieces([.init("a"), .init("b")]) } }
        let closing = try RawClient(port: server.port)
        try await closing.send("GET / HTTP/1.0\r\n\r\n")
        #expect(try await closing.readText().hasSuffix("Connection: close\r\n\r\nab"))
        server.replaceRoutes { $0.fallback { _ in .text("ok") } }
        let staying = try RawClient(port: server.port)
        for _ in 0..<2 {
            try await staying.send("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
            #expect(try await staying.readResponse().head.contains("Connection: keep-alive\r\n"))
        }
    }

    // MARK: Handlers

    @Test func aHandlersErrorIsA500AndNoted() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/sync") { _ in throw TestingFailure("no tea") }
            routes.get("/async") { _ in
                await Task.yield()
                throw TestingFailure("no coffee")
            }
        }
        for (path, text) in [("/sync", "no tea"), ("/async", "no coffee")] {
            let client = try RawClient(port: server.port)
            try await client.send("GET \(path) HTTP/1.1\r\n\r\n")
            let answer = try await client.readResponse()
            #expect(answer.head.hasPrefix("HTTP/1.1 500 ") && answer.body == "The handler threw: \(text)\n")
        }
        #expect(server.failures.count == 2)
    }

    @Test func anAsyncHandlerIsCancelledWhenTheClientGoes() async throws {
        let (stream, cancelled) = AsyncStream.makeStream(of: Bool.self)
        let server = try LoopbackServer { routes in
            routes.get("/slow") { _ in
                do { try await Task.sleep(for: .seconds(60)) } catch { cancelled.yield(true) }
                return .text("late")
            }
        }
        do {
            let client = try RawClient(port: server.port)
            try await client.send("GET /slow HTTP/1.1\r\n\r\n")
            try await server.waitForRequests(count: 1, within: .seconds(300))
        }
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == true)
    }

    @Test func waitingEndsWithTheRequestsOrAFailureThatListsThem() async throws {
        let server = try LoopbackServer { $0.fallback { _ in .status(204) } }
        let client = try RawClient(port: server.port)
        try await client.send("GET /one HTTP/1.1\r\n\r\n")
        #expect(try await server.waitForRequests(count: 1, within: .seconds(300)).count == 1)
        let failure = await #expect(throws: TestingFailure.self) {
            try await server.waitForRequests(count: 2, within: .milliseconds(20))
        }
        #expect(failure?.description.contains("Expected 2 requests") == true)
        #expect(failure?.description.contains("GET /one") == true)
    }

    // MARK: Stopping

    @Test func stoppingEndsEverythingAtOnceAndMayBeRepeated() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/hang") { _ in .hang }
            routes.get("/late") { _ in .text("late").delayed(by: .seconds(600)) }
            routes.get("/drip") { _ in .drip(Data("x".utf8), every: .milliseconds(1)) }
            // The system's clock traps on such durations.
            routes.get("/never") { _ in .text("late").delayed(by: .seconds(Int64.max)) }
            routes.get("/stuck") { _ in .drip(Data("x".utf8), every: .seconds(1e19)) }
            routes.get("/task") { _ in
                try await Task.sleep(for: .seconds(600))
                return .status(200)
            }
        }
        var clients: [RawClient] = []
        for path in ["/hang", "/late", "/drip", "/never", "/stuck", "/task", "/task", nil] {
            let client = try RawClient(port: server.port)
            if let path { try await client.send("GET \(path) HTTP/1.1\r\n\r\n") }
            clients.append(client)
        }
        try await server.waitForRequests(count: 7, within: .seconds(300))
        server.stop()
        // A blocked thread would be abandoned after five seconds, with its connection open.
        #expect(server.openConnectionCount == 0)
        server.stop()
        for client in clients { await #expect(throws: Never.self) { try await client.readAll() } }
        #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
    }

    @Test func aHandlerMayStopItsServer() async throws {
        let server = try LoopbackServer { _ in }
        server.replaceRoutes { routes in
            routes.get("/stop") { _ in
                server.stop()
                return .status(204)
            }
        }
        let client = try RawClient(port: server.port)
        try await client.send("GET /stop HTTP/1.1\r\n\r\n")
        _ = try await client.readAll()
        server.stop()
        #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
    }

    #if os(Linux) && compiler(>=6.2)
    // In a separate process, since the tests of other suites open descriptors and threads at the same time.
    @Test func manyServersLeaveNoDescriptorsAndThreads() async throws {
        await ExitTesting.alone {
            await #expect(processExitsWith: .success) {
                ExitTesting.endLater()
                func count(_ folder: String) throws -> Int { try FileManager.default.contentsOfDirectory(atPath: folder).count }
                func serve(rounds: Int) async throws {
                    for round in 0..<rounds {
                        let server = try LoopbackServer { $0.fallback { _ in .text("ok") } }
                        let client = try RawClient(port: server.port)
                        try await client.send("GET / HTTP/1.1\r\n\r\n")
                        #expect(try await client.readResponse().body == "ok")
                        if round % 2 == 0 { server.stop() }
                    }
                }
                // The descriptors that the system opens once and keeps are open afterwards.
                try await serve(rounds: 20)
                let before = try (descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"))
                try await serve(rounds: 500)
                // Threads disappear shortly after they end. The system may still add some threads.
                var after = try (descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"))
                for _ in 0..<600 where after.descriptors > before.descriptors + 20 || after.threads > before.threads + 20 {
                    try await Task.sleep(for: .milliseconds(100))
                    after = try (count("/proc/self/fd"), count("/proc/self/task"))
                }
                #expect(after.descriptors <= before.descriptors + 20)
                #expect(after.threads <= before.threads + 20)
            }
        }
    }
    #endif
}
