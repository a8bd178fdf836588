import Dispatch
import Foundation
import HTTPTransport

/// Shuts pipelines down when the process exits.
package enum ExitHook {
    private struct Entry: Sendable {
        let pipeline: LogPipeline
        let limit: Duration
    }

    private static let entries = Locked<[Entry]>([])
    private static let isRegistered: Bool = atexit { ExitHook.run() } == 0

    static func add(_ pipeline: LogPipeline, within limit: Duration) {
        // The transport's own hook must run after this one: exit hooks run in reverse order of registration.
        _ = DefaultTransport.shared
        _ = isRegistered
        entries.withLock { entries in
            entries.removeAll { $0.pipeline === pipeline }
            // A concurrent shutdown sets the flag before it removes the entry.
            if !pipeline.isShutDown { entries.append(Entry(pipeline: pipeline, limit: limit)) }
        }
    }

    /// Releases a pipeline that is shut down.
    static func remove(_ pipeline: LogPipeline) {
        entries.withLock { $0.removeAll { $0.pipeline === pipeline } }
    }

    /// Shuts all pipelines down concurrently, and waits slightly longer than the longest limit at most.
    package static func run() {
        let waiting = entries.withLock { entries in
            defer { entries = [] }
            return entries
        }
        guard let longest = waiting.map(\.limit).max() else { return }
        let group = DispatchGroup()
        for entry in waiting {
            group.enter()
            Task.detached(priority: .high) {
                await entry.pipeline.shutdown(within: entry.limit)
                group.leave()
            }
        }
        let nanoseconds = Int(clamping: min(longest.wholeNanoseconds, 3_600_000_000_000))
        _ = group.wait(timeout: .now() + .nanoseconds(nanoseconds) + .milliseconds(50))
    }
}

extension LogPipeline {
    /// Shuts the pipeline down when the process exits by `exit` or the end of `main`, and delays the exit up to the limit. This doesn't run
    /// if the process is killed or crashes: use a ``Spool`` for that.
    ///
    /// The pipeline is retained, with its sinks and their spool, until it is shut down by ``shutdown(within:)`` or the process exits. A
    /// program that creates pipelines repeatedly must shut each one down; a pipeline without other references keeps working and stays in
    /// memory. The last call's limit applies; a call after the shutdown does nothing.
    public func shutdownAtExit(within limit: Duration = .seconds(2)) {
        ExitHook.add(self, within: limit)
    }
}
