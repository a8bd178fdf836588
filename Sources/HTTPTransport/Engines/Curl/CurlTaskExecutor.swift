/// Runs tasks on the thread of a ``CurlTransport``: see ``CurlTransport/taskExecutor``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class CurlTaskExecutor: TaskExecutor {
    private let engine: CurlEngine

    init(_ engine: CurlEngine) {
        self.engine = engine
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = Job(job: UnownedJob(job), executor: self)
        // The thread has ended, but the tasks go on.
        if !engine.post(.run(job)) { job.runElsewhere() }
    }

    /// A task's next stretch.
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
    /// Runs tasks on this transport's own thread: for programs that do little but call, and count microseconds.
    ///
    ///     try await withTaskExecutorPreference(transport.taskExecutor) {
    ///         let orders = try await shop.orders()
    ///     }
    ///
    /// Such a task begins its exchanges and reads their responses where libcurl works, so no other thread has to be woken for either, which
    /// is a fifth of the processor's work for a small call. The price: while a task computes, no exchange of this transport goes on, and none
    /// of them is ended at its deadline. So decode there, but don't wait for locks, files or other processes.
    /// And it is one thread: many calls at once end sooner without it where other processors are idle.
    ///
    /// Child tasks run there too, and so do actors of the standard kind that the task calls. Once the transport's thread has ended, such tasks
    /// go on where others run.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    public var taskExecutor: any TaskExecutor {
        // One for all: to the runtime, two are different places.
        loopExecutor as? CurlTaskExecutor ?? CurlTaskExecutor(engine)
    }
}
