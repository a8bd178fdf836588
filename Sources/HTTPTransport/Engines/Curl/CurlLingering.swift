import CSystemLibraries

/// When to stay awake for an answer instead of sleeping until it comes: where the last ones came in a moment.
///
/// To fall asleep and to be woken takes longer than a server on the same machine needs for an answer. Elsewhere it would be time for nothing:
/// so each time that it was in vain, twice as many exchanges pass before it is tried again.
struct CurlLingering {
    /// How long to stay awake, in nanoseconds: about what falling asleep and being woken take.
    static let longest: Int64 = 100_000
    /// The most exchanges that pass before it is tried again.
    static let longestPause = 1024

    private var pause = 0
    private var left = 0

    /// Whether to stay awake for the exchange that begins.
    mutating func begins() -> Bool {
        guard left > 0 else { return true }
        left -= 1
        return false
    }

    /// It has ended.
    ///
    /// - Parameter inTime: whether there was an answer by then.
    mutating func ended(inTime: Bool) {
        pause = inTime ? 0 : min(max(2, 2 * pause), Self.longestPause)
        left = pause
    }
}

// How an answer that comes in a moment is awaited: awake.
extension CurlLoop {
    /// Awaits the answer to the exchange that was just begun, on its caller's thread: a moment, and only until somebody else comes.
    func linger(_ isIdle: inout Bool) {
        var commands: [CurlEngine.Command] = []
        stretches: while isIdle, let exchange = active.first, !exchange.transfer.hasHead, engine.letsLinger() {
            switch csl_driver_linger(driver, settings.lingering) {
            case CSL_LINGERING_BROUGHT:
                isIdle = work(on: &commands, hasWaited: false)
                if exchange.transfer.hasHead { lingering.ended(inTime: true) }
            case CSL_LINGERING_FAILED:
                lingering.ended(inTime: false)
                break stretches
            default:
                break stretches
            }
        }
        csl_driver_settle(driver)
    }

    /// Sleeps until there is something to do; where an exchange is alone, first stays awake a moment, once for each.
    ///
    /// - Returns: the exchange for which something may have come in that moment.
    func wait() -> CurlExchange? {
        guard active.count == 1, active[0].isAnswerNext, lingering.begins() else {
            csl_driver_wait(driver, sleep.pollMilliseconds, 0)
            return nil
        }
        let exchange = active[0]
        exchange.transfer.hasLingered = true
        switch csl_driver_wait(driver, sleep.pollMilliseconds, settings.lingering) {
        case CSL_LINGERING_BROUGHT:
            return exchange
        case CSL_LINGERING_FAILED:
            lingering.ended(inTime: false)
            return nil
        default:
            return nil
        }
    }
}
