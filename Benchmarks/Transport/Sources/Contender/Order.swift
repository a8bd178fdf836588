import Foundation

/// So many requests for one URL, so many of them at once.
struct Order {
    let target: Target
    let requests: Int
    let atOnce: Int

    /// Reads `PATH REQUESTS AT_ONCE`.
    init(_ line: String, base: String) throws {
        let parts = line.split(separator: " ")
        guard parts.count == 3, let requests = Int(parts[1]), let atOnce = Int(parts[2]), atOnce > 0,
            let url = URL(string: base + parts[0])
        else { throw Unreadable(line: line) }
        target = Target(url)
        self.requests = requests
        self.atOnce = atOnce
    }

    struct Unreadable: Error {
        let line: String
    }

    /// Runs the requests, in as many tasks as are at once, and gives the bytes of all bodies.
    func run(_ fetching: Fetching) async throws -> Int {
        let (target, get) = (target, fetching.get)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<atOnce {
                let share = requests / atOnce + (index < requests % atOnce ? 1 : 0)
                let work: @Sendable () async throws -> Int = {
                    var bytes = 0
                    for _ in 0..<share { bytes += try await get(target) }
                    return bytes
                }
                // Not with a preference that is nil: such a task looks it up, under its lock, wherever it might change threads.
                if let executor = fetching.executor {
                    group.addTask(executorPreference: executor, operation: work)
                } else {
                    group.addTask(operation: work)
                }
            }
            return try await group.reduce(0, +)
        }
    }
}
