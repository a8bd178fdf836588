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
