import CSystemLibraries

/// Connections that are kept apart from those of others: libcurl gives tunnels through a proxy to any exchange that goes the same way, and not
/// only to those who show the proxy the credentials by which it opened them. For who has the loop's turn only.
struct CurlPools {
    private struct Pool {
        let share: OpaquePointer
        /// Exchanges that use it.
        var users = 0
        /// When it was last taken.
        var lastTaken = 0
    }

    /// The most pools.
    static let most = 32

    private var pools: [Int: Pool] = [:]
    private var taken = 0

    /// Takes the pool of those who have that key in common. Where there are too many, the one whose last use is the longest ago goes, with its
    /// connections.
    ///
    /// - Returns: what libcurl calls it; `nil` when all are in use, or there is no memory.
    mutating func take(_ key: Int) -> OpaquePointer? {
        taken += 1
        if pools[key] == nil {
            guard hasRoom(), let share = csl_share_new() else { return nil }
            pools[key] = Pool(share: share)
        }
        pools[key]?.users += 1
        pools[key]?.lastTaken = taken
        return pools[key]?.share
    }

    /// Gives it back after the exchange.
    mutating func give(_ key: Int) {
        pools[key]?.users -= 1
    }

    /// Closes all connections: no exchange uses any.
    mutating func removeAll() {
        for pool in pools.values { csl_share_free(pool.share) }
        pools = [:]
    }

    private mutating func hasRoom() -> Bool {
        guard pools.count >= Self.most else { return true }
        guard let oldest = pools.filter({ $0.value.users == 0 }).min(by: { $0.value.lastTaken < $1.value.lastTaken }) else { return false }
        csl_share_free(oldest.value.share)
        pools[oldest.key] = nil
        return true
    }
}
