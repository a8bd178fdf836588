/// The sessions of a Digest provider: one for each origin.
struct DigestSessions: Sendable {
    /// The maximum number of origins. If it is exceeded, which is rare, all are discarded, at the cost of one challenge each.
    static let scopeLimit = 64

    private struct Entry: Sendable {
        /// The current session; nil while waiting for the next challenge.
        var current: DigestSession?
        var counts = NonceCounts()
        /// The strongest hash that the origin has offered.
        var strongestHash: DigestAlgorithm.Function?
    }

    private var entries: [AuthenticationScope: Entry] = [:]

    /// Returns a new use of the current session, and its challenge; `nil` if there is none.
    mutating func use(
        for scope: AuthenticationScope, target: String, clientNonce: String
    ) -> (challenge: DigestChallenge, exchange: DigestExchange)? {
        guard let session = entries[scope]?.current else { return nil }
        guard let count = entries[scope]?.counts.next(for: session.nonce) else {
            forget(scope)
            return nil
        }
        return (session.challenge, session.exchange(nonceCount: count, target: target, clientNonce: clientNonce))
    }

    /// The strongest hash that an origin has offered so far.
    func strongestHash(of scope: AuthenticationScope) -> DigestAlgorithm.Function? { entries[scope]?.strongestHash }

    /// Makes a new session the current one.
    mutating func adopt(_ session: DigestSession, for scope: AuthenticationScope) {
        if entries[scope] == nil, entries.count >= Self.scopeLimit { entries.removeAll() }
        var entry = entries.removeValue(forKey: scope) ?? Entry()
        entry.current = entry.current.map(session.continuing) ?? session
        let hash = session.challenge.algorithm.function
        entry.strongestHash = entry.strongestHash.map { max($0, hash) } ?? hash
        entries[scope] = entry
    }

    /// Continues with the server's next nonce, if the response's nonce is still the current one.
    mutating func adopt(nextNonce: QuotedText, after nonce: QuotedText, for scope: AuthenticationScope) {
        guard let current = entries[scope]?.current, current.nonce == nonce else { return }
        entries[scope]?.current = current.following(nextNonce: nextNonce)
    }

    /// The current sessions, each with the number of uses of its nonce.
    var current: [(scope: AuthenticationScope, session: DigestSession, count: UInt32, strongestHash: DigestAlgorithm.Function?)] {
        entries.compactMap { scope, entry in
            entry.current.map { (scope, $0, entry.counts.count(of: $0.nonce), entry.strongestHash) }
        }
    }

    /// Continues a preserved session, unless the origin has a session already.
    mutating func restore(
        _ session: DigestSession, used count: UInt32, strongestHash: DigestAlgorithm.Function?, for scope: AuthenticationScope
    ) {
        guard entries[scope]?.current == nil else { return }
        adopt(session, for: scope)
        entries[scope]?.counts.restore(session.nonce, used: count)
        if let strongestHash {
            let known = entries[scope]?.strongestHash
            entries[scope]?.strongestHash = known.map { max($0, strongestHash) } ?? strongestHash
        }
    }

    /// Discards an origin's session, so that its next request waits for a challenge. The counts are kept.
    mutating func forget(_ scope: AuthenticationScope) {
        entries[scope]?.current = nil
    }

    /// Discards all sessions. The counts are kept.
    mutating func forgetAll() {
        for scope in entries.keys {
            forget(scope)
        }
    }
}

