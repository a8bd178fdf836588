import Foundation

/// Authentication by a digest of user name and password (RFC 7616; servers of RFC 2617 and RFC 2069 as well).
///
///     $0.authenticationProvider = DigestAuthenticationProvider(user: "ada", password: password)
///
/// * Algorithms: MD5, SHA-256, SHA-512-256 and their `-sess` kinds; of several challenges the one with the strongest hash is answered.
/// * MD5 is answered as well unless `minimumHash` says otherwise. An origin that offers a weaker hash than before is told to the
///   diagnostics: somebody on the way may have taken the stronger one away (RFC 7616 §5.10).
/// * The first request waits for a challenge; later ones carry a digest from the start, each with a nonce count of its own.
/// * `auth` is used where the server offers it. Where it wants `auth-int`, request bodies are hashed before they are sent, files piece by
///   piece; a stream that can be read only once is an ``AuthenticationError``. Such requests ask for an unencoded response.
/// * A server that says only that the nonce was stale gets another answer. One that refuses the answer to its own challenge is given up:
///   the caller gets its 401.
/// * Where the server proves in `Authentication-Info` that it knows the password, the proof is verified, and a wrong one is an
///   ``AuthenticationError``. A proof of the body (`auth-int`) is verified before the body is handed on, up to a bound.
///   That of a body which the transport has decoded meanwhile can't be, and is an error as well.
/// * The challenge's `domain` isn't read: credentials are for the whole origin, and for no other.
public final class DigestAuthenticationProvider: AuthenticationProvider {
    /// The hashes of Digest, weakest first (RFC 7616 §3.3).
    public enum Hash: String, Sendable, Hashable, Comparable, CaseIterable {
        /// MD5, which is broken for other uses, and which many devices have as their only one.
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
        /// Whether it was the answer to a challenge in the same call, so that the nonce can't have been too old.
        let isAnswer: Bool
    }

    private let user: UserCredentials
    private let minimumHash: Hash
    private let responseBodyLimit: Int
    private let makeClientNonce: @Sendable () -> String
    private let state = Locked(State())

    /// A provider for one user.
    ///
    /// - Parameters:
    ///   - user: the user's name.
    ///   - password: the password.
    ///   - minimumHash: the weakest hash that is answered. A server that offers weaker ones only is an ``AuthenticationError`` of the kind
    ///     `weakAlgorithm`. Default MD5.
    ///   - responseBodyLimit: the most bytes of a response's body that are held in memory to verify the server's proof of it. Only
    ///     servers that answer with `qop=auth-int` send one; a larger body from them is an ``AuthenticationError``.
    public convenience init(
        user: String, password: String, minimumHash: Hash = .md5, responseBodyLimit: Int = 16 * 1024 * 1024
    ) {
        self.init(
            user: user, password: password, minimumHash: minimumHash, responseBodyLimit: responseBodyLimit,
            clientNonce: ClientNonce.random)
    }

    /// A provider whose client nonces are chosen by the caller, as tests need.
    package init(
        user: String, password: String, minimumHash: Hash = .md5, responseBodyLimit: Int = 16 * 1024 * 1024,
        clientNonce: @escaping @Sendable () -> String
    ) {
        self.minimumHash = minimumHash
        self.user = UserCredentials(name: user, password: password)
        self.responseBodyLimit = responseBodyLimit
        makeClientNonce = clientNonce
    }

    /// Adds a digest, if the server has sent a challenge before.
    public func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        try await sign(&attempt, isAnswer: false)
    }

    /// Takes up the strongest challenge and answers it, unless it refuses the answer to the one before.
    public func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        let scope = attempt.scope
        let sent = attempt.memo as? Sent
        guard let challenge = DigestChallenge.strongest(of: challenges), sent?.isAnswer != true || challenge.isStale else {
            // The password is wrong, or the server no longer takes digests: don't send it another one unasked.
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
                    The server offers no better Digest than with \(hash.rawValue), and \(minimumHash.rawValue) is the least that is answered: let \
                    it offer a better one, or lower minimumHash of the DigestAuthenticationProvider.
                    """)
        }
        if let before = state.withLock({ $0.sessions.strongestHash(of: scope) }), before > hash {
            context.diagnostics.report(
                .init(
                    .warning,
                    """
                    The server offered Digest with \(before.rawValue) before, and now \(hash.rawValue) at best. Somebody on the way may have taken \
                    the better one away: set minimumHash of the DigestAuthenticationProvider to \(before.rawValue) if that is wrong.
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

    /// Verifies the server's proof, if it sent one, and takes up the nonce that it wants to see next.
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

    /// Whether the server took a digest when it last saw one.
    public var isSessionOpened: Bool { state.withLock { $0.isOpened } }

    /// Forgets all nonces and session keys: the next request waits for a challenge. User name and password stay.
    public func invalidate() async {
        state.withLock {
            $0.sessions.forgetAll()
            $0.isOpened = false
        }
    }

    /// Writes the credentials of a new use of the session in use, or of the one to be adopted.
    /// - Returns: whether there was one.
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
            // The request for a tunnel has no body.
            bodyDigest = try await BodyDigest.text(of: attempt.isForTunnel ? nil : attempt.request.body, exchange.function)
            // The proof is of the bytes as they are sent, and transports decode what they can.
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
                    The response is larger than the \(responseBodyLimit) bytes that may be held in memory to verify the server's proof of it \
                    (Digest qop=auth-int): raise responseBodyLimit of the DigestAuthenticationProvider.
                    """)
        }
        do throws(AuthenticationError) {
            try info.verify(exchange, bodyDigest: BodyDigest.text(of: data, exchange.function))
        } catch {
            guard let coding = response.headers[.contentEncoding], coding.lowercased() != "identity" else { throw error }
            // Whether the coding is undone already isn't known here, and whoever changes a response could write one.
            throw AuthenticationError(
                .serverNotProven,
                message: """
                    \(error.message) The response has the content coding '\(coding)', and the proof is of the encoded bytes: if the server is \
                    the right one, ask for none (Accept-Encoding: identity), or let it send the response unencoded.
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

    /// Shows nothing of the credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
