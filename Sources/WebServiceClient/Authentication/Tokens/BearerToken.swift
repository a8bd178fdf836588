public import Foundation

/// An access token with the information that its issuer sent about it (RFC 6749 §5.1).
///
/// Descriptions, dumps and mirrors don't show the tokens. The encoded form, which a ``TokenStore`` writes, contains them.
public struct BearerToken: Sendable, Hashable, Codable {
    /// The access token.
    public var value: String
    /// The time for which the token is valid, from ``issuedAt`` on; `nil` if it is unknown. Such a token is used until it is refused.
    public var lifetime: Duration?
    /// The date of the token's request. It is compared with the current date only if the token comes from a store; while the process runs,
    /// the monotonic clock counts.
    public var issuedAt: Date
    /// The token that requests the next access token; `nil` if there is none.
    public var refreshToken: String?
    /// The scopes that were granted; empty if the issuer didn't list them.
    public var scopes: [String]
    /// A text that distinguishes the sign-in that the token comes from; its refreshes keep it. `nil` if it is unknown.
    var signIn: String?

    /// Creates a token.
    public init(
        _ value: String, lifetime: Duration? = nil, issuedAt: Date = Date(), refreshToken: String? = nil, scopes: [String] = []
    ) {
        self.value = value
        self.lifetime = lifetime
        self.issuedAt = issuedAt
        self.refreshToken = refreshToken
        self.scopes = scopes
    }

    private enum CodingKeys: String, CodingKey {
        case value = "access_token"
        case lifetime = "expires_in"
        case issuedAt = "issued_at"
        case refreshToken = "refresh_token"
        case scopes = "scope"
        // No server sends this member, which separates the cached responses of users.
        case signIn = "web_service_client_sign_in"
    }

    /// Reads a token with the names of RFC 6749 §5.1, such as a server's answer. The seconds of `expires_in` may be a text, as some servers
    /// send them. `issued_at` has seconds since 1970; without it, the token is issued now.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        value = try container.decode(String.self, forKey: .value)
        let seconds =
            if let text = try? container.decodeIfPresent(String.self, forKey: .lifetime) { Double(text) } else {
                try container.decodeIfPresent(Double.self, forKey: .lifetime)
            }
        lifetime = seconds.flatMap(Self.lifetime(ofSeconds:))
        let issued = try container.decodeIfPresent(Double.self, forKey: .issuedAt)
        issuedAt = issued.map { Date(timeIntervalSince1970: $0) } ?? Date()
        refreshToken = try container.decodeIfPresent(String.self, forKey: .refreshToken)
        scopes = Self.scopes(in: try container.decodeIfPresent(String.self, forKey: .scopes) ?? "")
        // Only stores have this member.
        signIn = try? container.decode(String.self, forKey: .signIn)
    }

    /// Writes the token with the names of RFC 6749 §5.1, its issue date, and the sign-in that it comes from.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(value, forKey: .value)
        try container.encodeIfPresent(boundedLifetime.map { $0 / .seconds(1) }, forKey: .lifetime)
        try container.encode(issuedAt.timeIntervalSince1970, forKey: .issuedAt)
        try container.encodeIfPresent(refreshToken, forKey: .refreshToken)
        if !scopes.isEmpty { try container.encode(scopes.joined(separator: " "), forKey: .scopes) }
        try container.encodeIfPresent(signIn, forKey: .signIn)
    }

    /// The lifetime of an `expires_in` in seconds, limited to a hundred years; `nil` for numbers that aren't positive, which some servers
    /// send for tokens that don't expire.
    static func lifetime(ofSeconds seconds: Double) -> Duration? {
        guard seconds > 0 else { return nil }
        return .milliseconds(Int64((min(seconds, 100 * 366 * 86_400) * 1_000).rounded()))
    }

    /// The lifetime, from zero to a hundred years.
    var boundedLifetime: Duration? { lifetime.map { max(.zero, $0.bounded) } }

    /// The scopes in a list with spaces (RFC 6749 §3.3).
    static func scopes(in text: String) -> [String] {
        text.split(separator: " ").map(String.init)
    }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The lifetime and the scopes, without the tokens.
    public var description: String {
        let life = lifetime.map { "valid for \($0.text)" } ?? "of unknown lifetime"
        return "access token \(life)" + (refreshToken == nil ? "" : ", with a refresh token")
            + (scopes.isEmpty ? "" : ", scopes \(scopes.joined(separator: " "))")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the tokens.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Obtains access tokens for a ``BearerTokenProvider``: an ``OAuthGrant``, or a custom type or actor.
///
///     actor Sessions: TokenSource {
///         func token(replacing old: BearerToken?) async throws -> BearerToken {
///             let session = try await login.session(user: user, password: password)
///             return BearerToken(session.id, lifetime: .seconds(1800))
///         }
///     }
public protocol TokenSource: Sendable {
    /// Obtains a token. The provider makes one call at a time, in a separate task. The task is cancelled when no call waits for the token
    /// any more, or when ``timeLimit`` has passed. It stores the token before it uses it.
    ///
    /// - Parameter old: The token that has expired or was refused, with its refresh token; `nil` if there was none.
    /// - Throws: An error that ends all calls that wait for the token.
    func token(replacing old: BearerToken?) async throws -> BearerToken

    /// Asks the issuer to revoke a token. The default does nothing.
    func revoke(_ token: BearerToken) async throws

    /// The time after which calls don't wait for a token any more. Default 30 seconds; a source that asks the user needs longer.
    var timeLimit: Duration { get }
}

extension TokenSource {
    /// Does nothing.
    public func revoke(_ token: BearerToken) async throws {}

    /// 30 seconds.
    public var timeLimit: Duration { .seconds(30) }
}

/// A token source that is a closure.
struct ClosureTokenSource: TokenSource {
    let obtain: @Sendable (_ old: BearerToken?) async throws -> BearerToken

    func token(replacing old: BearerToken?) async throws -> BearerToken { try await obtain(old) }
}

/// A token source with one token.
struct FixedTokenSource: TokenSource {
    let token: BearerToken

    func token(replacing old: BearerToken?) async throws -> BearerToken { token }
}
