/// The state that the stages of one client's chain share. Each change of the configuration creates a new chain, but keeps this state: a
/// change must not forget which calls are active or how many retries are left.
final class ClientRuntime: Sendable {
    /// The clock of all stages.
    let clock: CallClock
    /// Requests that no caller waits for, such as the cache's validations. They end with the client.
    let background = BackgroundCalls()
    /// The calls that haven't ended.
    let calls: LiveCalls
    /// The exchanges that several calls share.
    let exchanges: SharedExchanges
    /// What retries and hedges took from ``WebServiceClient/Configuration/retryBudget``.
    let retryAccounts = RetryAccounts()
    /// The circuits of circuit breakers.
    let circuits: CircuitRegistry
    /// The times of requests, for hedging.
    let latencies = LatencyRegistry()
    /// The active and the pending calls.
    let queue: CallQueue
    /// The calls that wait for the network.
    let networkWaits = NetworkWaits()
    /// Keeps the app alive in the background while calls run.
    let backgroundKeeper: BackgroundKeeper
    /// The rate limits.
    let rateLimiter: RateLimiter

    init(clock: CallClock = .current) {
        self.clock = clock
        calls = LiveCalls(clock: clock)
        backgroundKeeper = BackgroundKeeper(calls: calls)
        exchanges = SharedExchanges(clock: clock)
        circuits = CircuitRegistry(clock: clock)
        queue = CallQueue(clock: clock)
        rateLimiter = RateLimiter(clock: clock)
        calls.onShutdown { [queue] in _ = queue.close(with: $0) }
    }
}
