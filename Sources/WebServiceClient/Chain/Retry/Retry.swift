import Foundation

/// The stage of the chain that repeats a call after a transient failure: see ``RetryPolicy``.
///
/// The wait is the larger of the policy's backoff and what the server asks for, such as `Retry-After`. To the latter a random part of a
/// second is added, because many clients may have received the same time; without jitter in the backoff nothing is added. A call isn't
/// repeated if the wait would end after its deadline or the policy's total time, or if its client's budget is used up; then the failure
/// itself is delivered. While a call waits, it holds no slot of the queue, which is further inside.
///
/// If the policy allows repeats, an idempotent request on a connection that the server just closed is sent again once, immediately, without
/// counting as an attempt. The same applies under every policy, and to all methods, to a request that the server states it didn't process.
///
/// Each hop of a redirect passes through this stage again. The limits apply to the whole call: attempts of one hop aren't available to the
/// next.
struct Retry: Interceptor {
    /// The policy of endpoints without their own.
    let policy: RetryPolicy
    /// The clock of the waits.
    let clock: CallClock
    let allowance: RetryAllowance
    /// Makes random numbers between 0 and 1.
    var random: @Sendable () -> Double = { Double.random(in: 0..<1) }

    /// The result of an attempt.
    private typealias Outcome = Result<TransportResponse, any Error>

    /// The progress of one pass through the stage.
    private struct Progress {
        /// The call's first attempt, maybe at an earlier hop.
        var start: MonotonicInstant?
        /// The units of the budget that the last repeat took.
        var taken: Int?
        /// Whether the current attempt was sent again without counting.
        var isResent = false
    }

    @inline(__always)
    func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
        // Most calls can't be repeated and don't need this: by default, a client repeats nothing.
        let mayRepeat = policy.attempts > 1 || !context.attributes.isEmpty
        var context = context
        var progress = Progress()
        if mayRepeat {
            let (repeats, start) = context.record.beginsAttempts(at: clock.now())
            context.attempt = max(context.attempt, repeats + 1)
            progress.start = start
        }
        while true {
            let outcome: Outcome
            do {
                // A single call site for `next`, so that later stages can be inlined.
                let response = try await next(request, context)
                if context.record.isSuccess(response.status) {
                    if mayRepeat { allowance.noteSuccess(after: progress.taken) }
                    return response
                }
                outcome = .success(response)
            } catch {
                outcome = .failure(error)
            }
            guard try await isRepeated(outcome, to: request, &context, &progress) else { return try outcome.get() }
        }
    }

    /// Decides what follows a failure. Before a repeat, it waits.
    ///
    /// - Returns: Whether the request is sent again.
    /// - Throws: If the call or its task is cancelled.
    private func isRepeated(
        _ outcome: Outcome, to request: ServiceRequest, _ context: inout CallContext, _ progress: inout Progress
    ) async throws -> Bool {
        guard let failure = Failure(outcome), !Task.isCancelled else { return false }
        try failure.check(context.record.cancellation)
        let policy = effectivePolicy(context)
        if let response = failure.response, response.status < 400, !policy.statuses.contains(response.status) { return false }
        let traits = Traits(request, context.attributes)
        if !progress.isResent, traits.isReplayable,
            failure.isUnprocessed || failure.isStale && policy.attempts > 1 && (traits.isIdempotent || traits.hasKey)
        {
            // This doesn't count as an attempt: the server most likely never saw the request, and stale connections would use up any
            // policy.
            progress.isResent = true
            failure.response?.body.cancel()
            context.diagnostics.report(
                .init(.debug, "\(failure.reason): the server didn't process the request, which is sent again", call: context.identity))
            return true
        }
        let wait = await wait(after: failure, of: request, traits, policy, context)
        try failure.check(context.record.cancellation)
        guard let wait, !Task.isCancelled, policy.allows(wait, at: clock.now(), since: progress.start, before: request.end) else {
            return false
        }
        guard let taken = allowance.take(isTimeout: failure.isTimeout) else {
            context.diagnostics.report(
                .init(.notice, "\(failure.reason); the retry budget is used up, so the call isn't repeated", call: context.identity))
            return false
        }
        failure.response?.body.cancel()
        context.diagnostics.report(
            .init(.debug, "attempt \(context.attempt) ended with \(failure.reason), the next in \(wait.text)", call: context.identity))
        do {
            try await pause(
                wait, context.record,
                .init(
                    reason: .retry, duration: wait, attempt: context.attempt + 1, cause: failure.reason))
        } catch {
            allowance.give(taken)
            throw error
        }
        progress.taken = taken
        progress.isResent = false
        context.attempt += 1
        context.record.countRepeat()
        return true
    }

    /// Asks the policy and the decider.
    ///
    /// - Returns: The wait before the next attempt; `nil` if the failure is delivered.
    private func wait(
        after failure: Failure, of request: ServiceRequest, _ traits: Traits, _ policy: RetryPolicy, _ context: CallContext
    ) async -> Duration? {
        let asked = failure.response.flatMap { policy.askedWait(status: $0.status, headers: $0.headers, now: clock.date()) }
        context.record.noteAskedWait(asked)
        guard context.attempt < policy.attempts else { return nil }
        let isCovered = failure.isCovered(by: policy, hasKey: traits.hasKey)
        guard traits.isReplayable else {
            if isCovered {
                context.diagnostics.report(
                    .init(.debug, "\(failure.reason); the body can be read only once, so the call isn't repeated", call: context.identity))
            }
            return nil
        }
        let own = policy.backoff.delay(afterFailures: context.attempt, fraction: random())
        var wait: Duration?
        if isCovered, traits.arePermitted(by: policy), (asked ?? .zero) <= policy.longestWait {
            wait = policy.backoff.delay(own, asked: asked, random: random)
        }
        guard let decider = context.attributes[RetryDecider.self] else { return wait }
        let decision = await decider.decision(
            on: RetryFailure(
                call: context.identity, request: request, attempt: context.attempt, status: failure.response?.status,
                headers: failure.response?.headers ?? [:], error: failure.error, askedWait: asked, proposedWait: wait))
        switch decision {
        case .default: return wait
        case .retry(let after): return after.map { max(.zero, $0.bounded) } ?? wait ?? own
        case .fail: return nil
        }
    }

    private func pause(_ wait: Duration, _ record: CallRecord, _ note: CallRecord.Wait) async throws {
        if wait > .zero {
            record.noteWait(note)
            try await clock.sleep(wait, unless: record.cancellation)
        }
        try record.cancellation.check()
        try Task.checkCancellation()
    }

    private func effectivePolicy(_ context: CallContext) -> RetryPolicy {
        let policy = context.attributes[RetryPolicy.self] ?? policy
        return context.attributes[Solicited.self]?.isSolicited == true ? policy.solicited : policy
    }
}

