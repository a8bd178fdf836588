public import Foundation
public import WebServiceClient

/// A request that a service carries out asynchronously (Protocol 4.01, section 11.6).
///
///     let job = try await client.start(request)
///     if let ticket = job.ticket { try save(ticket) }             // to find the job again after a restart of the program
///     let page = try await job.value
///
/// A class, because the location of the job's monitor may change, and all users of the job must know it.
public final class ODataJob<Value: Decodable & Sendable>: Sendable {
    private enum Phase {
        case running(JobMonitor)
        /// The service's last answer. It is kept until it is decoded, because services send a result only once.
        case answered(MonitorAnswer)
        case finished(ServiceResponse<Value>)
    }

    private struct State {
        var phase: Phase
        /// The number of polls that have ended.
        var polls = 0
        var isPolling = false
        /// The callers that wait for the poll in flight, by number.
        var waiters: [Int: CheckedContinuation<ODataJobStatus, any Error>] = [:]
        var waiterCount = 0
    }

    /// How a caller gets the job's state.
    private enum Turn {
        case cancelled
        case known
        case waits
        case first(JobMonitor)
    }

    private let client: ODataClient
    private let operation: ODataOperation
    private let purpose: CallPurpose
    private let form: JobForm
    private let state: Locked<State>

    init(_ client: ODataClient, _ operation: ODataOperation, _ purpose: CallPurpose, _ form: JobForm, _ monitor: JobMonitor) {
        (self.client, self.operation, self.purpose, self.form) = (client, operation, purpose, form)
        state = Locked(State(phase: .running(monitor)))
    }

    init(_ client: ODataClient, _ operation: ODataOperation, _ purpose: CallPurpose, finished response: ServiceResponse<Value>) {
        (self.client, self.operation, self.purpose, form) = (client, operation, purpose, JobForm())
        state = Locked(State(phase: .finished(response)))
    }

    private var phase: Phase { state.withLock { $0.phase } }

    /// The data by which ``ODataClient/job(_:returning:)`` finds the job again; `nil` if the job has finished.
    public var ticket: ODataJobTicket? {
        guard case .running(let monitor) = phase else { return nil }
        return monitor.ticket(route: operation.route, purpose, form)
    }

    /// The result. It is waited for by polling: after the time of `Retry-After`, at most an hour, or without it after 1 s, then twice as
    /// long each time, at most 30 s. Several tasks that wait for the same job share its polls.
    ///
    /// Cancelling the task ends the wait, not the job: see ``cancel()``. A poll in flight goes on, and its answer is kept for the next
    /// wait.
    ///
    /// - Throws: `ServiceError`: the service's error if the request failed; with the cause ``ODataJobError/gone`` if the service has
    ///   forgotten the job. After a failed poll, the result can be waited for again. The failure of the request is kept, and so is a result
    ///   that can't be decoded: the next wait decodes it again, with the client's settings of that time. `CancellationError` when the task
    ///   was cancelled.
    public var value: Value {
        get async throws { try await response().value }
    }

    /// Waits for the result, as ``value`` does, and returns it with its status and header fields.
    ///
    /// - Throws: The errors of ``value``.
    public func response() async throws -> ServiceResponse<Value> {
        var pauses = MonitorPauses()
        while true {
            let (phase, polls) = state.withLock { ($0.phase, $0.polls) }
            switch phase {
            case .finished(let response):
                return response
            case .answered(let answer):
                return try decoded(answer)
            case .running(let monitor):
                try await client.pause(for: pauses.next(monitor))
                // If another task has polled in the meantime, the service asked for a new wait.
                if state.withLock({ $0.polls }) == polls { _ = try await poll() }
            }
        }
    }

    /// Asks the service once.
    ///
    /// - Throws: The errors of ``value``.
    public func status() async throws -> ODataJobStatus {
        if case .running = phase, case .running(let progress, let wait) = try await poll() {
            return .running(progress: progress, wait: wait)
        }
        if case .answered(let answer) = phase { _ = try decoded(answer) }
        return .finished
    }

    /// Asks the service to cancel the request, by DELETE. Not all services support that.
    ///
    /// - Returns: Whether the request is cancelled, still being cancelled, or has already finished.
    /// - Throws: `ServiceError`, with status 405 (Method Not Allowed) if the service can't cancel it; with the cause ``ODataJobError/gone``
    ///   if it has forgotten the job. `CancellationError` when the task was cancelled.
    public func cancel() async throws -> ODataJobCancellation {
        guard case .running(let monitor) = phase else { return .finished }
        let response: ServiceResponse<Data>
        do {
            response = try await client.answer(
                of: client.monitorCall(monitor, operation, form, for: Value.self, method: .delete), operation)
        } catch {
            // A service forgets a job whose result was fetched in the meantime.
            guard case .running = phase else { return .finished }
            throw error
        }
        guard response.status == 202 else { return .cancelled }
        move(monitor, try client.monitor(after: response, monitor, operation))
        return .pending
    }

