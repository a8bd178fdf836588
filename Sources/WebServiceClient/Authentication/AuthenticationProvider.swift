import Foundation

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

/// Who asks for credentials: the server that the URL names, or a proxy on the way to it (RFC 9110 §11.6 and §11.7).
public enum AuthenticationTarget: Hashable, Sendable {
    /// The server that the URL names. It refuses with 401.
    case origin
    /// A proxy. It refuses with 407.
    case proxy

    /// The status of a refusal: 401 or 407.
    public var status: Int {
        switch self {
        case .origin: 401
        case .proxy: 407
        }
    }

    /// The field that the challenges come in.
    public var challengeField: HTTPFields.Name {
        switch self {
        case .origin: .wwwAuthenticate
        case .proxy: .proxyAuthenticate
        }
    }

    /// The field that credentials go in.
    public var credentialsField: HTTPFields.Name {
        switch self {
        case .origin: .authorization
        case .proxy: .proxyAuthorization
        }
    }

    /// The field in which a response to an authorized request may say more (RFC 7615).
    public var infoField: HTTPFields.Name {
        switch self {
        case .origin: .authenticationInfo
        case .proxy: .proxyAuthenticationInfo
        }
    }
}

/// One sending of a request as an ``AuthenticationProvider`` sees it: from before it is authorized until its response's head is there.
public struct AuthenticationAttempt: Sendable {
    /// The request. Providers put their credentials into its ``AuthenticationTarget/credentialsField``.
    public var request: ServiceRequest

    /// Who is to be satisfied.
    public let target: AuthenticationTarget

    /// How many challenges of this target were answered in this call so far; 0 for the first sending.
    public internal(set) var round = 0

    /// Whatever the provider wants to know again when the response is there, such as which of its tokens was used. Only the provider
    /// reads and writes it; nil at the start of a call.
    public var memo: (any Sendable)?

    /// An attempt; the library makes one for each call and target, tests make their own.
    public init(request: ServiceRequest, target: AuthenticationTarget) {
        self.request = request
        self.target = target
    }

    /// Whether the request can be sent again: it has no body, or one that can be read again.
    public var canRepeat: Bool { request.body?.isReplayable ?? true }

    /// Whether the credentials are for a proxy's tunnel: it sees a request of its own (RFC 9110 §9.3.6), and nothing of this one.
    public var isForTunnel: Bool { target == .proxy && request.origin?.scheme == "https" }

    /// The method that whoever is to be satisfied sees.
    public var seenMethod: ServiceRequest.Method { isForTunnel ? "CONNECT" : request.method }

    /// What whoever is to be satisfied sees in the request line (RFC 9112 §3.2): path and query; for a proxy, the absolute URL, or the
    /// authority of a tunnel.
    public var seenTarget: String {
        guard target == .proxy, let origin = request.origin else { return request.target }
        guard isForTunnel else { return origin.description + request.target }
        return origin.host.contains(":") ? "[\(origin.host)]:\(origin.port)" : "\(origin.host):\(origin.port)"
    }

    /// What credentials are kept by: they are valid for one target of one origin.
    var scope: AuthenticationScope {
        AuthenticationScope(target: target, origin: request.origin)
    }
}

/// Whom credentials were accepted by. A proxy is the same one for every origin.
struct AuthenticationScope: Hashable, Sendable {
    let target: AuthenticationTarget
    let origin: Origin?

    init(target: AuthenticationTarget, origin: Origin?) {
        self.target = target
        self.origin = target == .proxy ? nil : origin
    }
}

/// Why credentials could not be sent, or why a response was not accepted. Never holds a user's name, a password or a token.
public struct AuthenticationError: DescribedError, Hashable, Sendable {
    /// What sort of failure it is, an open set.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let rawValue: String
        /// A kind of that name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The kind's name.
        public var description: String { rawValue }

        /// The user's name holds characters that the scheme can't carry.
        public static let unusableUserName = Self(rawValue: "unusableUserName")
        /// The password holds characters that the scheme can't carry.
        public static let unusablePassword = Self(rawValue: "unusablePassword")
        /// A token, or the value of another header, holds characters that a header can't carry.
        public static let unusableToken = Self(rawValue: "unusableToken")
        /// The provider changed the request's URL to another origin.
        public static let otherOrigin = Self(rawValue: "otherOrigin")
        /// The server wants the request's body to be signed or sent again, and the body can be read only once.
        public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
        /// The server failed to prove that it knows the password (RFC 7616 §3.5, `rspauth`).
        public static let serverNotProven = Self(rawValue: "serverNotProven")
        /// The server offers Digest with weaker hashes only than the provider takes (RFC 7616 §5.10).
        public static let weakAlgorithm = Self(rawValue: "weakAlgorithm")
        /// The response's body is larger than what may be held in memory to check it.
        public static let responseTooLarge = Self(rawValue: "responseTooLarge")
    }

    /// What sort of failure it is.
    public let kind: Kind

    /// A sentence that names the offender and the fix.
    public let message: String

    /// An error of a kind; providers outside the library make their own.
    public init(_ kind: Kind, message: String) {
        self.kind = kind
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}

/// A user's name and password as Basic and Digest use them: in the normal form C that RFC 7616 §4 and RFC 7617 §2.1 ask for.
///
/// Neither shows in a description, a dump or a mirror.
struct UserCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let name: String
    let password: String

    init(name: String, password: String) {
        self.name = name.precomposedStringWithCanonicalMapping
        self.password = password.precomposedStringWithCanonicalMapping
    }

    var description: String { "a user and a password" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
