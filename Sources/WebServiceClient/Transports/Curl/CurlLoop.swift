import CSystemLibraries

/// The thread that runs libcurl: it takes commands, lets libcurl work, tells the readers, watches the deadlines, and sleeps.
///
/// Everything here is for that one thread. libcurl gets a bounded number of exchanges; the others wait here, which is much cheaper than
/// libcurl's own list of waiting ones.
final class CurlLoop {
    let settings: CurlSettings
    let multi: OpaquePointer
    private let waker: Int32
    private let engine: CurlEngine
    /// Those that libcurl has.
    var active: [CurlExchange] = []
    /// Those that wait for their turn.
    var queue = CurlQueue<CurlExchange>()
    /// How many of the active ones still wait for their head: these are what the bound is for.
    var waitingForHead = 0
    /// Those whose readers may have to be told at the end of the round.
    private var touched: [CurlExchange] = []
    var handles: [CurlHandle] = []
    /// No deadline passes before this instant.
    private var nextDeadline: MonotonicInstant?
    /// When the round began: the clock is read once for all.
    private(set) var now = MonotonicInstant.now

    init(_ engine: CurlEngine, _ multi: OpaquePointer, waker: Int32, _ settings: CurlSettings) {
        self.engine = engine
        self.multi = multi
        self.waker = waker
        self.settings = settings
    }

    /// Runs until the engine is closed and the last exchange has ended.
    func run() {
        var commands: [CurlEngine.Command] = []
        csl_curl_enter()
        settings.apply(toSet: multi)
        csl_curl_leave()
        while true {
            csl_curl_enter()
            now = .now
            for command in commands { handle(command) }
            commands.removeAll(keepingCapacity: true)
            let isIdle = work()
            csl_curl_leave()
            tellReaders()
            if let nextDeadline, nextDeadline <= now { checkDeadlines() }
            let isClosed = engine.collect(&commands, sleepsIfNone: isIdle)
            guard commands.isEmpty, isIdle else { continue }
            if isClosed, active.isEmpty, queue.isEmpty, engine.end() { break }
            csl_multi_poll(multi, waker, sleep.pollMilliseconds)
            _ = engine.collect(&commands, sleepsIfNone: false)
        }
        csl_curl_enter()
        handles = []
        csl_curl_leave()
    }

    /// Tells the exchange's readers at the end of the round.
    func touch(_ exchange: CurlExchange) {
        guard !exchange.transfer.isTouched else { return }
        exchange.transfer.isTouched = true
        touched.append(exchange)
    }

    /// Watches an exchange from that instant on, if not earlier.
    func watch(_ due: ExchangeDeadlines.Due?) {
        guard let due else { return }
        nextDeadline = nextDeadline.map { min($0, due.instant) } ?? due.instant
    }

    private func tellReaders() {
        guard !touched.isEmpty else { return }
        for exchange in touched {
            exchange.transfer.isTouched = false
            exchange.transfer.lastArrival = now
            noteMetrics(of: exchange)
            exchange.flush()
        }
        touched.removeAll(keepingCapacity: true)
    }

    private func checkDeadlines() {
        nextDeadline = nil
        for exchange in active { check(exchange) }
        for exchange in queue.waiting { check(exchange) }
    }

    private func check(_ exchange: CurlExchange) {
        guard let due = exchange.due(now: now) else { return }
        guard due.instant <= now else { return watch(due) }
        exchange.abandon(exchange.deadlines.error(due.code, host: exchange.request.host), keepingBytes: due.code == .timedOutIdle)
    }

    /// How long nothing has to be done: libcurl's own timers and commands end a sleep earlier.
    private var sleep: Duration { nextDeadline.map { $0 - .now } ?? .seconds(60) }
}
