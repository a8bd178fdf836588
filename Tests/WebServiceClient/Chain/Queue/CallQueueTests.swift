import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct CallQueueTests {
    private static func request(_ origin: String = "a", _ path: String = "x") throws -> ServiceRequest {
        ServiceRequest(url: try #require(URL(string: "https://\(origin).test/\(path)")))
    }

    private static func context(_ priority: CallPriority = .normal) -> CallContext {
        var attributes = EndpointAttributes()
        attributes[CallPriority.self] = priority
        return CallContext(attributes: attributes)
    }

    /// A call of a model: it takes a slot, notes its start, and releases the slot on request.
    private final class Starts: Sendable {
        private let state = Locked((names: [String](), slots: [CallQueue.Slot]()))

        var names: [String] { state.withLock { $0.names } }

        func add(_ name: String, _ slot: CallQueue.Slot) {
            state.withLock {
                $0.names.append(name)
                $0.slots.append(slot)
            }
        }

        /// Releases the slot that was taken first.
        func releaseOne(_ queue: CallQueue) -> Bool {
            guard let slot = state.withLock({ $0.slots.isEmpty ? nil : $0.slots.removeFirst() }) else { return false }
            queue.release(slot)
            return true
        }
    }

    @Test func `Origins take turns, whatever the number of their calls`() throws {
        try simulated { time in
            let queue = CallQueue(clock: time.clock)
            queue.apply(QueueLimits(active: 1), number: 0)
            let starts = Starts()
            starts.add("first", try await queue.slot(for: Self.request("z"), Self.context()))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (origin, count) in [("a", 6), ("b", 2), ("c", 1)] {
                    for number in 1...count {
                        group.addTask {
                            starts.add("\(origin)\(number)", try await queue.slot(for: Self.request(origin), Self.context()))
                        }
                        try await time.settle()
                    }
                }
                while starts.releaseOne(queue) { try await time.settle() }
                try await group.waitForAll()
            }
            #expect(starts.names == ["first", "a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5", "a6"])
        }
    }

    @Test func `The priority of a pending call changes, and it keeps the place of its arrival`() throws {
        try simulated { time in
            let queue = CallQueue(clock: time.clock)
            queue.apply(QueueLimits(active: 1), number: 0)
            let starts = Starts()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (name, priority) in [
                    ("first", .normal), ("n1", .normal), ("l1", .low), ("h1", .high), ("n2", .normal), ("h2", .high), ("l2", .low),
                ] as [(String, CallPriority)] {
                    group.addTask { starts.add(name, try await queue.slot(for: Self.request(), Self.context(priority))) }
                    try await time.settle()
                }
                // In the order of priority and arrival: h1, h2, n1, n2, l1, l2.
                let ids = queue.pending.map(\.id)
                #expect(queue.setPriority(.high, of: ids[4]) && queue.setPriority(.low, of: ids[1]))
                for priority in [CallPriority.low, .normal, .low] { #expect(queue.setPriority(priority, of: ids[2])) }
                #expect(queue.setPriority(.normal, of: ids[3]))
                #expect(!queue.setPriority(.high, of: 0) && !queue.setPriority(.high, of: .max) && !queue.setPriority(.high, of: -1))
                #expect(queue.pending.map(\.priority) == [.high, .high, .normal, .low, .low, .low])
                while starts.releaseOne(queue) { try await time.settle() }
                try await group.waitForAll()
                #expect(!queue.setPriority(.high, of: ids[0]))
            }
            #expect(starts.names == ["first", "l1", "h1", "n2", "n1", "h2", "l2"])
        }
    }

    @Test func `Priorities that change at random lose no call, and each origin's calls keep their order`() throws {
        try simulated { time in
            let queue = CallQueue(clock: time.clock)
            queue.apply(QueueLimits(active: 2), number: 0)
            queue.pause()
            let starts = Starts()
            var generator = SeededGenerator(seed: 31)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    let origin = ["a", "b", "c"][number % 3]
                    group.addTask { starts.add("\(origin)\(number)", try await queue.slot(for: Self.request(origin), Self.context(.low))) }
                    try await time.settle()
                }
                for _ in 0..<500 {
                    let call = try #require(queue.pending.randomElement(using: &generator))
                    #expect(queue.setPriority(try #require(CallPriority.allCases.randomElement(using: &generator)), of: call.id))
                }
                let pending = queue.pending
                #expect(pending.count == 60 && Set(pending.map(\.id)).count == 60)
                for call in pending { #expect(queue.setPriority(.normal, of: call.id)) }
                queue.resume()
                try await time.settle()
                while starts.releaseOne(queue) { try await time.settle() }
                try await group.waitForAll()
            }
            for (first, origin) in ["a", "b", "c"].enumerated() {
                let expected = stride(from: first, to: 60, by: 3).map { "\(origin)\($0)" }
                #expect(starts.names.filter { $0.hasPrefix(origin) } == expected)
            }
            #expect(queue.status.activeCount == 0 && queue.status.pendingCount == 0)
        }
    }

    @Test func `The limit of an origin holds back only its own calls`() throws {
        try simulated { time in
            let queue = CallQueue(clock: time.clock)
            queue.apply(QueueLimits(active: 3, activePerOrigin: 1), number: 0)
            let starts = Starts()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in ["a1", "a2", "a3", "b1", "c1", "d1"] {
                    group.addTask {
                        starts.add(name, try await queue.slot(for: Self.request(String(name.prefix(1))), Self.context()))
                    }
                    try await time.settle()
                }
                #expect(starts.names == ["a1", "b1", "c1"])
                #expect(queue.pending.map(\.reason) == [.originLimit, .originLimit, .clientLimit])
                _ = starts.releaseOne(queue)
                try await time.settle()
                #expect(starts.names.count == 4)
                while starts.releaseOne(queue) { try await time.settle() }
                try await group.waitForAll()
            }
            #expect(Set(starts.names).count == 6 && queue.status.activeCount == 0)
        }
    }

    /// The stated bound: with one origin, a call with k calls of its priority before it starts after at most (k + 1) · 12 starts.
    @Test(arguments: [1, 3]) func `No priority starves while higher ones keep coming`(origins: Int) throws {
        try simulated { time in
            let queue = CallQueue(clock: time.clock)
            queue.apply(QueueLimits(active: 1), number: 0)
            let starts = Starts()
            starts.add("first", try await queue.slot(for: Self.request(), Self.context()))
            let isOver = Locked(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let lower = 20
                for number in 0..<lower {
                    for (priority, name) in [(CallPriority.low, "low"), (.normal, "normal")] {
                        group.addTask {
                            let request = try Self.request("o\(number % origins)")
                            starts.add("\(name) \(number)", try await queue.slot(for: request, Self.context(priority)))
                        }
                    }
                }
                // There are always as many calls of high priority as start.
                for number in 0..<40 {
                    group.addTask {
                        while !isOver.withLock({ $0 }) {
                            let request = try Self.request("o\(number % origins)")
                            starts.add("high", try await queue.slot(for: request, Self.context(.high)))
                        }
                    }
                }
                try await time.settle()
                for _ in 0..<2_000 where starts.releaseOne(queue) { try await time.settle() }
                let names = starts.names
                for name in ["low", "normal"] {
                    let places = names.indices.filter { names[$0].hasPrefix(name) }
                    #expect(places.count == lower)
                    for (index, place) in places.enumerated() {
                        #expect(place <= (index + 1) * (PendingCalls.patience + 2) * origins, "\(name) \(index) at \(place)")
                    }
                }
                // Most turns are still those of the high priority.
                let begun = names.prefix(100)
                #expect(begun.count { $0 == "high" } >= 60)
                isOver.withLock { $0 = true }
                while starts.releaseOne(queue) { try await time.settle() }
                try await group.waitForAll()
            }
        }
    }

    @Test func `Ten thousand pending calls of three priorities all start, within the bound`() throws {
        try simulated { time in
            let queue = CallQueue(clock: time.clock)
            queue.apply(QueueLimits(active: 8), number: 0)
            let starts = Starts()
            let priorities: [CallPriority] = [.high, .normal, .low]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<10_000 {
                    let priority = priorities[number % 3]
                    group.addTask {
                        starts.add(priority.rawValue, try await queue.slot(for: Self.request("o\(number % 5)"), Self.context(priority)))
                    }
                }
                try await time.settle()
                #expect(queue.status.pendingCount == 9_992 && starts.names.count == 8)
                while starts.releaseOne(queue) { try await time.settle() }
                try await group.waitForAll()
            }
            let names = starts.names
            #expect(names.count == 10_000 && queue.status.activeCount == 0)
            let low = names.indices.filter { names[$0] == "low" }
            #expect(low.enumerated().allSatisfy { $0.element <= 8 + ($0.offset + 1) * (PendingCalls.patience + 2) })
        }
    }

    @Test func `A pause of an origin ends at its time, and can be extended or ended`() throws {
        try simulated { time in
            let queue = CallQueue(clock: time.clock)
            let starts = Starts()
            let (paused, free) = (try Self.request("a"), try Self.request("b"))
            @Sendable func start(_ name: String, _ request: ServiceRequest) async throws {
                // The time is read after the wait: arguments are evaluated from left to right.
                let slot = try await queue.slot(for: request, Self.context())
                starts.add("\(name) at \(time.elapsed().components.seconds)", slot)
            }
            queue.pause(paused.origin, until: time.clock.now().advanced(by: .seconds(10)))
            queue.pause(paused.origin, until: time.clock.now().advanced(by: .seconds(-5)))
            #expect(queue.slotAtOnce() == nil && queue.pauseEnd(of: paused.origin) != nil && queue.pauseEnd(of: free.origin) == nil)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await start("a1", paused) }
                group.addTask { try await start("b1", free) }
                try await time.pass(.seconds(2))
                #expect(queue.pending.count == 1)
                if case .originPaused(let rest)? = queue.pending.first?.reason { #expect(rest > .seconds(7) && rest <= .seconds(8)) }
                queue.pause(paused.origin, until: time.clock.now().advanced(by: .seconds(18)))
                queue.pause(paused.origin, until: time.clock.now().advanced(by: .seconds(1)))
                try await group.waitForAll()
                #expect(starts.names == ["b1 at 0", "a1 at 20"])
                // A pause without waiting calls ends at its time.
                queue.pause(paused.origin, until: time.clock.now().advanced(by: .seconds(5)))
                try await time.pass(.seconds(6))
                try await start("a2", paused)
                queue.pause(paused.origin, until: time.clock.now().advanced(by: .seconds(500)))
                group.addTask { try await start("a3", paused) }
                try await time.settle()
                queue.resume(paused.origin)
                queue.resume(free.origin)
                try await group.waitForAll()
                #expect(starts.names.suffix(2) == ["a2 at 26", "a3 at 26"])
            }
            while starts.releaseOne(queue) {}
            #expect(queue.slotAtOnce() != nil)
        }
    }

    @Test func `The end of a queue leaves nobody waiting`() throws {
        try simulated { time in
            let queue = CallQueue(clock: time.clock)
            queue.pause()
            let error = CallCancelled(.shutdown, reason: "Closed.")
            let ends = Locked(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let context = Self.context(number % 2 == 0 ? .low : .high)
                        await #expect(throws: error) { try await queue.slot(for: Self.request("o\(number % 7)"), context) }
                        #expect(context.record.cancellation.cause == error && context.record.waits.map(\.reason) == [.queue])
                        ends.withLock { $0 += 1 }
                    }
                }
                try await time.settle()
                let pending = queue.close(with: error)
                #expect(pending.count == 100 && pending.first?.priority == .high)
                try await group.waitForAll()
            }
            #expect(ends.withLock { $0 } == 100 && queue.pending.isEmpty && queue.close(with: error).isEmpty)
            queue.resume()
            await #expect(throws: error) { try await queue.slot(for: Self.request(), Self.context()) }
            #expect(queue.slotAtOnce() == nil)
        }
    }

    @Test func `A client that is released leaves nobody waiting`() throws {
        try simulated { time in
            let client = Locked<Jobs?>(Jobs.make(time, HeldTransport()))
            guard let runtime = client.withLock({ $0?.runtime }) else { return }
            runtime.queue.pause()
            let waiting = time.start { _ = try await runtime.queue.slot(for: Self.request(), Self.context()) }
            try await time.settle()
            client.withLock { $0 = nil }
            await #expect(throws: CallCancelled.self) { try await waiting.value }
        }
    }

    /// Calls on several threads end in every way, while limits and pauses change.
    @Test func `Under a storm each call ends once, and no slot is lost`() async throws {
        let queue = CallQueue(clock: .system)
        queue.apply(QueueLimits(active: 4, activePerOrigin: 3, pending: 500), number: 0)
        let active = Locked((now: 0, most: 0))
        let outcomes = Locked<[String: Int]>([:])
        let stops = Locked(false)
        let control = Task {
            var generator = SeededGenerator(seed: 31)
            while !stops.withLock({ $0 }) {
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: queue.pause()
                case 1: queue.pause(try Self.request("o1").origin, until: .now.advanced(by: .milliseconds(1)))
                case 2:
                    if let call = queue.pending.randomElement(using: &generator) { _ = queue.cancel(call.id, CallCancelled(reason: "x")) }
                case 3: queue.apply(QueueLimits(active: Int.random(in: 1...4, using: &generator), pending: 500), number: 0)
                default: break
                }
                await Task.yield()
                queue.resume()
            }
            queue.resume(try Self.request("o1").origin)
        }
        try await watched {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<2_000 {
                    group.addTask {
                        let context = Self.context([.low, .normal, .high][number % 3])
                        let task = Task {
                            let slot = try await queue.slot(for: Self.request("o\(number % 4)"), context)
                            active.withLock { active in
                                active.now += 1
                                active.most = max(active.most, active.now)
                            }
                            await Task.yield()
                            active.withLock { $0.now -= 1 }
                            queue.release(slot)
                        }
                        if number % 5 == 0 { task.cancel() }
                        if number % 7 == 0 { context.record.cancellation.cancel(CallCancelled(reason: "y")) }
                        let outcome: String
                        switch await task.result {
                        case .success: outcome = "done"
                        case .failure(is CancellationError), .failure(is CallCancelled): outcome = "cancelled"
                        case .failure(let error): outcome = (error as? QueueError)?.kind.rawValue ?? "\(error)"
                        }
                        outcomes.withLock { $0[outcome, default: 0] += 1 }
                    }
                }
                try await group.waitForAll()
            }
            stops.withLock { $0 = true }
            try await control.value
        }
        #expect(outcomes.withLock { $0.values.reduce(0, +) } == 2_000)
        #expect(Set(outcomes.withLock { $0.keys }).isSubset(of: ["done", "cancelled", "full"]), "\(outcomes.withLock { $0 })")
        #expect(active.withLock { $0.most } <= 4)
        #expect(queue.status.activeCount == 0 && queue.pending.isEmpty)
        queue.apply(.none, number: 0)
        queue.resume()
        #expect(queue.slotAtOnce() != nil)
    }

    @Test func `Ten thousand calls that are cancelled at once end at once`() async throws {
        let queue = CallQueue(clock: .system)
        queue.apply(QueueLimits(active: 1), number: 0)
        let slot = try await queue.slot(for: Self.request(), Self.context())
        try await watched {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<10_000 {
                    group.addTask {
                        await #expect(throws: CancellationError.self) { try await queue.slot(for: Self.request(), Self.context()) }
                    }
                }
                while queue.status.pendingCount < 10_000 { await Task.yield() }
                group.cancelAll()
                // Their turns come while they are on their way out.
                queue.release(slot)
            }
        }
        #expect(queue.status.activeCount == 0 && queue.pending.isEmpty)
    }
}
