public import Foundation
public import WebServiceClient

// What every call of a client has in common when its answer is there.
extension ODataClient {
    /// Sends a call and gives the value; an error that the service put into a success is the error's body.
    func response<Value: Decodable & Sendable>(
        _ call: ServiceCall, _ operation: ODataOperation, for purpose: CallPurpose = .reading
    ) async throws -> ServiceResponse<Value> {
        do {
            let response: ServiceResponse<Value> = try await call.response()
            let summary = ResponseSummary(of: response)
            try check(statusOf: summary, for: purpose, operation, location: response.headers[.location])
            try check(versionOf: response.headers, operation, response: summary)
            try check(trailersOf: response, operation)
            return response
        } catch let error as ServiceError where error.stage == .decoding {
            if let response = error.response {
                // An answer that isn't the result has no value in it.
                try check(statusOf: response, for: purpose, operation, location: response.headers[.location])
                // What can't be read may be of a version that nobody asked for.
                try check(versionOf: response.headers, operation, response: response)
            }
            throw Self.withErrorBody(error)
        } catch {
            throw Self.withErrorBody(error)
        }
    }

    /// Sees to it that a status among the successes is one for the call: others say that the service did something else than was asked for.
    private func check(
        statusOf response: ResponseSummary, for purpose: CallPurpose, _ operation: ODataOperation, location: String?
    ) throws {
        let fault: ODataStatusError
        let url = location.flatMap { NextLink.resolved($0, against: URL(string: response.url)) }
        switch response.status {
        case 201 where purpose == .changing(mustExist: true):
            fault = .created(at: url)
        case 202 where purpose != .calling || location != nil:
            fault = .accepted(monitor: url, retryAfter: response.headers["Retry-After"].flatMap { RetryAfter($0) })
        case 200, 201, 202, 203, 204:
            return
        case 205 where purpose != .reading:
            return
        case 200..<300:
            fault = .unexpected(response.status)
        default:
            return
        }
        throw error(operation, .status, .status, fault.description, cause: fault, response: response)
    }

    /// A service may say behind an answer that it is to be thrown away (Protocol 4.01, section 8.3.2).
    private func check<Value>(trailersOf response: ServiceResponse<Value>, _ operation: ODataOperation) throws {
        guard let text = response.report?.trailers["OData-Error"] else { return }
        let body = ODataErrorBody(Data(text.utf8))
        var error = self.error(
            operation, .body, .refused, "The service said behind its answer that it failed: \(body?.description ?? "no reason").",
            cause: body, response: ResponseSummary(of: response))
        error.errorBody = body
        throw error
    }

    /// An error whose cause is what the service says, with that as its body.
    static func withErrorBody(_ error: any Error) -> any Error {
        guard var error = error as? ServiceError, error.errorBody == nil, let body = error.cause as? ODataErrorBody else { return error }
        error.errorBody = body
        return error
    }

    /// Sends a call for a page, to be read as it arrives.
    func pageSource(_ call: ServiceCall, _ operation: ODataOperation) async throws -> PageSource {
        let (response, errors) = try await call.openStream()
        let summary = ResponseSummary(of: response)
        do {
            try check(statusOf: summary, for: .reading, operation, location: response.headers[.location])
            try check(versionOf: response.headers, operation, response: summary)
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

    /// What a call gives; `nil` where the service says that there is none.
    ///
    /// - Parameter isMissingNone: whether a 404 says so.
    func ifPresent<Value>(unlessMissing isMissingNone: Bool, _ fetch: () async throws -> Value) async throws -> Value? {
        do {
            let value = try await fetch()
            // An optional type was read as its own nil.
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

/// What a call is for, which says what its answer may be.
enum CallPurpose: Sendable, Hashable {
    case reading
    /// A change, and whether it is one of an entity that is there.
    case changing(mustExist: Bool)
    /// An action whose result doesn't matter.
    case calling
}

/// Why an answer whose status is one of a success isn't the answer to what was asked.
public enum ODataStatusError: Error, Sendable, Hashable, CustomStringConvertible {
    /// 202 (Accepted): the service goes on by itself, and tells the result later (Protocol 4.01, section 11.6). At the monitor's URL, which may hold
    /// secrets, it says how far it is, and then gives the result.
    case accepted(monitor: URL?, retryAfter: RetryAfter?)
    /// 201 (Created): a change of an entity that was to exist created one.
    case created(at: URL?)
    /// A status that OData has no use for: 206 (Partial Content), for one, is a part of the answer.
    case unexpected(Int)

    /// A sentence for people. The query of URLs is left out, as it may hold secrets.
    public var description: String {
        switch self {
        case .accepted(let monitor, let retryAfter):
            let place = monitor.map { " Its progress and its result are at \(NextLink.shown($0)) (Location)." } ?? ""
            let time =
                switch retryAfter {
                case .seconds(let seconds): " Ask again after \(seconds) s (Retry-After)."
                case .date(let date): " Ask again after \(HTTPDate.text(of: date)) (Retry-After)."
                case nil: ""
                }
            return "The service accepted the request (202) and hasn't completed it: there is no result yet." + place + time
                + " Leave respond-async out of the Prefer header to wait for the result."
        case .created(let url):
            return
                "The service created an entity (201)\(url.map { " at \(NextLink.shown($0))" } ?? "") in answer to a change of one that was to "
                + "exist: it ignores the condition. Use upsert where that is right, and delete the new entity where it isn't."
        case .unexpected(206):
            return "The service answered with a part of the result (206), which wasn't asked for."
        case .unexpected(let status):
            return "The service answered with status \(status), which isn't an answer to this request in OData."
        }
    }
}

extension ResponseSummary {
    /// What an error tells of a response whose body was read, or left, already.
    ///
    /// - Parameter body: all of it; `nil` when it isn't at hand.
    init<Value>(of response: ServiceResponse<Value>, body: Data? = nil) {
        self.init(status: response.status, headers: response.headers, url: response.url, body: body ?? Data(), isCut: body == nil)
    }
}
