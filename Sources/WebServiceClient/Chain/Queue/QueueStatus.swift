/// A call that waits for its turn in a client's queue.
public struct PendingCall: Sendable, Hashable, Identifiable {
    /// Why a call waits.
    public enum Reason: Sendable, Hashable {
        /// The client has as many active calls as ``QueueLimits/active`` allows.
        case clientLimit
        /// The origin has as many active calls as ``QueueLimits/activePerOrigin`` allows.
        case originLimit
        /// The queue is paused.
        case paused
        /// The origin is paused for a duration from now.
        case originPaused(Duration)
    }

    /// The number of the call in its queue, in the order of arrival. No two calls of a client have the same number, even if they are equal.
    public let id: Int
    /// The identity of the call.
    public let identity: CallIdentity
    /// The origin that the call goes to.
    public let origin: Origin?
    /// The priority.
    public let priority: CallPriority
    /// How long the call has waited.
    public let age: Duration
    /// Why the call waits.
    public let reason: Reason
}

/// The state of a client's queue at one moment.
public struct QueueStatus: Sendable, Hashable {
    /// The number of active calls.
    public let activeCount: Int
    /// The number of pending calls.
    public let pendingCount: Int
    /// Whether the queue is paused.
    public let isPaused: Bool
    /// The limits.
    public let limits: QueueLimits
}

/// The states of a client's queue, as an asynchronous sequence: an element after each change. A slow reader misses states in between, but
/// always gets the latest. The sequence ends with its client.
public struct QueueChanges: AsyncSequence, Sendable {
    /// A state.
    public typealias Element = QueueStatus

    let queue: CallQueue

    /// Returns an iterator. Changes count from here on.
    public func makeAsyncIterator() -> Iterator {
        Iterator(queue: queue, signals: queue.signals().makeAsyncIterator())
    }

    /// An iterator over the states.
    public struct Iterator: AsyncIteratorProtocol {
        let queue: CallQueue
        var signals: AsyncStream<Void>.AsyncIterator

        /// The state after the next change; `nil` after the client's end, and if the task is cancelled.
        public mutating func next() async -> QueueStatus? {
            await signals.next().map { queue.status }
        }
    }
}

/// An error of a client's queue: the call wasn't sent. A ``ServiceError`` of the kind `queue` has it as its cause.
public struct QueueError: DescribedError, Sendable, Hashable {
    /// The kinds of failure.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// As many calls wait as ``QueueLimits/pending`` allows.
        case full
        /// The call waited as long as ``QueueLimits/wait`` allows.
        case waitedTooLong
    }

    /// The kind of failure.
    public let kind: Kind
    /// The limit and the fix, as a sentence.
    public let description: String

    static func full(_ limit: Int) -> QueueError {
        QueueError(
            kind: .full,
            description: "The client's queue is full: \(limit) calls wait, the most that queue.pending allows. Make fewer calls at once, "
                + "or raise queue.pending or queue.active.")
    }

    static func waitedTooLong(_ limit: Duration, _ reason: PendingCall.Reason?) -> QueueError {
        QueueError(
            kind: .waitedTooLong,
            description: "The call waited \(limit.text) for its turn, the longest that queue.wait allows\(Self.cause(reason)). Make fewer "
                + "calls at once, or raise queue.wait or queue.active.")
    }

    /// The error of a call whose deadline passes while it waits.
    static func deadline(after wait: Duration, _ reason: PendingCall.Reason?) -> TransportError {
        TransportError(
            .timedOutTotal,
            "The call's total time passed after it had waited \(wait.text) for its turn in the client's queue\(cause(reason)); it wasn't "
                + "sent. Raise the total time, or make fewer calls at once.")
    }

    private static func cause(_ reason: PendingCall.Reason?) -> String {
        switch reason {
        case .paused: ", because the queue is paused"
        case .originPaused: ", because the origin is paused"
        case .originLimit: ", because the origin has as many active calls as queue.activePerOrigin allows"
        case .clientLimit, nil: ""
        }
    }
}
