import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct CallClockTests {
    // MARK: Waiter

    @Test func `a wait that has ended before ends at once`() async throws {
        let waiter = CallWaiter()
        #expect(waiter.end(.success(())))
        #expect(!waiter.end(.failure(Refusal())))
        try await waiter.wait(unless: CallCancellation())
        let failed = CallWaiter()
        failed.end(.failure(Refusal()))
        await #expect(throws: Refusal.self) { try await failed.wait(unless: CallCancellation()) }
    }

    @Test func `the first event ends the wait, whatever comes later`() async throws {
        let cancellation = CallCancellation()
        let waiter = CallWaiter()
        let task = Task { try await waiter.wait(unless: cancellation) }
        try await watched {
            while !waiter.end(.success(())) { await Task.yield() }
            try await task.value
        }
        cancellation.cancel(CallCancelled(reason: "too late"))
        task.cancel()
        #expect(!waiter.end(.failure(Refusal())))
    }

    @Test func `a cancelled task, a cancelled call, and one cancelled before it waits`() async throws {
        try await watched {
            let task = Task { try await CallWaiter().wait(unless: CallCancellation()) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let cancellation = CallCancellation()
            let call = Task { try await CallWaiter().wait(unless: cancellation) }
            cancellation.cancel(CallCancelled(.shutdown, reason: "closing"))
            await #expect(throws: CallCancelled(.shutdown, reason: "closing")) { try await call.value }
            await #expect(throws: CallCancelled.self) { try await CallWaiter().wait(unless: cancellation) }
        }
    }

    @Test func `events of many threads end each wait once, and none is left`() async throws {
        try await watched {
            for round in 0..<300 {
                let waiter = CallWaiter()
                let cancellation = CallCancellation()
                let ended = Locked(0)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        _ = try? await waiter.wait(unless: cancellation)
                        ended.withLock { $0 += 1 }
                    }
                    group.addTask { waiter.end(.success(())) }
                    group.addTask { cancellation.cancel(CallCancelled(reason: "x")) }
                    if round % 2 == 0 { group.cancelAll() }
                }
                #expect(ended.withLock { $0 } == 1)
            }
        }
    }

    @Test func `a wait leaves no handler with the call`() async throws {
        final class Witness: Sendable {}
        let cancellation = CallCancellation()
        weak var witness: CallWaiter?
        do {
            let waiter = CallWaiter()
            witness = waiter
            waiter.end(.success(()))
            try await waiter.wait(unless: cancellation)
        }
        #expect(witness == nil)
        withExtendedLifetime(cancellation) {}
    }

    // MARK: Clock

    @Test func `the system's clock performs actions later, unless they are cancelled, and extreme delays trap nowhere`() async throws {
        let clock = CallClock.system
        try await watched {
            for delay in [Duration.zero, .milliseconds(1), .seconds(-1), .seconds(Int64.min)] {
                try await clock.sleep(delay, unless: CallCancellation())
            }
            let waiter = CallWaiter()
            let cancels = [Duration.seconds(Int64.max), .seconds(3600)].map { clock.schedule($0) { waiter.end(.failure(Refusal())) } }
            for cancel in cancels {
                cancel()
                cancel()
            }
            try await clock.sleep(.milliseconds(2), unless: CallCancellation())
            #expect(waiter.end(.success(())))
            let cancellation = CallCancellation()
            cancellation.cancel(CallCancelled(reason: "x"))
            await #expect(throws: CallCancelled.self) { try await clock.sleep(.seconds(3600), unless: cancellation) }
            let task = Task { try await clock.sleep(.seconds(Int64.max), unless: CallCancellation()) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `a client has the clock of the task that made it`() {
        let hands = HandClock()
        let made = CallClock.$current.withValue(hands.clock) { ClientRuntime() }
        hands.advance(by: .seconds(100_000))
        #expect(made.clock.now() - ClientRuntime().clock.now() > .seconds(90_000))
    }
}

@Suite struct SimulatedTimeTests {
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `waits of hours take no time and end in their order`() throws {
        let time = SimulatedTime()
        let events = Locked<[String]>([])
        try time.run {
            await withTaskGroup(of: Void.self) { group in
                for hours in [3, 1, 2] {
                    group.addTask {
                        try? await time.sleep(.seconds(3600 * hours))
                        let now = time.elapsed
                        events.withLock { $0.append("\(hours) at \(now.text)") }
                    }
                }
            }
        }
        #expect(events.withLock { $0 } == ["1 at 3600 s", "2 at 7200 s", "3 at 10800 s"])
        #expect(time.elapsed == .seconds(10_800))
        #expect(time.clock.date() == time.startDate.addingTimeInterval(10_800))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `its course is the same each time`() throws {
        func course() throws -> [Int] {
            let time = SimulatedTime()
            let events = Locked<[Int]>([])
            try time.run {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            for _ in 0..<5 {
                                try? await time.sleep(.milliseconds((number * 7919) % 13))
                                events.withLock { $0.append(number) }
                            }
                        }
                    }
                }
            }
            return events.withLock { $0 }
        }
        #expect(try course() == course())
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `a cancelled wait ends at its time, and its timer doesn't move the clock`() throws {
        let time = SimulatedTime()
        try time.run {
            let cancellation = CallCancellation()
            async let wait: Void = time.clock.sleep(.seconds(1_000), unless: cancellation)
            try await time.sleep(.seconds(3))
            cancellation.cancel(CallCancelled(reason: "enough"))
            let result: Result<Void, any Error>
            do { result = .success(try await wait) } catch { result = .failure(error) }
            #expect(throws: CallCancelled.self) { try result.get() }
            try await time.sleep(.seconds(4))
        }
        #expect(time.elapsed == .seconds(7))
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func `an error of the body is thrown`() {
        #expect(throws: Refusal.self) { try SimulatedTime().run { throw Refusal() } }
    }
}
