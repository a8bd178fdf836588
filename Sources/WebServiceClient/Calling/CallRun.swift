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
