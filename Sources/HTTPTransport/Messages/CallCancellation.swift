/// Cancels one call from outside its task. Each call has one; it travels with the call's requests to the transport.
///
/// A Swift task can only be cancelled as a whole, and a call often runs in a task that has more to do.
package final class CallCancellation: Sendable {
    private struct State {
        var cause: CallCancelled?
        var handlers: [Int: @Sendable () -> Void] = [:]
        var count = 0
    }

    private let state = Locked(State())

    package init() {}

    /// Why the call was cancelled; `nil` if it wasn't.
    package var cause: CallCancelled? { state.withLock { $0.cause } }

    /// Cancels the call. Later calls of this method have no effect.
    ///
    /// - Returns: Whether the call was cancelled by this call of the method.
    @discardableResult
    package func cancel(_ cause: CallCancelled) -> Bool {
        let handlers: [@Sendable () -> Void]? = state.withLock { state in
            guard state.cause == nil else { return nil }
            state.cause = cause
            defer { state.handlers = [:] }
            return state.handlers.sorted { $0.key < $1.key }.map(\.value)
        }
        guard let handlers else { return false }
        for handler in handlers { handler() }
        return true
    }

    /// Calls a handler once when the call is cancelled; immediately if it already is.
    ///
    /// - Returns: The handler's number for ``remove(_:)``.
    package func onCancel(_ handler: @escaping @Sendable () -> Void) -> Int {
        let (number, isCancelled) = state.withLock { state in
            state.count += 1
            if state.cause == nil { state.handlers[state.count] = handler }
            return (state.count, state.cause != nil)
        }
        if isCancelled { handler() }
        return number
    }

    /// Forgets a handler.
    package func remove(_ number: Int) {
        _ = state.withLock { $0.handlers.removeValue(forKey: number) }
    }

    /// Throws ``CallCancelled`` if the call is cancelled.
    package func check() throws {
        if let cause { throw cause }
    }
}

/// A call was cancelled by its handle or its client. A `ServiceError` of the kind `cancelled` has it as its cause.
///
/// If the Swift task of a call is cancelled, the call throws `CancellationError` instead.
public struct CallCancelled: DescribedError, Sendable, Hashable {
    /// What cancelled the call.
    public enum Origin: String, Sendable, Hashable, CaseIterable {
        /// The program cancelled it.
        case program
        /// A later call with the same identifier replaced it.
        case replaced
        /// Its handle was restarted.
        case restarted
        /// Its client was shut down.
        case shutdown
    }

    /// What cancelled the call.
    public let origin: Origin
    /// The reason that was given, as a sentence.
    public let reason: String

    /// Creates the error of a cancelled call.
    public init(_ origin: Origin = .program, reason: String) {
        self.origin = origin
        self.reason = VisibleText.of(reason)
    }

    /// The reason.
    public var description: String { "The call was cancelled: \(reason)" }
}
