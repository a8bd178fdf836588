import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// A client for tests of the queue.
final class Jobs: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "job(_:)": .get("/jobs/%%0%%"), "urgent(_:)": .get("/urgent/%%0%%").priority(.high),
            "background(_:)": .get("/background/%%0%%").priority(.low), "download(_:)": .get("/files/%%0%%").raw(),
        ]
    }

    func job(_ id: Int) async throws { try await call(id) }
    func urgent(_ id: Int) async throws { try await call(id) }
    func background(_ id: Int) async throws { try await call(id) }
    func download(_ id: Int) async throws -> ServiceResponse<ResponseBody> { try await stream(id) }

    static func make(
        _ time: Simulation, _ transport: HeldTransport, _ limits: QueueLimits = .none, configure: (inout Configuration) -> Void = { _ in }
    ) -> Jobs {
        time.client {
            Jobs(serviceRoot: "https://jobs.test") {
                $0.transport = transport
                $0.queue = limits
                configure(&$0)
            }
        }
    }
}

@Suite struct QueueingTests {
    @Test func `At most as many calls are active as allowed, in the order of their arrival`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Jobs.make(time, transport, QueueLimits(active: 2))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...6 {
                    group.addTask { try await client.job(id) }
                    try await time.settle()
                }
                #expect(transport.sent == ["/jobs/1", "/jobs/2"] && client.queue.activeCount == 2)
                #expect(client.queue.pending.map(\.identity.key) == Array(repeating: "job(_:)", count: 4))
                for number in 3...6 {
                    transport.answer()
                    try await time.settle()
                    #expect(transport.sent.last == "/jobs/\(number)")
                }
                transport.answer(2)
                try await group.waitForAll()
            }
            #expect(transport.mostActive == 2 && client.queue.activeCount == 0 && client.queue.pending.isEmpty)
        }
    }

    @Test func `Every way in which a call ends starts the next one`() throws {
        try simulated { time in
            let transport = HeldTransport(respond: { request in
                TransportResponse(status: request.url.path == "/jobs/2" ? 500 : 200, url: request.url)
            })
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await #expect(throws: ServiceError.self) { try await client.job(1) } }
                try? await time.settle()
                group.addTask { await #expect(throws: ServiceError.self) { try await client.job(2) } }
                // The transport's stage refuses this one.
                group.addTask {
                    await #expect(throws: ServiceError.self) {
                        try await client.http.get("/jobs/3").prepare { $0.headers["Bad Name"] = "x" }.send()
                    }
                }
                group.addTask {
                    let task = time.start { try await client.job(4) }
                    try? await time.pass(.seconds(1))
                    task.cancel()
                    await #expect(throws: CancellationError.self) { try await task.value }
                }
                group.addTask { #expect(await serviceError { try await client.job(5) } == nil) }
                try? await time.settle()
                transport.fail(with: TransportError(.connectionLost, "gone"))
                try? await time.settle()
                transport.answer()
                try? await time.pass(.seconds(2))
                transport.answer(2)
            }
            #expect(client.queue.activeCount == 0 && client.queue.pending.isEmpty)
            // The third was refused by a later stage, and the fourth was cancelled while it was pending.
            #expect(Set(transport.sent) == ["/jobs/1", "/jobs/2", "/jobs/5"])
            let active = time.start { try await client.job(6) }
            try await time.settle()
            #expect(client.queue.activeCount == 1)
            active.cancel()
            await #expect(throws: CancellationError.self) { try await active.value }
            #expect(client.queue.activeCount == 0)
        }
    }

    @Test func `A paused queue starts nothing, and a resumed one as many as fit`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Jobs.make(time, transport)
            client.queue.pause()
            client.queue.pause()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...5 {
                    group.addTask { try await client.job(id) }
                    try await time.settle()
                }
                try await time.pass(.seconds(3))
                let pending = client.queue.pending
                #expect(transport.sent.isEmpty && pending.count == 5 && client.queue.isPaused)
                #expect(pending.allSatisfy { $0.reason == .paused && $0.priority == .normal && $0.origin?.host == "jobs.test" })
                #expect(pending.allSatisfy { $0.age >= .seconds(3) && $0.age < .seconds(4) })
                #expect(Set(pending.map(\.id)).count == 5)
                client.queue.limits = QueueLimits(active: 3)
                client.queue.resume()
                try await time.settle()
                #expect(transport.sent == ["/jobs/1", "/jobs/2", "/jobs/3"])
                for _ in 0..<5 {
                    transport.answer()
                    try await time.settle()
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `Equal calls are different calls`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...3 { group.addTask { try await client.job(7) } }
                try await time.settle()
                #expect(Set(client.queue.pending.map(\.id)).count == 2)
                for _ in 1...3 {
                    transport.answer()
                    try await time.settle()
                }
                try await group.waitForAll()
            }
            #expect(transport.sent == ["/jobs/7", "/jobs/7", "/jobs/7"])
        }
    }

    @Test(arguments: [0, 1, 2]) func `A pending call is cancelled with a reason, and its caller is told`(index: Int) throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            let outcomes = Locked<[Int: String]>([:])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 0...3 {
                    group.addTask {
                        do {
                            try await client.job(id)
                        } catch {
                            outcomes.withLock { $0[id] = ((error as? ServiceError)?.cause as? CallCancelled)?.reason ?? "\(error)" }
                        }
                    }
                    try await time.settle()
                }
                let chosen = client.queue.pending[index]
                #expect(client.queue.cancel(chosen.id, reason: "Not needed."))
                #expect(client.queue.pending.count == 2 && !client.queue.cancel(chosen.id, reason: "Again."))
                for _ in 0...3 {
                    try await time.settle()
                    transport.answer()
                }
                try await group.waitForAll()
            }
            #expect(outcomes.withLock { $0 } == [index + 1: "Not needed."])
            #expect(transport.sent == (0...3).filter { $0 != index + 1 }.map { "/jobs/\($0)" })
            #expect(!client.queue.cancel(-1, reason: "") && !client.queue.cancel(.max, reason: ""))
        }
    }

    @Test func `Priorities order the pending calls, on every level of settings`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                func add(_ body: @escaping @Sendable () async throws -> Void) async throws {
                    group.addTask { try await body() }
                    try await time.settle()
                }
                try await add { try await client.job(0) }
                try await add { try await client.background(1) }
                try await add { try await client.job(2) }
                try await add { try await client.urgent(3) }
                try await add { try await client.with(CallPriority.low) { try await $0.urgent(4) } }
                try await add { try await client.http.get("/jobs/5").priority(.high).send() }
                try await add { try await client.job(6) }
                #expect(client.queue.pending.map(\.priority) == [.high, .high, .normal, .normal, .low, .low])
                for _ in 0...6 {
                    transport.answer()
                    try await time.settle()
                }
                try await group.waitForAll()
            }
            #expect(transport.sent == ["/jobs/0", "/urgent/3", "/jobs/5", "/jobs/2", "/jobs/6", "/background/1", "/urgent/4"])
        }
    }

    @Test func `Limits change while calls are active and pending`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Jobs.make(time, transport, QueueLimits(active: 4))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in 1...12 { group.addTask { try await client.job(id) } }
                try await time.settle()
                #expect(transport.held.count == 4)
                client.queue.limits = QueueLimits(active: 2)
                transport.answer(2)
                try await time.settle()
                #expect(transport.held.count == 2 && transport.sent.count == 4)
                transport.answer()
                try await time.settle()
                #expect(transport.held.count == 2 && transport.sent.count == 5)
                client.configure { $0.queue.active = 5 }
                try await time.settle()
                #expect(transport.held.count == 5)
                client.queue.limits = QueueLimits(active: 8, activePerOrigin: 6)
                try await time.settle()
                #expect(transport.held.count == 6)
                // Limits with a fault change nothing for the pending calls, and later calls fail.
                client.queue.limits = QueueLimits(active: 0)
                #expect(client.verify().map(\.kind) == [.badLimit])
                await #expect(throws: ServiceError.self) { try await client.job(13) }
                client.queue.limits = .none
                try await time.settle()
                #expect(client.queue.pending.isEmpty && client.verify().isEmpty)
                transport.answer(20)
                try await group.waitForAll()
            }
        }
    }

    @Test func `A full queue, a long wait and a passed deadline are errors of their own`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Jobs.make(time, transport, QueueLimits(active: 1, pending: 2, wait: .seconds(30)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await client.job(1) }
                try await time.settle()
                group.addTask {
                    let error = await serviceError { try await client.job(2) }
                    #expect(error?.kind == .queue && (error?.cause as? QueueError)?.kind == .waitedTooLong)
                    #expect(error?.message.contains("queue.wait") == true && error?.message.contains("30 s") == true)
                    #expect(time.elapsed() >= .seconds(30) && time.elapsed() < .seconds(31))
                }
                group.addTask {
                    let error = await serviceError { try await client.http.get("/jobs/3").timeout(.seconds(5)).send() }
                    #expect(error?.kind == .timeout && (error?.cause as? TransportError)?.code == .timedOutTotal)
                    #expect(error?.message.contains("queue") == true && error?.message.contains("wasn't sent") == true)
                    // The deadline itself is measured by the real clock, so only its order is certain.
                    #expect(time.elapsed() < .seconds(6))
                }
                try await time.settle()
                let error = await serviceError { try await client.job(4) }
                #expect(error?.kind == .queue && (error?.cause as? QueueError)?.kind == .full)
                #expect(error?.message.contains("queue.pending") == true)
                try await time.pass(.seconds(40))
                #expect(client.queue.pending.isEmpty && transport.sent == ["/jobs/1"])
                transport.answer()
                try await group.waitForAll()
            }
        }
    }

    @Test func `A call that waits to be repeated holds no slot`() throws {
        try simulated { time in
            let transport = HeldTransport(
                answersAtOnce: true,
                respond: { TransportResponse(status: $0.url.path == "/jobs/1" ? 503 : 200, url: $0.url, body: Self.body()) })
            let client = Jobs.make(time, transport, QueueLimits(active: 1)) {
                $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .milliseconds(1), jitter: .none))
            }
            async let failing = serviceError { try await client.job(1) }
            try await client.job(2)
            #expect(await failing?.status == 503)
            #expect(transport.sent.filter { $0 == "/jobs/1" }.count == 2 && client.queue.activeCount == 0)
        }
    }

    /// A body that a transfer delivers.
    private static func body(_ pieces: [String] = ["a", "b"], failing: Bool = false) -> ResponseBody {
        let left = Locked(pieces.map { Data($0.utf8) }[...])
        return ResponseBody(
            expectedLength: nil,
            next: {
                if let piece = left.withLock({ $0.popFirst() }) { return piece }
                if failing { throw TransportError(.truncated, "cut") }
                return nil
            }, cancel: {})
    }

    @Test(arguments: ["ended", "failed", "cancelled", "dropped", "half read"])
    func `A slot is held until the body's end`(how: String) throws {
        try simulated { time in
            let transport = HeldTransport(
                answersAtOnce: true,
                respond: { TransportResponse(status: 200, url: $0.url, body: Self.body(failing: how == "failed")) })
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            var response: ServiceResponse<ResponseBody>? = try await client.download(1)
            try await time.settle()
            #expect(client.queue.activeCount == 1)
            async let second = client.download(2)
            try await time.settle()
            #expect(transport.sent == ["/files/1"])
            switch how {
            case "ended": _ = try await response?.value.collect(upTo: 10)
            case "failed": _ = try? await response?.value.collect(upTo: 10)
            case "cancelled": response?.value.cancel()
            case "half read":
                var iterator = response?.value.makeAsyncIterator()
                _ = try await iterator?.next()
                iterator = nil
                response = nil
            default: response = nil
            }
            try await time.settle()
            #expect(transport.sent == ["/files/1", "/files/2"])
            // Later ends don't free the slot again.
            response?.value.cancel()
            #expect(client.queue.activeCount == 1)
            let last = try await second
            last.value.cancel()
            last.value.cancel()
            #expect(client.queue.activeCount == 0)
        }
    }

    private struct Token: AuthenticationProvider {
        let client: Locked<Jobs?>

        func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
            guard context.identity.key != "urgent(_:)" else { return }
            try await client.withLock { $0 }?.urgent(0)
            attempt.request.headers["Authorization"] = "Bearer t"
        }

        func respond(
            to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt,
            context: CallContext
        ) async throws -> Bool { false }

        var isSessionOpened: Bool { false }
        func invalidate() async {}
    }

    @Test func `A token refresh with the same client never waits for a slot or a rate limit`() throws {
        try simulated { time in
            let provider = Token(client: Locked(nil))
            let transport = HeldTransport(answersAtOnce: true)
            let client = Jobs.make(time, transport, QueueLimits(active: 1, pending: 10)) {
                $0.authenticationProvider = provider
                $0.rateLimit = RateLimit(1, per: .seconds(10), burst: 1)
            }
            provider.client.withLock { $0 = client }
            defer { provider.client.withLock { $0 = nil } }
            try await client.job(1)
            #expect(transport.sent == ["/urgent/0", "/jobs/1"] && client.queue.activeCount == 0 && time.elapsed() == .zero)
            // The refresh's call counts for the rate limit.
            try await client.job(2)
            #expect(time.elapsed() >= .seconds(20) && time.elapsed() < .seconds(21))
        }
    }

    @Test func `A body that another call of the client feeds doesn't wait for a second slot`() throws {
        try simulated { time in
            let transport = HeldTransport(
                answersAtOnce: true,
                respond: { request in
                    if case .stream(let open)? = request.body?.source {
                        var size = 0
                        for try await piece in open() { size += piece.count }
                        return TransportResponse(status: size == 2 ? 200 : 400, url: request.url)
                    }
                    return TransportResponse(status: 200, url: request.url, body: Self.body())
                })
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            let body = RequestBody(length: nil, isReplayable: false, contentType: "text/plain") {
                AsyncThrowingStream { continuation in
                    // A plain task would wait for a thread that runs another simulated test.
                    _ = time.start {
                        do {
                            for try await piece in try await client.download(1).value { continuation.yield(piece) }
                            continuation.finish()
                        } catch {
                            continuation.finish(throwing: error)
                        }
                    }
                }
            }
            try await client.http.post("/copy").body(body).send()
            #expect(client.queue.activeCount == 0)
        }
    }

    @Test func `A dry run doesn't wait in a paused queue`() throws {
        try simulated { time in
            let client = Jobs.make(time, HeldTransport())
            client.queue.pause()
            let request = try await client.dryRun { try await $0.job(1) }
            #expect(request.target == "/jobs/1")
            #expect(client.queue.pending.isEmpty && client.queue.activeCount == 0)
        }
    }

    @Test func `The observer of a queue sees the latest state, and ends with the client`() throws {
        try simulated { time in
            let transport = HeldTransport()
            var client: Jobs? = Jobs.make(time, transport, QueueLimits(active: 1))
            guard let changes = client?.queue.changes else { return }
            let seen = Locked<[QueueStatus]>([])
            let observer = time.start { for await status in changes { seen.withLock { $0.append(status) } } }
            try await time.settle()
            try await withThrowingTaskGroup(of: Void.self) { [client] group in
                for id in 1...3 { group.addTask { try await client?.job(id) } }
                try await time.settle()
                #expect(seen.withLock { $0.last }?.pendingCount == 2 && seen.withLock { $0.last }?.activeCount == 1)
                client?.queue.pause()
                try await time.settle()
                #expect(seen.withLock { $0.last }?.isPaused == true)
                client?.queue.resume()
                for _ in 1...3 {
                    transport.answer()
                    try await time.settle()
                }
                try await group.waitForAll()
            }
            let idle = QueueStatus(activeCount: 0, pendingCount: 0, isPaused: false, limits: QueueLimits(active: 1))
            #expect(seen.withLock { $0.last } == idle)
            client = nil
            try await observer.value
        }
    }

    @Test func `Limits that make no sense are faults`() {
        func faults(_ limits: QueueLimits) -> [TableFault] { Jobs(serviceRoot: "https://jobs.test") { $0.queue = limits }.verify() }
        #expect(faults(QueueLimits(active: 1, activePerOrigin: 1, pending: 0, wait: .nanoseconds(1))).isEmpty)
        for limits in [
            QueueLimits(active: 0), QueueLimits(active: -1), QueueLimits(activePerOrigin: 0), QueueLimits(active: 2, activePerOrigin: 3),
            QueueLimits(pending: -1), QueueLimits(wait: .zero), QueueLimits(wait: .seconds(-1)),
        ] {
            let found = faults(limits)
            #expect(found.map(\.kind) == [.badLimit] && found.allSatisfy { $0.problem.contains("queue.") && !$0.fix.isEmpty }, "\(limits)")
        }
        #expect(faults(QueueLimits(active: 0, activePerOrigin: 0, pending: -1, wait: .zero)).count == 4)
        #expect(QueueLimits(active: 2, wait: .seconds(3)).description == "active 2, wait 3 s" && QueueLimits.none.description == "none")
    }
}
