import Foundation

/// A client of an OAuth 2.0 authorization server (RFC 6749): its identifier, the server's endpoints, and how the client authenticates
/// there.
///
///     var identity = OAuthClient(id: "shop", .basic(secret: secret), tokenEndpoint: "https://login.example.com/token")
///     identity.revocationEndpoint = "https://login.example.com/revoke"
///     $0.authenticationProvider = BearerTokenProvider(.clientCredentials(of: identity, scopes: ["orders.read"]))
///
/// The endpoints must be https URLs; http is accepted for loopback addresses only. Requests to them go directly to the transport: they
/// follow no redirects, since these would take the client's credentials elsewhere, and wait for no queue.
public struct OAuthClient: Sendable {
    /// The client's identifier.
    public var id: String
    /// How the client authenticates at the token and revocation endpoints.
    public var authentication: Authentication
    /// Where tokens are requested.
    public var tokenEndpoint: String
    /// Where users sign in with a browser. Needed for ``OAuthGrant/authorizationCode(of:scopes:path:open:)``.
    public var authorizationEndpoint: String?
    /// Where devices request codes (RFC 8628 §3.1). Needed for ``OAuthGrant/device(of:scopes:prompt:)``.
    public var deviceAuthorizationEndpoint: String?
    /// Where tokens are revoked (RFC 7009). `nil`: tokens are only discarded.
    public var revocationEndpoint: String?
    /// The server's issuer identifier. If it is set, an answer of the authorization endpoint must not name another one (RFC 9207).
    public var issuer: String?
    /// Further parameters of each authorization and token request, such as `audience` or `resource` (RFC 8707).
    public var parameters: [String: String] = [:]
    /// Sends the requests.
    public var transport: any Transport = DefaultTransport.shared
    /// The trusted authorities and pins; `nil` leaves them to the transport. The client's own certificate is
    /// ``Authentication/mutualTLS(_:)``.
    public var trust: TrustPolicy?
    /// The time limit of each request. Default 20 seconds.
    public var timeout = Duration.seconds(20)
    /// The clock of waits and lifetimes.
    let clock = CallClock.current

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - id: The client's identifier.
    ///   - authentication: How the client authenticates. Default: not at all, for apps and devices, which can't keep a secret.
    ///   - tokenEndpoint: Where tokens are requested.
    public init(id: String, _ authentication: Authentication = .none, tokenEndpoint: String) {
        self.id = id
        self.authentication = authentication
        self.tokenEndpoint = tokenEndpoint
    }

    /// How a client authenticates (RFC 6749 §2.3). Servers list what they accept as `token_endpoint_auth_methods_supported`.
    public struct Authentication: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        enum Method: Sendable {
            case none
            case basic(secret: String, isEncoded: Bool)
            case body(secret: String)
            case mutualTLS(ClientIdentity)
            case assertion(@Sendable (_ audience: String) async throws -> String)
        }

        let method: Method
        let name: String

        /// The client isn't authenticated; its identifier is sent in the body (`none`).
        public static let none = Self(method: .none, name: "none")

        /// By Basic with identifier and secret, each form-encoded first as RFC 6749 §2.3.1 requires (`client_secret_basic`).
        public static func basic(secret: String) -> Self {
            Self(method: .basic(secret: secret, isEncoded: true), name: "client_secret_basic")
        }

        /// By Basic with the unencoded identifier and secret, for servers that don't decode them. It differs from ``basic(secret:)`` only
        /// if they contain characters such as `+`, `%` or `:`.
        public static func basicUnencoded(secret: String) -> Self {
            Self(method: .basic(secret: secret, isEncoded: false), name: "client_secret_basic, unencoded")
        }

        /// By identifier and secret in the body (`client_secret_post`).
        public static func body(secret: String) -> Self { Self(method: .body(secret: secret), name: "client_secret_post") }

