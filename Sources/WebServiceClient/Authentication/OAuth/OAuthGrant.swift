public import Foundation

/// A grant of OAuth 2.0 (RFC 6749 §1.3) as a source of tokens.
///
///     BearerTokenProvider(.clientCredentials(of: identity, scopes: ["orders.read"]))
///     BearerTokenProvider(.refreshToken(saved, of: identity))
///     BearerTokenProvider(.device(of: identity) { prompt in print("Open \(prompt.verificationURL) and enter \(prompt.userCode)") })
///     BearerTokenProvider(.authorizationCode(of: identity) { url in await NSWorkspace.shared.open(url) })
///
/// Grants with a user refresh the token while they have a refresh token that the server accepts. Then the user signs in again.
public struct OAuthGrant: TokenSource {
    /// Obtains a token without a refresh token.
    fileprivate enum SignIn: Sendable {
        /// Without a user, and without refresh tokens.
        case client
        /// With the user, who may take until the limit.
        case user(limit: Duration, @Sendable () async throws -> BearerToken)
        /// With a refresh token from elsewhere, until the server has taken or refused it.
        case saved(String, isUsed: Locked<Bool>)
    }

    private let client: OAuthClient
    private let scopes: [String]
    private let signIn: SignIn
    /// The text that distinguishes the client's own tokens from others; `nil` for a user's, which each sign-in distinguishes.
    let ownSignIn: String?

    fileprivate init(_ client: OAuthClient, _ scopes: [String], _ signIn: SignIn) {
        self.client = client
        self.scopes = scopes
        self.signIn = signIn
        if case .client = signIn {
            let further = client.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            ownSignIn = SHA256.hexadecimal(of: ([client.tokenEndpoint, client.id] + scopes + further).joined(separator: "\n"))
        } else {
            ownSignIn = nil
        }
    }

    /// Refreshes the token, or obtains the first one.
    ///
    /// - Throws: ``OAuthError``, ``TransportError``, the errors of the closures.
    public func token(replacing old: BearerToken?) async throws -> BearerToken {
        var old = old
        switch signIn {
        case .client:
            return try await client.token([("grant_type", "client_credentials")] + scopeParameter)
        case .saved(let token, let isUsed):
            let takesSaved = old?.refreshToken == nil && !isUsed.withLock { $0 }
            if takesSaved { old = BearerToken("", refreshToken: token) }
            do {
                let new = try await client.refresh(old ?? BearerToken(""), scopes: scopes)
                if takesSaved { isUsed.withLock { $0 = true } }
                return new
            } catch let error as OAuthError where error.code == .invalidGrant {
                // After any other failure, such as without a network, the token is still the session's.
                if takesSaved { isUsed.withLock { $0 = true } }
                throw error
            }
        case .user(_, let obtain):
            guard let old, old.refreshToken != nil else { return try await obtain() }
            do {
                return try await client.refresh(old, scopes: [])
            } catch let error as OAuthError where error.code == .invalidGrant {
                return try await obtain()
            }
        }
    }

    /// Asks the server to revoke a token (RFC 7009).
    public func revoke(_ token: BearerToken) async throws { try await client.revoke(token) }

    /// The time for two requests; with a user, the time for signing in.
    public var timeLimit: Duration {
        switch signIn {
        case .client, .saved: max(.seconds(1), client.timeout.bounded * 2)
        case .user(let limit, _): limit
        }
    }

    private var scopeParameter: [(String, String)] {
        scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))]
    }
}

// The grants.
extension OAuthGrant {
    /// The client's own credentials (RFC 6749 §4.4), for programs that act for themselves.
    public static func clientCredentials(of client: OAuthClient, scopes: [String] = []) -> OAuthGrant {
        OAuthGrant(client, scopes, .client)
    }

    /// A refresh token (RFC 6749 §6), from a store or from elsewhere.
    ///
    /// - Parameters:
    ///   - token: The first refresh token. A stored one, which is newer, takes precedence. `nil`: the store has one.
    ///   - scopes: The scopes to request; empty for those that were granted.
    public static func refreshToken(_ token: String? = nil, of client: OAuthClient, scopes: [String] = []) -> OAuthGrant {
        OAuthGrant(client, scopes, .saved(token ?? "", isUsed: Locked(token == nil)))
    }

    /// The device flow (RFC 8628): the user enters a code in a browser on another device.
    ///
    /// - Parameter prompt: Shows the code and the address to the user. The flow continues when it returns.
    public static func device(
        of client: OAuthClient, scopes: [String] = [], prompt: @escaping @Sendable (DevicePrompt) async throws -> Void
    ) -> OAuthGrant {
        OAuthGrant(
            client, scopes,
            .user(limit: .seconds(30 * 60)) { try await DeviceAuthorization(client: client, scopes: scopes).token(prompt) })
    }

    /// The authorization code with PKCE (RFC 7636), received on a loopback address (RFC 8252 §7.3), for programs on the user's machine.
    ///
    /// - Parameters:
    ///   - path: The path of the redirect URI, for servers that require one. The port is a free one: the server must accept any.
    ///   - open: Opens a URL in the user's browser. An embedded browser could read the password (RFC 8252 §8.12).
    public static func authorizationCode(
        of client: OAuthClient, scopes: [String] = [], path: String = "/", open: @escaping @Sendable (URL) async throws -> Void
    ) -> OAuthGrant {
        OAuthGrant(
            client, scopes,
            .user(limit: AuthorizationCode.limit) {
                try await AuthorizationCode(client: client, scopes: scopes).token(onLoopback: path, open)
            })
    }

    /// The authorization code with PKCE (RFC 7636), received by the system for an app, such as by `ASWebAuthenticationSession`.
    ///
    /// - Parameters:
    ///   - redirect: The registered redirect URI, such as `com.example.app:/signed-in`.
    ///   - authorize: Opens a URL in the user's browser, and returns the URL that it was redirected to.
    public static func authorizationCode(
        of client: OAuthClient, scopes: [String] = [], redirect: String, authorize: @escaping @Sendable (URL) async throws -> URL
    ) -> OAuthGrant {
        OAuthGrant(
            client, scopes,
            .user(limit: AuthorizationCode.limit) {
                try await AuthorizationCode(client: client, scopes: scopes).token(redirect: redirect, authorize)
            })
    }
}

extension OAuthGrant: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The client, without secrets.
    public var description: String { "grant for \(client)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
