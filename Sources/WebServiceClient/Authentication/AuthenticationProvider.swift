/// Knows how to prove to a server who is calling: ``BasicAuthenticationProvider``, ``DigestAuthenticationProvider``, or one of your own.
///
/// The library asks in this order, for each request that goes to the service root's origin and for no other:
///
///     authorize ──▶ request is sent ─┬─ 401 (proxy: 407) ─▶ respond ─┬─ true ──▶ sent again, at most three times
///                                    │                               └─ false ─▶ the caller gets the 401
///                                    └─ anything else ───▶ check ──────────────▶ the caller gets the response
///
/// What a provider owes:
/// * It is called by many calls at the same time, and keeps its state so (one that fetches tokens lets concurrent calls wait for one
///   fetch). It never holds a lock while it awaits.
/// * It writes credentials into the attempt's request and nowhere else: not into errors, descriptions or diagnostics.
/// * It ends: refused with the same credentials a second time, it returns false from ``respond(to:response:attempt:context:)``.
/// * It lets `CancellationError` pass. Other errors it throws end the call.
/// * It forgets nothing but its own state in ``invalidate()``.
public protocol AuthenticationProvider: Sendable {
    /// Adds the credentials that the provider has, before a request is sent. One that has none yet does nothing, and waits for the
    /// challenge.
    ///
    /// Credentials replace a field of the same name that the caller has set: authentication is the last to touch a request, and wins.
    func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws

    /// Answers a refusal.
    ///
    /// - Parameters:
    ///   - challenges: what the server would take, in its order. May be empty: servers forget the field.
    ///   - response: the refusal. Its body is the caller's; read it only if you return true.
    ///   - attempt: the attempt that was refused, its request as it was sent. Put the new credentials into it.
    /// - Returns: true if the request is to be sent again with what the attempt now holds, false to deliver the refusal.
    ///   Where the request can't be repeated (``AuthenticationAttempt/canRepeat``) it isn't; what was learnt still serves the next call.
    func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool

    /// Sees every response that isn't a refusal, whatever its status, before anybody else does: the place to note that the session is
    /// open, and to verify what the server says about itself.
    ///
    /// - Returns: the response to be handed on: the same one, with a body of the same bytes.
    /// - Throws: to end the call, where the response can't be trusted.
    func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse

    /// Whether the server took the provider's credentials when it last saw them.
    var isSessionOpened: Bool { get }

    /// Forgets the provider's state (tokens, nonces, what was accepted), so that the next call starts from the beginning. The user's
    /// name and password stay.
    func invalidate() async
}

extension AuthenticationProvider {
    /// Hands the response on as it is.
    public func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse
    {
        response
    }
}
