/// The cancellation of one call from outside its task. Each call has one, which the library passes to a ``CancellableTransport``.
///
/// A Swift task can only be cancelled as a whole, and a call often runs in a task that has more to do.
public final class CallCancellation: Sendable {
    private struct Handler {
        let number: Int
        let act: @Sendable (CallCancelled) -> Void
    }

    private struct State {
        var cause: CallCancelled?
        var isFinished = false
        /// Most calls have one handler at a time: that of their transport. It needs no array.
        var first: Handler?
        var more: [Handler] = []
        var count = 0

        mutating func takeHandlers() -> [Handler] {
            defer { (first, more) = (nil, []) }
            return ([first].compactMap(\.self) + more).sorted { $0.number < $1.number }
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Why the call was cancelled; `nil` if it wasn't.
    public var cause: CallCancelled? { state.withLock { $0.cause } }

    /// Whether the call has finished without being cancelled.
    package var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Cancels the call. It has no effect if the call is already cancelled, or finished.
    ///
    /// - Returns: Whether this call of the method cancelled the call.
    @discardableResult
    package func cancel(_ cause: CallCancelled) -> Bool {
        let handlers: [Handler]? = state.withLock { state in
            guard state.cause == nil, !state.isFinished else { return nil }
            state.cause = cause
            return state.takeHandlers()
        }
        guard let handlers else { return false }
        for handler in handlers { handler.act(cause) }
        return true
    }

    /// Marks the call as finished, unless it is cancelled: it can't be cancelled any more.
    ///
    /// - Returns: Why the call was cancelled; `nil` if it finished first.
    package func finish() -> CallCancelled? {
        // Handlers are released outside the lock, because they may own exchanges.
        let (cause, first, more) = state.withLock { state -> (CallCancelled?, Handler?, [Handler]) in
            if state.cause == nil { state.isFinished = true }
            defer { (state.first, state.more) = (nil, []) }
            return (state.cause, state.first, state.more)
        }
        _ = (first, more)
        return cause
    }

    /// Calls a handler once when the call is cancelled; immediately if it already is.
    ///
    /// - Returns: The handler's number for ``remove(_:)``.
    package func onCancel(_ handler: @escaping @Sendable () -> Void) -> Int {
        onCancel { _ in handler() }
    }

    /// Calls a handler with the cause once when the call is cancelled; immediately if it already is.
    ///
    /// - Returns: The handler's number for ``remove(_:)``.
    public func onCancel(_ handler: @escaping @Sendable (CallCancelled) -> Void) -> Int {
        let (number, cause) = state.withLock { state in
            state.count += 1
            if state.cause == nil, !state.isFinished {
                let added = Handler(number: state.count, act: handler)
                if state.first == nil { state.first = added } else { state.more.append(added) }
            }
            return (state.count, state.cause)
        }
        if let cause { handler(cause) }
        return number
    }

    /// Removes a handler.
    public func remove(_ number: Int) {
        let removed = state.withLock { state -> Handler? in
            if let first = state.first, first.number == number {
                state.first = nil
                return first
            }
            guard let index = state.more.firstIndex(where: { $0.number == number }) else { return nil }
            return state.more.remove(at: index)
        }
        // Released outside the lock.
        _ = removed
    }

    /// Throws ``CallCancelled`` if the call is cancelled.
    public func check() throws {
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
