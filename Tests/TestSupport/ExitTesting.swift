import Foundation

/// Support for exit tests, which run in separate processes.
///
/// While such a process lives, the testing library uses a thread of the task pool to read its output. The pool has as many threads as the
/// machine has cores, and a process inherits the pipes of others that start at the same time. On two cores, two processes at once leave no
/// thread for other work, and one that hangs blocks the whole run.
package enum ExitTesting {
    private static let line = WaitingLine(1)

    /// Runs an exit test while no other one runs.
    @discardableResult package static func alone<Value: Sendable>(_ body: () async throws -> Value) async rethrows -> Value {
        await line.begin()
        defer { line.end() }
        return try await body()
    }

    /// Ends the process with SIGALRM after six minutes. Must be called first in the process.
    package static func endLater() { alarm(360) }
}
