public import Foundation
public import WebServiceClient

// Checks that apply to every response.
extension ODataClient {
    /// Sends a call and returns its response. An error that the service put into a successful response becomes the error's body.
    func response<Value: Decodable & Sendable>(
        _ call: ServiceCall, _ operation: ODataOperation, for purpose: CallPurpose = .reading
    ) async throws -> ServiceResponse<Value> {
        do {
            let response: ServiceResponse<Value>
            if let together: ServiceResponse<Value> = try await deferred(call, for: purpose) {
                response = together
            } else {
                response = try await call.response()
            }
            // A summary is masked, which takes longer than the checks.
            try check(
                response.status, for: purpose, operation, response: ResponseSummary(of: response), url: response.url.absoluteString,
                location: response.headers[.location])
            try check(versionOf: response.headers, operation, response: ResponseSummary(of: response))
            try check(trailersOf: response, operation)
            try check(
                repeatabilityIn: response.headers, isExpected: isRepeatable(purpose), operation,
                response: ResponseSummary(of: response))
            return response
        } catch let error as ServiceError where error.stage == .decoding {
            if let response = error.response {
                // A response with the wrong status can't contain the result.
                try check(
                    response.status, for: purpose, operation, response: response, url: response.url, location: response.headers[.location])
                // An unknown version may be the reason that the body can't be decoded.
                try check(versionOf: response.headers, operation, response: response)
            }
            throw Self.withErrorBody(error)
        } catch {
            throw Self.withErrorBody(error)
        }
    }

    /// Returns whether the client sends a call as a repeatable request.
    func isRepeatable(_ purpose: CallPurpose) -> Bool {
        switch purpose {
        case .changing, .calling: sendsRepeatableRequests && !EnclosedCall.isActive
        case .reading, .readingIfChanged, .readingBytes: false
        }
    }

    /// Reads a response that came with those of other calls, if the client sends reads together; `nil` if the call is sent on its own.
    private func deferred<Value: Decodable & Sendable>(
        _ call: ServiceCall, for purpose: CallPurpose
    ) async throws -> ServiceResponse<Value>? {
        guard purpose == .reading, let deferral = readDeferral, !EnclosedCall.isActive else { return nil }
        let captured = try await EnclosedCall.of(self) { _ in
            let _: ServiceResponse<Value> = try await call.response()
        }
        guard let enclosed = captured.call, enclosed.request.method == .get, enclosed.request.body == nil, !enclosed.isForeign,
            let answer = try await deferral.answer(to: enclosed, of: self)
        else { return nil }
        return try await EnclosedCall.answering(self, with: { _ in answer }) { _ in try await call.response() }
    }

    /// Sends a batch and returns its response, whose body is read while it arrives. A failure whose body has parts is returned too, since
    /// they tell which of the requests failed.
    ///
    /// - Parameters:
    ///   - isRepeatable: Whether the batch was sent as a repeatable request.
    ///   - wait: Waits for the response at the monitor, if the service carries out the batch asynchronously, and gets the answer with
    ///     the monitor's location. Without it, that is an error.
    func batchSource(
        _ call: ServiceCall, _ operation: ODataOperation, isRepeatable: Bool = false,
        waiting wait: ((BatchSource, JobMonitor) async throws -> BatchSource)?
    ) async throws -> BatchSource {
        do {
            let (response, errors) = try await call.openStream(keeping: { BatchSource.isMultipart($0.headers) })
            do {
                // The location is taken from the response itself, because an error's summary masks secrets of URLs.
                let location = response.status == 202 && wait != nil ? response.headers[.location] : nil
                // A failure has been judged, unless it has parts.
                if response.status < 300, location == nil {
                    // Services of versions 2 and 3 answer with 202 (OData 2.0, Batch Processing, section 2.2). It means that the
                    // service continues asynchronously only with the location of a monitor.
                    try check(
                        response.status, for: .calling, operation, response: ResponseSummary(of: response),
                        url: response.url.absoluteString, location: response.headers[.location])
                }
                try check(versionOf: response.headers, operation, response: ResponseSummary(of: response))
                try check(
                    repeatabilityIn: response.headers, isExpected: isRepeatable, operation, response: ResponseSummary(of: response))
                let source = BatchSource(response: response, errors: errors, checkEnd: { try self.check(trailersOf: response, operation) })
                guard let wait, let location else { return source }
                return try await wait(source, monitor(location, from: response, base: response.url, operation))
            } catch {
                response.value.cancel()
                throw error
            }
        } catch {
            throw Self.withErrorBody(error)
        }
    }

    /// Checks that a success status suits the call: others mean that the service did something else than requested.
    ///
    /// - Parameters:
    ///   - url: The base of a relative location.
    ///   - location: The `Location` field.
    func check(
        _ status: Int, for purpose: CallPurpose, _ operation: ODataOperation, response: @autoclosure () -> ResponseSummary, url: String,
        location: @autoclosure () -> String?
    ) throws {
        let fault: ODataStatusError
        func target() -> URL? { location().flatMap { NextLink.resolved($0, against: URL(string: url)) } }
        switch status {
        case 201 where purpose == .changing(mustExist: true):
            fault = .created(at: target())
        case 202 where purpose != .calling || location() != nil:
            fault = .accepted(monitor: target(), retryAfter: response().headers["Retry-After"].flatMap { RetryAfter($0) })
        case 200, 201, 202, 203, 204:
            return
        case 205 where purpose != .reading && purpose != .readingIfChanged && purpose != .readingBytes:
            return
        case 206 where purpose == .readingBytes:
            return
        case 304 where purpose == .readingIfChanged || purpose == .readingBytes:
            return
        case 200..<300:
            fault = .unexpected(status)
        default:
            return
        }
        throw error(operation, .status, .status, fault.description, cause: fault, response: response())
    }

