import Dispatch
import Foundation

/// The state of a ``Call``: its current run, its result, and the readers that wait for it.
///
/// Every run ends once: by its closure, or by a cancellation, whichever comes first. Events of an earlier run are ignored.
final class CallCore<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, any Error>

    /// A snapshot of the call.
    struct Current {
        let run: CallRun
        let result: Outcome?
        let state: CallState
        let attempts: Int
    }

    private struct ProgressObserver: Sendable {
        let direction: CallProgress.Direction
        let action: @Sendable (TransferProgress) async -> Void
    }

    private struct State {
        var run: CallRun
        var task: Task<Void, Never>?
        var result: Outcome?
        /// Whether a cancellation ended the present run.
        var isCancelled = false
        /// Whether the closures of the present run aren't called.
        var isSilent = false
        /// The attempts of earlier runs.
        var attempts = 0
        var count = 0
        var waiters: [Int: @Sendable (Outcome) -> Void] = [:]
        var observers: [@Sendable (Outcome) async -> Void] = []
        var progressObservers: [ProgressObserver] = []
        var streams: [Int: (direction: CallProgress.Direction, stream: AsyncStream<TransferProgress>.Continuation)] = [:]
        /// The tasks that call the closures of ``progressObservers``.
        var pumps: [Task<Void, Never>] = []
        var upload: TransferProgress?
        var download: TransferProgress?

        mutating func number() -> Int {
            count += 1
            return count
        }
    }

    let clientName: String
    private let client: ObjectIdentifier
    private let body: @Sendable () async throws -> Value
    /// The attributes and the trace of the task that started the call. A restart has them too, whichever task restarts the call.
    private let (attributes, trace) = (CallAttributes.current, TracePropagation.current)
    private let state: Locked<State>

    /// Starts the call.
    init(_ client: WebServiceClient, _ body: @escaping @Sendable () async throws -> Value) {
        clientName = String(describing: type(of: client))
        self.client = ObjectIdentifier(client)
        self.body = body
        state = Locked(State(run: CallRun(client: ObjectIdentifier(client), progress: CallProgress { _, _ in })))
        restart()
        // The first start isn't a restart.
        state.withLock { $0.attempts = 0 }
    }

    /// The present state of the call.
    var current: Current {
        let (run, result, isCancelled, before) = state.withLock { ($0.run, $0.result, $0.isCancelled, $0.attempts) }
        let state: CallState = isCancelled ? .cancelled : result != nil ? .finished : run.last?.exchange == nil ? .waiting : .running
        return Current(run: run, result: result, state: state, attempts: before + run.attempts)
    }

    // MARK: Runs

    /// Cancels the present run if it hasn't ended, and begins another one.
    func restart() {
        // A run reports to the call, and the call refers to its run: the reference ends with the run.
        let box = Locked<CallRun?>(nil)
        let run = CallRun(
            client: client,
            progress: CallProgress { [weak self] direction, progress in
                if let run = box.withLock({ $0 }) { self?.note(progress, of: direction, run) }
            })
        box.withLock { $0 = run }
        let (earlier, task, wasEnded) = state.withLock { state in
            defer {
                (state.run, state.task, state.result, state.isCancelled, state.isSilent) = (run, nil, nil, false, false)
                (state.upload, state.download) = (nil, nil)
            }
            return (state.run, state.task, state.result != nil)
        }
        if !wasEnded { earlier.cancel(CallCancelled(.restarted, reason: "The call was restarted.")) }
        task?.cancel()
        let attempts = earlier.attempts
        state.withLock { $0.attempts += attempts }
        if wasEnded { resumePumps() }
        begin(run) { box.withLock { $0 = nil } }
    }

    private func begin(_ run: CallRun, ended: @escaping @Sendable () -> Void) {
        let task = Task {
            let outcome: Outcome
            do {
                outcome = .success(try await self.value(of: run))
            } catch {
                outcome = .failure(error)
            }
            self.end(run, with: outcome)
            ended()
        }
        let isLate = state.withLock { state in
            guard state.run === run, state.result == nil else { return true }
            state.task = task
            return false
        }
        if isLate { task.cancel() }
    }

    /// Calls the closure with the task-local values of a run.
    private func value(of run: CallRun) async throws -> Value {
        try await CallAttributes.$current.withValue(attributes) {
            try await TracePropagation.$current.withValue(trace) {
                try await CallRun.$current.withValue(run) { try await body() }
            }
        }
    }

    /// Cancels the present run.
    ///
    /// - Returns: Whether the run hadn't ended.
    func cancel(_ cause: CallCancelled, silently: Bool) -> Bool {
        let run = state.withLock { $0.result == nil ? $0.run : nil }
        guard let run else { return false }
        // Made outside the lock, because it reads the run's records.
        let error = run.error(cause, client: clientName)
        let task = state.withLock { $0.run === run ? $0.task : nil }
        guard end(run, with: .failure(error), isCancelled: true, silently: silently) else { return false }
        run.cancel(cause)
        task?.cancel()
        return true
    }

    /// Ends a run, unless it has ended or isn't the present one.
    @discardableResult
    private func end(_ run: CallRun, with outcome: Outcome, isCancelled: Bool = false, silently: Bool = false) -> Bool {
        let isCancelled = isCancelled || (outcome.failure as? ServiceError)?.kind == .cancelled
        let taken = state.withLock { state -> State? in
            guard state.run === run, state.result == nil else { return nil }
            (state.result, state.isCancelled, state.isSilent, state.task) = (outcome, isCancelled, silently, nil)
            defer { (state.waiters, state.streams, state.pumps) = ([:], [:], []) }
            return state
        }
        guard let taken else { return false }
        for stream in taken.streams.values { stream.stream.finish() }
        for waiter in taken.waiters.values { waiter(outcome) }
        guard !silently, !taken.observers.isEmpty else { return true }
        notify(taken.observers, outcome, after: taken.pumps)
        return true
    }

    /// Calls completion closures, each in a separate task, after the progress closures.
    private func notify(_ observers: [@Sendable (Outcome) async -> Void], _ outcome: Outcome, after pumps: [Task<Void, Never>]) {
        for observer in observers {
            Task {
                for pump in pumps { await pump.value }
                await observer(outcome)
            }
        }
    }
}

