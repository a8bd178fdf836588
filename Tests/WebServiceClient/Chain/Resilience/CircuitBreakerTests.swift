import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CircuitBreakerTests {
    private let hands = HandClock()
    private static let policy = CircuitBreakerPolicy(minimumCalls: 4, openDuration: .seconds(10), longestOpenDuration: .seconds(10))

    /// The stage alone, with the events that it reports.
    private struct Stage {
        let breaker: CircuitBreaker
        let events = Locked<[String]>([])
        let sent = Locked(0)

        init(_ hands: HandClock, _ policy: CircuitBreakerPolicy? = CircuitBreakerTests.policy) {
            breaker = CircuitBreaker(policy: policy, circuits: CircuitRegistry(clock: hands.clock))
        }

        func context(_ attributes: (any EndpointAttribute)...) -> CallContext {
            var all = EndpointAttributes()
            for attribute in attributes { all.set(attribute) }
            let events = events
            return CallContext(
                attributes: all, diagnostics: Diagnostics { event in events.withLock { $0.append("[\(event.level)] \(event.message)") } })
        }

        func send(
            _ host: String = "api.test", _ context: CallContext? = nil,
            _ answer: @escaping @Sendable (URL) async throws -> TransportResponse
        ) async throws -> TransportResponse {
            let url = try #require(URL(string: "https://\(host)/x"))
            return try await breaker.intercept(ServiceRequest(url: url), context: context ?? self.context()) { _, _ in
                sent.withLock { $0 += 1 }
                return try await answer(url)
            }
        }

        /// Sends a call and ignores its outcome.
        func call(_ outcome: Result<Int, any Error>, to host: String = "api.test", _ context: CallContext? = nil) async throws {
            _ = try? await send(host, context) { TransportResponse(status: try outcome.get(), url: $0) }
        }

        func open(_ host: String = "api.test") async throws {
            for _ in 0..<4 { try await call(.success(503), to: host) }
        }

        var count: Int { sent.withLock { $0 } }

        func refusal(_ host: String = "api.test", _ context: CallContext? = nil) async throws -> CircuitOpen? {
            let before = count
            do {
                _ = try await send(host, context) { TransportResponse(status: 200, url: $0) }
                return nil
            } catch {
                #expect(count == before)
                return error as? CircuitOpen
            }
        }
    }

    @Test func `an open circuit refuses calls to its origin only, and says until when`() async throws {
        let stage = Stage(hands)
        try await stage.open()
        hands.advance(by: .seconds(2))
        let error = try #require(await stage.refusal())
        let wait = try #require(error.retryAfter)
        #expect(wait >= .seconds(3) && wait <= .seconds(8) && error.origin.description == "https://api.test")
        // Sums of fractions may differ in their last digit.
        let date = try #require(error.retryDate).timeIntervalSince1970
        #expect(abs(date - 1_800_000_002 - wait / .seconds(1)) < 0.001)
        #expect(error.description.contains("https://api.test") && error.description.contains("status 503"))
        #expect(error.localizedDescription == error.description)
        #expect(try await stage.refusal("other.test") == nil)
        #expect(try await stage.refusal("api.test:8443") == nil)
        hands.advance(by: .seconds(8))
        #expect(try await stage.refusal() == nil)
        #expect(try await stage.refusal() == nil)
        let events = stage.events.withLock { $0 }
        #expect(events.count == 3 && events[0].contains("4 of 4 calls failed, the last with status 503"), "\(events)")
        #expect(events[1].contains("half-open") && events[2].contains("closed") && events.allSatisfy { $0.hasPrefix("[notice]") })
    }

    private static func transport(_ code: TransportError.Code) -> Result<Int, any Error> { .failure(TransportError(code, "x")) }

    @Test(arguments: [
        TransportError.Code.hostNotFound, .cannotConnect, .connectionLost, .truncated, .timedOutConnecting, .timedOutWaiting,
        .timedOutIdle, .proxyRefused, .tls, .unreadableResponse, .other,
    ])
    func `transport failures and time-outs count`(code: TransportError.Code) async throws {
        let stage = Stage(hands)
        for _ in 0..<4 { try await stage.call(Self.transport(code)) }
        #expect(try await stage.refusal()?.lastFailure == code.rawValue)
    }

    @Test func `what says nothing about the origin doesn't count`() async throws {
        let stage = Stage(hands)
        var stale = TransportError(.connectionLost, "x")
        stale.isConnectionStale = true
        var unprocessed = TransportError(.connectionLost, "x")
        unprocessed.isUnprocessed = true
        let causes: [any Error] = [
            CancellationError(), CallCancelled(reason: "x"), DryRun.Stop(), Refusal(), stale, unprocessed,
            TransportError(.badRequest, "x"), TransportError(.unsupported, "x"), TransportError(.readerTooSlow, "x"),
            TransportError(.tooManyWaiting, "x"), TransportError(.pinMismatch, "x"), TransportError(.certificateExpired, "x"),
            TransportError(.clientCertificate, "x"),
            // It passed while the call waited in the queue.
            TransportError(.timedOutTotal, "x"),
            RequestBodyError(message: "x", underlying: TransportError(.connectionLost, "x")),
        ]
        for cause in causes {
            for _ in 0..<4 { try await stage.call(.failure(cause)) }
        }
        let cancelled = stage.context()
        cancelled.record.cancellation.cancel(CallCancelled(reason: "x"))
        for _ in 0..<4 { try await stage.call(Self.transport(.connectionLost), to: "api.test", cancelled) }
        #expect(try await stage.refusal() == nil)
        let circuit = try #require(Circuits(registry: stage.breaker.circuits, diagnostics: Diagnostics()).all.first)
        #expect(circuit.calls == 1 && circuit.failures == 0)
    }

    @Test func `a total deadline counts when the request was on its way`() async throws {
        let stage = Stage(hands)
        let context = stage.context()
        for _ in 0..<4 {
            _ = try? await stage.send("api.test", context) { url in
                _ = context.record.begins(ServiceRequest(url: url))
                throw TransportError(.timedOutTotal, "x")
            }
        }
        #expect(try await stage.refusal() != nil)
    }

    @Test func `statuses below 500 are successes, and the policy's statuses are data`() async throws {
        let stage = Stage(hands)
        for status in [200, 301, 400, 401, 404, 408, 429, 499] {
            for _ in 0..<4 { try await stage.call(.success(status)) }
        }
        #expect(try await stage.refusal() == nil)
        var policy = Self.policy
        policy.statuses = [429]
        let own = Stage(hands, policy)
        for _ in 0..<8 { try await own.call(.success(503)) }
        #expect(try await own.refusal() == nil)
        for _ in 0..<9 { try await own.call(.success(429)) }
        #expect(try await own.refusal()?.lastFailure == "status 429")
    }

    @Test func `Retry-After is the minimum, also as a date`() async throws {
        for value in ["90", HTTPDate.text(of: Date(timeIntervalSince1970: 1_800_000_090))] {
            let stage = Stage(HandClock())
            for _ in 0..<4 {
                _ = try await stage.send { TransportResponse(status: 503, headers: ["Retry-After": value], url: $0) }
            }
            let wait = try #require(await stage.refusal()?.retryAfter)
            #expect(wait >= .seconds(90) && wait <= .seconds(96), "\(value): \(wait)")
        }
    }

    @Test func `a body that breaks off counts, a body that is dropped or read doesn't`() async throws {
        let stage = Stage(hands)
        @Sendable func response(_ url: URL, failing error: (any Error)?) -> TransportResponse {
            TransportResponse(
                status: 200, url: url,
                body: ResponseBody(expectedLength: nil, next: { if let error { throw error } else { return nil } }, cancel: {}))
        }
        for _ in 0..<4 { _ = try await stage.send { response($0, failing: TransportError(.truncated, "x")) } }
        for cause: (any Error)? in [nil, CancellationError(), TransportError(.readerTooSlow, "x"), TransportError(.timedOutTotal, "x")] {
            let whole = try await stage.send { response($0, failing: cause) }
            _ = try? await whole.body.collect(upTo: 10)
        }
        #expect(try await stage.refusal() == nil)
        for _ in 0..<9 {
            let broken = try await stage.send { response($0, failing: TransportError(.truncated, "x")) }
            // Reading on after the error doesn't count twice.
            for _ in 0..<3 {
                await #expect(throws: TransportError.self) { try await broken.body.collect(upTo: 10) }
            }
        }
        #expect(try await stage.refusal()?.lastFailure == "truncated")
    }

    @Test func `an endpoint's policy takes precedence, has its own circuit, and off exempts`() async throws {
        let stage = Stage(hands)
        try await stage.open()
        #expect(try await stage.refusal("api.test", stage.context(CircuitBreakerPolicy.off)) == nil)
        let own = stage.context(CircuitBreakerPolicy(minimumCalls: 2))
        #expect(try await stage.refusal("api.test", own) == nil)
        for _ in 0..<2 { try await stage.call(.success(500), to: "api.test", own) }
        #expect(try await stage.refusal("api.test", own) != nil)
        // Without a policy for the client, too.
        let without = Stage(hands, nil)
        try await without.open()
        #expect(try await without.refusal() == nil)
        for _ in 0..<2 { try await without.call(.success(500), to: "api.test", own) }
        #expect(try await without.refusal("api.test", own) != nil && without.breaker.circuits.entries().count == 1)
    }

    @Test func `dry runs are neither refused nor counted`() async throws {
        let stage = Stage(hands)
        try await stage.open()
        var context = stage.context()
        context.dryRun = DryRun(client: hands)
        #expect(try await stage.refusal("api.test", context) == nil)
        #expect(try await stage.refusal() != nil)
    }

    @Test func `a probe that is cancelled at any step leaves the circuit to the next call`() async throws {
        let stage = Stage(hands)
        try await stage.open()
        hands.advance(by: .seconds(11))
        // Before it is sent, while it is on its way, while its failure arrives, by the call's handle.
        for step in 0..<4 {
            let context = stage.context()
            let task = Task {
                if step == 0 { withUnsafeCurrentTask { $0?.cancel() } }
                return try await stage.send("api.test", context) { url in
                    if step == 3 { context.record.cancellation.cancel(CallCancelled(reason: "x")) }
                    if step == 1 || step == 2 { withUnsafeCurrentTask { $0?.cancel() } }
                    if step == 2 { throw TransportError(.connectionLost, "x") }
                    try Task.checkCancellation()
                    try context.record.cancellation.check()
                    return TransportResponse(status: 200, url: url)
                }
            }
            await #expect(throws: (any Error).self) { try await task.value }
            guard case .open? = stage.breaker.circuits.entries().first?.circuit.withLock({ $0.phase }) else {
                Issue.record("step \(step): the probe decided")
                return
            }
        }
        #expect(try await stage.refusal() == nil)
        #expect(stage.breaker.circuits.entries().first?.circuit.withLock { $0.phase } == .closed)
    }

    @Test func `the program holds, inspects and resets circuits`() async throws {
        let stage = Stage(hands)
        let events = Locked<[String]>([])
        let circuits = Circuits(
            registry: stage.breaker.circuits, diagnostics: Diagnostics { event in events.withLock { $0.append(event.message) } })
        let url = try #require(URL(string: "https://api.test"))
        let origin = try #require(Origin(url))
        #expect(circuits.all.isEmpty)
        circuits.hold(.open, for: origin)
        let error = try #require(await stage.refusal())
        #expect(error.retryAfter == nil && error.retryDate == nil && error.description.contains("the program"))
        #expect(try await stage.refusal("other.test") == nil)
        circuits.hold(.closed, for: origin)
        try await stage.open()
        #expect(try await stage.refusal() == nil && circuits[origin].isEmpty)
        circuits.hold(nil, for: origin)
        try await stage.open()
        #expect(try await stage.refusal() != nil)
        let state = try #require(circuits[origin].first)
        #expect(state.phase == .open && state.calls == 4 && state.failures == 4 && state.lastFailure == "status 503" && state.hold == nil)
        #expect(state.retryAfter.map { $0 > .zero } == true && state.policy == Self.policy)
        #expect(circuits.all.map(\.origin.host) == ["api.test", "other.test"])
        hands.advance(by: .seconds(11))
        #expect(circuits[origin].first?.phase == .halfOpen && circuits[origin].first?.retryAfter == .zero)
        circuits.hold(.open, for: origin)
        circuits.reset(origin)
        #expect(circuits[origin].first?.phase == .closed && circuits[origin].first?.hold == nil)
        #expect(try await stage.refusal() == nil)
        circuits.reset()
        #expect(circuits.all.allSatisfy { $0.calls == 0 })
        #expect(events.withLock { $0.count } == 6 && events.withLock { $0.last } == "All circuits are reset by the program.")
    }

    @Test func `idle circuits are forgotten, so origins without end need no memory without end`() async throws {
        let stage = Stage(hands)
        for number in 0..<CircuitRegistry.limit { try await stage.call(.success(200), to: "h\(number).test") }
        try await stage.open("h1.test")
        hands.advance(by: .seconds(31))
        try await stage.open("h2.test")
        try await stage.call(.success(200), to: "one-more.test")
        #expect(stage.breaker.circuits.entries().count == 3)
        // Without an idle one, others give way.
        for number in 0..<CircuitRegistry.limit + 100 { try await stage.call(.success(200), to: "g\(number).test") }
        #expect(stage.breaker.circuits.entries().count <= CircuitRegistry.limit)
    }

    // MARK: Clients

    @Test func `a client's calls fail at once with an error of their own kind, and retry spends no attempt on it`() async throws {
        let (client, stub) = CallClock.$current.withValue(hands.clock) {
            Store.stubbed(
                .status(503),
                configure: {
                    $0.circuitBreaker = Self.policy
                    $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .zero, cap: .zero))
                })
        }
        #expect(await serviceError { try await client.ping2() }?.status == 503)
        // Each attempt counts: the fourth opened the circuit, and the fifth wasn't sent.
        #expect(await serviceError { try await client.ping2() }?.kind == .circuitOpen)
        #expect(stub.requests.count == 4)
        let error = try #require(await serviceError { try await client.ping2() })
        #expect(error.kind == .circuitOpen && error.stage == .chain && error.errorCode == 17 && error.cause is CircuitOpen)
        #expect(error.description.contains("https://api.test") && error.response == nil)
        #expect(stub.requests.count == 4)
        #expect(client.circuits.all.map(\.phase) == [.open])
        // A dry run shows what would be sent, and another origin is another circuit.
        #expect(try await client.dryRun { try await $0.ping2() }.url.path == "/v1/ping")
        let outside = try #require(URL(string: "https://files.test/x"))
        #expect(await serviceError { try await client.http.request(outside: outside).send() }?.status == 503)
        // The state outlives a change of the configuration.
        client.configure { $0.headers["X-Team"] = "core" }
        #expect(await serviceError { try await client.ping2() }?.kind == .circuitOpen)
        stub.fallback(.status(204))
        hands.advance(by: .seconds(11))
        try await client.ping2()
        #expect(client.circuits.all.first { $0.origin.host == "api.test" }?.phase == .closed)
        #expect(client.configuration.description.contains("CircuitBreakerPolicy(window: 30 s"))
    }

    @Test func `policies without sense are faults that name key and fix`() async throws {
        var client = Store.stubbed(configure: { $0.circuitBreaker = CircuitBreakerPolicy(window: .zero, failureRatio: .nan) }).client
        var faults = client.verify()
        #expect(faults.map(\.kind) == [.badPolicy, .badPolicy] && faults.allSatisfy { $0.key == nil })
        #expect(faults[1].description.contains("failureRatio is nan") && faults[1].fix.contains("0.5"))
        #expect(await serviceError { try await client.ping2() }?.kind == .table)
        for ratio in [0, -0.1, 1.01, .infinity] {
            #expect(CircuitBreakerPolicy(failureRatio: ratio).faults.count == 1, "\(ratio)")
        }
        #expect(CircuitBreakerPolicy(minimumCalls: 0).faults.count == 1)
        #expect(CircuitBreakerPolicy(openDuration: .seconds(-1)).faults.count == 1)
        #expect(CircuitBreakerPolicy(openDuration: .seconds(90)).faults.count == 1)
        #expect(CircuitBreakerPolicy(statuses: .any).faults.count == 1)
        #expect(CircuitBreakerPolicy().faults.isEmpty && CircuitBreakerPolicy.off.faults.isEmpty)
        // On every level.
        let bad = CircuitBreakerPolicy(minimumCalls: 0)
        client = Store.stubbed(configure: { $0.attributes[CircuitBreakerPolicy.self] = bad }).client
        #expect(client.verify().map(\.kind) == [.badPolicy])
        faults = CompiledTable(["a()": .get("/a").circuitBreaker(bad)], root: nil).faults
        #expect(faults.map(\.kind) == [.badPolicy] && faults.map(\.key) == ["a()"])
        let error = await serviceError { try await client.http.get("/a").describing { $0.circuitBreaker(bad) }.send() }
        #expect(error?.kind == .table)
        let described = ClientDescription(client: "Shop", table: ["a()": .get("/a").circuitBreaker(.off)])
        #expect(described.endpoints.first?.attributes == ["CircuitBreakerPolicy(off)"])
    }
}

extension Store {
    fileprivate func ping2() async throws { try await call(function: "ping()") }
}