    /// Checks the trailers: a service may revoke a response after its body (Protocol 4.01, section 8.3.2).
    func check<Value>(trailersOf response: ServiceResponse<Value>, _ operation: ODataOperation) throws {
        try check(trailersIn: response.report, operation, response: ResponseSummary(of: response))
    }

    func check(trailersIn report: ExchangeReport?, _ operation: ODataOperation, response: @autoclosure () -> ResponseSummary) throws {
        guard let text = report?.trailers["OData-Error"] else { return }
        let body = ODataErrorBody(Data(text.utf8))
        var error = self.error(
            operation, .body, .refused, "The service reported a failure after its response: \(body?.description ?? "no reason").",
            cause: body, response: response())
        error.errorBody = body
        throw error
    }

    /// Returns an error with the service's error as its body if that is its cause, and with the reason why the service rejected a
    /// repeatable request or a CSRF token.
    static func withErrorBody(_ error: any Error) -> any Error {
        guard var error = error as? ServiceError else { return error }
        if error.errorBody == nil, let body = error.cause as? ODataErrorBody { error.errorBody = body }
        return CSRFToken.explained(Repeatability.explained(error))
    }

    /// Sends a call for a page that is read while it arrives.
    func pageSource(_ call: ServiceCall, _ operation: ODataOperation) async throws -> PageSource {
        let (response, errors) = try await call.openStream()
        do {
            try check(
                response.status, for: .reading, operation, response: ResponseSummary(of: response), url: response.url.absoluteString,
                location: response.headers[.location])
            try check(versionOf: response.headers, operation, response: ResponseSummary(of: response))
        } catch {
            response.value.cancel()
            throw error
        }
        let format = PayloadFormat(version: printer.version)
        return PageSource(
            response: response, errors: errors,
            decoder: ODataSerializer(format: format, types: types, userInfo: userInfo).decoder(at: response.url),
            checkEnd: { try self.check(trailersOf: response, operation) })
    }

    /// Returns the result of a call, or `nil` if the service reports that it doesn't exist.
    ///
    /// - Parameter isMissingNone: Whether a 404 means `nil`.
    func ifPresent<Value>(unlessMissing isMissingNone: Bool, _ fetch: () async throws -> Value) async throws -> Value? {
        do {
            let value = try await fetch()
            // An optional type decodes null to its own nil.
            if Value.self is any ExpressibleByNilLiteral.Type {
                let mirror = Mirror(reflecting: value)
                if mirror.displayStyle == .optional, mirror.children.isEmpty { return nil }
            }
            return value
        } catch let error as ServiceError {
            if error.kind == .emptyBody, error.status == 204 { return nil }
            if let cause = error.cause, NullResult.isCause(of: cause) { return nil }
            guard isMissingNone, error.stage == .status, error.status == 404, let response = error.response else { throw error }
            let type = response.headers[.contentType].flatMap { MediaType($0) }
            if type?.essence == "text/html" { throw error }
            return nil
        }
    }
}

/// The purpose of a call, which determines the accepted statuses.
enum CallPurpose: Sendable, Hashable {
    case reading
    /// A read with a condition, which the service may answer with 304 (Not Modified).
    case readingIfChanged
    /// A read of a stream's bytes, which may have a condition or a range. It is never sent together with other reads.
    case readingBytes
    /// A change, and whether it requires an existing entity.
    case changing(mustExist: Bool)
    /// An action whose result doesn't matter.
    case calling
}

/// The reason why a response with a success status isn't the response to the request.
public enum ODataStatusError: DescribedError, Sendable, Hashable {
    /// 202 (Accepted): the service continues asynchronously and provides the result later (Protocol 4.01, section 11.6). The monitor's URL,
    /// which may contain secrets, returns the progress and then the result.
    case accepted(monitor: URL?, retryAfter: RetryAfter?)
    /// 201 (Created): a change of an existing entity created one.
    case created(at: URL?)
    /// A status that OData doesn't use, such as 206 (Partial Content).
    case unexpected(Int)

    /// A sentence for people. The query of URLs is omitted, as it may contain secrets.
    public var description: String {
        switch self {
        case .accepted(let monitor, let retryAfter):
            let place = monitor.map { " Its progress and its result are at \(NextLink.shown($0)) (Location)." } ?? ""
            let time =
                switch retryAfter {
                case .seconds(let seconds): " Ask again after \(seconds) s (Retry-After)."
                case .milliseconds(let number): " Ask again after \(Duration.milliseconds(number).text) (Retry-After)."
                case .date(let date): " Ask again after \(HTTPDate.text(of: date)) (Retry-After)."
                case nil: ""
                }
            return "The service accepted the request (202) but hasn't completed it: there is no result yet." + place + time
                + " Leave respond-async out of the Prefer header to wait for the result."
        case .created(let url):
            return
                "The service created an entity (201)\(url.map { " at \(NextLink.shown($0))" } ?? "") in answer to a change or "
                + "deletion of an existing one. Use upsert if a change may create it; otherwise delete the new entity."
        case .unexpected(206):
            return "The service answered with a part of the result (206), which wasn't requested."
        case .unexpected(let status):
            return "The service answered with status \(status), which isn't an answer to this request in OData."
        }
    }
}

extension ResponseSummary {
    /// Creates a summary of a response whose body is already read or discarded.
    ///
    /// - Parameter body: The whole body, or `nil` if it isn't available.
    init<Value>(of response: ServiceResponse<Value>, body: Data? = nil) {
        self.init(status: response.status, headers: response.headers, url: response.url, body: body ?? Data(), isCut: body == nil)
    }
}
