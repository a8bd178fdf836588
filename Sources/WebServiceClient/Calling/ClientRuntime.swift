/// The state that the stages of one client's chain share. It outlives the chain, which each change of the configuration makes anew: a
/// change must not forget which calls are active or how many retries are left.
final class ClientRuntime: Sendable {
    /// The clock of all stages.
    let clock: CallClock
    /// The active and the pending calls.
    let queue: CallQueue
    /// The rate limits.
    let rateLimiter: RateLimiter

    init(clock: CallClock = .current) {
        self.clock = clock
        queue = CallQueue(clock: clock)
        rateLimiter = RateLimiter(clock: clock)
    }
}
