import Foundation

/// The circuits of a client, by origin and policy. They outlive changes of the configuration.
final class CircuitRegistry: Sendable {
    private struct Key: Hashable {
        let origin: Origin
        let policy: CircuitBreakerPolicy
    }

    private struct State {
        var entries: [Key: CircuitEntry] = [:]
        /// The origins whose circuits the program holds.
        var held: [Origin: Circuits.Hold] = [:]
    }

    /// The number of circuits above which idle ones, or else any, are forgotten: calls may go to any number of origins.
    static let limit = 1_000

    let clock: CallClock
    private let state = Locked(State())

    init(clock: CallClock) {
        self.clock = clock
    }

    /// Asks the circuit of an origin whether a call may pass.
    ///
    /// - Returns: The call's pass; `nil` if the call's outcome doesn't count.
    /// - Throws: ``CircuitOpen`` if it may not.
    func admit(to origin: Origin, _ policy: CircuitBreakerPolicy, _ context: CallContext) throws(CircuitOpen) -> CircuitPass? {
        let now = clock.now()
        let (hold, entry) = state.withLock { state -> (Circuits.Hold?, CircuitEntry?) in
            if let hold = state.held.isEmpty ? nil : state.held[origin] { return (hold, nil) }
            let key = Key(origin: origin, policy: policy)
            if let known = state.entries[key] { return (nil, known) }
            if state.entries.count >= Self.limit { Self.forget(&state.entries, at: now) }
            let made = CircuitEntry(origin: origin, circuit: Circuit(policy, at: now))
            state.entries[key] = made
            return (nil, made)
        }
        switch hold {
        case .open?: throw CircuitOpen(origin: origin, retryAfter: nil, retryDate: nil, lastFailure: "")
        case .closed?: return nil
        case nil: break
        }
        guard let entry else { return nil }
        let (admission, change, lastFailure) = entry.circuit.withLock { circuit in
            let (admission, change) = circuit.admit(at: now)
            return (admission, change, circuit.lastFailure)
        }
        let pass = CircuitPass(entry: entry, clock: clock, identity: context.identity, diagnostics: context.diagnostics)
        pass.report(change)
        switch admission {
        case .permitted(let permit): return pass.with(permit)
        case .refused(let end):
            let wait = max(.zero, end - now)
            throw CircuitOpen(
                origin: origin, retryAfter: wait, retryDate: clock.date().addingTimeInterval(wait / .seconds(1)), lastFailure: lastFailure)
        }
    }

    /// The circuits of an origin, or all, in no order.
    func entries(of origin: Origin? = nil) -> [CircuitEntry] {
        state.withLock { state in state.entries.values.filter { origin == nil || $0.origin == origin } }
    }

    /// The holds that the program has set, by origin.
    var held: [Origin: Circuits.Hold] { state.withLock { $0.held } }

    /// Holds the circuits of an origin, or lets them go.
    func hold(_ hold: Circuits.Hold?, for origin: Origin) {
        state.withLock { $0.held[origin] = hold }
    }

    /// Ends the holds of an origin, or all holds, and closes the circuits.
    func reset(_ origin: Origin?) {
        let now = clock.now()
        state.withLock { state in
            if let origin { state.held[origin] = nil } else { state.held = [:] }
        }
        for entry in entries(of: origin) { entry.circuit.withLock { $0.reset(at: now) } }
    }

    /// Forgets idle circuits, or a tenth of the limit if none is idle. A circuit that is forgotten too early starts again as closed.
    private static func forget(_ entries: inout [Key: CircuitEntry], at now: MonotonicInstant) {
        let idle = entries.filter { entry in entry.value.circuit.withLock { $0.isIdle(at: now) } }
        for key in idle.isEmpty ? Array(entries.keys.prefix(limit / 10)) : Array(idle.keys) { entries[key] = nil }
    }
}

/// A circuit with its origin.
final class CircuitEntry: Sendable {
    let origin: Origin
    let circuit: Locked<Circuit>

    init(origin: Origin, circuit: Circuit) {
        self.origin = origin
        self.circuit = Locked(circuit)
    }
}

/// The admission of one call, with which it reports its outcome.
struct CircuitPass: Sendable {
    let entry: CircuitEntry
    let clock: CallClock
    let identity: CallIdentity
    let diagnostics: Diagnostics
    private var permit: Circuit.Permit?

    init(entry: CircuitEntry, clock: CallClock, identity: CallIdentity, diagnostics: Diagnostics) {
        self.entry = entry
        self.clock = clock
        self.identity = identity
        self.diagnostics = diagnostics
    }

    func with(_ permit: Circuit.Permit) -> CircuitPass {
        var copy = self
        copy.permit = permit
        return copy
    }

    /// Reports the outcome of the call.
    ///
    /// - Returns: The receipt of a success, for ``retract(_:reason:)``.
    @discardableResult
    func report(_ outcome: Circuit.Outcome) -> Circuit.Receipt? {
        guard let permit else { return nil }
        var generator = SizedRandomNumbers()
        let now = clock.now()
        let (change, receipt) = entry.circuit.withLock { $0.report(outcome, of: permit, at: now, using: &generator) }
        report(change)
        return receipt
    }

