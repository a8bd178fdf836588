import Foundation

/// Decides per call whether a failure leads to a repeat. It is a client setting, and an attribute of classes, endpoints and calls; the
/// innermost counts.
///
///     $0.retryDecider = RetryDecider { failure in
///         failure.status == 404 && failure.attempt < 3 ? .retry(after: .seconds(2)) : .default
///     }
///
/// It is asked after failures only, never after success, and only while the policy allows another attempt and the body can be replayed. It
/// can permit what the policy doesn't, such as another status or a POST. It can't exceed the bounds on attempts and total time, the call's
/// deadline and the retry budget.
public struct RetryDecider: EndpointAttribute, CustomStringConvertible {
    private let decide: @Sendable (RetryFailure) async -> RetryDecision

    /// Creates a decider from a closure. It should return soon, because the failed call waits for it.
    public init(_ decide: @escaping @Sendable (RetryFailure) async -> RetryDecision) {
        self.decide = decide
    }

    func decision(on failure: RetryFailure) async -> RetryDecision {
        await decide(failure)
    }

    /// The type's name.
    public var description: String { "RetryDecider" }
}

/// A failed attempt, as a ``RetryDecider`` sees it.
public struct RetryFailure: Sendable {
    /// The call.
    public let call: CallIdentity
    /// The request, without what authentication adds.
    public let request: ServiceRequest
    /// The number of the attempt, from 1.
    public let attempt: Int
    /// The status of the response; `nil` if there was none.
    public let status: Int?
    /// The fields of the response.
    public let headers: HTTPFields
    /// The error; `nil` if there was a response.
    public let error: (any Error)?
    /// The wait that the server asked for.
    public let askedWait: Duration?
    /// The wait before the repeat that the policy suggests; `nil` if it would deliver the failure.
    public let proposedWait: Duration?
}

/// What follows a failed attempt.
public enum RetryDecision: Sendable, Hashable {
    /// The decision of the policy.
    case `default`
    /// A repeat after this wait; with `nil` after the wait of the policy's backoff.
    case retry(after: Duration? = nil)
    /// The failure is delivered.
    case fail
}
