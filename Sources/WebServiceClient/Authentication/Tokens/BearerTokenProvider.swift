/// Authenticates by a bearer token (RFC 6750), `Authorization: Bearer …`, and renews it.
///
///     $0.authenticationProvider = BearerTokenProvider(token: token)
///     $0.authenticationProvider = BearerTokenProvider(.clientCredentials(of: identity, scopes: ["orders.read"]))
///     $0.authenticationProvider = BearerTokenProvider { old in
///         BearerToken(try await login.token(), lifetime: .seconds(3600))
///     }
///
/// * One refresh serves all calls that wait for it, and gives them its token or its error. It runs apart from them: a call that is
///   cancelled leaves the others alone, and no second refresh begins before the first has ended. It is cancelled when no call waits any
///   more, and after ``TokenSource/timeLimit``.
/// * A token is renewed in the background before it expires, while calls continue to use it. From five seconds before its expiry on, calls
///   wait for the new one. A token of unknown lifetime is used until it is refused.
/// * After a 401 the token is replaced, unless it has been already, and the call is sent once more, if its body can be.
///   `insufficient_scope` ends the call with an ``InsufficientScopeError``, since another token doesn't help.
/// * A new token is stored before it is used, because its refresh token may be valid once only (RFC 9700 §4.14.2).
/// * After a failure, calls get its error for a second, instead of further refreshes. If the authorization server asks for a longer wait by
///   `Retry-After`, they get it for that time, up to five minutes.
/// * A dry run shows the token in use, if there is one, and requests none.
///
/// The token is sent only to the service's origin, even if a redirect, a link or an interceptor leads to another origin. Errors and
/// descriptions never show it.
public final class BearerTokenProvider: AuthenticationProvider {
    let session: TokenSession
    /// Whether the source may return another token after a refusal.
    private let changes: Bool
    private let refuses: (@Sendable (TransportResponse) -> Bool)?

    /// Creates a provider for a source of tokens.
    ///
    /// - Parameters:
    ///   - source: Obtains tokens: an ``OAuthGrant``, or a custom type or actor.
    ///   - store: Keeps the token. Default: in memory. Processes that share a refresh token need a ``FileTokenStore`` or another store that
    ///     they share.
    ///   - refreshAhead: How long before its expiry a token is renewed, for clocks that differ and servers that need longer. Default: a
    ///     tenth of its lifetime, at most a minute. At most half the lifetime is used.
    ///   - isRefusal: Whether a response refuses the token, for services that refuse an expired token otherwise than with 401. It sees the
    ///     head only.
    public convenience init(
        _ source: some TokenSource, store: any TokenStore = MemoryTokenStore(), refreshAhead: Duration? = nil,
        isRefusal: (@Sendable (TransportResponse) -> Bool)? = nil
    ) {
        self.init(session: TokenSession(source, store: store, refreshAhead: refreshAhead), isRefusal)
    }

    /// Creates a provider for a grant of OAuth 2.0, so that call sites can write `BearerTokenProvider(.clientCredentials(of: …))`. See
    /// ``init(_:store:refreshAhead:isRefusal:)-(TokenSource,_,_,_)``.
    public convenience init(
        _ grant: OAuthGrant, store: any TokenStore = MemoryTokenStore(), refreshAhead: Duration? = nil,
        isRefusal: (@Sendable (TransportResponse) -> Bool)? = nil
    ) {
        self.init(session: TokenSession(grant, store: store, refreshAhead: refreshAhead), isRefusal)
    }

    private init(session: TokenSession, _ isRefusal: (@Sendable (TransportResponse) -> Bool)?) {
        self.session = session
        changes = !(session.source is FixedTokenSource)
        refuses = isRefusal
    }

    /// Creates a provider for a closure.
    ///
    /// - Parameter obtain: Obtains a token. It is called once at a time, for the first call, ahead of the token's expiry, and after a
    ///   refusal. It gets the token to replace, `nil` if there is none. If it returns the refused token, the caller gets the refusal. An
    ///   error that it throws ends the calls that wait.
    public convenience init(_ obtain: @escaping @Sendable (_ old: BearerToken?) async throws -> BearerToken) {
        self.init(ClosureTokenSource(obtain: obtain))
    }

