/// Catches the request of a call instead of sending it: the chain runs up to the transport and stops there.
///
/// It travels as a task-local value, so that a client's methods need no second form. What a method starts in a detached task isn't caught.
struct DryRun: Sendable {
    @TaskLocal static var current: DryRun?

    /// Ends a dry run's call and carries its request.
    struct Stop: Error {
        let request: ServiceRequest
    }

    func stop(at request: ServiceRequest) -> Stop {
        Stop(request: request)
    }
}

/// Why a dry run gave no request.
public struct DryRunError: Error, Sendable, CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        "The dry run's closure made no call of this client: call one method in it, and in no detached task."
    }
}
