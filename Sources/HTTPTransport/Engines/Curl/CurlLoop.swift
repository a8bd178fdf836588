import CSystemLibraries

#if canImport(ObjectiveC)
import ObjectiveC
#endif

/// The thread that runs libcurl: it takes commands, lets libcurl work, notifies the readers, checks the deadlines, and sleeps.
///
/// libcurl gets a limited number of exchanges. The others are queued here, which is much cheaper than in libcurl's own list.
///
/// `@unchecked Sendable`: only the driver's owner uses it. The owner is the loop's thread except while it sleeps: then a caller may acquire
/// ownership to send its request.
final class CurlLoop: @unchecked Sendable {
    let settings: CurlSettings
    let multi: OpaquePointer
    let driver: OpaquePointer
    let engine: CurlEngine
    // All of these are unchecked: only the owner accesses them, loops iterate over copies, and closures that may run during an access
    // (`isWanted`, deinitializers of a user's closure) reach the loop only through the mailbox. The checks would take a twentieth of the
    // time that a small exchange spends outside libcurl.
    /// The exchanges that libcurl has.
    @exclusivity(unchecked) var active: [CurlExchange] = []
    /// The queued exchanges.
    @exclusivity(unchecked) var lanes: CurlLanes<CurlExchange>
    /// The number of active exchanges still without a head, which is limited.
    @exclusivity(unchecked) var waitingForHead = 0
    /// The exchanges to flush at the end of the round.
    @exclusivity(unchecked) private var unflushed: [CurlExchange] = []
    /// The exchanges that are paused until the end of the round, because their bodies arrive in too many pieces.
    @exclusivity(unchecked) var yielding: [CurlExchange] = []
    @exclusivity(unchecked) var handles: [CurlHandle] = []
    /// Jobs to run on the loop's thread.
    @exclusivity(unchecked) var jobs: [any CurlLoopJob] = []
    /// A lower bound of the next deadline.
    @exclusivity(unchecked) var nextDeadline: MonotonicInstant?
    /// The start of the round: the clock is read once per round.
    @exclusivity(unchecked) private(set) var now = MonotonicInstant.now
    /// The origin of the last successful exchange, to which a connection probably exists.
    @exclusivity(unchecked) var lastOrigin: Origin?

    /// Connections that are separate because a proxy received credentials for them.
    @exclusivity(unchecked) var pools = CurlPools()
    /// Exchanges that this or the next round ends although libcurl would continue them.
    @exclusivity(unchecked) var answered: [CurlExchange] = []
    /// Origins that have refused HTTP/2 for a request, and then get HTTP/1.1; forgotten when there are too many.
    @exclusivity(unchecked) var originsNeedingHTTP1: Set<Origin> = []

    init(_ engine: CurlEngine, _ multi: OpaquePointer, _ driver: OpaquePointer, _ settings: CurlSettings) {
        self.engine = engine
        self.multi = multi
        self.driver = driver
        self.settings = settings
        lanes = CurlLanes(limitPerOrigin: settings.maximumWaitingForHeadPerOrigin, most: settings.maximumWaitingForHead)
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
            if isClosed, active.isEmpty, lanes.isEmpty, engine.endIfEmpty() { break }
            csl_driver_wait(driver, sleep.pollMilliseconds)
            _ = engine.collect(&commands, sleepsIfNone: false)
        }
        csl_curl_enter()
        handles = []
        pools.removeAll()
        csl_curl_leave()
        csl_driver_release(driver)
    }

    /// Acquires ownership so that a caller can send its exchange on its own thread; ``performOnCaller(_:)`` releases it.
    ///
    /// Returns `false` if other exchanges wait for their heads: the loop's thread is mostly awake then, and alternating between two threads
    /// isn't faster. It also returns `false` if the loop is awake, if there is probably no connection (only the loop's thread resolves
    /// names and connects), or for an upload, upload progress or a trust probe.
    func acquire(for exchange: CurlExchange) -> Bool {
        guard exchange.upload == nil, exchange.uploadProgress == nil, exchange.probe == nil, csl_driver_try_acquire(driver) else {
            return false
        }
        if waitingForHead == 0, lanes.isEmpty, lastOrigin == exchange.request.origin { return true }
        csl_driver_release(driver)
        return false
    }

    /// Performs a command on the caller's thread while the loop's thread sleeps.
    func performOnCaller(_ command: CurlEngine.Command) {
        let deadline = nextDeadline
        var commands = [command]
        var signals = csl_signal_guard()
        csl_signal_guard_begin(&signals)
        let isIdle = work(on: &commands, hasWaited: false)
        csl_signal_guard_end(&signals)
        engine.releaseOwnership(sleepContinues: isIdle && nextDeadline == deadline && !csl_driver_waits_too_long(driver))
    }

    /// Runs a round: takes commands, lets libcurl work, and notifies the readers.
    ///
    /// - Returns: Whether there is nothing left to do until an event.
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

    /// Flushes the exchange at the end of the round.
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

    /// Runs jobs before the next round. They may add commands to it.
    ///
    /// - Returns: Whether there were any.
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

