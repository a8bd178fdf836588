import Foundation

/// Runs a blocking closure on a separate thread, and waits for it without blocking a thread of the task pool.
///
/// The pool has as many threads as the machine has cores. Tests that block them stop all other work, including the asynchronous handlers of
/// the servers that they wait for.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
