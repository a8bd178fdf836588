import Foundation
public import HTTPTransport

/// The source of a ``Reachability``'s reports. Programs use ``Reachability/system``; tests create their own source.
///
///     let reachability = Reachability(source: ReachabilitySource { report in
///         report(NetworkStatus(.noLink))
///         return {}
///     })
public struct ReachabilitySource: Sendable {
    let start: @Sendable (_ report: @escaping @Sendable (NetworkStatus) -> Void) -> @Sendable () -> Void

    /// Creates a source.
    ///
    /// - Parameter start: Begins to observe, and returns a closure that ends the observation. `start` is called when the first observer
    ///   begins, and the closure when the last observer ends. Reports may come from any thread, but one at a time.
    public init(start: @escaping @Sendable (_ report: @escaping @Sendable (NetworkStatus) -> Void) -> @Sendable () -> Void) {
        self.start = start
    }
}

/// Observes the system's networks: over netlink on Linux, with `NWPathMonitor` on Apple platforms.
///
///     for await status in Reachability.system.changes {
///         banner.isHidden = status.availability != .offline
///     }
///
/// It observes while something reads ``changes``, and as long as a client exists that has made calls with ``WaitingForNetwork``. Otherwise
/// it costs nothing. It sends nothing itself. Clients report the outcomes of their calls to it: see ``contact(with:)``.
///
/// The first report is published at once, and later changes half a second after they begin, so that an interface that goes up and down
/// doesn't cause a flood of them.
public final class Reachability: Sendable {
    /// An observer's registration. Releasing it ends the observation.
    final class Observation: Sendable {
        private let reachability: Reachability
        private let number: Int

        fileprivate init(_ reachability: Reachability, _ number: Int) {
            self.reachability = reachability
            self.number = number
        }

        deinit { reachability.end(number) }
    }

    private struct State {
        /// The latest report.
        var status: NetworkStatus?
        /// The instant when the evidence of `status` was first reported.
        var since: MonotonicInstant?
        /// The status that observers know.
        var published: NetworkStatus?
        var timer: ClockTimer?
        var observers: [Int: @Sendable () -> Void] = [:]
        var count = 0
        /// Identifies the current run of the source: late reports of earlier runs are ignored.
        var run = 0
        var stop: (@Sendable () -> Void)?
    }

    /// The system's networks. All clients share one observation of the system.
    public static let system = Reachability(source: .system, clock: .system)

    /// The time for which a change is held back.
    static let delay = Duration.milliseconds(500)
    /// The maximum number of origins whose contacts are kept.
    static let contactLimit = 1_000

    private let source: ReachabilitySource
    private let clock: CallClock
    private let state = Locked(State())
    private let contacts = Locked<[Origin: OriginContact]>([:])

    /// Creates an observer of another source.
    public convenience init(source: ReachabilitySource) {
        self.init(source: source, clock: .current)
    }

    init(source: ReachabilitySource, clock: CallClock) {
        self.source = source
        self.clock = clock
    }

    /// The latest report. Its evidence is ``NetworkStatus/Evidence/nothing`` while there is no observer.
    public var status: NetworkStatus {
        state.withLock { $0.status } ?? NetworkStatus(.nothing, date: clock.date())
    }

    /// The current status, and each later one.
    public var changes: NetworkChanges { NetworkChanges(reachability: self) }

    /// The status that observers know; `nil` before the first report.
    var published: NetworkStatus? { state.withLock { $0.published } }

    // MARK: Observers

    /// Calls an action after each change, and at once if a status is known. The observation ends when the result is released.
    ///
    /// - Parameter action: Called on any thread. It must return at once.
    func observe(_ action: @escaping @Sendable () -> Void) -> Observation {
        let (number, isKnown, run) = state.withLock { state -> (Int, Bool, Int?) in
            state.count += 1
            state.observers[state.count] = action
            guard state.observers.count == 1 else { return (state.count, state.published != nil, nil) }
            state.run += 1
            return (state.count, false, state.run)
        }
        if isKnown { action() }
        if let run { start(run) }
        return Observation(self, number)
    }

