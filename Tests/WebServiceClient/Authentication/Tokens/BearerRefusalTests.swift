import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// A bearer token provider after refusals, and with its store.
@Suite struct BearerRefusalTests {
    private let clock = HandClock()

    private func numbered() -> CountingSource { CountingSource { number, _ in BearerToken("t\(number)", lifetime: .seconds(3600)) } }

    private func provider(_ source: any TokenSource, store: any TokenStore = MemoryTokenStore()) -> BearerTokenProvider {
        func open(_ source: some TokenSource) -> BearerTokenProvider { clock.provide { BearerTokenProvider(source, store: store) } }
        return open(source)
    }

    /// A store that records, and fails when asked to.
    final class RecordingStore: TokenStore {
        let token: Locked<BearerToken?>
        let saved = Locked<[String?]>([])
        let fails: Bool

        init(_ token: BearerToken? = nil, fails: Bool = false) {
            self.token = Locked(token)
            self.fails = fails
        }

        func load() async throws -> BearerToken? { token.withLock { $0 } }

        func save(_ token: BearerToken?) async throws {
            if fails { throw TokenStoreError(message: "The disk is full.") }
            self.token.withLock { $0 = token }
            saved.withLock { $0.append(token?.value) }
        }
    }

    // MARK: Challenges

    @Test(arguments: [
        (#"Bearer error="invalid_token""#, 2), ("Bearer", 2), ("", 2), ("Basic realm=x", 2), (#"Bearer error="invalid_request""#, 1),
        (#"Basic realm=x, bearer realm="y", error="INVALID_TOKEN", error_description="expired""#, 2),
    ]) func `a refused token is replaced, unless the request is at fault`(challenge: String, sent: Int) async throws {
        let source = numbered()
        let server = StubServer { _, number in .stub(number == 0 ? 401 : 200, challenge.isEmpty ? [:] : ["WWW-Authenticate": challenge]) }
        #expect(try await server.send(provider(source)).status == (sent == 2 ? 200 : 401))
        #expect(server.authorizations == Array(["Bearer t1", "Bearer t2"].prefix(sent)))
        #expect(source.calls == sent)
    }

    @Test(arguments: [401, 403]) func `a token without the scope isn't replaced, and the error names the scope`(status: Int) async throws {
        let source = numbered()
        let field = #"Bearer error="insufficient_scope", scope="orders.write admin", error_description="no""#
        let server = StubServer { _, _ in .stub(status, ["WWW-Authenticate": field]) }
        let error = await #expect(throws: InsufficientScopeError.self) { try await server.send(provider(source)) }
        #expect(error?.scopes == ["orders.write", "admin"])
        #expect(error?.description.contains("orders.write admin") == true && error?.detail == "no")
        #expect(source.calls == 1 && server.requests.count == 1)
    }

    @Test(arguments: [401, 403]) func `a server that repeats the token doesn't get it into the error`(status: Int) async throws {
        for token in ["s3cr3t-opaque", String(repeating: "s3cr3t", count: 300)] {
            let field = "Bearer error=\"insufficient_scope\", scope=\"\(token) b\", error_description=\"\(token) may not: \(token)\""
            let server = StubServer { _, _ in .stub(status, ["WWW-Authenticate": field]) }
            let error = await #expect(throws: InsufficientScopeError.self) {
                try await server.send(provider(CountingSource { _, _ in BearerToken(token) }))
            }
            #expect(error?.scopes == ["<masked>", "b"] && error?.detail == "<masked> may not: <masked>")
        }
    }

    @Test func `another 403 is the caller's`() async throws {
        let server = StubServer { _, _ in .stub(403, ["WWW-Authenticate": #"Bearer error="invalid_token""#]) }
        #expect(try await server.send(provider(numbered())).status == 403)
        #expect(server.requests.count == 1)
    }

    @Test func `a predicate finds other refusals`() async throws {
        let source = numbered()
        let provider = clock.provide { BearerTokenProvider(source, isRefusal: { $0.status == 400 }) }
        let server = StubServer { _, number in .stub(number == 0 ? 400 : 200) }
        #expect(try await server.send(provider).status == 200)
        #expect(server.authorizations == ["Bearer t1", "Bearer t2"])
    }

    @Test func `a body that can't be sent again: the caller gets the refusal, the next call has a new token`() async throws {
        let source = numbered()
        let provider = provider(source)
        let server = StubServer { _, number in .stub(number == 0 ? 401 : 200) }
        #expect(try await server.send(.stub(method: .post, body: .once()), provider).status == 401)
        #expect(try await server.send(.stub(method: .post, body: .once()), provider).status == 200)
        #expect(server.authorizations == ["Bearer t1", "Bearer t2"])
        #expect(source.calls == 2)
    }

    @Test func `a service that refuses every token gets few of them, and one replay per call`() async throws {
        let source = numbered()
        let provider = provider(source)
        let server = StubServer { _, _ in .stub(401) }
        for _ in 0..<20 { #expect(try await server.send(provider).status == 401) }
        #expect(source.calls == 2)
        #expect(server.requests.count == 21)
        clock.advance(by: .seconds(2))
        #expect(try await server.send(provider).status == 401)
        #expect(source.calls == 3)
    }

    @Test func `a token that stays the same isn't sent twice`() async throws {
        let server = StubServer { _, _ in .stub(401) }
        #expect(try await server.send(BearerTokenProvider(token: "t")).status == 401)
        #expect(server.authorizations == ["Bearer t"])
        #expect(try await server.send(BearerTokenProvider { _ in BearerToken("s") }).status == 401)
        #expect(server.authorizations == ["Bearer t", "Bearer s"])
    }

    @Test func `whether the session is open follows the responses`() async throws {
        let provider = provider(numbered())
        let server = StubServer { _, number in .stub(number < 1 ? 200 : 401) }
        #expect(!provider.isSessionOpened)
        _ = try await server.send(provider)
        #expect(provider.isSessionOpened)
        _ = try await server.send(provider)
        #expect(!provider.isSessionOpened)
    }

    @Test func `a provider needs only two methods`() async {
        struct Plain: AuthenticationProvider {
            func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {}
            func respond(
                to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt,
                context: CallContext
            ) async throws -> Bool { false }
        }
        let provider: any AuthenticationProvider = Plain()
        #expect(await !provider.isSessionOpened)
        await provider.invalidate()
    }

    // MARK: The store

    @Test func `a new token is stored before it is used`() async throws {
        let store = RecordingStore()
        let provider = provider(numbered(), store: store)
        let server = StubServer { request, _ in
            #expect(request.headers[.authorization] == "Bearer " + (store.token.withLock { $0?.value } ?? "-"))
            return .stub(200)
        }
        _ = try await server.send(provider)
        clock.advance(by: .seconds(3600))
        _ = try await server.send(provider)
        #expect(store.saved.withLock { $0 } == ["t1", "t2"])
    }

    @Test func `a stored token is used without asking the source, and the rest of its lifetime counts`() async throws {
        let source = numbered()
        let stored = BearerToken("stored", lifetime: .seconds(3600), issuedAt: clock.startDate.addingTimeInterval(-1800))
        let provider = provider(source, store: MemoryTokenStore(stored))
        let server = StubServer { _, _ in .stub(200) }
        _ = try await server.send(provider)
        clock.advance(by: .seconds(1796))
        _ = try await server.send(provider)
        #expect(server.authorizations == ["Bearer stored", "Bearer t1"])
        #expect(source.old == ["stored"])
    }

    @Test func `a token that can't be stored is used, and that is told`() async throws {
        let told = Locked<[String]>([])
        let provider = provider(numbered(), store: RecordingStore(fails: true))
        let server = StubServer { _, _ in .stub(200) }
        let context = CallContext.stub(diagnostics: Diagnostics { event in told.withLock { $0.append(event.message) } })
        #expect(try await server.send(provider, context: context).status == 200)
        #expect(told.withLock { $0.first }?.contains("The disk is full.") == true)
    }

    @Test func `after invalid_grant the refresh token is forgotten, also in the store`() async throws {
        let store = RecordingStore(
            BearerToken("old", lifetime: .seconds(1), issuedAt: clock.startDate.addingTimeInterval(-9), refreshToken: "r0"))
        let source = CountingSource { _, _ in throw OAuthError(.invalidGrant, status: 400) }
        let provider = provider(source, store: store)
        await #expect(throws: OAuthError.self) { try await provider.token() }
        #expect(source.calls == 1)
        #expect(store.token.withLock { $0 } == nil)
    }

    @Test func `after invalid_grant, a token that another process has stored is used`() async throws {
        let old = BearerToken("old", lifetime: .seconds(1), issuedAt: clock.startDate.addingTimeInterval(-9), refreshToken: "r0")
        let store = RecordingStore(old)
        let start = clock.startDate
        let source = CountingSource { _, _ in
            store.token.withLock { $0 = BearerToken("theirs", lifetime: .seconds(600), issuedAt: start, refreshToken: "r1") }
            throw OAuthError(.invalidGrant, status: 400)
        }
        let provider = provider(source, store: store)
        #expect(try await provider.token().value == "theirs")
    }

    // MARK: The end of a session

    @Test func `invalidating discards the token, also in the store, and that of a refresh that is active`() async throws {
        let door = Door()
        let store = RecordingStore()
        let source = CountingSource { number, _ in
            if number == 2 { await door.pass() }
            return BearerToken("t\(number)")
        }
        let provider = provider(source, store: store)
        #expect(try await provider.token().value == "t1")
        await provider.invalidate()
        #expect(store.token.withLock { $0 } == nil)
        async let next = provider.token()
        await door.wait(for: 1)
        await provider.invalidate()
        door.open()
        #expect(try await next.value == "t3", "the token of the session that was ended isn't used")
        #expect(store.saved.withLock { $0.compactMap(\.self) } == ["t1", "t3"])
        #expect(source.old == [nil, nil, nil])
    }

    @Test func `signing out revokes the token`() async throws {
        final class Revoking: TokenSource {
            let revoked = Locked<[String]>([])
            func token(replacing old: BearerToken?) async throws -> BearerToken { BearerToken("t", refreshToken: "r") }
            func revoke(_ token: BearerToken) async throws { revoked.withLock { $0.append(token.value) } }
        }
        let source = Revoking()
        let provider = BearerTokenProvider(source)
        try await provider.signOut()
        #expect(source.revoked.withLock { $0 } == [])
        _ = try await provider.token()
        try await provider.signOut()
        #expect(source.revoked.withLock { $0 } == ["t"])
    }

    @Test func `a dry run requests no token, and shows the one in use`() async throws {
        let source = numbered()
        let stub = StubTransport()
        stub.fallback(.status(200))
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.authenticationProvider = provider(source)
        }
        let first = try await client.dryRun { try await $0.http.request(.get, "/a").send() }
        #expect(first.headers[.authorization] == nil && source.calls == 0)
        try await client.http.request(.get, "/a").send()
        let second = try await client.dryRun { try await $0.http.request(.get, "/a").send() }
        #expect(second.headers[.authorization] == "Bearer t1")
    }

    // MARK: Bad input

    @Test(arguments: ["", "s3cret\n", "s3cret\r\nX: y", "s3\0cret"]) func `a token that fits no header ends the call`(token: String) async {
        let server = StubServer { _, _ in .stub(200) }
        let error = await #expect(throws: AuthenticationError.self) { try await server.send(BearerTokenProvider(token: token)) }
        #expect(error?.kind == .unusableToken && error?.description.contains("cret") == false)
        #expect(server.requests.isEmpty)
    }

    @Test func `no description shows a token`() {
        let token = BearerToken("s3cret-value", refreshToken: "s3cret-refresh")
        let values: [Any] = [
            token, BearerTokenProvider(token: "s3cret"), MemoryTokenStore(token),
            OAuthClient(id: "shop", .basic(secret: "s3cret"), tokenEndpoint: "https://a.test/token"),
            OAuthClient.Authentication.body(secret: "s3cret"),
            OAuthGrant.refreshToken("s3cret", of: OAuthClient(id: "shop", tokenEndpoint: "https://a.test/token?key=s3cret")),
        ]
        for value in values {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains("s3cret"), "\(text)")
        }
    }
}
