/// The stage of the chain that gives each request a slot of the client's queue: see ``QueueLimits``.
///
/// It is inside retries and redirects, so a call that waits to be repeated holds no slot, and each hop takes its own. It is outside
/// authentication: a call that a provider makes with the same client, such as a token refresh, is included in the slot of the call that
/// needs it, and never waits for another.
///
/// The slot is released once: when the request fails, or when the response's body has ended, failed, was cancelled, or was released.
struct Queueing: Interceptor {
    let queue: CallQueue
    /// Whether code inside this stage may make calls with the same client.
    let hasInnerCalls: Bool

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        // Without limits and pauses this costs one lock at the beginning, and another at the end.
        if !hasInnerCalls, !Self.isStream(request.body), let slot = queue.slotAtOnce() {
            do {
                return holding(slot, try await next(request, context))
            } catch {
                queue.release(slot)
                throw error
            }
        }
        return try await withSlot(request, context: context, next: next)
    }

    private func withSlot(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        // A dry run isn't sent.
        if context.isDryRun { return try await next(request, context) }
        let held = HeldSlots.current
        let slot =
            if let slot = queue.slotAtOnce() {
                slot
            } else if let held, held.include(queue) {
                CallQueue.Slot.included
            } else {
                try await queue.slot(for: request, context)
            }
        do {
            let response = try await HeldSlots.$current.withValue(HeldSlots(queue, outer: held)) { try await next(request, context) }
            return holding(slot, response)
        } catch {
            queue.release(slot)
            throw error
        }
    }

    /// Releases the slot of a response, at the end of its body.
    @inline(__always)
    private func holding(_ slot: CallQueue.Slot, _ response: TransportResponse) -> TransportResponse {
        guard response.body.data == nil else {
            queue.release(slot)
            return response
        }
        var response = response
        let (queue, isHeld) = (queue, Locked(true))
        response.body = response.body.whenEnded {
            let isFirst = isHeld.withLock { isHeld in
                defer { isHeld = false }
                return isHeld
            }
            if isFirst { queue.release(slot) }
        }
        return response
    }

    /// Whether the transport runs code of the program to read a body.
    private static func isStream(_ body: RequestBody?) -> Bool {
        if case .stream = body?.source { true } else { false }
    }
}

/// The queues in which the current task's call has a slot. Calls inside it with the same client are included in that slot: if they waited
/// for another slot, a queue with one slot would block forever.
///
/// The child tasks of the call have the value too, and so have tasks that it starts, such as a token refresh for several calls.
struct HeldSlots: Sendable {
    @TaskLocal static var current: HeldSlots?

    private let queues: [CallQueue]

    init(_ queue: CallQueue, outer: HeldSlots?) {
        let known = outer?.queues ?? []
        queues = known.contains { $0 === queue } ? known : known + [queue]
    }

    func include(_ queue: CallQueue) -> Bool {
        queues.contains { $0 === queue }
    }
}
