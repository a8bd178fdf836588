import Foundation
import Testing

@testable import WebServiceClient

@Suite struct AuthenticationInterceptorTests {
    /// A provider that answers each challenge with its next token, and records its calls.
    private final class Tokens: AuthenticationProvider {
        struct Failure: Error {}

        let tokens: [String]
        let failing: String?
        let log = Locked<[String]>([])

        init(_ tokens: String..., failing: String? = nil) {
            self.tokens = tokens
            self.failing = failing
        }

        private func note(_ event: String) throws {
            log.withLock { $0.append(event) }
            if event == failing { throw Failure() }
        }

        private func put(_ token: String, _ attempt: inout AuthenticationAttempt) {
            attempt.request.headers[attempt.target.credentialsField] = token
            attempt.memo = token
        }

        func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
            try note("authorize")
            if let first = tokens.first { put(first, &attempt) }
        }

        func respond(
            to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt,
            context: CallContext
        ) async throws -> Bool {
            try note("respond \(attempt.round) \(attempt.memo as? String ?? "-") \(challenges.map(\.scheme).joined())")
            guard attempt.round + 1 < tokens.count else { return false }
            put(tokens[attempt.round + 1], &attempt)
            return true
        }

        func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse {
            try note("check \(response.status) \(attempt.memo as? String ?? "-")")
            return response
        }

