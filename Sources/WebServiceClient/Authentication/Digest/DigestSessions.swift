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
