import Dispatch
import Foundation
import WebServiceClient

/// What shuts pipelines down when the process exits.
package enum ExitHook {
    private struct Entry: Sendable {
        let pipeline: LogPipeline
        let limit: Duration
    }

    private static let entries = Locked<[Entry]>([])
    private static let isRegistered: Bool = atexit { ExitHook.run() } == 0

    static func add(_ pipeline: LogPipeline, within limit: Duration) {
        // The transport's own hook must run after this one: the later registered is called first.
        _ = DefaultTransport.shared
        _ = isRegistered
        entries.withLock { entries in
            entries.removeAll { $0.pipeline === pipeline }
            // One that is shut down meanwhile says so before it lets itself be removed.
            if !pipeline.isShutDown { entries.append(Entry(pipeline: pipeline, limit: limit)) }
        }
    }

    /// Lets go of a pipeline that is shut down.
    static func remove(_ pipeline: LogPipeline) {
        entries.withLock { $0.removeAll { $0.pipeline === pipeline } }
    }

    /// Shuts all pipelines down at the same time, and waits no longer than the longest limit and a moment.
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
    /// Shuts the pipeline down when the process exits by `exit` or the end of `main`, and keeps it from ending before, for a limited time. A process
    /// that is killed, or that crashes, doesn't come here: for that there is a ``Spool``.
    ///
    /// From now on the pipeline is held, and with it its sinks and their spool, also where nobody else does, until it is shut down: by
    /// ``shutdown(within:)``, which lets go of it, or when the process exits. Who makes pipelines again and again shuts each down; one that is
    /// merely dropped goes on to work, and stays. Of two calls the later one's limit holds; one after the shutdown does nothing.
    public func shutdownAtExit(within limit: Duration = .seconds(2)) {
        ExitHook.add(self, within: limit)
    }
}
