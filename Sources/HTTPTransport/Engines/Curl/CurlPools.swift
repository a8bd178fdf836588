import CSystemLibraries

/// Separate pools of connections. libcurl would use a tunnel through a proxy for any exchange with the same route, not only for exchanges
/// with the credentials that opened it. Only the loop's owner uses the pools.
///
/// The transport's limits apply to each pool. If all pools are in use, more are created for the time being: an exchange without a pool
/// would use the connections of all.
struct CurlPools {
    private struct Pool {
        let share: OpaquePointer
        /// The number of exchanges that use it.
        var users = 0
        /// The time of its last use.
        var lastUse: MonotonicInstant
    }

    /// The maximum number of unused pools to keep.
    static let most = 8
    /// A pool unused for this time is removed at the next use of another one: credentials may change each time.
    static let patience = Duration.seconds(120)

    private var pools: [Int: Pool] = [:]

    /// The number of pools.
    var count: Int { pools.count }

    /// Takes the pool for a key.
    ///
    /// - Returns: libcurl's handle of the pool; `nil` if memory is exhausted.
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

    /// Releases a pool after an exchange.
    mutating func give(_ key: Int, now: MonotonicInstant) {
        pools[key]?.users -= 1
        pools[key]?.lastUse = now
        tidy(now: now)
    }

    /// Closes all connections. They must not be in use.
    mutating func removeAll() {
        for pool in pools.values { csl_share_free(pool.share) }
        pools = [:]
    }

    /// Closes the connections of unused pools: those unused for long, and those above the maximum.
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
