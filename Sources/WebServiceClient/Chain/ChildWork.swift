/// Runs work in a child task, which ends when a call is cancelled or its time is over, whatever the work waits for.
///
/// It costs a task: only work that the library can't interrupt in another way runs here, such as that of other programs' transports.
enum ChildWork {
    /// The end of the time that the work has.
    struct Deadline: Sendable {
        let instant: MonotonicInstant
        let clock: CallClock
        /// The error of work that takes longer.
        let error: @Sendable () -> any Error
    }

    /// Runs work. When it is cancelled, its task is cancelled too, and its end is awaited: work that ignores the cancellation of its task
    /// isn't interrupted.
    ///
    /// - Throws: The work's error; ``CallCancelled`` if the call is cancelled before the work ends, and the deadline's error after it.
    static func run<Result: Sendable>(
        unless cancellation: CallCancellation, until deadline: Deadline? = nil, _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try cancellation.check()
        // Work without a wait would end before a timer.
        if let deadline, deadline.clock.now() >= deadline.instant { throw deadline.error() }
        let waiter = CallWaiter()
        let cancelTimer = deadline.map { deadline in
            deadline.clock.schedule(deadline.clock.now().duration(to: deadline.instant)) { waiter.end(.failure(deadline.error())) }
        }
        defer { cancelTimer?() }
        return try await withThrowingTaskGroup(of: Result.self) { group in
            let child: @Sendable () async throws -> Result = {
                defer { waiter.end(.success(())) }
                return try await work()
            }
            // Work that doesn't wait then ends here, without a change of threads.
            #if compiler(>=6.2)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                group.addImmediateTask(operation: child)
            } else {
                group.addTask(operation: child)
            }
            #else
            group.addTask(operation: child)
            #endif
            // An error here cancels the child, and the group awaits its end.
            try await waiter.wait(unless: cancellation)
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }

    /// The error of a call that exceeds its total time outside its transport.
    static func timedOut(_ request: ServiceRequest) -> TransportError {
        let host = request.origin?.host ?? "the service"
        let time = request.timeouts.total.map { "its whole time of \($0.text), set by timeouts.total" } ?? "the deadline of its request"
        return TransportError(.timedOutTotal, "The call to \(host) did not end within \(time).")
    }
}