extension Retry {
    /// What decides whether a request may be sent again.
    private struct Traits {
        let isReplayable: Bool
        let isIdempotent: Bool
        let hasKey: Bool

        init(_ request: ServiceRequest, _ attributes: EndpointAttributes) {
            isReplayable = request.body?.isReplayable ?? true
            isIdempotent = attributes[Idempotence.self]?.isIdempotent ?? request.method.isIdempotent
            hasKey = IdempotencyKey.isPresent(in: request, attributes)
        }

        /// Whether the server may get the request twice.
        func arePermitted(by policy: RetryPolicy) -> Bool {
            switch policy.unsafeMethods {
            case .never: isIdempotent
            case .withIdempotencyKey: isIdempotent || hasKey
            case .always: true
            }
        }
    }

    /// An attempt that wasn't a success.
    private struct Failure {
        let response: TransportResponse?
        let error: (any Error)?

        /// Returns `nil` for the end of a call that was cancelled or is a dry run.
        init?(_ outcome: Outcome) {
            switch outcome {
            case .success(let response):
                self.response = response
                error = nil
            case .failure(let failure):
                if failure is CancellationError || failure is CallCancelled || failure is DryRun.Stop { return nil }
                response = nil
                error = failure
            }
        }

        /// A transport error in the body's own stream may be transient, too.
        private var transportError: TransportError? {
            ((error as? RequestBodyError)?.underlying ?? error) as? TransportError
        }

        /// Ends the call if it was cancelled.
        func check(_ cancellation: CallCancellation) throws {
            guard let cause = cancellation.cause else { return }
            response?.body.cancel()
            throw cause
        }

        /// Whether the server states that it processed nothing.
        var isUnprocessed: Bool {
            response.map { $0.status == 421 || $0.status == 425 } ?? (transportError?.isUnprocessed == true)
        }

        var isStale: Bool { transportError?.isConnectionStale == true }

        var isTimeout: Bool { transportError?.isTimeout == true }

        /// Whether the failure is one of the policy's.
        func isCovered(by policy: RetryPolicy, hasKey: Bool) -> Bool {
            if let response { return policy.covers(status: response.status, headers: response.headers, hasKey: hasKey) }
            return transportError.map { policy.failures.contains($0.code) } ?? false
        }

        /// The failure in two words.
        var reason: String {
            if let response { return "status \(response.status)" }
            return transportError?.code.rawValue ?? "an error"
        }
    }
}
