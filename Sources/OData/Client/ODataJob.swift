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
    private enum State {
        case running(JobMonitor)
        case finished(ServiceResponse<Value>)
    }

    private let client: ODataClient
    private let operation: ODataOperation
    private let purpose: CallPurpose
    private let state: Locked<State>

    init(_ client: ODataClient, _ operation: ODataOperation, _ purpose: CallPurpose, _ monitor: JobMonitor) {
        (self.client, self.operation, self.purpose) = (client, operation, purpose)
        state = Locked(.running(monitor))
    }

    init(_ client: ODataClient, _ operation: ODataOperation, _ purpose: CallPurpose, finished response: ServiceResponse<Value>) {
        (self.client, self.operation, self.purpose) = (client, operation, purpose)
        state = Locked(.finished(response))
    }

    /// The data by which ``ODataClient/job(_:returning:)`` finds the job again; `nil` if the job has finished.
    public var ticket: ODataJobTicket? {
        guard case .running(let monitor) = state.withLock({ $0 }) else { return nil }
        return monitor.ticket(route: operation.route, purpose)
    }

    /// The result. It is waited for by polling: after the time of `Retry-After`, at most an hour, or without it after 1 s, then twice as long
    /// each time, at most 30 s.
    ///
    /// Cancelling the task ends the wait, not the job: see ``cancel()``.
    ///
    /// - Throws: `ServiceError`: the service's error if the request failed; with the cause ``ODataJobError/gone`` if the service has
    ///   forgotten the job. After a failed poll, the result can be waited for again. `CancellationError` when the task was cancelled.
    public var value: Value {
        get async throws { try await response().value }
    }

    /// Waits for the result, as ``value`` does, and returns it with its status and header fields.
    public func response() async throws -> ServiceResponse<Value> {
        var pause = Duration.seconds(1)
        while true {
            switch state.withLock({ $0 }) {
            case .finished(let response):
                return response
            case .running(let monitor):
                let asked = monitor.wait
                try await client.pause(for: asked ?? pause)
                if asked == nil { pause = min(pause * 2, .seconds(30)) }
                _ = try await poll(monitor)
            }
        }
    }

    /// Asks the service once.
    ///
    /// - Throws: the errors of ``value``.
    public func status() async throws -> ODataJobStatus {
        guard case .running(let monitor) = state.withLock({ $0 }) else { return .finished }
        return try await poll(monitor)
    }

    /// Asks the service to cancel the request, by DELETE. Not all services support that.
    ///
    /// - Returns: whether the request is cancelled, still being cancelled, or has already finished.
    /// - Throws: `ServiceError`, with status 405 (Method Not Allowed) if the service can't cancel it; with the cause ``ODataJobError/gone`` if
    ///   it has forgotten the job. `CancellationError` when the task was cancelled.
    public func cancel() async throws -> ODataJobCancellation {
        guard case .running(let monitor) = state.withLock({ $0 }) else { return .finished }
        let response = try await client.answer(of: client.monitorCall(monitor, operation, method: .delete), operation)
        guard response.status == 202 else { return .cancelled }
        move(monitor, try client.monitor(after: response, monitor, operation))
        return .pending
    }

    /// Polls the monitor, and keeps what it says.
    private func poll(_ monitor: JobMonitor) async throws -> ODataJobStatus {
        let response = try await client.answer(of: client.monitorCall(monitor, operation), operation)
        let report = JobReport(response)
        if response.status == 202, report?.isCompleted != true {
            let next = try client.monitor(after: response, monitor, operation)
            move(monitor, next)
            guard report?.isFailed != true else {
                throw client.error(
                    operation, .status, .refused, "The service reports that the request failed: \(report?.status ?? "").",
                    cause: ODataErrorBody(response.value), response: ResponseSummary(of: response, body: response.value))
            }
            return .running(progress: report?.progress, wait: next.wait)
        }
        let answer = try client.result(in: response, at: monitor.base, operation)
        let result: ServiceResponse<Value> = try client.decoded(answer, operation, for: purpose)
        state.withLock { $0 = .finished(result) }
        return .finished
    }

    /// Replaces the monitor, unless another poll was faster.
    private func move(_ old: JobMonitor, _ new: JobMonitor) {
        state.withLock { state in
            if case .running(let current) = state, current.url == old.url { state = .running(new) }
        }
    }
}

/// What a service says about a request that it carries out.
public enum ODataJobStatus: Sendable, Hashable {
    /// The request isn't finished: the progress from 0 to 1, if the service reports it, and the time to wait before asking again, if it says
    /// so.
    case running(progress: Double?, wait: Duration?)
    /// The result is known.
    case finished
}

/// What a service answered to a cancellation.
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
/// It contains the URL of the job's monitor, which may be all that is needed to read the result: treat it as a secret. Its descriptions don't
/// show the URL.
public struct ODataJobTicket: Sendable, Hashable, Codable {
    let monitor: URL
    let base: URL
    let origin: String
    let route: String
    let mustExist: Bool?

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
