import Foundation

/// Runs what blocks on a thread of its own, and waits for it without holding a thread of the task pool.
///
/// The pool has as many threads as the machine has cores. Tests that block them keep everything else from going on, the asynchronous
/// handlers of the servers that they wait for included.
package func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