        var isSessionOpened: Bool { false }
        func invalidate() async {}
        var events: [String] { log.withLock { $0 } }
    }

    @Test func `credentials are added, and the response is shown to the provider`() async throws {
        let server = StubServer { _, _ in .stub(200) }
        let provider = Tokens("T1")
        #expect(try await server.send(provider).status == 200)
        #expect(server.authorizations == ["T1"])
        #expect(provider.events == ["authorize", "check 200 T1"])
    }

    @Test(
        arguments: [
            ("https://api.test/a", "http://api.test", false), ("http://api.test:81/a", "http://api.test", false),
            ("http://evil.test/a", "http://api.test", false), ("http://api.test/a", nil, false),
            ("http://api.test/a", "http://api.test", true),
        ] as [(String, String?, Bool)])
    func `nothing goes to another origin or a foreign call, and its 401 isn't answered`(url: String, root: String?, isForeign: Bool)
        async throws
    {
        let server = StubServer { _, _ in .stub(401, ["WWW-Authenticate": "Basic realm=x"]) }
        let provider = Tokens("T1", "T2")
        let response = try await server.send(.stub(url), provider, context: .stub(origin: root, isForeign: isForeign))
        #expect(response.status == 401)
        #expect(server.authorizations == ["-"])
        #expect(provider.events.isEmpty)
    }

    @Test func `the default port and case of the host make no other origin`() async throws {
        let server = StubServer { _, _ in .stub(200) }
        _ = try await server.send(.stub("HTTP://API.test:80/a"), Tokens("T1"))
        #expect(server.authorizations == ["T1"])
    }

    @Test func `a refusal is answered, and three times at most`() async throws {
        let server = StubServer { _, _ in .stub(401, ["WWW-Authenticate": "X a=b, Y"], ResponseBody(Data("no".utf8))) }
        let provider = Tokens("T1", "T2", "T3", "T4", "T5", "T6")
        let response = try await server.send(provider)
        #expect(response.status == 401)
        #expect(try await response.body.collect(upTo: 10) == Data("no".utf8))
        #expect(server.authorizations == ["T1", "T2", "T3", "T4"])
        #expect(provider.events == ["authorize", "respond 0 T1 XY", "respond 1 T2 XY", "respond 2 T3 XY"])
    }

    @Test func `a provider that gives up lets the refusal through, body and all`() async throws {
        let server = StubServer { _, _ in .stub(401, [:], ResponseBody(Data("no".utf8))) }
        let response = try await server.send(Tokens("T1"))
        #expect(try await response.body.collect(upTo: 10) == Data("no".utf8))
        #expect(server.requests.count == 1)
    }

    @Test func `the caller's own field is replaced by credentials, and kept without`() async throws {
        let server = StubServer { _, _ in .stub(200) }
        var request = ServiceRequest.stub()
        request.headers[.authorization] = "own"
        _ = try await server.send(request, Tokens("T1"))
        _ = try await server.send(request, Tokens())
        _ = try await server.send(request, nil)
        #expect(server.authorizations == ["T1", "own", "own"])
    }

    @Test func `of a refusal a short body is read to its end before the repeat, and a long one is cancelled`() async throws {
        let log = Locked<[String]>([])
        @Sendable func body(_ length: Int64?, pieces: Int) -> ResponseBody {
            let left = Locked(pieces)
            return ResponseBody(
                expectedLength: length,
                next: {
                    let isLeft = left.withLock {
                        $0 -= 1
                        return $0 >= 0
                    }
                    log.withLock { $0.append(isLeft ? "piece" : "end") }
                    return isLeft ? Data(count: 40_000) : nil
                }, cancel: { log.withLock { if $0.last != "cancel" { $0.append("cancel") } } })
        }
        func events(_ length: Int64?, pieces: Int) async throws -> [String] {
            log.withLock { $0 = [] }
            let server = StubServer { _, number in
                log.withLock { $0.append("request") }
                return number == 0 ? .stub(401, [:], body(length, pieces: pieces)) : .stub(200)
            }
            _ = try await server.send(Tokens("T1", "T2"))
            return log.withLock { $0 }
        }
        #expect(try await events(40_000, pieces: 1).prefix(4) == ["request", "piece", "end", "cancel"])
        #expect(try await events(nil, pieces: 1).contains("end"))
        #expect(try await events(400_000, pieces: 10).prefix(2) == ["request", "cancel"])
        let unknown = try await events(nil, pieces: 10)
        #expect(unknown.filter { $0 == "piece" }.count == 2)
        #expect(unknown.contains("cancel") && unknown.filter { $0 == "request" }.count == 2)
    }

    @Test func `a body is sent again if it can be read again`() async throws {
        let server = StubServer { _, number in .stub(number == 0 ? 401 : 200) }
        let response = try await server.send(.stub(method: .post, body: RequestBody(Data("body".utf8))), Tokens("T1", "T2"))
        #expect(response.status == 200)
        #expect(server.requests.map { $0.body?.data } == [Data("body".utf8), Data("body".utf8)])
    }

    @Test func `a body that can be read only once isn't sent again: the refusal is delivered, and that is reported`() async throws {
        let reports = Locked<[String]>([])
        let diagnostics = Diagnostics { event in reports.withLock { $0.append(event.message) } }
        let server = StubServer { _, _ in .stub(401, [:], ResponseBody(Data("no".utf8))) }
        let response = try await server.send(
            .stub(method: .post, body: .once()), Tokens("T1", "T2"), context: .stub(diagnostics: diagnostics))
        #expect(response.status == 401)
        #expect(try await response.body.collect(upTo: 10) == Data("no".utf8))
        #expect(server.requests.count == 1)
        #expect(reports.withLock { $0 }.first?.contains("replayable stream") == true)
    }

    @Test func `a cancelled call isn't repeated`() async throws {
        let server = StubServer { _, _ in
            withUnsafeCurrentTask { $0?.cancel() }
            return .stub(401)
        }
        let task = Task { try await server.send(Tokens("T1", "T2")) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["authorize", "respond 0 T1 ", "check 200 T2"])
    func `a provider's error ends the call, and the transfer`(failing: String) async throws {
        let isCancelled = Locked(false)
        let body = Locked<ResponseBody?>(
            ResponseBody(expectedLength: nil, next: { nil }, cancel: { isCancelled.withLock { $0 = true } }))
        let server = StubServer { _, number in .stub(number == 0 ? 401 : 200, [:], body.withLock { $0 } ?? ResponseBody()) }
        await #expect(throws: Tokens.Failure.self) { try await server.send(Tokens("T1", "T2", failing: failing)) }
        #expect(isCancelled.withLock { $0 } == (failing != "authorize"))
    }

    @Test func `a proxy's 407 is for the proxy's provider, a 401 for the server's`() async throws {
        let server = StubServer { request, _ in
            guard request.headers[.proxyAuthorization] == "P2" else { return .stub(407, ["Proxy-Authenticate": "P"]) }
            guard request.headers[.authorization] == "T2" else { return .stub(401, ["WWW-Authenticate": "T"]) }
            return .stub(200)
        }
        let provider = Tokens("T1", "T2")
        // The proxy's first token isn't sent preemptively.
        let proxy = Tokens("P2")
        #expect(try await server.send(provider, proxy: proxy).status == 200)
        #expect(provider.events == ["authorize", "respond 0 T1 T", "check 200 T2"])
        #expect(proxy.events == ["authorize", "check 401 P2", "authorize", "check 200 P2"])

        let late = Tokens("P1", "P2")
        let other = Tokens("T2")
        #expect(try await server.send(other, proxy: late).status == 200)
        #expect(late.events == ["authorize", "respond 0 P1 P", "check 200 P2"])
        #expect(other.events == ["authorize", "authorize", "check 200 T2"])
    }

    @Test func `without a proxy's provider a 407 is delivered, and says nothing about the server`() async throws {
        let server = StubServer { _, _ in .stub(407, ["Proxy-Authenticate": "Basic realm=x"]) }
        let provider = Tokens("T1", "T2")
        #expect(try await server.send(provider).status == 407)
        #expect(provider.events == ["authorize"])
    }

    @Test func `the proxy's credentials don't enter the tunnel of an https request`() async throws {
        let server = StubServer { _, _ in .stub(407, ["Proxy-Authenticate": "Basic realm=x"]) }
        let proxy = Tokens("P1", "P2")
        let response = try await server.send(.stub("https://api.test/"), nil, proxy: proxy)
        #expect(response.status == 407)
        #expect(proxy.events.isEmpty && server.requests.first?.headers.isEmpty == true)
    }

    @Test func `a proxy's refusal of a tunnel is answered where the transport opens tunnels`() async throws {
        let server = StubServer { request, number in
            var refusal = TransportResponse.stub(407, ["Proxy-Authenticate": "P"])
            refusal.isTunnelRefusal = true
            return request.headers[.proxyAuthorization] == "P2" ? .stub(200) : refusal
        }
        let proxy = Tokens("P1", "P2")
        let response = try await server.send(.stub("https://api.test/"), nil, proxy: proxy, opensTunnels: true)
        #expect(response.status == 200)
        #expect(proxy.events == ["authorize", "respond 0 P1 P"])
    }

    @Test func `a 407 that comes through the tunnel is the server's, and nobody answers it`() async throws {
        let server = StubServer { _, _ in .stub(407, ["Proxy-Authenticate": "P"]) }
        let proxy = Tokens("P1", "P2")
        let response = try await server.send(.stub("https://api.test/"), nil, proxy: proxy, opensTunnels: true)
        #expect(response.status == 407)
        #expect(proxy.events == ["authorize"])
    }

    @Test func `a proxy sees a request of its own for a tunnel`() {
        let attempt = AuthenticationAttempt(request: .stub("https://api.test/a?b", method: .post), target: .proxy)
        #expect(attempt.seenMethod == "CONNECT" && attempt.seenTarget == "api.test:443")
        let plain = AuthenticationAttempt(request: .stub("http://api.test/a?b", method: .post), target: .proxy)
        #expect(plain.seenMethod == .post && plain.seenTarget == "http://api.test/a?b")
        let origin = AuthenticationAttempt(request: .stub("https://[::1]:8443/a?b"), target: .origin)
        #expect(origin.seenMethod == .get && origin.seenTarget == "/a?b")
        #expect(AuthenticationAttempt(request: .stub("https://[::1]:8443/a"), target: .proxy).seenTarget == "[::1]:8443")
    }

    @Test func `the stage shows nothing of its providers`() {
        let stage = AuthenticationInterceptor(
            BasicAuthenticationProvider(user: "ada", password: "hunter2"),
            proxy: DigestAuthenticationProvider(user: "ada", password: "hunter2"))
        var text = "\(stage) \(String(reflecting: stage))"
        dump(stage, to: &text)
        #expect(!text.contains("hunter2") && !text.contains("ada"))
    }
}