        /// By a certificate (RFC 8705, `tls_client_auth`). The transport needs ``TransportCapabilities/clientCertificates``.
        public static func mutualTLS(_ identity: ClientIdentity) -> Self {
            Self(method: .mutualTLS(identity), name: "tls_client_auth")
        }

        /// By a signed assertion (RFC 7523 §2.2, `private_key_jwt`).
        ///
        /// - Parameter sign: Returns a JWT for an audience, the token endpoint, with a new `jti`. The package has no code for RSA or
        ///   elliptic curves.
        public static func assertion(_ sign: @escaping @Sendable (_ audience: String) async throws -> String) -> Self {
            Self(method: .assertion(sign), name: "private_key_jwt")
        }

        /// The secrets that servers may repeat in their answers.
        var secrets: [String] {
            switch method {
            case .basic(let secret, _), .body(let secret): [secret]
            case .none, .mutualTLS, .assertion: []
            }
        }

        /// The method's name, without the secret.
        public var description: String { name }
        /// The same as ``description``.
        public var debugDescription: String { name }
        /// Hides the secret.
        public var customMirror: Mirror { Mirror(self, children: []) }
    }
}

extension OAuthClient: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The identifier, the method of authentication and the token endpoint.
    public var description: String { "OAuth client \(id) (\(authentication)) of \(SecretMask.text(ofURL: tokenEndpoint))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the secrets.
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "authentication": authentication.name]) }
}

// The requests.
extension OAuthClient {
    /// Requests a token.
    ///
    /// - Parameters:
    ///   - grant: The parameters of the grant, with `grant_type`.
    ///   - old: The token whose refresh token is used; it is kept if the answer has none (RFC 6749 §6).
    func token(_ grant: [(String, String)], replacing old: BearerToken? = nil) async throws -> BearerToken {
        let issued = clock.date()
        let secrets = grant.filter { $0.0 != "grant_type" && $0.0 != "scope" && $0.0 != "redirect_uri" }.map(\.1)
        let further = parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let (status, answer) = try await post(
            grant + further, to: tokenEndpoint, named: "token endpoint", secrets: secrets)
        guard let value = answer["access_token"]?.text, !value.isEmpty else {
            throw OAuthError(.unreadableAnswer, status: status, detail: "The token endpoint's answer has no access_token.")
        }
        // Some servers omit the type.
        if let type = answer["token_type"]?.text, !type.isEmpty, type.lowercased() != "bearer" {
            let shown = SecretMask.text(type, of: RequestSecrets.adding(secrets + authentication.secrets + [value], to: nil)).prefix(40)
            throw OAuthError(
                .unreadableAnswer, status: status, detail: "The token's type is \(shown), but only bearer tokens are supported.")
        }
        let refreshToken = answer["refresh_token"]?.text
        var token = BearerToken(
            value, lifetime: answer["expires_in"]?.number.flatMap(BearerToken.lifetime(ofSeconds:)), issuedAt: issued,
            refreshToken: refreshToken?.isEmpty == false ? refreshToken : old?.refreshToken,
            scopes: answer["scope"]?.text.map(BearerToken.scopes(in:)) ?? old?.scopes ?? [])
        token.signIn = old?.signIn ?? UUID().uuidString
        return token
    }

    /// Requests a token with a refresh token. Its cancellation doesn't end the request: if the answer is lost, so is the session.
    func refresh(_ old: BearerToken, scopes: [String]) async throws -> BearerToken {
        guard let refreshToken = old.refreshToken else {
            throw OAuthError(.signInRequired, detail: "There is no refresh token, so the user must sign in.")
        }
        var grant = [("grant_type", "refresh_token"), ("refresh_token", refreshToken)]
        if !scopes.isEmpty { grant.append(("scope", scopes.joined(separator: " "))) }
        let parameters = grant
        return try await Task.detached { try await self.token(parameters, replacing: old) }.value
    }