    /// Creates a provider for a fixed token.
    ///
    /// - Parameter token: The token; CR, LF or NUL in it causes an ``AuthenticationError`` in the first call.
    public convenience init(token: String) {
        self.init(FixedTokenSource(token: BearerToken(token)))
    }

    /// Returns a usable token: the current one, or a new one. Call it to sign in before the first call, or for a connection that isn't a
    /// call.
    ///
    /// - Throws: The error of the source; `CancellationError`.
    public func token() async throws -> BearerToken {
        try await session.token(until: nil, unless: CallCancellation(), Diagnostics()).token
    }

    /// Ends the session: discards the token, also in the store, and asks the issuer to revoke it (RFC 7009).
    ///
    /// - Throws: The errors of the store and of the revocation. In memory, the token is discarded in any case, and it is revoked even if
    ///   the store fails.
    public func signOut() async throws {
        let (token, failure) = await session.invalidate()
        do {
            if let token { try await session.source.revoke(token) }
        } catch {
            throw failure ?? error
        }
        if let failure { throw failure }
    }

    /// The token that an attempt was sent with.
    private struct Sent: Sendable {
        let number: Int
        let value: String
        let isSecond: Bool
    }

    /// Adds the token, which it obtains if there is none that is usable.
    public func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        let isSecond = (attempt.memo as? Sent)?.isSecond ?? false
        if context.isDryRun || DryRun.current != nil {
            if let held = session.held { try add(held, isSecond: isSecond, to: &attempt) }
            return
        }
        try add(try await token(for: attempt, context), isSecond: isSecond, to: &attempt)
    }

    /// Replaces the token once, if another one may help.
    public func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        let challenge = BearerChallenge(in: challenges)
        if let error = challenge?.insufficientScope(of: (attempt.memo as? Sent)?.value) { throw error }
        guard let sent = attempt.memo as? Sent, challenge?.isInvalidRequest != true, changes, !sent.isSecond else { return false }
        guard session.refuse(sent.number), attempt.canRepeat else { return false }
        let held = try await token(for: attempt, context)
        guard held.token.value != sent.value else { return false }
        try add(held, isSecond: true, to: &attempt)
        return true
    }

    /// Whether a response refuses the token.
    public func isRefusal(_ response: TransportResponse, of attempt: AuthenticationAttempt) -> Bool {
        attempt.target.status == response.status || refuses?(response) ?? false
    }

    /// Records that the server accepted the token.
    ///
    /// - Throws: ``InsufficientScopeError`` if the server answers that the token doesn't permit the request (RFC 6750 §3.1).
    public func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse
    {
        guard let sent = attempt.memo as? Sent else { return response }
        session.accept(sent.number)
        guard response.status == 403, response.headers.contains(attempt.target.challengeField) else { return response }
        let challenges = AuthenticationChallenge.challenges(inBytes: response.headers.bytes(of: attempt.target.challengeField))
        if let error = BearerChallenge(in: challenges)?.insufficientScope(of: sent.value) { throw error }
        return response
    }

    /// Whether the server accepted the token when it last received one.
    public var isSessionOpened: Bool { session.isOpened }

    /// Discards the token, also in the store: the next call starts with a new one. It doesn't revoke the token: see ``signOut()``. A token
    /// that the store can't remove isn't used any more.
    public func invalidate() async {
        await session.invalidate()
    }

    private func token(for attempt: AuthenticationAttempt, _ context: CallContext) async throws -> TokenSession.Held {
        try await session.token(until: attempt.request.end, unless: context.record.cancellation, context.diagnostics)
    }

    private func add(_ held: TokenSession.Held, isSecond: Bool, to attempt: inout AuthenticationAttempt) throws {
        let name = attempt.target.credentialsField
        let value = "Bearer " + held.token.value
        guard HTTPFields.Field(name: name, value: value).isValid, !held.token.value.isEmpty else {
            throw AuthenticationError(
                .unusableToken,
                message: "The token for \(name) is empty, or has CR, LF or NUL: often a token from a file ends with a line break.")
        }
        attempt.request.headers[name] = value
        attempt.memo = Sent(number: held.number, value: held.token.value, isSecond: isSecond)
    }
}

extension BearerTokenProvider: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The scheme, without the token.
    public var description: String { "Bearer authentication" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