// Readers of the result.
extension CallCore {
    /// The result, when the present run has ended.
    func result() async -> Outcome {
        let number = state.withLock { $0.number() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Outcome? = state.withLock { state in
                    if let result = state.result { return result }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[number] = { continuation.resume(returning: $0) }
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?(.failure(CancellationError()))
        }
    }

    /// Blocks the thread until the present run has ended.
    func wait(_ timeout: Duration?) throws -> Value {
        let semaphore = DispatchSemaphore(value: 0)
        let received = Locked<Outcome?>(nil)
        let number: Int? = state.withLock { state in
            if let result = state.result {
                received.withLock { $0 = result }
                return nil
            }
            let number = state.number()
            state.waiters[number] = { outcome in
                received.withLock { $0 = outcome }
                semaphore.signal()
            }
            return number
        }
        if let number {
            if let timeout {
                let (seconds, attoseconds) = max(.zero, min(timeout, .seconds(1_000_000_000))).components
                let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
                _ = semaphore.wait(timeout: .now() + .nanoseconds(nanoseconds))
            } else {
                semaphore.wait()
            }
            state.withLock { $0.waiters[number] = nil }
        }
        guard let outcome = received.withLock({ $0 }) else { throw CallWaitError(reason: .timedOut) }
        return try outcome.get()
    }

    /// Calls a closure with the result of each run.
    func observe(_ observer: @escaping @Sendable (Outcome) async -> Void) {
        let (result, isSilent) = state.withLock { state in
            state.observers.append(observer)
            return (state.result, state.isSilent)
        }
        if let result, !isSilent { notify([observer], result, after: []) }
    }
}

// Progress.
extension CallCore {
    /// The progress of the present run and of those that follow before the call has ended.
    func progress(_ direction: CallProgress.Direction) -> AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        let (number, known, hasEnded) = state.withLock { state in
            let number = state.number()
            if state.result == nil { state.streams[number] = (direction, continuation) }
            return (number, direction == .upload ? state.upload : state.download, state.result != nil)
        }
        continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.streams.removeValue(forKey: number) } }
        if let known { continuation.yield(known) }
        if hasEnded { continuation.finish() }
        return stream
    }

    /// Calls a closure with the progress of each run.
    func observe(_ direction: CallProgress.Direction, _ action: @escaping @Sendable (TransferProgress) async -> Void) {
        let observer = ProgressObserver(direction: direction, action: action)
        state.withLock { $0.progressObservers.append(observer) }
        pump(observer)
    }

    private func resumePumps() {
        for observer in state.withLock({ $0.progressObservers }) { pump(observer) }
    }

    private func pump(_ observer: ProgressObserver) {
        let stream = progress(observer.direction)
        let task = Task {
            for await progress in stream where !self.state.withLock({ $0.isSilent }) { await observer.action(progress) }
        }
        state.withLock { if $0.result == nil { $0.pumps.append(task) } }
    }

    private func note(_ progress: TransferProgress, of direction: CallProgress.Direction, _ run: CallRun) {
        state.withLock { state in
            guard state.run === run, state.result == nil else { return }
            if direction == .upload { state.upload = progress } else { state.download = progress }
            // Yielded under the lock, so that readers get it in order; a stream's buffer resumes its reader elsewhere.
            for stream in state.streams.values where stream.direction == direction { stream.stream.yield(progress) }
        }
    }
}
