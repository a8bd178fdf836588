import Foundation

/// A failure at an authorization server: an error that it answers (RFC 6749 §5.2), or an answer that can't be accepted. It never contains a
/// token, a code or a client's secret.
public struct OAuthError: DescribedError, Sendable, Hashable {
    /// The kinds of failure, an open set. Those that servers send have the names of the RFCs.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code as on the wire.
        public let rawValue: String
        /// Creates a code with a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code as on the wire.
        public var description: String { rawValue }

        /// The request is malformed.
        public static let invalidRequest = Self(rawValue: "invalid_request")
        /// The client isn't known, or its authentication failed.
        public static let invalidClient = Self(rawValue: "invalid_client")
        /// The code or the refresh token is invalid, expired, revoked or already used: the user must sign in again.
        public static let invalidGrant = Self(rawValue: "invalid_grant")
        /// The client may not use this grant.
        public static let unauthorizedClient = Self(rawValue: "unauthorized_client")
        /// The server doesn't know the grant.
        public static let unsupportedGrantType = Self(rawValue: "unsupported_grant_type")
        /// A scope is unknown or exceeds what the user granted.
        public static let invalidScope = Self(rawValue: "invalid_scope")
        /// The user or the server refused (RFC 6749 §4.1.2.1, RFC 8628 §3.5).
        public static let accessDenied = Self(rawValue: "access_denied")
        /// The device code or the sign-in has expired (RFC 8628 §3.5).
        public static let expiredToken = Self(rawValue: "expired_token")
        /// The user hasn't finished signing in on another device (RFC 8628 §3.5). The device grant waits and doesn't throw it.
        public static let authorizationPending = Self(rawValue: "authorization_pending")
        /// The client polls too often (RFC 8628 §3.5). The device grant waits longer and doesn't throw it.
        public static let slowDown = Self(rawValue: "slow_down")
        /// The server can't answer for now.
        public static let temporarilyUnavailable = Self(rawValue: "temporarily_unavailable")

        // Not on the wire:

        /// The server refused with a status only.
        public static let refused = Self(rawValue: "refused")
        /// The answer isn't a token's, or is of another type than bearer.
        public static let unreadableAnswer = Self(rawValue: "unreadableAnswer")
        /// The server answered with a redirect, which would take the client's credentials elsewhere.
        public static let redirected = Self(rawValue: "redirected")
        /// An endpoint is missing, isn't an absolute URL, or has neither https nor a loopback address.
        public static let badEndpoint = Self(rawValue: "badEndpoint")
        /// The refresh token is missing or isn't valid any more: the user must sign in again.
        public static let signInRequired = Self(rawValue: "signInRequired")
        /// The answer of the sign-in doesn't belong to this request: its `state` or its issuer differs (RFC 6749 §10.12, RFC 9207).
        public static let foreignAnswer = Self(rawValue: "foreignAnswer")
    }

    /// The kind of failure.
    public let code: Code
    /// The status of the answer; `nil` if there was none.
    public let status: Int?
    /// The server's or the library's text about the failure, with secrets masked.
    public let detail: String?
    /// A page about the failure, with secrets masked (`error_uri`).
    public let uri: String?
    /// The time that the server asks to wait before the next request (`Retry-After`, RFC 9110 §10.2.3), at most an hour; `nil` if it asks
    /// for none.
    public let retryAfter: Duration?

    /// Creates an error. Texts are masked and cut.
    ///
    /// - Parameter secrets: The secrets of the request, which the server may repeat.
    init(
        _ code: Code, status: Int? = nil, detail: String? = nil, uri: String? = nil, secrets: [String] = [], retryAfter: Duration? = nil
    ) {
        let hidden = RequestSecrets.adding(secrets, to: nil)
        // Masked first: a secret that is cut isn't recognized. The size of the server's answer bounds the work.
        func shown(_ text: String) -> String { VisibleText.of(String(SecretMask.text(text, of: hidden).prefix(500))) }
        self.code = Code(rawValue: shown(code.rawValue))
        self.status = status
        self.detail = detail.map(shown)
        self.uri = uri.map { VisibleText.of(String(SecretMask.text(ofURL: $0, of: hidden).prefix(500))) }
        self.retryAfter = retryAfter
    }

    /// The kind, the server's text and the page.
    public var description: String {
        let answer = status.map { "The authorization server refused with \($0)" } ?? "The authorization failed"
        return "\(answer) (\(code))" + (detail.map { ": \($0)" } ?? "") + (uri.map { " See \($0)" } ?? "")
    }
}
