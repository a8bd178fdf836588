import Foundation

/// Authenticates a client to a server: ``BearerTokenProvider``, ``APIKeyProvider``, ``BasicAuthenticationProvider``,
/// ``DigestAuthenticationProvider``, or a custom one.
///
/// The library calls it in this order, only for requests to the service root's origin:
///
///     authorize ──▶ request is sent ─┬─ 401 (proxy: 407) ─▶ respond ─┬─ true ──▶ sent again, at most three times
///                                    │                               └─ false ─▶ the caller gets the 401
///                                    └─ anything else ───▶ check ──────────────▶ the caller gets the response
///
/// Requirements of a provider:
/// * It supports concurrent calls and guards its state (if it fetches tokens, concurrent calls wait for one fetch). It never holds a lock
///   while it awaits.
/// * It writes credentials only into the attempt's request: not into errors, descriptions or diagnostics.
/// * It terminates: if the same credentials are refused a second time, it returns false from ``respond(to:response:attempt:context:)``.
/// * It propagates `CancellationError`. Other errors that it throws end the call.
/// * Its ``invalidate()`` discards only the provider's own state.
/// * It uses a separate transport or client for the calls that it makes: they must not wait for a call that waits for the provider.
///
/// A provider that signs requests does so in ``authorize(_:context:)``, which gets each request in its final form:
/// ``AuthenticationAttempt/sentFields`` and ``AuthenticationAttempt/bodySHA256()``.
public protocol AuthenticationProvider: Sendable {
    /// Adds the provider's credentials before a request is sent. A provider without credentials does nothing and waits for the challenge.
    ///
    /// Credentials replace a field of the same name that the caller has set, since authentication is the last to change a request.
    func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws

    /// Answers a refusal.
    ///
    /// - Parameters:
    ///   - challenges: The schemes that the server accepts, in its order. May be empty, since some servers omit the field.
    ///   - response: The refusal. Read its body only if you return true; otherwise it is the caller's.
    ///   - attempt: The refused attempt, with the request that was sent. Put the new credentials into it.
    /// - Returns: `true` to send the attempt's request again, `false` to deliver the refusal. A request that can't be repeated
    ///   (``AuthenticationAttempt/canRepeat``) isn't sent again; the provider's new state still serves the next call.
    func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool

    /// Whether a response refuses an attempt's credentials. The default is the target's status: 401, or 407 for a proxy.
    ///
    /// Implement it for services that refuse otherwise, such as with 403 for a signature that is too old. It sees the head only: the body
    /// is the caller's.
    func isRefusal(_ response: TransportResponse, of attempt: AuthenticationAttempt) -> Bool

    /// Processes every response that isn't a refusal, regardless of its status, before any other code: records that the session is
    /// open, and verifies the server's proof.
    ///
    /// - Returns: The response to deliver: the same one, with a body of the same bytes.
    /// - Throws: An error to end the call if the response isn't trustworthy.
    func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse

    /// A text that distinguishes the user of these credentials from other users, such as a digest of the user's name; `nil`, the default,
    /// if the provider doesn't know.
    ///
    /// A ``ResponseCache`` keeps the responses of each identity apart. Without a text, it asks the provider to authorize a copy of the
    /// request before it looks for a stored response, and what it adds is the identity: the responses of one token or key serve no other.
    /// If the provider is a ``BearerTokenProvider`` with an ``OAuthGrant``, the sign-in is the identity, which refreshed tokens share. The
    /// cache keeps only a digest of the text.
    var cacheIdentity: String? { get }

    /// Whether the server accepted the provider's credentials when it last received them. The default is false, for providers that don't
    /// record it.
    var isSessionOpened: Bool { get async }

    /// Discards the provider's state (tokens, nonces, accepted credentials), so that the next call starts from the beginning. The user's
    /// name and password are kept. The default does nothing, for providers without state.
    func invalidate() async
}

extension AuthenticationProvider {
    /// No text: the fields that the provider adds distinguish identities.
    public var cacheIdentity: String? { nil }

    /// The identity of the credentials that a request will get, for a cache's key.
    func partitionIdentity(for request: ServiceRequest, _ context: CallContext) async throws -> CachePartitions.Identity {
        if let text = cacheIdentity { return .named(SHA256.hexadecimal(of: text)) }
        let session = (self as? BearerTokenProvider)?.session
        if let text = await session?.knownSignIn() { return .signIn(SHA256.hexadecimal(of: text)) }
        var attempt = AuthenticationAttempt(request: request, target: .origin)
        try await authorize(&attempt, context: context)
        // It may have signed in.
        if let text = session?.signIn { return .signIn(SHA256.hexadecimal(of: text)) }
        return CachePartitions.additions(of: attempt.request, to: request)
    }

    /// Whether the response has the target's status of a refusal.
    public func isRefusal(_ response: TransportResponse, of attempt: AuthenticationAttempt) -> Bool {
        attempt.target.status == response.status
    }

    /// False.
    public var isSessionOpened: Bool { get async { false } }

    /// Does nothing.
    public func invalidate() async {}

    /// Returns the response unchanged.
    public func check(_ response: TransportResponse, attempt: AuthenticationAttempt, context: CallContext) async throws -> TransportResponse
    {
        response
    }
}

