/// The state that the stages of one client's chain share. It outlives the chain, which each change of the configuration makes anew: a
/// change must not forget which calls are active or how many retries are left.
final class ClientRuntime: Sendable {
    /// The clock of all stages.
    let clock: CallClock
    /// The calls that haven't ended.
    let calls: LiveCalls
    /// The exchanges that several calls share.
    let exchanges: SharedExchanges

    init(clock: CallClock = .current) {
        self.clock = clock
        calls = LiveCalls(clock: clock)
        exchanges = SharedExchanges(clock: clock)
    }
}
