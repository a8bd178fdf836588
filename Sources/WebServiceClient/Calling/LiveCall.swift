/// The progress of a call.
public enum CallState: String, Sendable, Hashable, CaseIterable {
    /// No request has been sent yet: the call is prepared, or waits for its turn.
    case waiting
    /// A request was sent. The call waits for the response, reads it, or waits to be repeated.
    case running
    /// The call was cancelled before it ended.
    case cancelled
    /// The call has ended, with a value or an error.
    case finished
}

/// A call that its client is performing. The value refers to the call: its properties have the current values, even after the call ends.
public struct LiveCall: Sendable, Identifiable, CustomStringConvertible {
    /// The number of the call, unique among all calls of its client and ascending.
    public let id: UInt64
    let record: CallRecord
    let beginning: MonotonicInstant

    /// The client, the endpoint and its route.
    public var identity: CallIdentity { record.identity }
    /// The call's identifier; `nil` if it has none. See ``CallIdentifier``.
    public var identifier: String? { record.identifier?.text }
    /// The time when the call started.
    public var started: ContinuousClock.Instant { ContinuousClock.now.advanced(by: MonotonicInstant.now.duration(to: beginning)) }
    /// The number of the attempt, from 1. Each retry increments it.
    public var attempt: Int { record.repeats + 1 }
    /// The last request that was sent, without credentials; `nil` before the first.
    public var request: ServiceRequest? { record.request }

    /// The call's state.
    public var state: CallState { record.callState }

    /// Cancels the call: it ends with a ``ServiceError`` of the kind `cancelled`, whose cause is ``CallCancelled`` with this reason.
    ///
    /// - Returns: Whether this cancelled the call; `false` if it had ended or was cancelled before.
    @discardableResult
    public func cancel(reason: String) -> Bool {
        record.cancellation.cancel(CallCancelled(reason: reason))
    }

    /// The number, the endpoint, the identifier and the state.
    public var description: String {
        "#\(id) \(identity)" + (identifier.map { " \"\($0)\"" } ?? "") + ": \(state.rawValue), attempt \(attempt)"
    }
}

extension CallRecord {
    /// The progress of the call.
    var callState: CallState {
        if cancellation.cause != nil { return .cancelled }
        if cancellation.isFinished { return .finished }
        return exchange == nil ? .waiting : .running
    }
}

/// The outcome of a client's calls at its shutdown.
public struct ShutdownReport: Sendable, CustomStringConvertible {
    /// The number of calls that were running and ended within the limit.
    public let finished: Int
    /// The calls that were still pending at the limit, and were cancelled then.
    public let cancelled: [LiveCall]

    /// The numbers, and each cancelled call.
    public var description: String {
        (["\(finished) calls finished, \(cancelled.count) were cancelled"] + cancelled.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension WebServiceClient {
    /// The calls of this client that haven't ended, in the order of their start. A call whose body is read as a stream ends with its body.
    public var calls: [LiveCall] { runtime.calls.all }

    /// The call with an identifier that hasn't ended; of several, the one that was started last. See ``CallIdentifier``.
    public func call(identifier: String) -> LiveCall? { runtime.calls.call(identifier: identifier) }

    /// Cancels all calls of this client that haven't ended. Later calls aren't affected.
    ///
    /// - Parameter reason: A sentence, which the errors of the calls have: see ``CallCancelled``.
    /// - Returns: The number of calls that this cancelled.
    @discardableResult
    public func cancelAll(reason: String) -> Int { runtime.calls.cancelAll(CallCancelled(reason: reason)).count }

    /// Ends this client. New calls fail at once, with a ``ServiceError`` of the kind `cancelled`. Running calls may finish within the
    /// limit; then they are cancelled. A paused queue stays paused.
    ///
    /// New calls include those that interceptors and authentication providers make with this client, so that a running call can fail if it
    /// needs one. Repeated calls of this method get the same report. The transport isn't changed, because clients share it.
    ///
    /// - Parameter limit: The time for running calls; zero or less cancels them at once.
    /// - Returns: The calls that were still pending at the limit.
    @discardableResult
    public func shutdown(within limit: Duration) async -> ShutdownReport { await runtime.calls.shutdown(within: limit) }
}
