import Foundation

/// Authenticates by a digest of user name and password (RFC 7616; servers of RFC 2617 and RFC 2069 as well).
///
///     $0.authenticationProvider = DigestAuthenticationProvider(user: "ada", password: password)
///
/// * The algorithms are MD5, SHA-256, SHA-512-256 and their `-sess` variants; of several challenges, the one with the strongest hash is
///   answered.
/// * MD5 is accepted unless `minimumHash` excludes it. If an origin offers a weaker hash than before, the diagnostics report it, since an
///   attacker may have removed the stronger one (RFC 7616 §5.10).
/// * The first request waits for a challenge; later ones have a digest from the start, each with its own nonce count.
/// * `auth` is used if the server offers it. If it requires `auth-int`, request bodies are hashed before they are sent, files piece by
///   piece; a stream that can be read only once is an ``AuthenticationError``. Such requests ask for an unencoded response.
/// * A server that reports only a stale nonce gets another answer. If a server refuses the answer to its own challenge, the caller gets
///   its 401.
/// * If the server proves in `Authentication-Info` that it knows the password, the proof is verified; a wrong one is an
///   ``AuthenticationError``. A proof of the body (`auth-int`) is verified before the body is delivered, up to a limit. A proof of a body
///   that the transport has already decoded can't be verified and is an error as well.
/// * The challenge's `domain` is ignored: credentials apply to the whole origin, and to no other.
public final class DigestAuthenticationProvider: ChallengePreserving {
    /// The hashes of Digest, weakest first (RFC 7616 §3.3).
    public enum Hash: String, Sendable, Hashable, Comparable, CaseIterable {
        /// MD5, which is broken for other uses but is the only hash of many devices.
        case md5 = "MD5"
        /// SHA-256.
        case sha256 = "SHA-256"
        /// SHA-512/256.
        case sha512_256 = "SHA-512-256"

        /// Whether the first is weaker than the second.
        public static func < (first: Hash, second: Hash) -> Bool { first.strength < second.strength }

        private var strength: Int {
            switch self {
            case .md5: 0
            case .sha256: 1
            case .sha512_256: 2
            }
        }
    }

    private struct State {
        var sessions = DigestSessions()
        var isOpened = false
    }

    /// The digest that an attempt was sent with.
    private struct Sent: Sendable {
        let exchange: DigestExchange
        /// Whether it answered a challenge in the same call, so that the nonce can't have been stale.
        let isAnswer: Bool
    }

    private let user: UserCredentials
    private let minimumHash: Hash
    private let responseBodyLimit: Int
    private let makeClientNonce: @Sendable () -> String
    private let state = Locked(State())
    /// A digest of the user's name and password.
    public let cacheIdentity: String?

    /// Creates a provider for one user.
    ///
    /// - Parameters:
    ///   - user: The user's name.
    ///   - password: The password.
    ///   - minimumHash: The weakest accepted hash. A server that offers only weaker ones causes an ``AuthenticationError`` of the kind
    ///     `weakAlgorithm`. Default: MD5.
    ///   - responseBodyLimit: The maximum number of bytes of a response's body that are held in memory to verify the server's proof of
    ///     it. Only servers that answer with `qop=auth-int` send one; a larger body from them is an ``AuthenticationError``. Default: 16
    ///     MiB.
    public convenience init(
        user: String, password: String, minimumHash: Hash = .md5, responseBodyLimit: Int = 16 * 1024 * 1024
    ) {
        self.init(
            user: user, password: password, minimumHash: minimumHash, responseBodyLimit: responseBodyLimit,
            clientNonce: ClientNonce.random)
    }

    /// Creates a provider with a custom source of client nonces, for tests.
    package init(
        user: String, password: String, minimumHash: Hash = .md5, responseBodyLimit: Int = 16 * 1024 * 1024,
        clientNonce: @escaping @Sendable () -> String
    ) {
        self.minimumHash = minimumHash
        self.user = UserCredentials(name: user, password: password)
        cacheIdentity = self.user.digest
        self.responseBodyLimit = responseBodyLimit
        makeClientNonce = clientNonce
    }