/// A job for the loop's thread.
protocol CurlLoopJob: Sendable {
    /// Runs the job on the loop's thread.
    func run()
    /// Runs the job on another thread, because the loop's thread has ended or never started.
    func runElsewhere()
}

// Deadlines.
extension CurlLoop {
    /// Ensures that deadlines are checked at an instant.
    func watch(_ due: ExchangeDeadlines.Due?) {
        guard let due else { return }
        nextDeadline = nextDeadline.map { min($0, due.instant) } ?? due.instant
    }

    /// Ends the exchanges whose deadlines have passed.
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

    /// Returns the error for a passed deadline of an exchange.
    func error(_ code: TransportError.Code, of exchange: CurlExchange) -> TransportError {
        let transfer = exchange.transfer
        let awaited: ExchangeDeadlines.Awaited =
            if transfer.handle == nil {
                // An exchange queued in this round hasn't waited for a slot.
                transfer.queued == now ? .way(proxy: nil) : .slot
            } else if let most = settings.configuration.maximumConnectionsPerHost, most > 0, !transfer.isConnected,
                transfer.socketError == nil,
                usesAllConnections(exchange.request.origin, most)
            {
                .connection(most: most)
            } else if transfer.waitsForUpload {
                .ownBody
            } else {
                // A proxy answers http requests, and https ones until connected.
                .way(
                    proxy: transfer.isConnected && exchange.request.origin.scheme == "https"
                        ? nil : settings.proxyText(to: exchange.request.origin))
            }
        return exchange.deadlines.error(code, host: exchange.request.host, awaited)
    }

    /// Returns whether the exchanges of an origin use as many connections as a host may have.
    private func usesAllConnections(_ origin: Origin, _ most: Int) -> Bool {
        reportsConnections && active.count { $0.transfer.isConnected && $0.request.origin == origin } >= most
    }

    /// The maximum time to sleep: libcurl's timers and commands end a sleep earlier.
    var sleep: Duration { nextDeadline.map { $0 - .now } ?? .seconds(60) }
}

// Separate connections for proxy credentials.
extension CurlLoop {
    /// Connections to or through a proxy are shared only by exchanges with the same proxy credentials: the credentials apply to the whole
    /// of a tunnel, and with some schemes (NTLM, Negotiate) to the whole of a plain connection.
    ///
    /// - Throws: ``TransportError`` if memory is exhausted.
    func keepApart(_ exchange: CurlExchange, _ handle: CurlHandle) throws(TransportError) {
        guard let key = exchange.request.fields.proxyKey, settings.mayUseProxies else { return }
        guard let pool = pools.take(key, now: now) else {
            throw TransportError(.other, "Memory is exhausted: there is no room for connections through the proxy.")
        }
        exchange.transfer.pool = key
        handle.use(pool)
    }
}

// Prevents libcurl from resending requests: each request is sent once, and retries are up to the client.
extension CurlLoop {
    /// The maximum number of origins to remember.
    private static let originLimit = 256

    /// Ends an exchange whose request libcurl is about to send again, over another connection or the same.
    func refuseResend(of exchange: CurlExchange) {
        guard let handle = exchange.transfer.handle else { return }
        let host = exchange.request.host
        let (heads, text) = (exchange.transfer.heads, handle.errorText)
        let asksForHTTP1 = CurlFault.asksForHTTP1(text)
        if asksForHTTP1 {
            if originsNeedingHTTP1.count >= Self.originLimit { originsNeedingHTTP1 = [] }
            originsNeedingHTTP1.insert(exchange.request.origin)
        }
        if exchange.transfer.hasHead, heads.status == 417, !asksForHTTP1 {
            // libcurl was about to resend the request without its Expect, and has discarded the body of the response.
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
            // The stream was refused if there is no error text, which a reset connection has, and this exchange opened the connection.
            // Otherwise the connection counts as stale.
            let isRefused = text.isEmpty && csl_easy_get_long(handle.easy, CSL_INFO_NEW_CONNECTIONS) > 0
            exchange.transfer.fault = isRefused ? CurlFault.refused(by: host) : CurlFault.stale(host)
        }
    }
}