    /// Decodes the service's last answer, or throws the failure that it reports.
    private func decoded(_ answer: MonitorAnswer) throws -> ServiceResponse<Value> {
        let result: ServiceResponse<Value> = try client.decoded(client.result(in: answer, operation), operation, for: purpose, form)
        state.withLock { $0.phase = .finished(result) }
        return result
    }

    /// Polls the monitor, or waits for the poll in flight: a second one wouldn't get the result.
    private func poll() async throws -> ODataJobStatus {
        let number = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { join(number, $0) }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    private func join(_ number: Int, _ waiter: CheckedContinuation<ODataJobStatus, any Error>) {
        let turn: Turn = state.withLock { state in
            if Task.isCancelled { return .cancelled }
            guard case .running(let monitor) = state.phase else { return .known }
            state.waiters[number] = waiter
            if state.isPolling { return .waits }
            state.isPolling = true
            return .first(monitor)
        }
        switch turn {
        case .cancelled: waiter.resume(throwing: CancellationError())
        case .known: waiter.resume(returning: .finished)
        case .waits: break
        // A separate task, because the answer belongs to all callers and isn't sent again if the first of them is cancelled.
        case .first(let monitor): Task { await ask(monitor) }
        }
    }

    /// Asks the monitor, and keeps what it says for all callers.
    private func ask(_ monitor: JobMonitor) async {
        let status: Result<ODataJobStatus, any Error>
        do {
            status = .success(try await news(of: monitor))
        } catch {
            status = .failure(error)
        }
        let waiters = state.withLock { state in
            defer {
                state.waiters = [:]
                state.isPolling = false
                state.polls += 1
            }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: status) }
    }

    private func news(of monitor: JobMonitor) async throws -> ODataJobStatus {
        let response = try await client.answer(of: client.monitorCall(monitor, operation, form, for: Value.self), operation)
        let answer = MonitorAnswer(response, monitor, hasNoValue: Value.self == NoContent.self || Value.self == NoContent?.self)
        guard answer.isRunning else {
            state.withLock { $0.phase = .answered(answer) }
            return .finished
        }
        try client.check(trailersOf: response, operation)
        let next = try client.monitor(after: response, monitor, operation)
        move(monitor, next)
        return .running(progress: answer.report?.progress, wait: next.wait)
    }

    /// Replaces the monitor, unless a cancellation or a poll was faster.
    private func move(_ old: JobMonitor, _ new: JobMonitor) {
        state.withLock { state in
            if case .running(let current) = state.phase, current.url == old.url { state.phase = .running(new) }
        }
    }
}

/// The state of a request that a service performs.
public enum ODataJobStatus: Sendable, Hashable {
    /// The request isn't finished: the progress from 0 to 1, if the service reports it, and the time to wait before asking again, if it
    /// states one.
    case running(progress: Double?, wait: Duration?)
    /// The result is known.
    case finished
}

/// A service's answer to a cancellation.
public enum ODataJobCancellation: Sendable, Hashable {
    /// The request was cancelled.
    case cancelled
    /// The request is being cancelled. The job's value is the service's error when that is done, or the result if it came first.
    case pending
    /// The result was already known.
    case finished
}

/// The reason why a job has no result.
public enum ODataJobError: DescribedError, Sendable, Hashable {
    /// The service no longer knows the job: its result wasn't requested in time, or it was cancelled.
    case gone
    /// The ticket belongs to the service at this origin, not to the client's.
    case otherService(String)
    /// The monitor's URL, which is given without its query, isn't encrypted, unlike the service.
    case insecureMonitor(String)
    /// The result is a response inside of a body, and can't be read for this reason.
    case malformedResult(String)

    /// A sentence for people.
    public var description: String {
        switch self {
        case .gone:
            "The service no longer knows the request: it was cancelled, or its result wasn't fetched in time. Start it again if that is safe."
        case .otherService(let origin):
            "The ticket belongs to a job of \(VisibleText.of(origin)): use the client of that service."
        case .insecureMonitor(let url):
            "The service's status monitor \(VisibleText.of(url)) isn't encrypted, unlike the service: it isn't asked."
        case .malformedResult(let reason):
            "The result can't be read: \(reason)"
        }
    }
}

/// The data by which a job is found again, for example after a restart of the program.
///
/// It contains the URL of the job's monitor, which may be all that is needed to read the result: treat it as a secret. Its descriptions
/// don't show the URL.
public struct ODataJobTicket: Sendable, Hashable, Codable {
    let monitor: URL
    let base: URL
    let origin: String
    let route: String
    let mustExist: Bool?
    let place: ResultPlace?
    let accept: String?

    /// The date before which the service asked not to be polled; `nil` if it didn't.
    public let notBefore: Date?
}

extension ODataJobTicket: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The service and the resource, without the monitor.
    public var description: String { MaskedMirror.text(of: customMirror, type: "ODataJobTicket") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``, part by part. A dump doesn't show the monitor.
    public var customMirror: Mirror {
        Mirror(self, children: ["origin": origin, "route": SecretMask.text(ofURL: route), "monitor": SecretMask.mask])
    }
}
