import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A task that was resumed, and how to get rid of it.
struct RunningTask: Sendable {
    let task: URLSessionTask
    let table: URLSessionExchanges

    /// Takes the task out of the table: nothing more of it is wanted.
    ///
    /// It is cancelled on a queue of its own: `cancel()` waits for URLSession's own queue, which on Linux may at that moment wait for the
    /// thread that cancels.
    func release(cancelling: Bool) {
        table.remove(task)
        guard cancelling else { return }
        table.control.async { task.cancel() }
    }
}