    /// Asks the server to revoke a token (RFC 7009 §2): the refresh token, or the access token if the grant has no refresh token.
    ///
    /// - Throws: ``OAuthError``, ``TransportError``. Without a revocation endpoint, it does nothing.
    public func revoke(_ token: BearerToken) async throws {
        guard let revocationEndpoint else { return }
        let (text, hint) = token.refreshToken.map { ($0, "refresh_token") } ?? (token.value, "access_token")
        _ = try await post(
            [("token", text), ("token_type_hint", hint)], to: revocationEndpoint, named: "revocation endpoint", secrets: [text],
            needsAnswer: false)
    }

    /// A member of an answer.
    enum Member: Sendable {
        case text(String)
        case number(Double)

        var text: String? { if case .text(let text) = self { text } else { nil } }
        /// The number; some servers send it as a string.
        var number: Double? {
            switch self {
            case .text(let text): Double(text)
            case .number(let number): number
            }
        }
    }

    /// The maximum size in bytes of an answer.
    private static let answerLimit = 256 * 1024

    /// Sends a form to an endpoint and returns the members of its answer.
    ///
    /// - Parameters:
    ///   - secrets: The secrets in the form.
    ///   - needsAnswer: Whether an answer without a body is an error.
    func post(
        _ form: [(String, String)], to endpoint: String, named name: String, secrets: [String], needsAnswer: Bool = true
    ) async throws -> (status: Int, members: [String: Member]) {
        let url = try Self.url(endpoint, name)
        let (request, secrets) = try await request(form, to: url, secrets)
        try request.timeouts.check(transport.capabilities)
        try request.checkTrust(transport.capabilities)
        let response: TransportResponse
        do {
            response = try await transport.send(request)
        } catch let error as TransportError where error.isUnprocessed {
            // The server hasn't seen the refresh token.
            response = try await transport.send(request)
        }
        guard !(300..<400).contains(response.status) else {
            response.body.cancel()
            let target = response.headers["Location"].flatMap { URL(string: $0, relativeTo: url) }.flatMap { Origin($0.absoluteURL) }
            throw OAuthError(
                .redirected, status: response.status,
                detail: "The \(name) redirects to \(target?.description ?? "another URL"), which the client's credentials don't follow: "
                    + "set the endpoint to its final URL.", secrets: secrets)
        }
        let body: Data
        do {
            body = try await response.body.collect(upTo: Self.answerLimit)
        } catch is ResponseBodyTooLarge {
            throw OAuthError(.unreadableAnswer, status: response.status, detail: "The answer of the \(name) is larger than 256 KiB.")
        }
        let members = Self.members(of: body) ?? Self.members(ofForm: body, response.headers[.contentType])
        let isSuccess = (200..<300).contains(response.status)
        let isFault = response.status >= 500 || response.status == 429
        let wait = isFault ? RetryAfter.delay(in: response.headers, from: clock.date()) : nil
        // Some servers answer errors with 200.
        if let code = members?["error"]?.text, !code.isEmpty {
            throw OAuthError(
                .init(rawValue: code), status: response.status, detail: members?["error_description"]?.text,
                uri: members?["error_uri"]?.text, secrets: secrets, retryAfter: wait)
        }
        guard isSuccess else {
            let advice =
                wait.map { "it asks to wait for \($0.text)" } ?? (isFault ? "try again later" : "check the client's identifier and secret")
            throw OAuthError(
                .refused, status: response.status, detail: "The \(name) gives no reason: \(advice).", retryAfter: wait)
        }
        guard let members else {
            guard needsAnswer else { return (response.status, [:]) }
            throw OAuthError(.unreadableAnswer, status: response.status, detail: "The answer of the \(name) isn't a JSON object.")
        }
        return (response.status, members)
    }