/// The requester of credentials: the server that the URL names, or a proxy in front of it (RFC 9110 §11.6 and §11.7).
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

    /// The field with the challenges.
    public var challengeField: HTTPFields.Name {
        switch self {
        case .origin: .wwwAuthenticate
        case .proxy: .proxyAuthenticate
        }
    }

    /// The field for the credentials.
    public var credentialsField: HTTPFields.Name {
        switch self {
        case .origin: .authorization
        case .proxy: .proxyAuthorization
        }
    }

    /// The field of a response to an authorized request with additional information (RFC 7615).
    public var infoField: HTTPFields.Name {
        switch self {
        case .origin: .authenticationInfo
        case .proxy: .proxyAuthenticationInfo
        }
    }
}

/// One transmission of a request as an ``AuthenticationProvider`` sees it: from before authorization until the response's head arrives.
public struct AuthenticationAttempt: Sendable {
    /// The request. Providers put their credentials into its ``AuthenticationTarget/credentialsField``.
    public var request: ServiceRequest

    /// The requester of the credentials.
    public let target: AuthenticationTarget

    /// The number of challenges of this target answered in this call so far; 0 for the first transmission.
    public internal(set) var round = 0

    /// State that the provider keeps until the response arrives, such as the token it used. Only the provider accesses it; nil at the
    /// start of a call.
    public var memo: (any Sendable)?

    /// Creates an attempt; the library creates one for each call and target, tests create their own.
    public init(request: ServiceRequest, target: AuthenticationTarget) {
        self.request = request
        self.target = target
    }

    /// Masks a secret of the request in all texts about the request and its response.
    ///
    /// Call it for a secret in the URL, and for one in a header field whose name doesn't mark it as secret: servers may repeat values.
    public mutating func mask(_ secret: String) {
        request.secrets = RequestSecrets.adding([secret], to: request.secrets)
    }

    /// Whether the request can be sent again: it has no body, or a replayable one.
    public var canRepeat: Bool { request.body?.isReplayable ?? true }

    /// Whether the credentials are for a proxy's tunnel, which has a separate request (RFC 9110 §9.3.6); the proxy doesn't see this one.
    public var isForTunnel: Bool { target == .proxy && request.origin?.scheme == "https" }

    /// The method that the target sees.
    public var seenMethod: ServiceRequest.Method { isForTunnel ? "CONNECT" : request.method }

    /// The request target that the server or proxy sees in the request line (RFC 9112 §3.2): path and query; for a proxy, the absolute
    /// URL, or a tunnel's authority.
    public var seenTarget: String {
        guard target == .proxy, let origin = request.origin else { return request.target }
        guard isForTunnel else { return origin.description + request.target }
        return origin.host.contains(":") ? "[\(origin.host)]:\(origin.port)" : "\(origin.host):\(origin.port)"
    }

    /// The key of the credentials: they are valid for one target of one origin.
    var scope: AuthenticationScope {
        AuthenticationScope(target: target, origin: request.origin)
    }
}

/// The party that accepted credentials. A proxy is the same for every origin.
struct AuthenticationScope: Hashable, Sendable {
    let target: AuthenticationTarget
    let origin: Origin?

    init(target: AuthenticationTarget, origin: Origin?) {
        self.target = target
        self.origin = target == .proxy ? nil : origin
    }
}

/// An error if credentials can't be sent or a response isn't accepted. It never contains a user's name, a password or a token.
public struct AuthenticationError: DescribedError, Hashable, Sendable {
    /// The kinds of failure, an open set.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The kind's name.
        public let rawValue: String
        /// Creates a kind with a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The kind's name.
        public var description: String { rawValue }

        /// The user's name has characters that the scheme can't represent.
        public static let unusableUserName = Self(rawValue: "unusableUserName")
        /// The password has characters that the scheme can't represent.
        public static let unusablePassword = Self(rawValue: "unusablePassword")
        /// A token, or the value of another header, has characters that aren't valid in a header.
        public static let unusableToken = Self(rawValue: "unusableToken")
        /// No token was obtained: the source of a ``BearerTokenProvider`` took longer than ``TokenSource/timeLimit``, or stopped.
        public static let tokenUnavailable = Self(rawValue: "tokenUnavailable")
        /// The provider changed the request's URL to another origin.
        public static let otherOrigin = Self(rawValue: "otherOrigin")
        /// The server requires the request's body to be signed or sent again, but the body can be read only once.
        public static let bodyNotReplayable = Self(rawValue: "bodyNotReplayable")
        /// The server didn't prove that it knows the password (RFC 7616 §3.5, `rspauth`).
        public static let serverNotProven = Self(rawValue: "serverNotProven")
        /// The server offers Digest only with weaker hashes than the provider accepts (RFC 7616 §5.10).
        public static let weakAlgorithm = Self(rawValue: "weakAlgorithm")
        /// The response's body exceeds the memory limit for checking it.
        public static let responseTooLarge = Self(rawValue: "responseTooLarge")
    }

    /// The kind of failure.
    public let kind: Kind

    /// A sentence that names the offender and the fix.
    public let message: String

    /// Creates an error of a kind; providers outside the library create their own kinds.
    public init(_ kind: Kind, message: String) {
        self.kind = kind
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}

/// A user's name and password for Basic and Digest, in normal form C as RFC 7616 §4 and RFC 7617 §2.1 require.
///
/// Descriptions, dumps and mirrors show neither.
struct UserCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let name: String
    let password: String

    init(name: String, password: String) {
        self.name = name.precomposedStringWithCanonicalMapping
        self.password = password.precomposedStringWithCanonicalMapping
    }

    /// A digest that distinguishes these credentials from others. It includes the password: a user without the password must not get the
    /// responses that were stored for it.
    var digest: String { SHA256.hexadecimal(of: "\(name.utf8.count):\(name)\(password)") }

    var description: String { "a user and a password" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