    private func start(_ run: Int) {
        let stop = source.start { [weak self] in self?.receive($0, run) }
        let isOver = state.withLock { state in
            guard state.run == run, !state.observers.isEmpty else { return true }
            state.stop = stop
            return false
        }
        if isOver { stop() }
    }

    private func end(_ number: Int) {
        let ended = state.withLock { state -> State? in
            state.observers[number] = nil
            guard state.observers.isEmpty else { return nil }
            defer {
                (state.status, state.since, state.published) = (nil, nil, nil)
                (state.stop, state.timer) = (nil, nil)
                state.run += 1
            }
            return state
        }
        ended?.timer?.cancel()
        ended?.stop?()
    }

    /// Handles a report of the source. The first one is published at once.
    private func receive(_ report: NetworkStatus, _ run: Int) {
        let now = clock.now()
        let (observers, timer) = state.withLock { state -> ([@Sendable () -> Void], ClockTimer?) in
            guard state.run == run else { return ([], nil) }
            var report = report
            if let known = state.status, known.evidence == report.evidence {
                report.date = known.date
            } else {
                state.since = now
            }
            state.status = report
            guard let published = state.published else {
                state.published = report
                return (Array(state.observers.values), nil)
            }
            guard state.timer == nil, !published.isSame(as: report) else { return ([], nil) }
            let timer = ClockTimer()
            state.timer = timer
            return ([], timer)
        }
        for observer in observers { observer() }
        timer?.start(clock, until: now.advanced(by: Self.delay)) { [weak self] in self?.publish(run) }
    }

    private func publish(_ run: Int) {
        let observers = state.withLock { state -> [@Sendable () -> Void] in
            guard state.run == run else { return [] }
            state.timer = nil
            guard let status = state.status, state.published.map({ !$0.isSame(as: status) }) ?? true else { return [] }
            state.published = status
            return Array(state.observers.values)
        }
        for observer in observers { observer() }
    }
}

// Outcomes of calls, by origin.
extension Reachability {
    /// The latest outcomes of calls to an origin, by all clients whose ``WebServiceClient/Configuration/reachability`` is this object.
    /// `nil` if there were none. The contacts of the last thousand origins are kept.
    public func contact(with origin: Origin) -> OriginContact? {
        contacts.withLock { $0[origin] }
    }

    /// Notes the outcome of a request.
    ///
    /// - Parameter failure: The reason why no response arrived; `nil` for a response.
    func note(_ origin: Origin, failure: TransportError.Code?) {
        let (date, instant) = (clock.date(), clock.now())
        contacts.withLock { contacts in
            if contacts.count >= Self.contactLimit, contacts[origin] == nil {
                let oldest = contacts.min { Self.lastDate($0.value) < Self.lastDate($1.value) }
                if let oldest { contacts[oldest.key] = nil }
            }
            if let failure {
                contacts[origin, default: OriginContact()].failed = date
                contacts[origin]?.failure = failure
            } else {
                contacts[origin, default: OriginContact()].responded = date
                contacts[origin]?.instant = instant
            }
        }
    }

    private static func lastDate(_ contact: OriginContact) -> Date {
        max(contact.responded ?? .distantPast, contact.failed ?? .distantPast)
    }

    /// Whether an origin counts as unreachable: the system reports no network, and the origin hasn't answered since. Loopback never does.
    func isOffline(_ origin: Origin?) -> Bool {
        let (status, since) = state.withLock { ($0.status, $0.since) }
        guard status?.availability == .offline, let since else { return false }
        guard let origin else { return true }
        // Loopback needs no network.
        if IPAddress.isLoopback(origin.host) { return false }
        guard let answered = contacts.withLock({ $0[origin]?.instant }) else { return true }
        return answered < since
    }
}
