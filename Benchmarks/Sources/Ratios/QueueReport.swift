import Foundation
import WebServiceClient
import Workloads

/// The queue's speed, the memory of a pending call, and the time that cancelling one takes: `ratios queue`.
enum QueueReport {
    /// Prints the report.
    static func print() async throws {
        let count = 200_000
        for (name, limits, tasks) in [
            ("without limits, one task", QueueLimits.none, 1), ("8 active, one task", QueueLimits(active: 8), 1),
            ("without limits, 64 tasks", .none, 64), ("8 active, 64 tasks", QueueLimits(active: 8, activePerOrigin: 8), 64),
        ] {
            let client = DeclaredCalls(Engine(answering: Payloads.small)) { $0.queue = limits }
            let time = try await ContinuousClock().measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<tasks {
                        group.addTask { for _ in 0..<(count / tasks) { keep(try await client.health(service: "swift")) } }
                    }
                    try await group.waitForAll()
                }
            }
            Swift.print("\(name): \(Int(Double(count) / (time / .seconds(1)))) calls a second")
        }
        try await semaphore(count)
        try await pending(10_000)
    }

    /// The same limit by a semaphore around each call, as a program without a queue would write it.
    private static func semaphore(_ count: Int) async throws {
        let client = DeclaredCalls(Engine(answering: Payloads.small))
        let semaphore = AsyncSemaphore(8)
        let time = try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        for _ in 0..<(count / 64) {
                            await semaphore.wait()
                            let health = try await client.health(service: "swift")
                            await semaphore.signal()
                            keep(health)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        Swift.print("a semaphore by hand of 8, 64 tasks: \(Int(Double(count) / (time / .seconds(1)))) calls a second")
    }

    private static func pending(_ count: Int) async throws {
        let client = DeclaredCalls(Engine(answering: Payloads.small))
        let priorities: [CallPriority] = [.high, .normal, .low]
        client.queue.pause()
        let before = residentBytes
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask { _ = try? await client.with(priorities[number % 3]) { try await $0.health(service: "swift") } }
            }
            while client.queue.pending.count < count { await Task.yield() }
            if let before, let after = residentBytes {
                Swift.print("\(count) pending calls: \((after - before) / count) bytes each, with their tasks")
            }
            var times: [Duration] = []
            for call in client.queue.pending.shuffled().prefix(1_000) {
                times.append(ContinuousClock().measure { client.queue.cancel(call.id, reason: "Measured.") })
            }
            times.sort()
            Swift.print("cancelling one: \(times[times.count / 2]) in the middle, \(times[times.count - 1]) at most")
            client.queue.limits = QueueLimits(active: 8)
            client.queue.resume()
            await group.waitForAll()
        }
    }

    /// The resident memory of the process, where the system tells it in a file.
    private static var residentBytes: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * Int(getpagesize()) }
    }
}

/// A semaphore as programs write it by hand: it has no priorities, and waiting can't be cancelled.
private actor AsyncSemaphore {
    private var free: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    func wait() async {
        guard free == 0 else { return free -= 1 }
        await withCheckedContinuation { waiters.append($0) }
    }

    func signal() {
        guard !waiters.isEmpty else { return free += 1 }
        waiters.removeFirst().resume()
    }
}