    /// Adds a digest, if the server has sent a challenge before.
    public func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        try await sign(&attempt, isAnswer: false)
    }

    /// Adopts the strongest challenge and answers it, unless the server has refused the answer to the previous one.
    public func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        let scope = attempt.scope
        let sent = attempt.memo as? Sent
        guard let challenge = DigestChallenge.strongest(of: challenges), sent?.isAnswer != true || challenge.isStale else {
            // The password is wrong, or the server doesn't accept digests any more: don't send another one unasked.
            state.withLock {
                $0.sessions.forget(scope)
                $0.isOpened = false
            }
            return false
        }
        let hash = challenge.algorithm.function
        guard hash >= minimumHash else {
            throw AuthenticationError(
                .weakAlgorithm,
                message: """
                    The server offers Digest with \(hash.rawValue) at best, but the minimum is \(minimumHash.rawValue): \
                    let it offer a stronger hash, or lower minimumHash of the DigestAuthenticationProvider.
                    """)
        }
        if let before = state.withLock({ $0.sessions.strongestHash(of: scope) }), before > hash {
            context.diagnostics.report(
                .init(
                    .warning,
                    """
                    The server offered Digest with \(before.rawValue) before, but now \(hash.rawValue) at best. An attacker may have \
                    removed the stronger one: set minimumHash of the DigestAuthenticationProvider to \(before.rawValue) to prevent this.
                    """, call: context.identity))
        }
        let session = DigestSession(challenge, user: user, clientNonce: makeClientNonce())
        guard attempt.canRepeat else {
            state.withLock { $0.sessions.adopt(session, for: scope) }
            if challenge.quality == .integrity { _ = try await BodyDigest.text(of: attempt.request.body, challenge.algorithm.function) }
            return false
        }
        return try await sign(&attempt, isAnswer: true, adopting: session)
    }

    /// Verifies the server's proof, if it sent one, and adopts its next nonce.
    public func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse
    {
        guard let sent = attempt.memo as? Sent else { return response }
        let scope = attempt.scope
        let lines = response.headers.bytes(of: attempt.target.infoField)
        var response = response
        if !lines.isEmpty {
            let info = AuthenticationInfo(bytes: lines)
            do {
                response = try await verify(info, of: response, sent.exchange)
            } catch {
                state.withLock {
                    $0.sessions.forget(scope)
                    $0.isOpened = false
                }
                throw error
            }
            if let nextNonce = info.nextNonce {
                state.withLock { $0.sessions.adopt(nextNonce: nextNonce, after: sent.exchange.nonce, for: scope) }
            }
        }
        state.withLock { $0.isOpened = true }
        return response
    }

    /// Whether the server accepted a digest when it last received one.
    public var isSessionOpened: Bool { state.withLock { $0.isOpened } }

    /// Discards all nonces and session keys: the next request waits for a challenge. User name and password are kept.
    public func invalidate() async {
        state.withLock {
            $0.sessions.forgetAll()
            $0.isOpened = false
        }
    }

    /// The realms and nonces of the current sessions.
    public var preservedChallenges: PreservedChallenges {
        PreservedChallenges(
            state.withLock { $0.sessions.current }.compactMap { scope, session, count, strongest in
                PreservedChallenges.Entry(session, of: scope, used: count, strongest: strongest)
            })
    }

    /// Continues preserved sessions, except those of origins that have sent a challenge already, and those with a weaker hash than
    /// `minimumHash`. A server that has forgotten a nonce sends a new challenge.
    public func restore(_ challenges: PreservedChallenges) {
        for entry in challenges.entries {
            guard let (scope, challenge) = entry.challenge, challenge.algorithm.function >= minimumHash else { continue }
            let session = entry.session(challenge, user)
            state.withLock { $0.sessions.restore(session, used: entry.count, strongestHash: entry.strongest, for: scope) }
        }
    }

    /// Writes credentials for a new use of the current session, or of the one to adopt.
    /// - Returns: Whether there was a session.
    @discardableResult
    private func sign(
        _ attempt: inout AuthenticationAttempt, isAnswer: Bool, adopting newSession: DigestSession? = nil
    ) async throws -> Bool {
        let scope = attempt.scope
        let target = attempt.seenTarget
        let clientNonce = makeClientNonce()
        let use = state.withLock { state in
            if let newSession { state.sessions.adopt(newSession, for: scope) }
            return state.sessions.use(for: scope, target: target, clientNonce: clientNonce)
        }
        guard let (challenge, exchange) = use else { return false }
        var bodyDigest = ""
        if exchange.quality == .integrity {
            // A tunnel's request has no body.
            bodyDigest = try await BodyDigest.text(of: attempt.isForTunnel ? nil : attempt.request.body, exchange.function)
            // The proof covers the transmitted bytes, and transports decode the codings that they support.
            if !attempt.isForTunnel, !attempt.request.headers.contains(.acceptEncoding) {
                attempt.request.headers[.acceptEncoding] = "identity"
            }
        }
        let value = DigestAuthorization.value(
            user: user.name, challenge: challenge, exchange: exchange,
            response: exchange.response(method: attempt.seenMethod.rawValue, bodyDigest: bodyDigest))
        attempt.request.headers.set(attempt.target.credentialsField, bytes: value)
        attempt.memo = Sent(exchange: exchange, isAnswer: isAnswer)
        return true
    }

    private func verify(
        _ info: AuthenticationInfo, of response: TransportResponse, _ exchange: DigestExchange
    ) async throws -> TransportResponse {
        guard info.proof != nil else { return response }
        guard info.quality(after: exchange) == .integrity else {
            try info.verify(exchange, bodyDigest: "")
            return response
        }
        let data: Data
        do {
            data = try await response.body.collect(upTo: responseBodyLimit)
        } catch is ResponseBodyTooLarge {
            throw AuthenticationError(
                .responseTooLarge,
                message: """
                    The response is larger than the \(responseBodyLimit) bytes that may be in memory to verify the server's proof of it \
                    (Digest qop=auth-int): raise responseBodyLimit of the DigestAuthenticationProvider.
                    """)
        }
        do throws(AuthenticationError) {
            try info.verify(exchange, bodyDigest: BodyDigest.text(of: data, exchange.function))
        } catch {
            let codings = ContentCoding.names(in: response.headers)
            guard !codings.isEmpty else { throw error }
            // It isn't known here whether the coding has been undone, and an attacker who changes a response could add one.
            throw AuthenticationError(
                .serverNotProven,
                message: """
                    \(error.message) The response has the content coding '\(codings.joined(separator: ", "))', but the proof covers the encoded bytes: if the \
                    server is genuine, send Accept-Encoding: identity, or configure it to send the response unencoded.
                    """)
        }
        var response = response
        response.body = ResponseBody(data)
        return response
    }
}

extension DigestAuthenticationProvider: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without name and password.
    public var description: String { "Digest authentication" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
