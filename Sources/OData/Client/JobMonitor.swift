import Foundation
import WebServiceClient

/// The resource that reports a service's progress with a request (Protocol 4.01, section 11.6).
struct JobMonitor: Sendable {
    var url: URL
    /// Whether the monitor is on another origin than the service, and gets no credentials.
    var isForeign: Bool
    /// The URL of the request, the base of relative links in the result.
    let base: URL
    /// The origin of the service.
    let origin: Origin
    /// The time that the service asked to wait.
    var wait: Duration?
    /// The date of the service's last answer.
    var answeredAt: Date

    func ticket(route: String, _ purpose: CallPurpose, _ form: JobForm) -> ODataJobTicket {
        var mustExist: Bool?
        if case .changing(let must) = purpose { mustExist = must }
        let notBefore = wait.map { answeredAt.addingTimeInterval($0 / .seconds(1)) }
        return ODataJobTicket(
            monitor: url, base: base, origin: origin.description, route: route, mustExist: mustExist, place: form.place,
            accept: form.accept, notBefore: notBefore)
    }
}

/// The waits between the polls of a monitor: the time that the service asks for or, without it, 1 s, then twice as long each time, at most
/// 30 s.
struct MonitorPauses {
    private var own = Duration.seconds(1)

    /// Returns the wait before the next poll.
    mutating func next(_ monitor: JobMonitor) -> Duration {
        if let asked = monitor.wait { return asked }
        defer { own = min(own * 2, .seconds(30)) }
        return own
    }
}

/// The progress that a monitor reports in its body, like the `asyncJobStatus` of Microsoft Graph. OData defines none.
struct JobReport: Sendable {
    let status: String
    let progress: Double?

    /// The maximum number of bytes of a report.
    static let limit = 1 << 20

    /// - Parameter isBatch: Whether the result would be the answer to a batch, which has responses and isn't an entity with a status.
    init?(_ response: ServiceResponse<Data>, isBatch: Bool = false) {
        guard response.value.count < Self.limit, let object = try? ODataValue(json: response.value).object else { return nil }
        let isReport = isBatch ? object["responses"] == nil : object["percentageComplete"] != nil || object["operation"] != nil
        guard isReport, let status = object["status"]?.string else { return nil }
        self.status = status
        progress = object["percentageComplete"]?.double.flatMap { $0.isFinite ? min(max($0 / 100, 0), 1) : nil }
    }

    private var word: String { status.lowercased() }
    var isCompleted: Bool { word == "completed" }
    var isFailed: Bool { ["failed", "deletefailed"].contains(word) }
    /// Whether the status is known to mean that the request isn't finished.
    var isRunning: Bool { ["notstarted", "inprogress", "running", "waiting", "updating", "deletepending"].contains(word) }
}

/// A monitor's answer: the result, or the news that there is none yet.
struct MonitorAnswer: Sendable {
    let response: ServiceResponse<Data>
    let monitor: JobMonitor
    /// The service's report about the request, from the body; `nil` if the body is the result.
    let report: JobReport?
    /// Whether the body may report a failure although the status is a success.
    let mayTellFailure: Bool

    /// - Parameters:
    ///   - hasNoValue: Whether the body isn't read as the result.
    ///   - isBatch: Whether the result would be the answer to a batch.
    init(_ response: ServiceResponse<Data>, _ monitor: JobMonitor, hasNoValue: Bool = false, isBatch: Bool = false) {
        self.response = response
        self.monitor = monitor
        let type = response.headers[.contentType].flatMap { MediaType($0) }
        let hasOwnStatus = response.headers["AsyncResult"] != nil || type?.essence == "application/http"
        // An error after the responses of a batch doesn't revoke them.
        let isAnswer = isBatch && (try? ODataValue(json: response.value).object?["responses"]) != nil
        // A monitor elsewhere isn't one of OData, and knows no AsyncResult. The body of a request without a result could only tell a
        // failure, and so could a body without the responses of a batch.
        mayTellFailure = response.status != 202 && !hasOwnStatus && (monitor.isForeign || hasNoValue || isBatch) && !isAnswer
        report = response.status == 202 || mayTellFailure ? JobReport(response, isBatch: isBatch) : nil
    }

