import Foundation

/// A number of requests for one URL, some of them concurrent.
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

    /// Runs the requests in `atOnce` concurrent tasks and returns the total bytes of all bodies.
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
                // Avoids a `nil` preference: such a task looks it up, under its lock, at each possible thread switch.
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
