import CSystemLibraries

#if canImport(ObjectiveC)
import ObjectiveC
#endif

/// The thread that runs libcurl: it takes commands, lets libcurl work, tells the readers, watches the deadlines, and sleeps.
///
/// libcurl gets a bounded number of exchanges; the others wait here, which is much cheaper than libcurl's own list of waiting ones.
///
/// `@unchecked Sendable`: everything here is for the one who has the driver's turn. That is the loop's thread, but for the time it sleeps:
/// then a caller may take the turn and let its request go out.
final class CurlLoop: @unchecked Sendable {
    let settings: CurlSettings
    let multi: OpaquePointer
    let driver: OpaquePointer
    let engine: CurlEngine
    // Unchecked, all of these: who has the turn is alone, what is iterated is a copy, and what may be called from within an access (whether
    // somebody wants an exchange, the end of what a user's closure held) comes back here through the mailbox only. The checks take a
    // twentieth of what a small exchange takes besides libcurl.
    /// Those that libcurl has.
    @exclusivity(unchecked) var active: [CurlExchange] = []
    /// Those that wait for their turn.
    @exclusivity(unchecked) var lanes: CurlLanes<CurlExchange>
    /// How many of the active ones still wait for their head: these are what the bound is for.
    @exclusivity(unchecked) var waitingForHead = 0
    /// Those whose readers may have to be told at the end of the round.
    @exclusivity(unchecked) private var unflushed: [CurlExchange] = []
    @exclusivity(unchecked) var handles: [CurlHandle] = []
    /// What others want to be run on the loop's thread.
    @exclusivity(unchecked) var jobs: [any CurlLoopJob] = []
    /// No deadline passes before this instant.
    @exclusivity(unchecked) var nextDeadline: MonotonicInstant?
    /// When the round began: the clock is read once for all.
    @exclusivity(unchecked) private(set) var now = MonotonicInstant.now
    /// Where the last exchange that was received went: another one will find a connection there, most likely.
    @exclusivity(unchecked) var lastOrigin: Origin?

    /// Connections of those whom a proxy is to tell apart.
    @exclusivity(unchecked) var pools = CurlPools()
    /// Those that end with this round, though libcurl would go on with them.
    @exclusivity(unchecked) var answered: [CurlExchange] = []
    /// Those that have refused HTTP/2 for a request, and get HTTP/1.1 from then on.
    @exclusivity(unchecked) var originsNeedingHTTP1: Set<Origin> = []

    init(_ engine: CurlEngine, _ multi: OpaquePointer, _ driver: OpaquePointer, _ settings: CurlSettings) {
        self.engine = engine
        self.multi = multi
        self.driver = driver
        self.settings = settings
        lanes = CurlLanes(mostOfOne: settings.mostWaitingForHeadFromOne, most: settings.mostWaitingForHead)
    }

    /// Runs until the engine is closed and the last exchange has ended.
    func run() {
        var commands: [CurlEngine.Command] = []
        csl_driver_acquire(driver)
        csl_curl_enter()
        settings.apply(toSet: multi)
        csl_curl_leave()
        while true {
            var isIdle = work(on: &commands, hasWaited: true)
            if let nextDeadline, nextDeadline <= now { checkDeadlines() }
            if !answered.isEmpty { isIdle = false }
            var isClosed = engine.collect(&commands, sleepsIfNone: isIdle && jobs.isEmpty)
            if runJobs(&commands) { isClosed = engine.collect(&commands, sleepsIfNone: isIdle) }
            guard commands.isEmpty, isIdle else { continue }
            if isClosed, active.isEmpty, lanes.isEmpty, engine.end() { break }
            csl_driver_wait(driver, sleep.pollMilliseconds)
            _ = engine.collect(&commands, sleepsIfNone: false)
        }
        csl_curl_enter()
        handles = []
        pools.removeAll()
        csl_curl_leave()
        csl_driver_release(driver)
    }