    /// Turns a success into a failure.
    func retract(_ receipt: Circuit.Receipt, reason: String) {
        var generator = SizedRandomNumbers()
        let now = clock.now()
        report(entry.circuit.withLock { $0.retract(receipt, reason: reason, at: now, using: &generator) })
    }

    func report(_ change: Circuit.Change?) {
        guard let change else { return }
        let lastFailure = entry.circuit.withLock { $0.lastFailure }
        diagnostics.report(.init(.notice, "The circuit to \(entry.origin) \(Self.text(of: change, lastFailure)).", call: identity))
    }

    private static func text(of change: Circuit.Change, _ lastFailure: String) -> String {
        switch change {
        case .opened(let duration, let failures, let calls):
            "opened for \(duration.text): \(failures) of \(calls) calls failed, the last with \(lastFailure)"
        case .reopened(let duration): "opened again for \(duration.text): the probe failed with \(lastFailure)"
        case .probing: "is half-open: a call is sent as a probe"
        case .closed: "closed: the probe succeeded"
        }
    }
}

/// The circuits of a client: whether calls to an origin pass, and ways to decide it by hand. See ``CircuitBreakerPolicy``.
///
///     for circuit in shop.circuits.all where circuit.phase == .open { print(circuit.origin, circuit.lastFailure) }
///
///     shop.circuits.hold(.open, for: origin)    // for a maintenance of the service
///     shop.circuits.hold(nil, for: origin)
public struct Circuits: Sendable {
    /// A state in which the program holds the circuits of an origin.
    public enum Hold: String, Sendable, Hashable, CaseIterable {
        /// Calls are refused.
        case open
        /// Calls pass, and their outcomes don't count.
        case closed
    }

    /// The state of a circuit.
    public struct State: Sendable, Hashable {
        /// The phases of a circuit.
        public enum Phase: String, Sendable, Hashable, CaseIterable {
            /// Calls pass.
            case closed
            /// Calls are refused.
            case open
            /// A probe is on its way, or the next call is one.
            case halfOpen
        }

        /// The origin whose calls pass through the circuit.
        public let origin: Origin
        /// The policy of the circuit.
        public let policy: CircuitBreakerPolicy
        /// The phase.
        public let phase: Phase
        /// The state in which the program holds the circuit; `nil` if outcomes decide.
        public let hold: Hold?
        /// The time until a call may be sent as a probe; `nil` if the circuit is closed.
        public let retryAfter: Duration?
        /// The number of calls that count, those in the policy's window.
        public let calls: Int
        /// The number of failures among ``calls``.
        public let failures: Int
        /// What ended the last call that failed, such as `status 503`; empty if there was none.
        public let lastFailure: String
    }

    let registry: CircuitRegistry
    let diagnostics: Diagnostics

    /// Every circuit that calls have made, sorted by origin. Above 1,000 circuits, idle ones are forgotten, or any if none is idle.
    public var all: [State] { states(of: nil) }

    /// The circuits of an origin: one for each policy of the endpoints that were called.
    public subscript(origin: Origin) -> [State] { states(of: origin) }

    /// Holds the circuits of an origin open or closed, until the program changes it or calls ``reset(_:)``. `nil` lets outcomes decide
    /// again, from the phase that each circuit had before.
    ///
    /// It has no effect on endpoints without a ``CircuitBreakerPolicy``.
    public func hold(_ hold: Hold?, for origin: Origin) {
        registry.hold(hold, for: origin)
        let text = hold.map { "is held \($0.rawValue) by the program" } ?? "isn't held by the program any more"
        diagnostics.report(.init(.notice, "The circuit to \(origin) \(text)."))
    }

    /// Closes the circuits of an origin, or of all origins, and forgets their counts. Ends what ``hold(_:for:)`` began. Outcomes of calls
    /// in flight have no effect.
    public func reset(_ origin: Origin? = nil) {
        registry.reset(origin)
        let place = origin.map { "The circuit to \($0) is" } ?? "All circuits are"
        diagnostics.report(.init(.notice, "\(place) reset by the program."))
    }

    private func states(of origin: Origin?) -> [State] {
        let now = registry.clock.now()
        let held = registry.held
        let states = registry.entries(of: origin).map { entry in
            entry.circuit.withLock { State($0, of: entry.origin, hold: held[entry.origin], at: now) }
        }
        return states.sorted { ($0.origin.description, $0.policy.description) < ($1.origin.description, $1.policy.description) }
    }
}

extension Circuits.State {
    fileprivate init(_ circuit: Circuit, of origin: Origin, hold: Circuits.Hold?, at now: MonotonicInstant) {
        self.origin = origin
        self.hold = hold
        policy = circuit.policy
        lastFailure = circuit.lastFailure
        (calls, failures) = circuit.counts(at: now)
        switch circuit.phase {
        case .closed: (phase, retryAfter) = (.closed, nil)
        case .open(let end): (phase, retryAfter) = (end <= now ? .halfOpen : .open, max(.zero, end - now))
        case .halfOpen(let end): (phase, retryAfter) = (.halfOpen, max(.zero, end - now))
        }
    }
}

/// The system's random numbers, from a value that has a size. The thread sanitizer ends the program when a reference to an empty value,
/// such as the system's generator, is passed on.
private struct SizedRandomNumbers: RandomNumberGenerator {
    private var source: UInt8 = 0

    mutating func next() -> UInt64 { UInt64.random(in: .min ... .max) }
}
