/// Catches the request of a client's call instead of sending it: the chain runs up to the transport and stops there.
///
/// It travels as a task-local value, so that a client's methods need no second form, as far as the call: inside of the chain there is none,
/// so that what interceptors and providers call, with whatever client, is really sent. What a method starts in a detached task isn't
/// caught.
final class DryRun: Sendable {
    @TaskLocal static var current: DryRun?

    /// The client whose calls are caught.
    private let client: ObjectIdentifier
    private let caught = Locked<ServiceRequest?>(nil)

    init(client: AnyObject) {
        self.client = ObjectIdentifier(client)
    }

    /// The request of the first call, also when its closure has dropped the call's error.
    var request: ServiceRequest? { caught.withLock { $0 } }

    /// Ends a dry run's call.
    struct Stop: Error {}

    func catches(_ client: ObjectIdentifier) -> Bool {
        self.client == client
    }

    func stop(at request: ServiceRequest) -> Stop {
        caught.withLock { $0 = $0 ?? request }
        return Stop()
    }
}

/// Why a dry run gave no request.
public struct DryRunError: DescribedError, Sendable {
    /// What happened and what to do.
    public var description: String {
        "The dry run's closure made no call of this client: call one method in it, and in no detached task."
    }
}