    /// Whether a caller may begin that exchange by itself; then it has the turn, and ``performOnCaller(_:)`` gives it back.
    ///
    /// Only where nobody else waits for an answer: the loop's thread is awake most of the time else, and two that take turns are no faster.
    /// Only where there is a connection, most likely: it is the loop's thread that resolves names and makes new ones. And not where libcurl
    /// would ask for the request's body, or tell of it.
    func acquire(for exchange: CurlExchange) -> Bool {
        guard exchange.upload == nil, exchange.uploadProgress == nil, exchange.probe == nil, csl_driver_try_acquire(driver) else { return false }
        if waitingForHead == 0, lanes.isEmpty, lastOrigin == exchange.request.origin { return true }
        csl_driver_release(driver)
        return false
    }

    /// Does what a caller asks for on its own thread, while the loop's sleeps.
    func performOnCaller(_ command: CurlEngine.Command) {
        let deadline = nextDeadline
        var commands = [command]
        var signals = csl_signal_guard()
        csl_signal_guard_begin(&signals)
        let isIdle = work(on: &commands, hasWaited: false)
        csl_signal_guard_end(&signals)
        engine.releaseOwnership(sleepContinues: isIdle && nextDeadline == deadline && !csl_driver_waits_too_long(driver))
    }

    /// A round: takes commands, lets libcurl work, and tells the readers.
    ///
    /// - Returns: whether there is nothing more to do until something happens.
    func work(on commands: inout [CurlEngine.Command], hasWaited: Bool) -> Bool {
        guard csl_curl_enter() else { return true }
        now = .now
        for command in commands { handle(command) }
        commands.removeAll(keepingCapacity: true)
        let isIdle = work(hasWaited: hasWaited)
        csl_curl_leave()
        notifyReaders()
        return isIdle
    }

    /// Tells the exchange's readers at the end of the round.
    func flushLater(_ exchange: CurlExchange) {
        guard !exchange.transfer.isToBeFlushed else { return }
        exchange.transfer.isToBeFlushed = true
        unflushed.append(exchange)
    }

    private func notifyReaders() {
        guard !unflushed.isEmpty else { return }
        for exchange in unflushed {
            exchange.transfer.isToBeFlushed = false
            exchange.transfer.lastProgress = now
            noteMetrics(of: exchange)
            exchange.flush()
        }
        unflushed.removeAll(keepingCapacity: true)
    }

    /// Runs what others want to be run here, before the next round, to which it may add.
    ///
    /// - Returns: whether there was any.
    private func runJobs(_ commands: inout [CurlEngine.Command]) -> Bool {
        commands.removeAll { command in
            guard case .run(let job) = command else { return false }
            jobs.append(job)
            return true
        }
        guard !jobs.isEmpty else { return false }
        #if canImport(ObjectiveC)
        autoreleasepool { for job in jobs { job.run() } }
        #else
        for job in jobs { job.run() }
        #endif
        jobs.removeAll(keepingCapacity: true)
        return true
    }
}

/// Work of others for the loop's thread.
protocol CurlLoopJob: Sendable {
    /// Does it, on the loop's thread.
    func run()
    /// Has it done on another thread: there is none of the loop's.
    func runElsewhere()
}

// When exchanges are over that take too long.
extension CurlLoop {
    /// Watches an exchange from that instant on, if not earlier.
    func watch(_ due: ExchangeDeadlines.Due?) {
        guard let due else { return }
        nextDeadline = nextDeadline.map { min($0, due.instant) } ?? due.instant
    }

    /// Ends what is due by now.
    func checkDeadlines() {
        nextDeadline = nil
        for exchange in active { check(exchange) }
        for exchange in lanes.waiting { check(exchange) }
    }

    private func check(_ exchange: CurlExchange) {
        guard let due = exchange.due(now: now) else { return }
        guard due.instant <= now else { return watch(due) }
        guard !exchange.transfer.isAnswered else { return answered.append(exchange) }
        exchange.abandon(error(due.code, of: exchange), keepingBytes: due.code == .timedOutIdle || exchange.isCollected)
    }

