/// Runs tasks on the thread of a ``CurlTransport``: see ``CurlTransport/taskExecutor``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class CurlTaskExecutor: TaskExecutor {
    private let engine: CurlEngine

    init(_ engine: CurlEngine) {
        self.engine = engine
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = Job(job: UnownedJob(job), executor: self)
        // The thread has ended, but tasks continue.
        if !engine.post(.run(job)) { job.runElsewhere() }
    }

    /// One job of a task.
    private struct Job: CurlLoopJob {
        let job: UnownedJob
        let executor: CurlTaskExecutor

        func run() {
            job.runSynchronously(on: executor.asUnownedTaskExecutor())
        }

        func runElsewhere() {
            globalConcurrentExecutor.enqueue(job)
        }
    }
}

extension CurlTransport {
    /// An executor that runs tasks on this transport's thread, for programs that do little but make calls and that count microseconds.
    ///
    ///     try await withTaskExecutorPreference(transport.taskExecutor) {
    ///         let orders = try await shop.orders()
    ///     }
    ///
    /// Such a task starts its exchanges and reads their responses on libcurl's thread. No other thread must be woken, which saves a fifth
    /// of the processor time of a small call. In exchange, while a task computes, no exchange of this transport proceeds, and none is ended
    /// at its deadline. Decode responses there, but don't wait for locks, files or other processes. There is only one thread: many calls at
    /// once finish sooner without it if other processors are idle.
    ///
    /// Child tasks run there too, as do default actors that the task calls. After the transport's thread has ended, such tasks continue on
    /// the default executor.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public var taskExecutor: any TaskExecutor {
        // One object for all calls: the runtime treats two objects as different executors.
        loopExecutor as? CurlTaskExecutor ?? CurlTaskExecutor(engine)
    }
}
