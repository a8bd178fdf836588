/// The sessions of a Digest provider: one for each origin.
struct DigestSessions: Sendable {
    /// The most origins that are kept. More are rare: all are forgotten then, which costs a challenge each.
    static let scopeLimit = 64

    private struct Entry: Sendable {
        /// The session in use; nil while the next challenge is awaited.
        var current: DigestSession?
        var counts = NonceCounts()
        /// The strongest hash that the origin has offered.
        var strongestHash: DigestAlgorithm.Function?
    }

    private var entries: [AuthenticationScope: Entry] = [:]

    /// A use of the session in use, and its challenge; nil if there is none.
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

    /// Takes a new session into use.
    mutating func adopt(_ session: DigestSession, for scope: AuthenticationScope) {
        if entries[scope] == nil, entries.count >= Self.scopeLimit { entries.removeAll() }
        var entry = entries.removeValue(forKey: scope) ?? Entry()
        entry.current = entry.current.map(session.continuing) ?? session
        let hash = session.challenge.algorithm.function
        entry.strongestHash = entry.strongestHash.map { max($0, hash) } ?? hash
        entries[scope] = entry
    }

    /// Goes on with the nonce that the server wants to see next, if the one that the response is for is still in use.
    mutating func adopt(nextNonce: QuotedText, after nonce: QuotedText, for scope: AuthenticationScope) {
        guard let current = entries[scope]?.current, current.nonce == nonce else { return }
        entries[scope]?.current = current.following(nextNonce: nextNonce)
    }

    /// Forgets an origin's session, so that its next request waits for a challenge. The counts stay.
    mutating func forget(_ scope: AuthenticationScope) {
        entries[scope]?.current = nil
    }

    /// Forgets all sessions. The counts stay.
    mutating func forgetAll() {
        for scope in entries.keys {
            forget(scope)
        }
    }
}

/// What is kept of a challenge so that later requests needn't wait for one (RFC 7616 §3.6).
struct DigestSession: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private(set) var challenge: DigestChallenge

    /// The server's nonce that is in use: the challenge's, or one that came after it as `nextnonce`.
    private(set) var nonce: QuotedText

    /// `H(A1)`. With a `-sess` algorithm it is of the session's first nonces, and stays when the nonce changes.
    private let sessionKey: String

    /// The client nonce of a `-sess` algorithm's session: one for all its requests, so that servers which make the key anew for each
    /// request come to the same result as those that keep it.
    private let sessionClientNonce: String?

    init(_ challenge: DigestChallenge, user: UserCredentials, clientNonce: String) {
        self.challenge = challenge
        nonce = challenge.nonce
        sessionClientNonce = challenge.algorithm.isSession ? clientNonce : nil
        sessionKey = DigestExchange.sessionKey(
            algorithm: challenge.algorithm, user: user, realm: challenge.realm, nonce: challenge.nonce, clientNonce: clientNonce)
    }

    /// A use of the nonce.
    func exchange(nonceCount: UInt32, target: String, clientNonce: String) -> DigestExchange {
        DigestExchange(
            function: challenge.algorithm.function, sessionKey: sessionKey, nonce: nonce, nonceCount: nonceCount,
            clientNonce: sessionClientNonce ?? clientNonce, quality: challenge.quality, target: target)
    }

    /// The same session with the nonce that the server wants to see next.
    func following(nextNonce: QuotedText) -> DigestSession {
        var session = self
        session.nonce = nextNonce
        return session
    }

    /// This session, where one that the server asked for before is in use: its key stays if nothing but the occasion has changed, since
    /// many calls at once may be sent the same challenge.
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

/// How often each of the last nonces was used (RFC 7616 §3.4, `nc`). A count never starts again while it is kept, also when the server
/// hands out a nonce that it has handed out before: the same count twice looks like a replay.
struct NonceCounts: Sendable {
    /// The most nonces that are kept.
    static let limit = 64

    /// The one used last at the end.
    private var counts: [(nonce: QuotedText, count: UInt32)] = []

    /// Counts one more use: 1 for the first. Nil when a nonce was used 2^32 - 1 times, which is all that eight digits can tell.
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
