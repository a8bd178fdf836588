public import Foundation

extension WebServiceClient {
    /// The client's queue: its limits, its pending calls, and its pauses.
    ///
    ///     shop.queue.pause()
    ///     for call in shop.queue.pending where call.priority == .low {
    ///         shop.queue.cancel(call.id, reason: "The user left the page.")
    ///     }
    ///     shop.queue.resume()
    public var queue: ClientQueue { ClientQueue(client: self, queue: runtime.queue) }
}

/// The queue of a client. All clients have one; by default it has no limits, and all calls start at once.
///
/// Each attempt of a call, and each redirect, waits for a turn and takes a slot. The slot is free when the response's body has ended,
/// failed, was cancelled, or was released. A call that waits for its next attempt, for a rate limit, or for credentials waits outside the
/// queue.
///
/// * Calls of a higher ``CallPriority`` start first. Of twelve calls that start, at least one has each priority that has pending calls.
/// * Within a priority, the origins take turns, and each origin's calls start in the order of their arrival.
/// * A pending call ends with its deadline, with ``QueueLimits/wait``, when it or its task is cancelled, and with its client.
public struct ClientQueue: Sendable {
    let client: WebServiceClient
    let queue: CallQueue

    /// The limits: the same as ``WebServiceClient/Configuration/queue``. They can change at any time. Lower limits end no calls: as many
    /// are active as fit after some have ended. With higher ones, as many pending calls start at once as fit. A call that began without
    /// limits doesn't count towards a later limit of its origin, only towards the client's.
    public var limits: QueueLimits {
        get { queue.status.limits }
        nonmutating set { client.configure { $0.queue = newValue } }
    }

    /// The number of active calls.
    public var activeCount: Int { queue.status.activeCount }

    /// The pending calls by priority and arrival.
    public var pending: [PendingCall] { queue.pending }

    /// Whether the queue is paused.
    public var isPaused: Bool { queue.status.isPaused }

    /// The queue's state after each change, as an asynchronous sequence. It doesn't keep the client alive.
    public var changes: QueueChanges { QueueChanges(queue: queue) }

    /// Starts no more calls until ``resume()``. Active calls continue.
    public func pause() {
        queue.pause()
    }

    /// Starts as many pending calls as the limits allow.
    public func resume() {
        queue.resume()
    }

    /// Starts no more calls to an origin until a date. A date in the past has no effect; of two pauses, the later end counts.
    public func pause(_ origin: Origin, until date: Date) {
        let clock = client.runtime.clock
        let interval = date.timeIntervalSince(clock.date())
        guard interval > 0 else { return }
        queue.pause(origin, until: clock.now().advanced(by: .seconds(min(interval, 1e12))))
    }

    /// Ends the pause of an origin.
    public func resume(_ origin: Origin) {
        queue.resume(origin)
    }

    /// Changes the priority of a pending call. Among the calls of that priority, it has the place of its arrival. If the call is sent again
    /// later, for a repeat or a redirect, it waits with the priority of its settings.
    ///
    /// - Parameter id: The call's ``PendingCall/id``.
    /// - Returns: Whether the call was pending.
    @discardableResult
    public func setPriority(_ priority: CallPriority, of id: PendingCall.ID) -> Bool {
        queue.setPriority(priority, of: id)
    }

    /// Cancels a pending call: it throws ``ServiceError`` with ``CallCancelled`` as its cause.
    ///
    /// - Parameters:
    ///   - id: The call's ``PendingCall/id``.
    ///   - reason: The reason for the error, as a sentence.
    /// - Returns: Whether the call was pending.
    @discardableResult
    public func cancel(_ id: PendingCall.ID, reason: String) -> Bool {
        queue.cancel(id, CallCancelled(.program, reason: reason))
    }
}
