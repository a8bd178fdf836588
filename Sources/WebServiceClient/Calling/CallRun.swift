public import Dispatch
import Foundation

/// One run of a handle's closure: the calls that it makes, and how to cancel them.
///
/// A task-local value carries it to the calls, as with ``DryRun``. Inside the chain there is none, so calls that interceptors and providers
/// make don't belong to it.
final class CallRun: Sendable {
    @TaskLocal static var current: CallRun?

    private struct State {
        /// The calls that haven't ended, and the last one.
        var records: [CallRecord] = []
        /// The attempts of the calls that were dropped from the list.
        var attempts = 0
        var cause: CallCancelled?
    }

    /// The client whose calls belong to the run.
    let client: ObjectIdentifier
    /// Receives the progress of the calls.
    let progress: CallProgress
    private let state = Locked(State())

    init(client: ObjectIdentifier, progress: CallProgress) {
        self.client = client
        self.progress = progress
    }

    /// The call that was made last; `nil` before the first.
    var last: CallRecord? { state.withLock { $0.records.last } }

    /// The number of attempts of all calls of the run.
    var attempts: Int {
        let (records, before) = state.withLock { ($0.records, $0.attempts) }
        return records.reduce(before) { $0 + Self.attempts(of: $1) }
    }

    private static func attempts(of record: CallRecord) -> Int { record.exchange == nil ? 0 : record.repeats + 1 }

    /// Adds a call. If the run is cancelled, the call is too.
    func attach(_ record: CallRecord) {
        let cause = state.withLock { state in
            for ended in state.records where ended.cancellation.isFinished { state.attempts += Self.attempts(of: ended) }
            state.records.removeAll { $0.cancellation.isFinished }
            state.records.append(record)
            return state.cause
        }
        if let cause { record.cancellation.cancel(cause) }
    }

    /// Cancels the calls of the run, and those that it still makes.
    func cancel(_ cause: CallCancelled) {
        let records = state.withLock { state in
            state.cause = state.cause ?? cause
            return state.records
        }
        for record in records { record.cancellation.cancel(cause) }
    }

    /// The error of the run if it is cancelled now.
    ///
    /// - Parameter name: The client's name, for a run that has made no call.
    func error(_ cause: CallCancelled, client name: String) -> any Error {
        let record = last
        let exchange = record?.exchange
        let secrets = record?.secrets(adding: exchange?.request.secrets)
        let response = exchange?.answer.map {
            ResponseSummary(status: $0.status, headers: $0.headers, url: $0.url, body: Data(), isCut: true, secrets: secrets)
        }
        let wrapper = ErrorWrapper(
            call: record?.identity ?? CallIdentity(client: name, key: "start(_:)", route: ""), request: exchange?.request,
            response: response, secrets: secrets)
        return wrapper.wrap(cause, stage: exchange == nil ? .chain : response == nil ? .transport : .body)
    }
}

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