    /// What is thrown when a deadline of an exchange has passed.
    func error(_ code: TransportError.Code, of exchange: CurlExchange) -> TransportError {
        let transfer = exchange.transfer
        let awaited: ExchangeDeadlines.Awaited =
            if transfer.handle == nil {
                // Its time may have been over when it came.
                transfer.queued == now ? .way(proxy: nil) : .slot
            } else if let most = settings.configuration.maximumConnectionsPerHost, most > 0, !transfer.isConnected,
                transfer.socketError == nil,
                usesAllConnections(exchange.request.origin, most)
            {
                .connection(most: most)
            } else if transfer.waitsForUpload {
                .ownBody
            } else {
                // By http a proxy answers for the service.
                .way(
                    proxy: transfer.isConnected && exchange.request.origin.scheme == "https"
                        ? nil : settings.proxyText(to: exchange.request.origin))
            }
        return exchange.deadlines.error(code, host: exchange.request.host, awaited)
    }

    /// Whether the exchanges of an origin use as many connections as a host may have.
    private func usesAllConnections(_ origin: Origin, _ most: Int) -> Bool {
        reportsConnections && active.count { $0.transfer.isConnected && $0.request.origin == origin } >= most
    }

    /// How long nothing has to be done: libcurl's own timers and commands end a sleep earlier.
    var sleep: Duration { nextDeadline.map { $0 - .now } ?? .seconds(60) }
}

// Whose connections an exchange may use.
extension CurlLoop {
    /// Connections to a proxy, or through it, are for those only who show it the same credentials: what they have opened counts for the whole of
    /// a tunnel, and with some schemes (NTLM, Negotiate) for the whole of a plain connection.
    ///
    /// - Throws: ``TransportError`` when there is no memory.
    func keepApart(_ exchange: CurlExchange, _ handle: CurlHandle) throws(TransportError) {
        guard let key = exchange.request.fields.proxyKey, settings.mayUseProxies else { return }
        guard let pool = pools.take(key, now: now) else {
            throw TransportError(.other, "There is no memory for connections through the proxy.")
        }
        exchange.transfer.pool = key
        handle.use(pool)
    }
}

// What libcurl would send a second time by itself, and doesn't: each request goes out once, and whether again is for others to say.
extension CurlLoop {
    /// The most origins that are remembered.
    private static let mostOrigins = 256

    /// libcurl wants to send the request of an exchange again, over another connection or over the same.
    func refuseResend(of exchange: CurlExchange) {
        guard let handle = exchange.transfer.handle else { return }
        let host = exchange.request.host
        let (heads, text) = (exchange.transfer.heads, handle.errorText)
        let asksForHTTP1 = CurlFault.asksForHTTP1(text)
        if asksForHTTP1 {
            if originsNeedingHTTP1.count >= Self.mostOrigins { originsNeedingHTTP1 = [] }
            originsNeedingHTTP1.insert(exchange.request.origin)
        }
        if exchange.transfer.hasHead, heads.status == 417, !asksForHTTP1 {
            // It was about to send the request without its Expect, and kept nothing of the answer's body.
            if heads.isBodyless {
                (exchange.transfer.isAnswered, exchange.transfer.isCut) = (true, true)
            } else {
                exchange.transfer.fault = CurlFault.expectationFailed(at: host)
            }
        } else if exchange.transfer.hasHead {
            exchange.transfer.fault = CurlFault.brokenOff(host, text)
        } else if asksForHTTP1 {
            exchange.transfer.fault = CurlFault.needsHTTP1(host)
        } else {
            // Where a stream was refused, nothing was said of it. A connection that is reset is said to be, also one that others have joined.
            let isRefused = text.isEmpty && csl_easy_get_long(handle.easy, CSL_INFO_NEW_CONNECTIONS) > 0
            exchange.transfer.fault = isRefused ? CurlFault.refused(by: host) : CurlFault.stale(host)
        }
    }
}
