import Foundation
public import WebServiceClient

// Repeatable requests (OASIS Repeatable Requests 1.0).
extension ODataClient {
    /// Returns a change as a repeatable request, if the client or the request itself states that it is one.
    ///
    /// The fields are set here and not for each attempt, so that they stay the same in all requests of the call, also in those that an
    /// interceptor repeats. Parts of a batch don't have them, since they belong to the batch request.
    ///
    /// - Parameter headers: The fields of the request itself. An identifier among them stays.
    func repeatable(_ call: ServiceCall, _ headers: HTTPFields) -> ServiceCall {
        let given = headers[Repeatability.requestID]
        guard sendsRepeatableRequests && BatchScope.current == nil || given != nil else { return call }
        var call = call
        if given == nil { call = call.header(Repeatability.requestID, Repeatability.newID()) }
        if headers[Repeatability.firstSent] == nil {
            call = call.header(Repeatability.firstSent, HTTPDate.text(of: currentDate))
        }
        return call.describing { $0.idempotencyKey(named: Repeatability.requestID) }
    }

    /// Checks what the service says about a repeatable request that it performed.
    ///
    /// - Parameter isExpected: Whether the request was a repeatable one.
    /// - Throws: `ServiceError`, whose cause is ``ODataRepeatabilityError``, if the service rejected it as such.
    func check(
        repeatabilityIn headers: HTTPFields, isExpected: Bool, _ operation: ODataOperation, response: @autoclosure () -> ResponseSummary
    ) throws {
        if Repeatability.isRejected(headers) {
            let response = response()
            let cause = ODataRepeatabilityError(status: response.status)
            throw error(operation, .status, .repeatability, cause.description, cause: cause, response: response)
        }
        guard isExpected, headers[Repeatability.result] == nil else { return }
        noteUnconfirmedRepeatability(operation)
    }
}

/// The fields of repeatable requests.
enum Repeatability {
    static let requestID: HTTPFields.Name = "Repeatability-Request-ID"
    static let firstSent: HTTPFields.Name = "Repeatability-First-Sent"
    static let result: HTTPFields.Name = "Repeatability-Result"

    /// A random identifier, which is unique also without a `Repeatability-Client-ID`.
    static func newID() -> String { UUID().uuidString.lowercased() }

    static func isRejected(_ headers: HTTPFields) -> Bool {
        headers[result]?.trimmingCharacters(in: .whitespaces).lowercased() == "rejected"
    }

    /// Returns the error of a call with the rejection as its cause, if the service rejected the call as a repeatable request or still
    /// performs an earlier attempt of it. A 412 without a rejection is the failure of the request's own condition.
    static func explained(_ error: ServiceError) -> ServiceError {
        guard error.stage == .status, let response = error.response else { return error }
        let isBusy = response.status == 425 && error.request?.headers[requestID] != nil
        guard isBusy || isRejected(response.headers) else { return error }
        let cause = ODataRepeatabilityError(status: response.status)
        var error = error
        let reason = (error.errorBody as? ODataErrorBody).map { " The service says: \($0.description)" }
        error.kind = .repeatability
        error.cause = cause
        error.message = cause.description + (reason ?? "")
        return error
    }
}

/// The reason why a service didn't accept a change as a repeatable request (OASIS Repeatable Requests 1.0): it answered with
/// `Repeatability-Result: rejected`, or with 425 (Too Early).
///
/// The answer is in the `ServiceError`, with the request and its identifier.
public enum ODataRepeatabilityError: DescribedError, Sendable, Hashable {
    /// 412 (Precondition Failed): the first attempt is older than what the service remembers, so it doesn't know whether it performed the
    /// request.
    case forgotten
    /// 425 (Too Early): the service is still performing an earlier attempt.
    case inProgress
    /// 501 (Not Implemented): the service doesn't support repeatable requests for the resource.
    case unsupported
    /// A success status: the service performed the request, but doesn't recognize its repeats.
    case performed(status: Int)
    /// Another status: the service refused the request.
    case refused(status: Int)

    init(status: Int) {
        self =
            switch status {
            case 412: .forgotten
            case 425: .inProgress
            case 501: .unsupported
            case 200..<300: .performed(status: status)
            default: .refused(status: status)
            }
    }

    /// A sentence for people.
    public var description: String {
        switch self {
        case .forgotten:
            "The service no longer knows whether it performed an earlier attempt of this change (412, Repeatability-Result: rejected): read "
                + "the entities before you make the change again, as a new call."
        case .inProgress:
            "The service is still performing an earlier attempt of this change (425): ask for its result later, by the same "
                + "Repeatability-Request-ID and Repeatability-First-Sent."
        case .unsupported:
            "The service doesn't support repeatable requests for this resource (501, Repeatability-Result: rejected), so it didn't perform "
                + "the change: set sendsRepeatableRequests to false for it."
        case .performed(let status):
            "The service answered with status \(status), but not to a repeatable request (Repeatability-Result: rejected): the change was "
                + "made at least once, and twice if an earlier attempt was performed. Read the entities, and set sendsRepeatableRequests to "
                + "false for this resource."
        case .refused(let status):
            "The service refused the repeatable request with status \(status) (Repeatability-Result: rejected): check "
                + "Repeatability-Request-ID and Repeatability-First-Sent if the program sets them, and the clock; otherwise set "
                + "sendsRepeatableRequests to false."
        }
    }
}

extension ServiceError.Kind {
    /// The service didn't accept a change as a repeatable request; the cause is ``ODataRepeatabilityError``.
    public static let repeatability = Self(rawValue: "repeatability")
}
