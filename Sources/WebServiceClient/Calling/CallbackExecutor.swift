public import Dispatch

/// Where closures of a ``Call`` run: a dispatch queue, an actor or an executor.
public struct CallbackExecutor: Sendable {
    /// Runs work there, and returns when it has ended.
    let run: @Sendable (_ work: @escaping @Sendable () -> Void) async -> Void

    /// The task pool.
    public static let taskPool = CallbackExecutor { $0() }

    /// The main actor. A closure can use its state within `MainActor.assumeIsolated`.
    public static let mainActor = CallbackExecutor { work in await MainActor.run { work() } }

    /// A dispatch queue.
    public static func queue(_ queue: DispatchQueue) -> CallbackExecutor {
        CallbackExecutor { work in
            await withCheckedContinuation { continuation in
                queue.async {
                    work()
                    continuation.resume()
                }
            }
        }
    }

    /// An actor's executor. A closure can use the actor's state within `assumeIsolated`.
    public static func actor(_ actor: any Actor) -> CallbackExecutor {
        CallbackExecutor { work in await perform(work, on: actor) }
    }

    /// A task executor.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public static func executor(_ executor: any TaskExecutor) -> CallbackExecutor {
        CallbackExecutor { work in await withTaskExecutorPreference(executor) { work() } }
    }

    private static func perform(_ work: @Sendable () -> Void, on actor: isolated any Actor) { work() }
}

extension Diagnostics {
    /// Creates diagnostics that are passed to a closure on a queue, an actor or an executor, in order, one event at a time.
    ///
    /// The call that reports an event doesn't wait for the closure. Events that the closure hasn't received yet are kept in memory, and it
    /// still receives them after the diagnostics are released.
    ///
    /// - Parameters:
    ///   - executor: Where the closure runs.
    ///   - receive: Called with each event.
    public init(on executor: CallbackExecutor, _ receive: @escaping @Sendable (Event) -> Void) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let source = DiagnosticSource(continuation: continuation)
        // Detached, so that it doesn't inherit the task-local values and the priority of the code that creates the diagnostics.
        Task.detached {
            for await event in events { await executor.run { receive(event) } }
        }
        self.init { source.continuation.yield($0) }
    }
}

/// Ends the sequence of events when the last copy of the diagnostics is released.
private final class DiagnosticSource: Sendable {
    let continuation: AsyncStream<Diagnostics.Event>.Continuation

    init(continuation: AsyncStream<Diagnostics.Event>.Continuation) {
        self.continuation = continuation
    }

    deinit { continuation.finish() }
}
