import Foundation

/// Captures the request of a client's call instead of sending it: the chain runs up to the transport and stops there. For a call that
/// another request encloses, it also supplies the response: see ``EnclosedCall``.
///
/// A task-local value carries the dry run to the call, so a client's methods need no second variant. Inside the chain the value is `nil`,
/// so calls that interceptors and providers make are sent, with any client. Calls from a detached task aren't captured.
final class DryRun: Sendable {
    @TaskLocal static var current: DryRun?

    /// The client whose calls are captured.
    private let client: ObjectIdentifier
    private let caught = Locked<ServiceRequest?>(nil)
    /// Receives the first call before its chain runs; `nil` for a dry run of the chain. A transfer makes the call's requests itself.
    private let capture: (@Sendable (any Sendable) -> Void)?
    /// Makes the response to the first call from its URL, until the call takes it.
    private let answer = Locked<(@Sendable (URL) -> TransportResponse)?>(nil)
    private let isAnswer: Bool
    /// Whether other clients' calls are refused while the run is pending. A request that encloses the call doesn't contain them.
    private let isExclusive: Bool

    init(client: AnyObject, isExclusive: Bool = false, capture: (@Sendable (any Sendable) -> Void)? = nil) {
        self.client = ObjectIdentifier(client)
        self.isExclusive = isExclusive
        self.capture = capture
        isAnswer = false
    }

    /// Creates a run whose first call takes a response instead of being sent. Later calls are sent.
    init(client: AnyObject, answer: @escaping @Sendable (URL) -> TransportResponse) {
        self.client = ObjectIdentifier(client)
        capture = nil
        isAnswer = true
        isExclusive = true
        self.answer.withLock { $0 = answer }
    }

    /// Whether the next call isn't sent.
    var isPending: Bool { !isAnswer || answer.withLock { $0 != nil } }

    /// Returns the response to the first call.
    func takeAnswer(to request: ServiceRequest) -> TransportResponse? {
        guard isAnswer else { return nil }
        let make = answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
        return make?(request.url)
    }

    /// The request of the first call, even if the closure discards the call's error.
    var request: ServiceRequest? { caught.withLock { $0 } }

    /// The error that ends a dry run's call.
    struct Stop: Error {}

    func catches(_ client: ObjectIdentifier) -> Bool {
        self.client == client
    }

    /// Returns the reason why a client's call can't be sent now; `nil` if it can.
    func refusal(of client: ObjectIdentifier) -> InvalidRequest? {
        guard isExclusive, isPending, !catches(client) else { return nil }
        return InvalidRequest(
            message: "The call belongs to another client than the enclosing request, such as a batch: in its closure, make only calls of "
                + "the client that sends the batch.")
    }

    /// Passes a bound call to the closure that captures calls, and ends the call; without such a closure, the call continues.
    func take(_ call: @autoclosure () -> any Sendable) throws(Stop) {
        guard let capture else { return }
        capture(call())
        throw Stop()
    }

    func stop(at request: ServiceRequest) -> Stop {
        caught.withLock { $0 = $0 ?? request }
        return Stop()
    }
}

/// The error of a dry run without a request.
public struct DryRunError: DescribedError, Sendable {
    /// What happened and how to fix it.
    public var description: String {
        "The dry run's closure made no call of this client: call one method in it, outside detached tasks."
    }
}
