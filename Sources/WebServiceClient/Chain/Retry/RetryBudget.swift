/// The repeats that a client may send to a service: a fleet whose calls all fail must not double or triple its load.
///
/// The budget has a number of units. A repeat takes some, a success returns some; while too few are left, failures are delivered at once
/// and reported to the diagnostics. The defaults are those of AWS's SDKs: a client without successes sends at most 100 repeats, 50 after
/// timeouts.
///
///     $0.retryBudget = RetryBudget(capacity: 100)
///     $0.retryBudget = nil        // unlimited
public struct RetryBudget: Sendable, Hashable, CustomStringConvertible {
    /// The units of a client that hasn't repeated anything. Default 500.
    public var capacity: Int
    /// The units that a repeat takes. Default 5.
    public var cost: Int
    /// The units that a repeat after a timeout takes, because a slow service suffers most from further load. Default 10.
    public var timeoutCost: Int
    /// The units that a success at the first attempt returns. A success after repeats returns what the last repeat took. Default 1.
    public var refund: Int

    /// Creates a budget.
    public init(capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10, refund: Int = 1) {
        self.capacity = capacity
        self.cost = cost
        self.timeoutCost = timeoutCost
        self.refund = refund
    }

    /// The values.
    public var description: String {
        "\(capacity) units; a repeat takes \(cost), after a timeout \(timeoutCost); a success returns \(refund)"
    }

    /// The faults of the budget with their fixes.
    var problems: [(problem: String, fix: String)] {
        var problems: [(String, String)] = []
        if cost < 0 || timeoutCost < 0 || refund < 0 {
            problems.append(("the retry budget has a negative number", "use zero or more units; nil removes the limit"))
        }
        if capacity < max(cost, 0) {
            problems.append(
                ("the retry budget's capacity of \(capacity) is less than the cost of a repeat", "raise it, or set retry to .never"))
        }
        return problems
    }
}

/// The accounts of a client, one for each service: a service that fails must not use up the repeats of another environment's.
final class RetryAccounts: Sendable {
    /// The number of services that are kept. One more forgets all of them.
    static let limit = 64

    private let accounts = Locked<[ServicePlace: RetryAccount]>([:])

    /// The account of a service.
    func account(for place: ServicePlace) -> RetryAccount {
        accounts.withLock { accounts in
            if let known = accounts[place] { return known }
            if accounts.count >= Self.limit { accounts = [:] }
            let made = RetryAccount()
            accounts[place] = made
            return made
        }
    }
}

/// The units that a client has taken from its budget for a service. It outlives changes of the configuration.
final class RetryAccount: Sendable {
    private let taken = Locked(0)

    /// Takes units, unless more than `capacity` would be taken.
    func take(_ units: Int, of capacity: Int) -> Bool {
        taken.withLock { taken in
            let (sum, overflows) = taken.addingReportingOverflow(max(0, units))
            guard !overflows, sum <= capacity else { return false }
            taken = sum
            return true
        }
    }

    /// Returns units.
    func give(_ units: Int) {
        taken.withLock { $0 = max(0, $0 - max(0, units)) }
    }

    /// The number of units taken.
    var balance: Int { taken.withLock { $0 } }
}

/// Access to a client's budget, for the stages that send additional requests: retry and hedging.
struct RetryAllowance: Sendable {
    /// The budget; `nil` for no limit.
    let budget: RetryBudget?
    let account: RetryAccount

    /// Takes the units of an additional request.
    ///
    /// - Parameter isTimeout: Whether a timeout is the reason for it.
    /// - Returns: The units taken, for ``give(_:)``; `nil` if too few are left, and the request mustn't be sent.
    func take(isTimeout: Bool = false) -> Int? {
        guard let budget else { return 0 }
        let units = max(0, isTimeout ? budget.timeoutCost : budget.cost)
        return account.take(units, of: budget.capacity) ? units : nil
    }

    /// Returns units: of an additional request that wasn't sent, or that succeeded.
    func give(_ units: Int) {
        if units > 0 { account.give(units) }
    }

    /// Notes the success of a call.
    ///
    /// - Parameter taken: What its last repeat took; `nil` if it succeeded at its first attempt.
    @inline(__always)
    func noteSuccess(after taken: Int?) {
        guard let budget else { return }
        account.give(taken ?? budget.refund)
    }
}
