import Foundation
public import WebServiceClient

/// The resource that tells how far a service is with a request (Protocol 4.01, section 11.6).
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

    func ticket(route: String, _ purpose: CallPurpose) -> ODataJobTicket {
        var mustExist: Bool?
        if case .changing(let must) = purpose { mustExist = must }
        let notBefore = wait.map { answeredAt.addingTimeInterval($0 / .seconds(1)) }
        return ODataJobTicket(
            monitor: url, base: base, origin: origin.description, route: route, mustExist: mustExist, notBefore: notBefore)
    }
}

/// The progress that a monitor reports in its body, like the `asyncJobStatus` of Microsoft Graph. OData defines none.
struct JobReport: Sendable {
    let status: String
    let progress: Double?

    init?(_ response: ServiceResponse<Data>) {
        guard response.value.count < 1 << 20, let object = try? ODataValue(json: response.value).object else { return nil }
        guard let status = object["status"]?.string, object["percentageComplete"] != nil || object["operation"] != nil else { return nil }
        self.status = status
        progress = object["percentageComplete"]?.double.flatMap { $0.isFinite ? min(max($0 / 100, 0), 1) : nil }
    }

    /// Graph answers 202 even for a finished job.
    var isCompleted: Bool { status.lowercased() == "completed" }
    var isFailed: Bool { ["failed", "deletefailed"].contains(status.lowercased()) }
}

/// A response whose body isn't decoded yet.
struct UndecodedAnswer: Sendable {
    var status: Int
    var headers: HTTPFields
    var body: Data
    /// The base of relative links.
    var url: URL
    var duration: Duration
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

    /// Returns the call to a monitor. The JSON type is accepted explicitly, because services of 4.0 send a whole response otherwise.
    func monitorCall(_ monitor: JobMonitor, _ operation: ODataOperation, method: ServiceRequest.Method = .get) -> ServiceCall {
        let call = monitor.isForeign ? http.request(method, outside: monitor.url) : http.request(method, link: monitor.url)
        let type = callSettings.accept ?? PayloadFormat(accepting: printer.version).contentType
        let named = call.named(operation.route, route: operation.route).header(.accept, monitor.isForeign ? "application/json" : type)
        return method == .get ? named : named.withoutBody()
    }

    /// Returns the monitor that a response with 202 names.
    ///
    /// - Parameter location: the `Location` field.
    func monitor(
        _ location: String, from response: ServiceResponse<Data>, base: URL, _ operation: ODataOperation
    ) throws -> JobMonitor {
        let origin = serviceOrigin ?? Origin(base)
        let monitor: JobMonitor
        do throws(ODataLinkError) {
            let named = try NextLink.url(location, context: nil, page: response.url)
            // Monitors may be elsewhere and need no credentials; only a proxy's links are taken on the service's origin.
            let policy = foreignLinks == .rebase ? ForeignLinkPolicy.rebase : .followWithoutCredentials
            let (url, isForeign) = try NextLink.route(named, service: origin, policy: policy)
            guard let origin else { throw .malformed(String(location.prefix(200))) }
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
    func monitor(after response: ServiceResponse<Data>, _ monitor: JobMonitor, _ operation: ODataOperation) throws -> JobMonitor {
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

    /// Returns the result of a request in its monitor's response: the response itself with the status in `AsyncResult`, or a response inside
    /// of the body.
    func result(in response: ServiceResponse<Data>, at base: URL, _ operation: ODataOperation) throws -> UndecodedAnswer {
        var answer = UndecodedAnswer(
            status: response.status, headers: response.headers, body: response.value, url: base, duration: response.duration)
        let type = response.headers[.contentType].flatMap { MediaType($0) }
        if type?.essence == "application/http" {
            do throws(EmbeddedResponse.Fault) {
                let inner = try EmbeddedResponse(response.value)
                (answer.status, answer.headers, answer.body) = (inner.status, inner.headers, inner.body)
            } catch {
                let cause = ODataJobError.malformedResult(error.description)
                throw self.error(
                    operation, .decoding, .job, cause.description, cause: cause,
                    response: ResponseSummary(of: response, body: response.value))
            }
        } else if let text = response.headers["AsyncResult"] {
            guard let status = Int(text.trimmingCharacters(in: .whitespaces)), (100...999).contains(status) else {
                let cause = ODataJobError.malformedResult("AsyncResult isn't a status: '\(VisibleText.of(String(text.prefix(40))))'.")
                throw self.error(
                    operation, .decoding, .job, cause.description, cause: cause,
                    response: ResponseSummary(of: response, body: response.value))
            }
            answer.status = status
        } else if response.status == 202 {
            answer.status = 200
        }
        return answer
    }

    /// Decodes a response as if it had come at once.
    func decoded<Value: Decodable & Sendable>(
        _ answer: UndecodedAnswer, _ operation: ODataOperation, for purpose: CallPurpose
    ) throws -> ServiceResponse<Value> {
        func summary() -> ResponseSummary {
            ResponseSummary(status: answer.status, headers: answer.headers, url: answer.url, body: answer.body)
        }
        guard (200..<300).contains(answer.status) else {
            let body = ODataErrorBody(answer.body)
            let text = body?.description ?? "The service carried out the request, which failed with status \(answer.status)."
            var failure = error(operation, .status, body == nil ? .status : .refused, text, cause: body, response: summary())
            failure.errorBody = body
            throw failure
        }
        try check(
            answer.status, for: purpose, operation, response: summary(), url: answer.url.absoluteString,
            location: answer.headers[.location])
        try check(versionOf: answer.headers, operation, response: summary())
        do {
            return ServiceResponse(
                value: try value(Value.self, in: answer), status: answer.status, headers: answer.headers, url: answer.url,
                duration: answer.duration)
        } catch {
            let cause = error
            let text = "The result can't be read as \(Value.self): \(ServiceError.text(of: cause))"
            throw Self.withErrorBody(
                self.error(operation, .decoding, answer.body.isEmpty ? .emptyBody : .decoding, text, cause: cause, response: summary()))
        }
    }

    private func value<Value: Decodable>(_ type: Value.Type, in answer: UndecodedAnswer) throws -> Value {
        if let nothing = NoContent() as? Value { return nothing }
        if answer.body.isEmpty || answer.status == 204 || answer.status == 205 {
            if let optional = type as? any ExpressibleByNilLiteral.Type, let none = optional.init(nilLiteral: ()) as? Value { return none }
        }
        var serializer = ODataSerializer(format: PayloadFormat(version: printer.version), types: types, userInfo: userInfo)
        serializer.plainValues = .inside
        let contentType = answer.headers[.contentType]
        if !serializer.readsInsidePayload(type, contentType: contentType), let bytes = answer.body as? Value { return bytes }
        return try serializer.decode(type, from: answer.body, at: [], contentType: contentType, url: answer.url)
    }
}

extension ServiceError.Kind {
    /// An asynchronous request has no result; the cause is ``ODataJobError``.
    public static let job = Self(rawValue: "job")
}
