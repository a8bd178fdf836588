import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// A provider whose store is slow or fails, while sessions end and begin.
@Suite struct TokenStoreTests {
    /// A store whose saves run a script, and then take effect.
    final class ScriptedStore: TokenStore {
        let token: Locked<BearerToken?>
        /// The tokens that were saved, in the order in which the saves ended; `nil` for removals.
        let saved = Locked<[String?]>([])
        private let begun = Locked(0)
        private let script: @Sendable (_ number: Int, BearerToken?) async throws -> Void

        init(_ token: BearerToken? = nil, script: @escaping @Sendable (_ number: Int, BearerToken?) async throws -> Void) {
            self.token = Locked(token)
            self.script = script
        }

        func load() async throws -> BearerToken? { token.withLock { $0 } }

        func save(_ token: BearerToken?) async throws {
            let number = begun.withLock { begun in
                begun += 1
                return begun
            }
            try await script(number, token)
            self.token.withLock { $0 = token }
            saved.withLock { $0.append(token?.value) }
        }

        var value: String? { token.withLock { $0?.value } }
    }

    /// A source that records the tokens that it is asked to revoke.
    final class RevokingSource: TokenSource {
        let revoked = Locked<[String]>([])

        func token(replacing old: BearerToken?) async throws -> BearerToken { BearerToken("own", refreshToken: "r1") }
        func revoke(_ token: BearerToken) async throws { revoked.withLock { $0.append(token.value) } }
    }

    private func numbered() -> CountingSource {
        CountingSource(timeLimit: .seconds(600)) { number, _ in BearerToken("t\(number)", lifetime: .seconds(3600)) }
    }

    /// Lets other tasks go as far as they can. A test that passes doesn't depend on how far they come.
    private func letOthersRun() async {
        for _ in 0..<20 { await Task.yield() }
    }

    @Test func `a slow removal doesn't remove the token of the next sign-in`() async throws {
        let door = Door()
        let store = ScriptedStore { number, _ in if number == 2 { await door.pass() } }
        let source = numbered()
        let provider = BearerTokenProvider(source, store: store)
        #expect(try await provider.token().value == "t1")
        async let ended: Void = provider.invalidate()
        await door.wait(for: 1)
        async let next = provider.token()
        await letOthersRun()
        door.open()
        #expect(try await next.value == "t2")
        await ended
        #expect(store.value == "t2")
        #expect(store.saved.withLock { $0 } == ["t1", nil, "t2"])
        #expect(source.old == [nil, nil])
    }

    @Test func `a removal comes after the save of a refresh that it ends`() async throws {
        let door = Door()
        let store = ScriptedStore { number, _ in if number == 1 { await door.pass() } }
        let provider = BearerTokenProvider(numbered(), store: store)
        async let next = provider.token()
        await door.wait(for: 1)
        async let ended: Void = provider.invalidate()
        await letOthersRun()
        door.open()
        await ended
        #expect(try await next.value == "t2", "the token of the session that was ended isn't used")
        #expect(store.saved.withLock { $0 } == ["t1", nil, "t2"])
    }

    @Test func `a removal goes on although its caller is cancelled`() async throws {
        let door = Door()
        let store = ScriptedStore(BearerToken("stored", lifetime: .seconds(3600))) { number, _ in
            await door.pass()
            try Task.checkCancellation()
        }
        let provider = BearerTokenProvider(numbered(), store: store)
        let ended = Task { await provider.invalidate() }
        await door.wait(for: 1)
        ended.cancel()
        door.open()
        await ended.value
        #expect(store.value == nil)
    }

    @Test func `the token of a session whose removal failed isn't used, and is removed later`() async throws {
        struct Full: Error {}
        let store = ScriptedStore(BearerToken("stored", lifetime: .seconds(3600))) { number, _ in if number == 1 { throw Full() } }
        let source = numbered()
        let provider = BearerTokenProvider(source, store: store)
        #expect(try await provider.token().value == "stored")
        await provider.invalidate()
        #expect(store.value == "stored")
        #expect(try await provider.token().value == "t1")
        #expect(store.saved.withLock { $0 } == [nil, "t1"])
        #expect(source.old == [nil])
    }

    @Test func `signing out revokes the token with which another process has replaced the own one`() async throws {
        let (store, source) = (ScriptedStore { _, _ in }, RevokingSource())
        let provider = BearerTokenProvider(source, store: store)
        #expect(try await provider.token().value == "own")
        store.token.withLock { $0 = BearerToken("theirs", refreshToken: "r2") }
        try await provider.signOut()
        #expect(source.revoked.withLock { $0 } == ["theirs"])
        #expect(store.value == nil)
    }

    @Test func `signing out revokes the token although the store fails`() async throws {
        struct Full: Error {}
        let (store, source) = (ScriptedStore { _, token in if token == nil { throw Full() } }, RevokingSource())
        let provider = BearerTokenProvider(source, store: store)
        #expect(try await provider.token().value == "own")
        await #expect(throws: Full.self) { try await provider.signOut() }
        #expect(source.revoked.withLock { $0 } == ["own"])
    }

    @Test func `a new token that couldn't be stored is the one that is revoked`() async throws {
        struct Full: Error {}
        let expired = BearerToken("old", lifetime: .seconds(1), issuedAt: Date(timeIntervalSinceNow: -60), refreshToken: "r0")
        let (store, source) = (ScriptedStore(expired) { _, token in if token != nil { throw Full() } }, RevokingSource())
        let provider = BearerTokenProvider(source, store: store)
        #expect(try await provider.token().value == "own")
        try await provider.signOut()
        #expect(source.revoked.withLock { $0 } == ["own"])
    }
}
