import CSystemLibraries

/// Connections that are kept apart from those of others: libcurl gives tunnels through a proxy to any exchange that goes the same way, and not
/// only to those who show the proxy the credentials by which it opened them. For who has the loop's turn only.
///
/// Each pool has the whole of the transport's bounds for itself. Where all are in use there are more of them for the time: an exchange without
/// a pool would have to use the connections of everybody.
struct CurlPools {
    private struct Pool {
        let share: OpaquePointer
        /// Exchanges that use it.
        var users = 0
        /// When it was last taken or given.
        var lastUse: MonotonicInstant
    }

    /// The most pools that are kept while nobody uses them.
    static let most = 8
    /// A pool that nobody has used for so long goes with the next use of another one: credentials may be others each time.
    static let patience = Duration.seconds(120)

    private var pools: [Int: Pool] = [:]

    /// How many there are.
    var count: Int { pools.count }

    /// Takes the pool of those who have that key in common.
    ///
    /// - Returns: what libcurl calls it; `nil` when there is no memory.
    mutating func take(_ key: Int, now: MonotonicInstant) -> OpaquePointer? {
        if pools[key] == nil {
            tidy(now: now)
            guard let share = csl_share_new() else { return nil }
            pools[key] = Pool(share: share, lastUse: now)
        }
        pools[key]?.users += 1
        pools[key]?.lastUse = now
        return pools[key]?.share
    }

    /// Gives it back after the exchange.
    mutating func give(_ key: Int, now: MonotonicInstant) {
        pools[key]?.users -= 1
        pools[key]?.lastUse = now
        tidy(now: now)
    }

    /// Closes all connections: no exchange uses any.
    mutating func removeAll() {
        for pool in pools.values { csl_share_free(pool.share) }
        pools = [:]
    }

    /// Closes the connections of pools that nobody uses: of those that were used long ago, and of those beyond the most.
    private mutating func tidy(now: MonotonicInstant) {
        let unused = pools.filter { $0.value.users == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
        var surplus = unused.count - Self.most
        for (key, pool) in unused where surplus > 0 || now - pool.lastUse > Self.patience {
            csl_share_free(pool.share)
            pools[key] = nil
            surplus -= 1
        }
    }
}