    private func request(
        _ form: [(String, String)], to url: URL, _ secrets: [String]
    ) async throws -> (ServiceRequest, secrets: [String]) {
        var form = form
        var secrets = secrets + authentication.secrets
        var headers: HTTPFields = ["Accept": "application/json"]
        var trust = trust
        switch authentication.method {
        case .none:
            form.append(("client_id", id))
        case .basic(let secret, let isEncoded):
            let pair = isEncoded ? "\(Self.encoded(id)):\(Self.encoded(secret))" : "\(id):\(secret)"
            let value = Data(pair.utf8).base64EncodedString()
            headers[.authorization] = "Basic " + value
            secrets.append(value)
        case .body(let secret):
            form += [("client_id", id), ("client_secret", secret)]
        case .mutualTLS(let identity):
            form.append(("client_id", id))
            var policy = trust ?? TrustPolicy()
            policy.identity = identity
            trust = policy
        case .assertion(let sign):
            let assertion = try await sign(tokenEndpoint)
            secrets.append(assertion)
            form += [
                ("client_id", id), ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", assertion),
            ]
        }
        let text = URLEncoding.form(form.map { (name: $0.0, value: $0.1) })
        var request = ServiceRequest(
            method: .post, url: url, headers: headers,
            body: RequestBody(Data(text.utf8), contentType: "application/x-www-form-urlencoded"))
        let limit = max(.zero, timeout.bounded)
        request.timeouts = ServiceTimeouts(firstByte: limit, idle: limit, total: limit)
        request.end = MonotonicInstant.now.advanced(by: limit)
        request.trust = trust
        request.secrets = RequestSecrets.adding(secrets, to: nil)
        return (request, secrets)
    }

    /// Encodes a part of Basic. A space is `%20`, which every decoder of forms reads, because some servers, such as Authlib, only undo
    /// percent-encoding.
    private static func encoded(_ text: String) -> String {
        URLEncoding.formField(text).replacing("+", with: "%20")
    }

    /// Returns the URL of an endpoint.
    ///
    /// - Throws: ``OAuthError/Code/badEndpoint`` if credentials can't be sent there.
    static func url(_ endpoint: String, _ name: String) throws -> URL {
        let shown = SecretMask.text(ofURL: endpoint)
        guard let url = URL(string: endpoint), let origin = Origin(url), url.fragment == nil, url.user == nil else {
            throw OAuthError(.badEndpoint, detail: "The \(name) \"\(shown)\" isn't an absolute URL without user and fragment.")
        }
        guard origin.scheme == "https" || origin.scheme == "http" && IPAddress.isLoopback(origin.host) else {
            throw OAuthError(.badEndpoint, detail: "The \(name) \(shown) isn't protected: use https.")
        }
        return url
    }

    /// The members of a form, in which older servers answer.
    private static func members(ofForm body: Data, _ type: String?) -> [String: Member]? {
        guard type.flatMap({ MediaType($0) })?.essence == "application/x-www-form-urlencoded",
            let pairs = URLEncoding.parseForm(String(decoding: body, as: UTF8.self))
        else { return nil }
        return Dictionary(pairs.map { ($0.name, .text($0.value ?? "")) }) { first, _ in first }
    }

    private static func members(of body: Data) -> [String: Member]? {
        guard let object = try? JSONSerialization.jsonObject(with: body) as? [String: Any] else { return nil }
        var members: [String: Member] = object.compactMapValues { value in
            switch value {
            case let text as String: .text(text)
            case let number as NSNumber: .number(number.doubleValue)
            default: nil
            }
        }
        // Some services, such as Facebook and Google, send an object in place of the code and its text.
        if let error = object["error"] as? [String: Any] {
            let code = ["status", "code", "type"].compactMap { error[$0] as? String }.first { !$0.isEmpty }
            members["error"] = .text(code ?? OAuthError.Code.refused.rawValue)
            if let text = error["message"] as? String, members["error_description"] == nil { members["error_description"] = .text(text) }
        }
        return members
    }
}
