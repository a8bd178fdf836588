import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct HedgingTests {
    /// How the stub answers one request.
    private enum Answer {
        case status(Int, after: Duration, headers: HTTPFields = [:])
        case failure(any Error, after: Duration)
        /// Only a cancel ends it.
        case never
        /// Answers even if it is cancelled.
        case stubborn(Int, after: Duration)

        static func lost(after delay: Duration) -> Answer { .failure(TransportError(.connectionLost, "lost"), after: delay) }
    }

    /// What happened in a run, in order.
    private final class Course: Sendable {
        let events = Locked<[String]>([])
        func note(_ event: String) { events.withLock { $0.append(event) } }
        var all: [String] { events.withLock { $0 } }
    }

    /// An empty body that notes when it is cancelled before its end.
    private static func body(_ number: Int, _ course: Course) -> ResponseBody {
        let isOpen = Locked(true)
        @Sendable func close() -> Bool {
            isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
        }
        return ResponseBody(
            expectedLength: nil,
            next: {
                _ = close()
                return nil
            },
            cancel: { if close() { course.note("\(number) body cancelled") } })
    }

    private struct Run {
        var status: Int?
        var error: (any Error)?
        var course: [String]
        var elapsed: Duration
        var context: CallContext
    }

    /// Runs the stage alone over answers by request.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private func run(
        policy: HedgingPolicy? = .after(.seconds(1)), method: ServiceRequest.Method = .get, body: RequestBody? = nil,
        time: SimulatedTime = SimulatedTime(), latencies: LatencyRegistry = LatencyRegistry(), pays: Bool = true,
        cancelAfter: Duration? = nil, handleCancelAfter: Duration? = nil, _ answers: Answer...
    ) throws -> Run {
        let course = Course()
        let stage = Hedging(clock: time.clock, latencies: latencies) {
            course.note("pays")
            return pays
        }
        var attributes = EndpointAttributes()
        if let policy { attributes.set(policy) }
        let context = CallContext(attributes: attributes)
        let url = try #require(URL(string: "https://api.test/x"))
        let request = ServiceRequest(method: method, url: url, body: body)
        let count = Locked(0)
        return try time.run {
            let start = time.elapsed
            let task = Task(executorPreference: time) {
                try await stage.intercept(request, context: context) { request, context in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    let exchange = context.record.begins(request, isHedge: context.isHedge)
                    course.note("\(number) sent\(context.isHedge ? " as a hedge" : "")")
                    do {
                        switch answers[min(number, answers.count) - 1] {
                        case .status(let status, let delay, let headers):
                            try await time.sleep(delay)
                            let body = Self.body(number, course)
                            var headers = headers
                            headers["X-Number"] = "\(number)"
                            let response = TransportResponse(status: status, headers: headers, url: request.url, body: body)
                            context.record.isAnswered(by: response, to: request, exchange: exchange)
                            return response
                        case .stubborn(let status, let delay):
                            await withCheckedContinuation { continuation in
                                _ = time.clock.schedule(delay) { continuation.resume() }
                            }
                            let body = Self.body(number, course)
                            return TransportResponse(status: status, url: request.url, body: body)
                        case .failure(let error, let delay):
                            try await time.sleep(delay)
                            throw error
                        case .never:
                            try await time.clock.sleep(.seconds(100_000), unless: context.record.cancellation)
                            throw TransportError(.timedOutWaiting, "never")
                        }
                    } catch is CancellationError {
                        course.note("\(number) cancelled")
                        throw CancellationError()
                    }
                }
            }
            let cancelTimer = cancelAfter.map { time.clock.schedule($0) { task.cancel() } }
            let handleTimer = handleCancelAfter.map {
                time.clock.schedule($0) { _ = context.record.cancellation.cancel(CallCancelled(reason: "enough")) }
            }
            defer {
                cancelTimer?()
                handleTimer?()
            }
            var run = Run(course: [], elapsed: .zero, context: context)
            do {
                let response = try await task.value
                run.status = response.status
                // Only the body of the response that isn't used is cancelled before this one is read.
                run.course = course.all
                _ = try await response.body.collect(upTo: 10)
            } catch {
                run.error = error
                run.course = course.all
            }
            run.elapsed = time.elapsed - start
            return run
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `a fast response needs no second request`() throws {
        let run = try run(.status(200, after: .milliseconds(900)))
        #expect(run.status == 200 && run.course == ["1 sent"] && run.elapsed == .milliseconds(900))
        #expect(run.context.record.hedges == 0)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `after the delay a second request is sent, and the loser is cancelled`() throws {
        let run = try run(.never, .status(200, after: .seconds(2)))
        #expect(run.status == 200 && run.elapsed == .seconds(3))
        #expect(run.course == ["1 sent", "pays", "2 sent as a hedge", "1 cancelled"])
        #expect(run.context.record.hedges == 1)
        // The record is the winner's.
        #expect(run.context.record.exchange?.answer?.headers["X-Number"] == "2")
        let first = try self.run(.status(201, after: .seconds(2)), .never)
        #expect(first.status == 201 && first.elapsed == .seconds(2))
        #expect(first.course == ["1 sent", "pays", "2 sent as a hedge", "2 cancelled"])
        #expect(first.context.record.exchange?.answer?.headers["X-Number"] == "1")
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `the response of a cancelled request is cancelled too`() throws {
        let run = try run(.status(201, after: .seconds(3)), .stubborn(200, after: .seconds(4)))
        #expect(run.status == 201 && run.elapsed == .seconds(5))
        #expect(run.course == ["1 sent", "pays", "2 sent as a hedge", "2 body cancelled"])
        let other = try self.run(.stubborn(201, after: .seconds(5)), .status(200, after: .seconds(1)))
        #expect(other.status == 200 && other.course.last == "1 body cancelled")
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `there is one more request at most`() throws {
        let run = try run(.never, .never, .status(200, after: .zero))
        #expect(run.course.count { $0.contains("sent") } == 2 && run.elapsed == .seconds(100_001))
        #expect((run.error as? TransportError)?.code == .timedOutWaiting)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `a failure that may pass sends the second request at once`() throws {
        for status in [500, 502, 503, 504] {
            let run = try run(.status(status, after: .milliseconds(100)), .status(200, after: .milliseconds(100)))
            #expect(run.status == 200 && run.elapsed == .milliseconds(200), "\(status)")
        }
        for code in [TransportError.Code.connectionLost, .cannotConnect, .timedOutWaiting] {
            let run = try run(.failure(TransportError(code, "x"), after: .zero), .status(200, after: .zero))
            #expect(run.status == 200 && run.elapsed == .zero)
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `any other failure is the attempt's`() throws {
        for status in [408, 429, 501, 505] {
            let run = try run(.status(status, after: .zero), .status(200, after: .zero))
            #expect(run.status == status && run.course == ["1 sent"])
        }
        let pushed = try run(.status(503, after: .zero, headers: ["Retry-After": "1"]), .status(200, after: .zero))
        #expect(pushed.status == 503 && pushed.course == ["1 sent"])
        let url = try #require(URL(string: "https://api.test"))
        let origin = try #require(Origin(url))
        let errors: [any Error] = [
            TransportError(.tls, "x"), TransportError(.timedOutTotal, "x"), Refusal(), RequestBodyError(message: "x"),
            CircuitOpen(origin: origin, retryAfter: nil, retryDate: nil, lastFailure: ""),
        ]
        for error in errors {
            let run = try run(.failure(error, after: .zero), .status(200, after: .zero))
            #expect(run.error != nil && run.course == ["1 sent"], "\(error)")
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `a failed request waits for the other, and of two failures the first counts unless the second tells more`() throws {
        let late = try run(.lost(after: .seconds(2)), .status(200, after: .seconds(5)))
        #expect(late.status == 200 && late.elapsed == .seconds(6))
        let refused = try run(.status(200, after: .seconds(5)), .failure(Refusal(), after: .seconds(1)))
        #expect(refused.status == 200 && refused.elapsed == .seconds(5))
        let limited = try run(.status(200, after: .seconds(5)), .status(429, after: .seconds(1)))
        #expect(limited.status == 200 && limited.course.contains("2 sent as a hedge"))
        let both = try run(.lost(after: .seconds(3)), .failure(Refusal(), after: .seconds(1)))
        #expect((both.error as? TransportError)?.code == .connectionLost)
        let answered = try run(.lost(after: .seconds(2)), .status(500, after: .seconds(2)))
        #expect(answered.status == 500 && answered.context.record.exchange?.answer?.headers["X-Number"] == "2")
        let two = try run(.status(502, after: .seconds(2)), .status(500, after: .seconds(2)))
        #expect(two.status == 502 && two.context.record.exchange?.answer?.headers["X-Number"] == "1")
        let asked = try run(.status(500, after: .seconds(2)), .status(503, after: .seconds(2), headers: ["Retry-After": "9"]))
        #expect(asked.status == 503)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `a second request that the budget doesn't pay for isn't sent`() throws {
        let slow = try run(pays: false, .status(200, after: .seconds(9)))
        #expect(slow.status == 200 && slow.course == ["1 sent", "pays"] && slow.elapsed == .seconds(9))
        let failed = try run(pays: false, .status(502, after: .milliseconds(1)))
        #expect(failed.status == 502 && failed.course == ["1 sent", "pays"])
        let lost = try run(pays: false, .lost(after: .seconds(5)))
        #expect((lost.error as? TransportError)?.code == .connectionLost && lost.course == ["1 sent", "pays"])
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `only safe methods with replayable bodies are hedged, and only where the policy says so`() throws {
        for method: ServiceRequest.Method in [.post, .put, .patch, .delete] {
            #expect(try run(method: method, .status(200, after: .seconds(9))).course == ["1 sent"])
        }
        let once = RequestBody { AsyncThrowingStream { $0.finish() } }
        #expect(try run(body: once, .status(200, after: .seconds(9))).course == ["1 sent"])
        #expect(try run(body: RequestBody(Data("x".utf8)), .status(200, after: .seconds(9)), .never).course.count == 4)
        #expect(try run(policy: nil, .status(200, after: .seconds(9))).course == ["1 sent"])
        #expect(try run(policy: .off, .status(200, after: .seconds(9))).course == ["1 sent"])
        #expect(try run(policy: .afterPercentile(.nan), .status(200, after: .seconds(9))).course == ["1 sent"])
        #expect(try run(policy: .after(.seconds(Int64.max)), .status(200, after: .seconds(9))).course == ["1 sent"])
        #expect(try run(policy: .after(.seconds(Int64.min)), .status(200, after: .seconds(9)), .never).course.count == 4)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `cancelling the task or the call cancels both requests`() throws {
        for after in [Duration.milliseconds(500), .seconds(5)] {
            let run = try run(cancelAfter: after, .never, .never)
            #expect(run.error is CancellationError && run.elapsed == after)
            #expect(run.course.count { $0.hasSuffix("cancelled") } == (after < .seconds(1) ? 1 : 2), "\(run.course)")
            let handled = try self.run(handleCancelAfter: after, .never, .never)
            #expect((handled.error as? CallCancelled)?.reason == "enough" && handled.elapsed == after)
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `the percentile is measured for each endpoint, from fifty responses on`() throws {
        let (time, latencies) = (SimulatedTime(), LatencyRegistry())
        let origin = Origin(try #require(URL(string: "https://api.test/x")))
        let policy = HedgingPolicy.afterPercentile(0.9)
        for number in 1...LatencyHistogram.minimum {
            let delay: Duration = number % 10 == 0 ? .seconds(8) : .milliseconds(100)
            #expect(try run(policy: policy, time: time, latencies: latencies, .status(200, after: delay)).course == ["1 sent"])
        }
        let delay = try #require(latencies.latency(of: "call()", at: origin, percentile: 0.9))
        #expect(delay >= .milliseconds(100) && delay < .milliseconds(120))
        let hedged = try run(policy: policy, time: time, latencies: latencies, .never, .status(200, after: .milliseconds(10)))
        #expect(hedged.status == 200 && hedged.elapsed == delay + .milliseconds(10))
        // Another endpoint has none yet.
        #expect(latencies.latency(of: "other()", at: origin, percentile: 0.9) == nil)
        // The times of given-up requests keep the percentile where it is.
        for number in 1...200 {
            let run = try run(
                policy: policy, time: time, latencies: latencies, .status(200, after: number % 10 == 0 ? .seconds(8) : .milliseconds(100)),
                .status(200, after: .milliseconds(100)))
            #expect(run.status == 200)
        }
        let later = try #require(latencies.latency(of: "call()", at: origin, percentile: 0.9))
        #expect(later >= .milliseconds(100) && later < .milliseconds(500))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `a failed response that is kept holds no connection, and a large one ends the wait`() throws {
        let time = SimulatedTime()
        let stage = Hedging(clock: time.clock, latencies: LatencyRegistry())
        let url = try #require(URL(string: "https://api.test/x"))
        var attributes = EndpointAttributes()
        attributes.set(HedgingPolicy.after(.seconds(1)))
        let context = CallContext(attributes: attributes)
        func bytes(_ count: Int, failing error: (any Error)? = nil) throws -> (sent: Int, read: Result<Data, any Error>) {
            let count = Locked(count)
            let sent = Locked(0)
            return try time.run {
                let response = try await stage.intercept(ServiceRequest(url: url), context: context) { request, context in
                    sent.withLock { $0 += 1 }
                    if context.isHedge { throw Refusal() }
                    let body = ResponseBody(
                        expectedLength: nil,
                        next: {
                            let size = count.withLock { left in
                                defer { left = max(0, left - 10_000) }
                                return min(left, 10_000)
                            }
                            if size == 0, let error { throw error }
                            return size == 0 ? nil : Data(count: size)
                        }, cancel: {})
                    return TransportResponse(status: 502, url: request.url, body: body)
                }
                let read: Result<Data, any Error>
                do { read = .success(try await response.body.collect(upTo: 1 << 20)) } catch { read = .failure(error) }
                return (sent.withLock { $0 }, read)
            }
        }
        let small = try bytes(30_000)
        #expect(try small.sent == 2 && small.read.get().count == 30_000)
        let large = try bytes(300_000)
        #expect(try large.sent == 1 && large.read.get().count == 300_000)
        let broken = try bytes(20_000, failing: TransportError(.truncated, "x"))
        #expect(broken.sent == 1)
        #expect(throws: TransportError.self) { try broken.read.get() }
    }

    // MARK: Clients

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `a client's hedged call has the first good response, its values and its deadline`() throws {
        let time = SimulatedTime()
        let notes = Locked<[String]>([])
        let (client, stub) = CallClock.$current.withValue(time.clock) {
            Store.stubbed(
                configure: {
                    $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret")
                    $0.circuitBreaker = CircuitBreakerPolicy(minimumCalls: 1)
                    $0.interceptors = [
                        .perAttempt(
                            RequestPreparer { request, context in
                                // Task-local values of the call are cleared within the chain, in both requests.
                                #expect(DryRun.current == nil && CallAttributes.current == nil)
                                notes.withLock { $0.append("\(context.attempt) \(context.isHedge)") }
                                request.headers["X-Mark"] = "\(context.isHedge)"
                            })
                    ]
                })
        }
        stub.fallback(
            .answering { request in
                try await time.sleep(request.request.headers["X-Mark"] == "true" ? .milliseconds(10) : .seconds(50))
                return .json(#"{"id": 7, "name": "tea"}"#)
            })
        try time.run {
            let call = client.http.get("/items/%%0%%", 7).describing { $0.hedged(after: .milliseconds(200)) }
            let item: StoreItem = try await call.value()
            #expect(item.name == "tea")
            #expect(time.elapsed == .milliseconds(210))
            #expect(notes.withLock { $0 } == ["1 false", "1 true"])
            #expect(stub.requests.count == 2 && stub.requests.allSatisfy { $0.request.headers["Authorization"] != nil })
            // The cancelled loser counts for no circuit.
            #expect(client.circuits.all.first?.failures == 0 && client.circuits.all.first?.calls == 1)
            // For single calls of a table's method.
            let other = try await client.with(HedgingPolicy.after(.seconds(1))) { try await $0.item(id: 7) }
            #expect(other.id == 7 && stub.requests.count == 4)
            // A dry run sends none, whatever the policy.
            let shown = try await client.with(HedgingPolicy.after(.milliseconds(1))) { client in
                try await client.dryRun { try await $0.item(id: 7) }
            }
            #expect(shown.url.path == "/v1/items/7" && stub.requests.count == 4)
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `the second request is refused by an open circuit without harm to the first`() throws {
        let time = SimulatedTime()
        let (client, stub) = CallClock.$current.withValue(time.clock) {
            Store.stubbed(configure: { $0.circuitBreaker = CircuitBreakerPolicy(minimumCalls: 1) })
        }
        stub.fallback(.status(503))
        try time.run {
            #expect(await serviceError { try await client.item(id: 1).discard() }?.status == 503)
            try await time.sleep(.seconds(6))
            stub.fallback(
                .answering { _ in
                    try await time.sleep(.seconds(2))
                    return .json(#"{"id": 7, "name": "tea"}"#)
                })
            // The first is the probe.
            let item = try await client.with(HedgingPolicy.after(.seconds(1))) { try await $0.item(id: 7) }
            #expect(item.id == 7 && stub.requests.count == 2 && client.circuits.all.first?.phase == .closed)
        }
    }

    // MARK: Declarations

    @Test func `hedging without effect is a fault that names key and fix`() throws {
        func faults(_ descriptor: EndpointDescriptor) -> [String] {
            CompiledTable(["a()": descriptor], root: nil).faults.map { "\($0.kind) \($0)" }
        }
        #expect(faults(.get("/a").hedged(after: .seconds(1))).isEmpty && faults(.head("/a").hedged(afterPercentile: 0.95)).isEmpty)
        #expect(faults(.post("/a").attribute(HedgingPolicy.off)).isEmpty)
        for descriptor: EndpointDescriptor in [
            .post("/a").hedged(after: .seconds(1)), .delete("/a").hedged(afterPercentile: 0.9), .get("/a").hedged(after: .zero),
            .get("/a").hedged(after: .seconds(-1)), .get("/a").hedged(afterPercentile: 0), .get("/a").hedged(afterPercentile: 1),
            .get("/a").hedged(afterPercentile: .nan), .get("/a").hedged(after: .seconds(5)).timeout(.seconds(5)),
            .get("/a").hedged(after: .seconds(5)).timeouts(ServiceTimeouts(firstByte: .seconds(2))),
        ] {
            let found = faults(descriptor)
            #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix("badPolicy \"a()\": ") && $0.contains("; ") }, "\(found)")
        }
        // Deadlines and policies of other levels.
        let client = Slow(serviceRoot: "https://api.test") {
            $0.transport = StubTransport()
            $0.timeouts.total = .seconds(3)
        }
        #expect(client.verify().map(\.kind) == [.badPolicy] && client.verify().map(\.key) == ["slow()"])
        #expect(Slow.verify().isEmpty)
        client.configure { $0.attributes[HedgingPolicy.self] = .after(.seconds(4)) }
        #expect(client.verify().map(\.key) == [nil, "slow()"])
        #expect(Slow.describe().endpoints.map(\.attributes) == [["HedgingPolicy(after: 4 s)"], ["HedgingPolicy(afterPercentile: 0.95)"]])
    }

    private final class Slow: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            ["slow()": .get("/slow").hedged(after: .seconds(4)), "quick()": .get("/quick").hedged(afterPercentile: 0.95)]
        }
    }
}

@Suite struct LatencyRegistryTests {
    @Test func `a percentile lies within a fifth above the exact one`() throws {
        var generator = SeededGenerator(seed: 3)
        var histogram = LatencyHistogram()
        var times: [Double] = []
        for _ in 0..<900 {
            let time = Double.random(in: 2...20_000, using: &generator)
            times.append(time)
            histogram.add(.milliseconds(1) * time)
        }
        times.sort()
        for percentile in [0.01, 0.5, 0.9, 0.95, 0.99] {
            let exact = times[Int((percentile * 900).rounded(.up)) - 1]
            let found = try #require(histogram.latency(percentile: percentile)) / .milliseconds(1)
            #expect(found >= exact * 0.999 && found <= exact * 1.2, "\(percentile): \(found) for \(exact)")
        }
    }

    @Test func `new times outweigh old ones`() throws {
        var histogram = LatencyHistogram()
        for _ in 0..<5_000 { histogram.add(.milliseconds(10)) }
        #expect(histogram.total < LatencyHistogram.most)
        for _ in 0..<1_500 { histogram.add(.seconds(10)) }
        let median = try #require(histogram.latency(percentile: 0.5))
        #expect(median > .seconds(9))
    }

    @Test func `bounds and senseless values trap nowhere, and endpoints without end need no memory without end`() {
        var histogram = LatencyHistogram()
        for time in [Duration.zero, .seconds(-5), .seconds(Int64.max), .seconds(Int64.min), .nanoseconds(1)] {
            for _ in 0..<20 { histogram.add(time) }
        }
        for percentile in [0, 1, -1, 2, Double.nan, .infinity] { #expect(histogram.latency(percentile: percentile) == nil) }
        #expect(histogram.latency(percentile: 0.5) == .milliseconds(1))
        #expect(histogram.latency(percentile: 0.99) == LatencyHistogram.bound(of: 72))
        let registry = LatencyRegistry()
        for number in 0..<3 * LatencyRegistry.limit { registry.add(.seconds(1), of: "\(number)", at: nil) }
        #expect(registry.count <= LatencyRegistry.limit)
    }
}

extension StoreItem {
    fileprivate func discard() {}
}
