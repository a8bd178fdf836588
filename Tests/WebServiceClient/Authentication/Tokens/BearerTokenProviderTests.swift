import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// One refresh at a time for all calls, and no call that waits for ever.
@Suite struct BearerTokenProviderTests {
    struct Refusal: Error, Equatable {}

    private let clock = HandClock()

    /// A store with a token that has expired.
    private func expired(_ value: String = "old") -> MemoryTokenStore {
        MemoryTokenStore(
            BearerToken(value, lifetime: .seconds(60), issuedAt: clock.startDate.addingTimeInterval(-3600), refreshToken: "r0"))
    }

    private func provider(_ source: CountingSource, store: (any TokenStore)? = nil) -> BearerTokenProvider {
        clock.provide { BearerTokenProvider(source, store: store ?? MemoryTokenStore()) }
    }

    /// Makes many calls at once.
    private func calls(_ number: Int, _ body: @escaping @Sendable () async throws -> Int) async -> [Result<Int, any Error>] {
        await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for _ in 0..<number {
                group.addTask {
                    do { return .success(try await body()) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func waitUntil(_ number: Int, waitFor provider: BearerTokenProvider) async {
        while provider.session.waiting < number { await Task.yield() }
    }

    // MARK: One refresh

    @Test func `500 calls on an expired token: one refresh, and each call has the new token`() async throws {
        let door = Door()
        let source = CountingSource { number, _ in
            await door.pass()
            return BearerToken("new\(number)", lifetime: .seconds(3600))
        }
        let provider = provider(source, store: expired())
        let server = StubServer { _, _ in .stub(200) }
        async let results = calls(500) { try await server.send(provider).status }
        await waitUntil(500, waitFor: provider)
        door.open()
        #expect(try await results.map { try $0.get() } == Array(repeating: 200, count: 500))
        #expect(source.calls == 1)
        #expect(source.old == ["old"])
        #expect(Set(server.authorizations) == ["Bearer new1"])
    }

    @Test func `500 calls whose token is refused: one refresh, one replay each`() async throws {
        let source = CountingSource { number, _ in BearerToken("t\(number)") }
        let provider = provider(source)
        let server = StubServer { request, _ in .stub(request.headers[.authorization] == "Bearer t1" ? 401 : 200) }
        #expect(try await provider.token().value == "t1")
        let results = await calls(500) { try await server.send(provider).status }
        #expect(try results.map { try $0.get() } == Array(repeating: 200, count: 500))
        #expect(source.calls == 2, "a late 401 for the old token doesn't replace the new one")
        #expect(source.most == 1)
    }

    @Test func `a refresh that fails: each call gets the error, for a second, then there is another refresh`() async throws {
        let door = Door()
        let source = CountingSource { number, _ in
            await door.pass()
            if number == 1 { throw Refusal() }
            return BearerToken("new")
        }
        let provider = provider(source, store: expired())
        let server = StubServer { _, _ in .stub(200) }
        async let results = calls(50) { try await server.send(provider).status }
        await waitUntil(50, waitFor: provider)
        door.open()
        for result in await results { #expect(throws: Refusal.self) { try result.get() } }
        #expect(source.calls == 1)
        await #expect(throws: Refusal.self) { try await server.send(provider) }
        #expect(source.calls == 1 && server.requests.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(try await server.send(provider).status == 200)
        #expect(source.calls == 2)
    }

    @Test(arguments: [(2, 2), (300, 300), (3_600, 300)])
    func `an authorization server that asks to wait isn't asked before`(asked: Int, waited: Int) async throws {
        let source = CountingSource { number, _ in
            if number == 1 { throw OAuthError(.refused, status: 429, retryAfter: .seconds(asked)) }
            return BearerToken("new")
        }
        let provider = provider(source, store: expired())
        await #expect(throws: OAuthError.self) { try await provider.token() }
        clock.advance(by: .seconds(waited) - .milliseconds(1))
        await #expect(throws: OAuthError.self) { try await provider.token() }
        #expect(source.calls == 1)
        clock.advance(by: .milliseconds(2))
        #expect(try await provider.token().value == "new")
    }

    @Test func `a refresh that hangs: each call ends at the time limit, and the next call begins another refresh`() async throws {
        let door = Door()
        let source = CountingSource { number, _ in
            if number == 1 { try await door.passUnlessCancelled() }
            return BearerToken("new")
        }
        let provider = provider(source, store: expired())
        let server = StubServer { _, _ in .stub(200) }
        async let results = calls(50) { try await server.send(provider).status }
        await waitUntil(50, waitFor: provider)
        await door.wait(for: 1)
        clock.advance(by: .seconds(31))
        for result in await results {
            let error = #expect(throws: AuthenticationError.self) { try result.get() }
            #expect(error?.kind == .tokenUnavailable)
        }
        #expect(try await watched { try await server.send(provider).status } == 200)
        #expect(source.calls == 2)
        #expect(source.most == 1)
    }

    @Test func `a refresh that hangs and can't be cancelled: no second one begins, and its late token is used`() async throws {
        let door = Door()
        let source = CountingSource { _, _ in
            await door.pass()
            return BearerToken("late")
        }
        let provider = provider(source)
        let server = StubServer { _, _ in .stub(200) }
        for round in 1...3 {
            async let results = calls(10) { try await server.send(provider).status }
            await waitUntil(10, waitFor: provider)
            await door.wait(for: 1)
            // Calls that wait for an overdue refresh each have a timer.
            while clock.timerCount < (round == 1 ? 1 : 10) { await Task.yield() }
            clock.advance(by: .seconds(31))
            for result in await results { #expect(throws: AuthenticationError.self) { try result.get() } }
        }
        #expect(source.calls == 1)
        async let last = server.send(provider).status
        door.open()
        #expect(try await last == 200)
        #expect(source.calls == 1)
        #expect(server.authorizations == ["Bearer late"])
    }

    @Test func `the first caller is cancelled: the others get the token of the same refresh`() async throws {
        let door = Door()
        let source = CountingSource { _, _ in
            try await door.passUnlessCancelled()
            return BearerToken("new")
        }
        let provider = provider(source, store: expired())
        let server = StubServer { _, _ in .stub(200) }
        let first = Task { try await server.send(provider).status }
        await door.wait(for: 1)
        async let others = calls(20) { try await server.send(provider).status }
        await waitUntil(21, waitFor: provider)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        door.open()
        #expect(try await others.map { try $0.get() } == Array(repeating: 200, count: 20))
        #expect(source.calls == 1)
    }

    @Test func `when no call waits any more, the refresh is cancelled; the next call begins another`() async throws {
        let door = Door()
        let source = CountingSource { number, _ in
            if number == 1 { try await door.passUnlessCancelled() }
            return BearerToken("new")
        }
        let provider = provider(source)
        let server = StubServer { _, _ in .stub(200) }
        let only = Task { try await server.send(provider).status }
        await door.wait(for: 1)
        only.cancel()
        await #expect(throws: CancellationError.self) { try await only.value }
        #expect(try await watched { try await server.send(provider).status } == 200)
        #expect(source.calls == 2 && source.most == 1)
    }

    @Test func `a call that is cancelled by its handle, or at its end, doesn't wait on`() async throws {
        let door = Door()
        let source = CountingSource { _, _ in
            await door.pass()
            return BearerToken("new")
        }
        let provider = provider(source)
        let server = StubServer { _, _ in .stub(200) }
        let context = CallContext.stub()
        let cancelled = Task { try await server.send(provider, context: context).status }
        await door.wait(for: 1)
        context.record.cancellation.cancel(CallCancelled(reason: "enough"))
        await #expect(throws: CallCancelled.self) { try await cancelled.value }
        var request = ServiceRequest.stub()
        request.end = clock.clock.now().advanced(by: .seconds(5))
        let limited = Task { [request] in try await server.send(request, provider).status }
        while !clock.waits.contains(.seconds(5)) { await Task.yield() }
        clock.advance(by: .seconds(6))
        let error = await #expect(throws: TransportError.self) { try await limited.value }
        #expect(error?.code == .timedOutTotal)
        door.open()
    }

    // MARK: Expiry

    @Test func `a token is renewed in the background, and calls go on with the old one until it is there`() async throws {
        let door = Door()
        let source = CountingSource { number, _ in
            if number > 1 { await door.pass() }
            return BearerToken("t\(number)", lifetime: .seconds(3600))
        }
        let provider = provider(source)
        let server = StubServer { _, _ in .stub(200) }
        _ = try await server.send(provider)
        clock.advance(by: .seconds(3539))
        _ = try await server.send(provider)
        #expect(source.calls == 1)
        clock.advance(by: .seconds(1))
        _ = try await server.send(provider)
        await door.wait(for: 1)
        _ = try await server.send(provider)
        #expect(server.authorizations == Array(repeating: "Bearer t1", count: 4))
        door.open()
        while try await provider.token().value == "t1" { await Task.yield() }
        _ = try await server.send(provider)
        #expect(server.authorizations.last == "Bearer t2")
        #expect(source.calls == 2)
    }

    @Test func `a renewal that fails is told, and tried again while the token is valid`() async throws {
        let told = Locked<[String]>([])
        let source = CountingSource { number, _ in
            if number == 2 { throw Refusal() }
            return BearerToken("t\(number)", lifetime: .seconds(3600))
        }
        let provider = provider(source)
        let server = StubServer { _, _ in .stub(200) }
        let context = CallContext.stub(diagnostics: Diagnostics { event in told.withLock { $0.append(event.message) } })
        _ = try await server.send(provider, context: context)
        clock.advance(by: .seconds(3545))
        _ = try await server.send(provider, context: context)
        while told.withLock({ $0.isEmpty }) { await Task.yield() }
        _ = try await server.send(provider, context: context)
        #expect(source.calls == 2)
        clock.advance(by: .seconds(6))
        _ = try await server.send(provider, context: context)
        while source.calls < 3 { await Task.yield() }
        #expect(told.withLock { $0.count } == 1)
    }

    @Test func `50,000 calls over ten expiries: none with an old token after its refresh`() async throws {
        let lifetime = Duration.seconds(600)
        let newest = Locked(0)
        let source = CountingSource { number, _ in
            await Task.yield()
            newest.withLock { $0 = number }
            return BearerToken("\(number)", lifetime: lifetime)
        }
        let provider = provider(source)
        let faults = Locked<[String]>([])
        // A refresh is over when the provider returns its token.
        let published = Locked(0)
        for _ in 0..<500 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        let before = published.withLock { $0 }
                        let server: NextInterceptor = { request, _ in
                            let number = Int(request.headers[.authorization]?.dropFirst(7) ?? "") ?? 0
                            if number < before { faults.withLock { $0.append("\(number) after \(before)") } }
                            published.withLock { $0 = max($0, number) }
                            return .stub(200)
                        }
                        _ = try? await AuthenticationInterceptor(provider).intercept(.stub(), context: .stub(), next: server)
                    }
                }
            }
            // 500 steps over ten lifetimes and a half.
            clock.advance(by: .milliseconds(12_600))
        }
        #expect(faults.withLock { $0 } == [])
        #expect((10...13).contains(source.calls), "\(source.calls)")
        #expect(source.most == 1)
    }

    @Test(
        arguments: [
            .zero, .seconds(-5), .seconds(Int64.min), .seconds(Int64.max), .nanoseconds(1), .seconds(1),
        ] as [Duration]) func `no lifetime traps or loops`(lifetime: Duration) async throws
    {
        let source = CountingSource { number, _ in BearerToken("t\(number)", lifetime: lifetime) }
        for ahead in [nil, .seconds(Int64.max), .seconds(Int64.min), .zero] as [Duration?] {
            let provider = clock.provide { BearerTokenProvider(source, refreshAhead: ahead) }
            let server = StubServer { _, _ in .stub(200) }
            #expect(try await watched { try await server.send(provider).status } == 200)
            #expect(try await watched { try await server.send(provider).status } == 200)
        }
        let text = try JSONEncoder().encode(BearerToken("a", lifetime: lifetime))
        #expect(try JSONDecoder().decode(BearerToken.self, from: text).value == "a")
    }

    @Test func `refreshing too far ahead doesn't make every token too old`() async throws {
        let source = CountingSource { number, _ in BearerToken("t\(number)", lifetime: .seconds(1800)) }
        let provider = clock.provide { BearerTokenProvider(source, refreshAhead: .seconds(3000)) }
        let server = StubServer { _, _ in .stub(200) }
        for _ in 0..<5 { _ = try await server.send(provider) }
        #expect(source.calls == 1)
    }
}
