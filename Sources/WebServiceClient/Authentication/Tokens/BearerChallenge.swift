/// The refusal of a bearer token (RFC 6750 §3).
struct BearerChallenge: Sendable, Hashable {
    /// The error code, such as `invalid_token`; `nil` if the server sends none, as for a request without a token.
    let error: String?
    /// The server's text about the error.
    let detail: String?
    /// The scopes that the request requires.
    let scopes: [String]

    /// Creates the refusal of a list of challenges; returns `nil` if none of them is for bearer tokens.
    init?(in challenges: [AuthenticationChallenge]) {
        // If there are several, the one with an error is used.
        let own = challenges.filter { $0.isScheme("Bearer") }
        guard let challenge = own.first(where: { $0["error"] != nil }) ?? own.first else { return nil }
        error = challenge["error"]?.lowercased()
        detail = challenge["error_description"]
        scopes = BearerToken.scopes(in: challenge["scope"] ?? "")
    }

    /// Returns the error of a token that is valid, but doesn't permit the request; `nil` for other refusals. Another token from the same
    /// source doesn't help.
    ///
    /// - Parameter token: The token that was sent, which the server may repeat.
    func insufficientScope(of token: String?) -> InsufficientScopeError? {
        guard error == "insufficient_scope" else { return nil }
        return InsufficientScopeError(scopes: scopes, detail: detail, secrets: RequestSecrets.adding(token.map { [$0] } ?? [], to: nil))
    }

    /// Whether the request itself is at fault: another token doesn't help.
    var isInvalidRequest: Bool { error == "invalid_request" }
}

/// The server states that the access token doesn't have the scopes that the request requires (RFC 6750 §3.1, `insufficient_scope`).
public struct InsufficientScopeError: DescribedError, Sendable, Hashable {
    /// The required scopes; empty if the server doesn't name them.
    public let scopes: [String]
    /// The server's text, with secrets masked; `nil` if it sends none.
    public let detail: String?

    init(scopes: [String], detail: String?, secrets: RequestSecrets?) {
        // Masked first: a secret that is cut isn't recognized.
        self.scopes = scopes.prefix(50).map { VisibleText.of(String(SecretMask.text($0, of: secrets).prefix(200))) }
        self.detail = detail.map { VisibleText.of(String(SecretMask.text($0, of: secrets).prefix(500))) }
    }

    /// The required scopes and the fix.
    public var description: String {
        let required = scopes.isEmpty ? "further scopes" : "the scope \"\(scopes.joined(separator: " "))\""
        return "The access token doesn't permit the request, which requires \(required): request a token with them."
            + (detail.map { " The server says: \($0)" } ?? "")
    }
}
