import Foundation

/// Proof Key for Code Exchange (RFC 7636): only the program that began the sign-in can use its code.
struct ProofKey: Sendable {
    /// The secret, 43 unreserved characters (§4.1).
    let verifier: String

    init(verifier: String) {
        self.verifier = verifier
    }

    /// Creates a random key.
    static func random() -> ProofKey { ProofKey(verifier: text(ofRandomBytes: 32)) }

    /// The challenge of the method `S256` (§4.2).
    var challenge: String { Self.base64URL(MessageDigest.sha256(of: verifier.utf8)) }

    /// Random bytes as Base64 for URLs, also for `state`.
    static func text(ofRandomBytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return base64URL((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Base64 for URLs without padding (RFC 7636, Appendix A).
    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// The grant of an authorization code with PKCE (RFC 6749 §4.1, RFC 7636, RFC 8252).
struct AuthorizationCode: Sendable {
    let client: OAuthClient
    let scopes: [String]

    /// The time that a user may take to sign in.
    static let limit = Duration.seconds(10 * 60)

    /// Signs in with a browser that is redirected to a loopback address.
    func token(onLoopback path: String, _ open: @Sendable (URL) async throws -> Void) async throws -> BearerToken {
        let receiver = try LoopbackReceiver(path: path)
        defer { receiver.close() }
        return try await token(redirect: receiver.redirectURI) { url, state in
            try await open(url)
            return try await receiver.answer { Self.parameters(of: $0)?["state"] == state }
        }
    }

    /// Signs in with a browser whose redirect the system delivers.
    func token(redirect: String, _ authorize: @Sendable (URL) async throws -> URL) async throws -> BearerToken {
        try await token(redirect: redirect) { url, _ in try await authorize(url).absoluteString }
    }

    private func token(
        redirect: String, _ authorize: @Sendable (_ url: URL, _ state: String) async throws -> String
    ) async throws -> BearerToken {
        let key = ProofKey.random()
        let state = ProofKey.text(ofRandomBytes: 16)
        let answer = try await authorize(try url(key, state: state, redirect: redirect), state)
        let code = try code(in: answer, state: state, verifier: key.verifier)
        return try await client.token([
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect), ("code_verifier", key.verifier),
        ])
    }

    /// The page on which the user signs in (RFC 6749 §4.1.1).
    func url(_ key: ProofKey, state: String, redirect: String) throws -> URL {
        guard let endpoint = client.authorizationEndpoint else {
            throw OAuthError(.badEndpoint, detail: "The OAuth client has no authorizationEndpoint. Set it.")
        }
        let name = "authorization endpoint"
        _ = try OAuthClient.url(endpoint, name)
        var query: [(name: String, value: String?)] = [
            ("response_type", "code"), ("client_id", client.id), ("redirect_uri", redirect), ("state", state),
            ("code_challenge", key.challenge), ("code_challenge_method", "S256"),
        ]
        if !scopes.isEmpty { query.append(("scope", scopes.joined(separator: " "))) }
        query += client.parameters.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        // If the endpoint has a query, the query is kept (§3.1).
        guard let url = URL(string: endpoint + (endpoint.contains("?") ? "&" : "?") + URLEncoding.query(query)) else {
            throw OAuthError(.badEndpoint, detail: "The \(name) and its parameters form no URL.")
        }
        return url
    }

    /// Returns the code of an answer (RFC 6749 §4.1.2).
    ///
    /// - Parameter answer: The URL or request target that the browser was redirected to.
    func code(in answer: String, state: String, verifier: String) throws -> String {
        guard let parameters = Self.parameters(of: answer) else {
            throw OAuthError(.unreadableAnswer, detail: "The sign-in's answer has an invalid query.")
        }
        guard parameters["state"] == state else {
            throw OAuthError(.foreignAnswer, detail: "The sign-in's answer doesn't have the state of the request: it may be forged.")
        }
        if let expected = client.issuer, let issuer = parameters["iss"], issuer != expected {
            throw OAuthError(.foreignAnswer, detail: "The sign-in's answer comes from another issuer, \(issuer) (RFC 9207).")
        }
        if let error = parameters["error"] {
            throw OAuthError(
                .init(rawValue: error), detail: parameters["error_description"], uri: parameters["error_uri"], secrets: [state, verifier])
        }
        guard let code = parameters["code"], !code.isEmpty else {
            throw OAuthError(.unreadableAnswer, detail: "The sign-in's answer has no code.")
        }
        return code
    }

    /// The parameters in the query of a URL or request target; `nil` if its escapes are invalid. A parameter that occurs twice is invalid
    /// (§3.1).
    static func parameters(of answer: String) -> [String: String]? {
        guard let question = answer.firstIndex(of: "?") else { return [:] }
        let query = answer[answer.index(after: question)...].prefix { $0 != "#" }
        guard let pairs = URLEncoding.parseForm(String(query)) else { return nil }
        var parameters: [String: String] = [:]
        for (name, value) in pairs {
            guard parameters.updateValue(value ?? "", forKey: name) == nil else { return nil }
        }
        return parameters
    }
}