    /// Whether the request isn't finished. Graph answers 202 even for a finished job.
    var isRunning: Bool {
        guard response.status == 202 else { return report?.isRunning == true }
        return report?.isCompleted != true && report?.isFailed != true
    }
}

extension ODataClient {
    /// Sends a call and returns its undecoded response. A monitor's 404 and 410 mean that the service has forgotten the job.
    func answer(of call: ServiceCall, _ operation: ODataOperation) async throws -> ServiceResponse<Data> {
        do {
            return try await call.describing { $0.raw() }.response(Data.self)
        } catch let error as ServiceError where error.stage == .status && (error.status == 404 || error.status == 410) {
            throw self.error(
                operation, .status, .job, ODataJobError.gone.description, cause: ODataJobError.gone, response: error.response)
        }
    }

    /// Returns the call to a monitor. The type of the result is accepted explicitly, because services of 4.0 send a whole response
    /// otherwise.
    func monitorCall(
        _ monitor: JobMonitor, _ operation: ODataOperation, _ form: JobForm, for result: any Any.Type,
        method: ServiceRequest.Method = .get
    ) -> ServiceCall {
        let call = monitor.isForeign ? http.request(method, outside: monitor.url) : http.request(method, link: monitor.url)
        let usual = monitor.isForeign && form.place == .payload ? "application/json" : callSettings.accepted(form.place, for: result)
        let named = call.named(operation.route, route: operation.route).header(.accept, form.accept ?? usual)
        return method == .get ? named : named.withoutBody()
    }

    /// Returns the monitor that a response with 202 names.
    ///
    /// - Parameter location: The `Location` field.
    func monitor<Body>(
        _ location: String, from response: ServiceResponse<Body>, base: URL, _ operation: ODataOperation
    ) throws -> JobMonitor {
        let origin = serviceOrigin ?? Origin(base)
        let monitor: JobMonitor
        do throws(ODataLinkError) {
            let named = try NextLink.url(location, context: nil, page: response.url)
            // Monitors may be elsewhere and need no credentials; only a proxy's links are taken on the service's origin.
            let policy = foreignLinks == .rebase ? ForeignLinkPolicy.rebase : .followWithoutCredentials
            let (url, isForeign) = try NextLink.route(named, service: origin, policy: policy)
            guard let origin else { throw .malformed(String(SecretMask.text(ofURL: location).prefix(200))) }
            monitor = JobMonitor(
                url: url, isForeign: isForeign, base: base, origin: origin, wait: Self.wait(in: response.headers, from: currentDate),
                answeredAt: currentDate)
        } catch {
            throw self.error(operation, .binding, .link, error.description, cause: error)
        }
        return try secured(monitor, operation)
    }

    /// Returns a monitor, unless it isn't encrypted and the service is.
    func secured(_ monitor: JobMonitor, _ operation: ODataOperation) throws -> JobMonitor {
        guard monitor.origin.scheme == "https", Origin(monitor.url)?.scheme != "https" else { return monitor }
        let cause = ODataJobError.insecureMonitor(NextLink.shown(monitor.url))
        throw error(operation, .binding, .job, cause.description, cause: cause)
    }

    /// Returns the monitor after its answer with 202, which may name another one. Without a `Location`, the monitor stays.
    func monitor<Body>(after response: ServiceResponse<Body>, _ monitor: JobMonitor, _ operation: ODataOperation) throws -> JobMonitor {
        if let location = response.headers[.location] {
            return try self.monitor(location, from: response, base: monitor.base, operation)
        }
        var same = monitor
        same.wait = Self.wait(in: response.headers, from: currentDate)
        same.answeredAt = currentDate
        return same
    }

    /// Returns the time that a service asks to wait, at least a fifth of a second.
    private static func wait(in headers: HTTPFields, from date: Date) -> Duration? {
        RetryAfter.delay(in: headers, from: date).map { max($0, .milliseconds(200)) }
    }
}
