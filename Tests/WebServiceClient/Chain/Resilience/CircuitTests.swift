import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct CircuitTests {
    private static let start = MonotonicInstant.now

    private static func at(_ seconds: Double) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    private static let policy = CircuitBreakerPolicy(
        window: .seconds(10), failureRatio: 0.5, minimumCalls: 4, openDuration: .seconds(5), longestOpenDuration: .seconds(40))

    /// A circuit with its clock and a generator that gives the same numbers each time.
    private struct Driver {
        var circuit: Circuit
        var generator = SeededGenerator(seed: 1)
        var now = 0.0

        init(_ policy: CircuitBreakerPolicy = CircuitTests.policy) { circuit = Circuit(policy, at: at(0)) }

        mutating func admit() throws -> Circuit.Permit {
            guard case .permitted(let permit) = circuit.admit(at: at(now)).admission else { throw Refusal() }
            return permit
        }

        @discardableResult
        mutating func report(_ outcome: Circuit.Outcome, _ permit: Circuit.Permit) -> (change: Circuit.Change?, receipt: Circuit.Receipt?) {
            circuit.report(outcome, of: permit, at: at(now), using: &generator)
        }

        @discardableResult
        mutating func call(_ outcome: Circuit.Outcome) throws -> (change: Circuit.Change?, receipt: Circuit.Receipt?) {
            report(outcome, try admit())
        }

        /// Opens the circuit and returns the time for which it is open.
        mutating func open(_ outcome: Circuit.Outcome = .failure("x")) throws -> Double {
            for _ in 0..<4 { try call(outcome) }
            return try remaining()
        }

        func remaining() throws -> Double {
            guard case .open(let end) = circuit.phase else { throw Refusal() }
            return (end - at(now)) / .seconds(1)
        }

        var isClosed: Bool { circuit.phase == .closed }
    }

    @Test func `too few calls don't open the circuit, and neither do few failures among many`() throws {
        var driver = Driver()
        for _ in 0..<3 { try driver.call(.failure("x")) }
        #expect(driver.isClosed)
        for _ in 0..<4 { try driver.call(.success) }
        #expect(driver.isClosed)
        // 4 of 8: the ratio is reached.
        try driver.call(.failure("status 503"))
        #expect(!driver.isClosed && driver.circuit.lastFailure == "status 503")
        #expect(throws: Refusal.self) { try driver.admit() }
    }

    @Test func `failures count for the length of the window`() throws {
        var driver = Driver()
        for _ in 0..<3 { try driver.call(.failure("x")) }
        driver.now = 8.9
        #expect(driver.circuit.counts(at: Self.at(8.9)).failures == 3)
        driver.now = 10.1
        try driver.call(.failure("x"))
        #expect(driver.isClosed && driver.circuit.counts(at: Self.at(10.1)).calls == 1)
    }

    @Test func `one call at a time is the probe, and its success closes the circuit`() throws {
        var driver = Driver()
        driver.now = try driver.open() + 0.001
        let probe = try driver.admit()
        #expect(probe.isProbe)
        #expect(throws: Refusal.self) { try driver.admit() }
        #expect(driver.report(.success, probe).change == .closed)
        #expect(driver.isClosed && driver.circuit.counts(at: Self.at(driver.now)).calls == 0)
        #expect(try !driver.admit().isProbe)
    }

    @Test func `each opening in a row lasts longer, with jitter and up to the cap, and a quiet window starts over`() throws {
        var driver = Driver()
        var wait = try driver.open()
        for bound in [5.0, 10, 20, 40, 40, 40] {
            #expect(wait >= bound / 2 && wait <= bound, "\(wait) of \(bound)")
            driver.now += wait + 0.001
            try driver.call(.failure("x"))
            wait = try driver.remaining()
        }
        driver.now += wait + 0.001
        try driver.call(.success)
        // It was closed only now: an origin that passes each probe but fails under load gets ever fewer calls.
        #expect(try driver.open() >= 20)
        driver.now += 41
        try driver.call(.success)
        driver.now += 10.1
        #expect(try driver.open() <= 5)
    }

    @Test func `a Retry-After is the minimum, up to an hour, also that of an earlier failure`() throws {
        var driver = Driver()
        try driver.call(.failure("status 503", retryAfter: .seconds(120)))
        for _ in 0..<3 { try driver.call(.failure("x", retryAfter: .seconds(1))) }
        #expect(try (120...122.5).contains(driver.remaining()))
        driver.now = 130
        try driver.call(.failure("status 503", retryAfter: .seconds(Int64.max)))
        #expect(try (3600...3605).contains(driver.remaining()))
        driver.now += 3606
        // It was of that failure.
        try driver.call(.failure("x"))
        #expect(try driver.remaining() <= 20)
    }

    @Test func `a cancelled probe gives its permit back and decides nothing`() throws {
        var driver = Driver()
        driver.now = try driver.open() + 0.001
        for _ in 0..<5 {
            let probe = try driver.admit()
            #expect(driver.report(.nothing, probe).change == nil)
        }
        #expect(try driver.call(.success).change == .closed)
    }

    @Test func `a probe that never ends holds the circuit for a while only`() throws {
        var driver = Driver()
        driver.now = try driver.open() + 0.001
        let lost = try driver.admit()
        driver.now += 4.9
        #expect(throws: Refusal.self) { try driver.admit() }
        driver.now += 0.2
        let second = try driver.admit()
        #expect(second.isProbe && second != lost)
        // The permit is the second's now: the first has none to give back.
        driver.report(.nothing, lost)
        #expect(throws: Refusal.self) { try driver.admit() }
        // An origin that is slower than the lease still closes the circuit.
        #expect(driver.report(.success, lost).change == .closed)
        #expect(driver.report(.failure("x"), second).change == nil && driver.isClosed)
        #expect(driver.circuit.counts(at: Self.at(driver.now)).calls == 0)
    }

    @Test func `late outcomes of calls that began before don't decide the probe`() throws {
        var driver = Driver()
        let early = try (0..<3).map { _ in try driver.admit() }
        driver.now = try driver.open() + 0.001
        let until = driver.circuit.phase
        driver.report(.success, early[0])
        #expect(driver.circuit.phase == until)
        let probe = try driver.admit()
        driver.report(.success, early[1])
        driver.report(.failure("x"), early[2])
        guard case .halfOpen = driver.circuit.phase else {
            Issue.record("A late outcome decided the probe.")
            return
        }
        driver.report(.success, probe)
        #expect(driver.isClosed)
    }

    @Test func `a body that breaks off turns its success into a failure, once`() throws {
        var driver = Driver()
        let receipts = try (0..<4).compactMap { _ in try driver.call(.success).receipt }
        _ = driver.circuit.retract(receipts[0], reason: "truncated", at: Self.at(1), using: &driver.generator)
        #expect(driver.circuit.counts(at: Self.at(1)) == (4, 1) && driver.isClosed)
        let change = driver.circuit.retract(receipts[1], reason: "truncated", at: Self.at(2), using: &driver.generator)
        guard case .opened(_, failures: 2, calls: 4) = change else {
            Issue.record("It is \(String(describing: change)).")
            return
        }
        #expect(driver.circuit.retract(receipts[2], reason: "truncated", at: Self.at(3), using: &driver.generator) == nil)
        // After the window, it counts as a separate call.
        var later = Driver()
        let receipt = try #require(try later.call(.success).receipt)
        _ = later.circuit.retract(receipt, reason: "timedOutIdle", at: Self.at(60), using: &later.generator)
        #expect(later.circuit.counts(at: Self.at(60)) == (1, 1))
    }

    @Test func `a reset circuit is as new`() throws {
        var driver = Driver()
        let early = try driver.admit()
        _ = try driver.open()
        driver.circuit.reset(at: Self.at(0))
        driver.report(.failure("x"), early)
        #expect(driver.isClosed && driver.circuit.isIdle(at: Self.at(0)) && driver.circuit.lastFailure.isEmpty)
        #expect(try driver.open() <= 5)
    }

    @Test(arguments: [
        CircuitBreakerPolicy(window: .zero, failureRatio: .nan, minimumCalls: .min, openDuration: .seconds(-1)),
        CircuitBreakerPolicy(
            window: .seconds(Int64.max), failureRatio: -.infinity, minimumCalls: 0, openDuration: .seconds(Int64.max),
            longestOpenDuration: .seconds(Int64.min)),
        CircuitBreakerPolicy(window: .seconds(Int64.min), failureRatio: 1e300, minimumCalls: 1, openDuration: .zero, statuses: []),
    ])
    func `values without sense trap nowhere`(policy: CircuitBreakerPolicy) throws {
        #expect(!policy.faults.isEmpty && policy.description.hasPrefix("CircuitBreakerPolicy("))
        #expect(policy.bounded == policy.bounded && policy.bounded.faults.isEmpty)
        var driver = Driver(policy.bounded)
        for _ in 0..<200 {
            if let permit = try? driver.admit() { driver.report(.failure("x", retryAfter: .seconds(Int64.max)), permit) }
            driver.now += 1_000
        }
        #expect(!driver.isClosed)
    }

    // MARK: Model

    /// The rules of the circuit with the plainest means: all calls are kept in lists, nothing is counted ahead. Times are in milliseconds.
    private struct Model {
        enum Phase { case closed, open, halfOpen }

        struct Call {
            let id: Int
            let epoch: Int
            let isProbe: Bool
        }

        let policy: CircuitBreakerPolicy
        var phase = Phase.closed
        var until = 0.0
        /// The number of changes between closed and open.
        var epoch = 0
        var epochStart = 0.0
        var lastProbe = -1
        var outcomes: [Int: (time: Double, isFailure: Bool)] = [:]
        var streak = 0
        var closedSince = -Double.infinity

        func tenth(_ time: Double) -> Int { Int(((time - epochStart) / (policy.window / .milliseconds(1) / 10)).rounded(.down)) }

        func counted(at now: Double) -> (calls: Int, failures: Int) {
            let recent = outcomes.values.filter { tenth($0.time) > tenth(now) - 10 }
            return (recent.count, recent.count { $0.isFailure })
        }

        mutating func start(_ id: Int, at now: Double) -> Call? {
            guard phase != .closed else { return Call(id: id, epoch: epoch, isProbe: false) }
            guard now >= until else { return nil }
            phase = .halfOpen
            lastProbe = id
            until = now + max(1_000, bound)
            return Call(id: id, epoch: epoch, isProbe: true)
        }

        var bound: Double {
            min(policy.openDuration / .milliseconds(1) * pow(2, Double(max(0, streak - 1))), policy.longestOpenDuration / .milliseconds(1))
        }

        /// Returns whether the circuit opens.
        mutating func end(_ call: Call, _ outcome: Circuit.Outcome, at now: Double) -> Bool {
            guard call.epoch == epoch else { return false }
            switch outcome {
            case .nothing:
                if call.isProbe, call.id == lastProbe, phase == .halfOpen { (phase, until) = (.open, now) }
                return false
            case .success where call.isProbe:
                (phase, epoch, outcomes, closedSince, epochStart) = (.closed, epoch + 1, [:], now, now)
                return false
            case .failure where call.isProbe:
                streak += 1
                epoch += 1
                phase = .open
                return true
            case .success, .failure:
                if case .failure = outcome { return fails(call, at: now, counts: now) }
                outcomes[call.id] = (now, false)
                return false
            }
        }

        /// Counts a failure of a closed circuit; returns whether it opens.
        mutating func fails(_ call: Call, at now: Double, counts time: Double) -> Bool {
            outcomes[call.id] = (time, true)
            let (calls, failures) = counted(at: now)
            guard calls >= policy.minimumCalls, Double(failures) / Double(calls) >= policy.failureRatio else { return false }
            streak = now - closedSince < policy.window / .milliseconds(1) ? streak + 1 : 1
            epoch += 1
            phase = .open
            return true
        }
    }

    @Test(arguments: 0..<40)
    func `random calls, cancels, breaks and lost probes follow the model`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let policy = CircuitBreakerPolicy(
            window: .seconds([1, 10, 60].randomElement(using: &random) ?? 10),
            failureRatio: [0.1, 0.5, 0.9, 1].randomElement(using: &random) ?? 0.5, minimumCalls: Int.random(in: 1...6, using: &random),
            openDuration: .seconds(Int.random(in: 1...5, using: &random)), longestOpenDuration: .seconds(30))
        var milliseconds = 0
        var circuit = Circuit(policy, at: Self.at(0))
        var model = Model(policy: policy)
        var flying: [(permit: Circuit.Permit, call: Model.Call)] = []
        var delivered: [(receipt: Circuit.Receipt, call: Model.Call, time: Double)] = []
        var seen: Set<String> = []
        for id in 0..<3_000 {
            milliseconds += [0, 1, 50, 400, 3_000].randomElement(using: &random) ?? 0
            if Int.random(in: 0..<200, using: &random) == 0 { milliseconds += 70_000 }
            let elapsed = Double(milliseconds)
            let now = Self.start.advanced(by: .milliseconds(milliseconds))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let call = model.start(id, at: elapsed)
                switch circuit.admit(at: now).admission {
                case .permitted(let permit):
                    let call = try #require(call, "seed \(seed), step \(id): the model refuses")
                    #expect(permit.isProbe == call.isProbe)
                    flying.append((permit, call))
                    seen.insert(permit.isProbe ? "probe" : "call")
                case .refused:
                    #expect(call == nil, "seed \(seed), step \(id): the model permits")
                    seen.insert("refused")
                }
            case 5..<9 where !flying.isEmpty:
                let index = Int.random(in: flying.indices, using: &random)
                let (permit, call) = flying.remove(at: index)
                let outcomes: [Circuit.Outcome] = [
                    .success, .failure("status 500"), .failure("timedOutWaiting"), .nothing, .success, .success,
                ]
                let outcome = outcomes.randomElement(using: &random) ?? .nothing
                if call.epoch != model.epoch { seen.insert("late") }
                let opens = model.end(call, outcome, at: elapsed)
                let (_, receipt) = circuit.report(outcome, of: permit, at: now, using: &random)
                try compare(circuit, &model, opens, elapsed, "seed \(seed), step \(id)")
                // A third of the bodies isn't read to the end, which changes nothing.
                if let receipt, Int.random(in: 0..<3, using: &random) > 0 {
                    delivered.append((receipt, Model.Call(id: call.id, epoch: model.epoch, isProbe: call.isProbe), elapsed))
                }
            case 9 where !delivered.isEmpty:
                let (receipt, call, time) = delivered.remove(at: Int.random(in: delivered.indices, using: &random))
                seen.insert("broken body")
                var opens = false
                if call.epoch == model.epoch, model.phase == .closed {
                    let isGone = call.isProbe || model.tenth(time) <= model.tenth(elapsed) - 10
                    opens = model.fails(call, at: elapsed, counts: isGone ? elapsed : time)
                }
                _ = circuit.retract(receipt, reason: "truncated", at: now, using: &random)
                try compare(circuit, &model, opens, elapsed, "seed \(seed), step \(id)")
            default:
                // A call whose task is lost: it never reports.
                if flying.count > 20 { flying.removeFirst() }
            }
        }
        // A high ratio may never be reached.
        if policy.failureRatio <= 0.5 {
            #expect(seen.isSuperset(of: ["call", "probe", "refused", "late", "broken body"]), "\(seen)")
        }
        // Whatever happened: when calls succeed again, the circuit closes after one wait.
        milliseconds += 40_000
        let now = Self.start.advanced(by: .milliseconds(milliseconds))
        if case .permitted(let permit) = circuit.admit(at: now).admission {
            _ = circuit.report(.success, of: permit, at: now, using: &random)
        }
        #expect(circuit.phase == .closed)
    }

    /// Compares the phases, and takes over the end of a new wait, which is random, after checking its bounds.
    private func compare(_ circuit: Circuit, _ model: inout Model, _ opens: Bool, _ now: Double, _ place: String) throws {
        switch (circuit.phase, model.phase) {
        case (.closed, .closed):
            let (calls, failures) = circuit.counts(at: Self.start.advanced(by: .milliseconds(Int(now))))
            let expected = model.counted(at: now)
            #expect(calls == expected.calls && failures == expected.failures, "\(place): \(calls), \(failures) for \(expected)")
        case (.open(let end), .open):
            let until = (end - Self.start) / .milliseconds(1)
            if opens {
                #expect(until - now >= model.bound / 2 - 0.001 && until - now <= model.bound + 0.001, "\(place)")
                model.until = until
            } else {
                #expect(abs(until - model.until) < 0.001, "\(place)")
            }
        case (.halfOpen(let end), .halfOpen):
            #expect(abs((end - Self.start) / .milliseconds(1) - model.until) < 0.001, "\(place)")
        default:
            Issue.record("\(place): \(circuit.phase) where the model is \(model.phase)")
            throw Refusal()
        }
    }
}
