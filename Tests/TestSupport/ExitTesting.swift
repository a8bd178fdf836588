import Foundation

/// What tests need that run in processes of their own, the exit tests.
///
/// As long as such a process lives, the testing library holds a thread of the task pool, which has as many as the machine has cores, to read
/// what it tells; and a process inherits the pipes of those that begin at the same time. Two at once leave nothing to go on with on two cores,
/// and one that hangs keeps the whole run.
package enum ExitTesting {
    private static let line = WaitingLine(1)

    /// Runs an exit test when no other one runs.
    @discardableResult package static func alone<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        await line.begin()
        defer { line.end() }
        return try await body()
    }

    /// Ends the process by SIGALRM, in which it is called first, when it is still there after six minutes.
    package static func endLater() { alarm(360) }
}
