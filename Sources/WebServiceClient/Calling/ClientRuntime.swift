/// The state that the stages of one client's chain share. It outlives the chain, which each change of the configuration makes anew: a
/// change must not forget which calls are active or how many retries are left.
final class ClientRuntime: Sendable {
    /// The clock of all stages.
    let clock: CallClock
    /// Requests that no caller waits for, such as the cache's validations. They end with the client.
    let background = BackgroundCalls()

    init(clock: CallClock = .current) {
        self.clock = clock
    }
}