/// The state kept from a challenge, so that later requests needn't wait for one (RFC 7616 §3.6).
struct DigestSession: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private(set) var challenge: DigestChallenge

    /// The server's current nonce: the challenge's, or a later `nextnonce`.
    private(set) var nonce: QuotedText

    /// `H(A1)`. For a `-sess` algorithm it is derived from the session's first nonces and doesn't change with the nonce.
    private let sessionKey: String

    /// The client nonce of a `-sess` algorithm's session. All its requests use the same one, so that servers that recompute the key for
    /// each request get the same result as servers that keep it.
    let sessionClientNonce: String?

    /// The nonce that the key was derived from, for a `-sess` algorithm.
    let firstNonce: QuotedText

    init(_ challenge: DigestChallenge, user: UserCredentials, clientNonce: String) {
        self.challenge = challenge
        nonce = challenge.nonce
        firstNonce = challenge.nonce
        sessionClientNonce = challenge.algorithm.isSession ? clientNonce : nil
        sessionKey = DigestExchange.sessionKey(
            algorithm: challenge.algorithm, user: user, realm: challenge.realm, nonce: challenge.nonce, clientNonce: clientNonce)
    }

    /// Continues a preserved session.
    init(_ challenge: DigestChallenge, user: UserCredentials, nonce: QuotedText, firstNonce: QuotedText, clientNonce: String?) {
        self.challenge = challenge
        self.nonce = nonce
        self.firstNonce = firstNonce
        sessionClientNonce = clientNonce
        sessionKey = DigestExchange.sessionKey(
            algorithm: challenge.algorithm, user: user, realm: challenge.realm, nonce: firstNonce, clientNonce: clientNonce ?? "")
    }

    /// Returns a use of the nonce.
    func exchange(nonceCount: UInt32, target: String, clientNonce: String) -> DigestExchange {
        DigestExchange(
            function: challenge.algorithm.function, sessionKey: sessionKey, nonce: nonce, nonceCount: nonceCount,
            clientNonce: sessionClientNonce ?? clientNonce, quality: challenge.quality, target: target)
    }

    /// Returns the same session with the server's next nonce.
    func following(nextNonce: QuotedText) -> DigestSession {
        var session = self
        session.nonce = nextNonce
        return session
    }

    /// Returns this session, or an older one with the same nonce, realm, algorithm and quality, updated with this challenge. It keeps the
    /// older session's key, since many concurrent calls may receive the same challenge.
    func continuing(_ older: DigestSession) -> DigestSession {
        let isSame =
            older.nonce == nonce && older.challenge.realm == challenge.realm && older.challenge.algorithm == challenge.algorithm
            && older.challenge.quality == challenge.quality
        guard isSame else { return self }
        var session = older
        session.challenge = challenge
        return session
    }

    var description: String { "a Digest session" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The number of uses of each recent nonce (RFC 7616 §3.4, `nc`). A count never restarts while it is kept, even if the server issues a
/// nonce again, since a repeated count looks like a replay.
struct NonceCounts: Sendable {
    /// The maximum number of nonces.
    static let limit = 64

    /// The counts; the most recently used nonce is last.
    private var counts: [(nonce: QuotedText, count: UInt32)] = []

    /// The number of uses of a nonce.
    func count(of nonce: QuotedText) -> UInt32 { counts.last { $0.nonce == nonce }?.count ?? 0 }

    /// Continues the count of a preserved nonce.
    mutating func restore(_ nonce: QuotedText, used count: UInt32) {
        let count = max(count, self.count(of: nonce))
        counts.removeAll { $0.nonce == nonce }
        if counts.count >= Self.limit { counts.removeFirst() }
        counts.append((nonce, count))
    }

    /// Counts another use: 1 for the first. Nil after 2^32 - 1 uses of a nonce, the maximum of eight hexadecimal digits.
    mutating func next(for nonce: QuotedText) -> UInt32? {
        var used: UInt32 = 0
        if let known = counts.lastIndex(where: { $0.nonce == nonce }) {
            used = counts[known].count
            guard used < .max else { return nil }
            if known == counts.count - 1 {
                counts[known].count += 1
                return used + 1
            }
            counts.remove(at: known)
        } else if counts.count >= Self.limit {
            counts.removeFirst()
        }
        counts.append((nonce, used + 1))
        return used + 1
    }
}
