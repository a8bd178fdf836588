import CSystemLibraries

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
