/// A credential for a ``SecurityScheme`` of a service. The scheme determines where the credential is sent.
///
///     let client = Petstore(profile: petstore) {
///         $0.credentials["api_key"] = .key(key)
///         $0.credentials["petstore_auth"] = .provider(BearerTokenProvider { … })
///     }
///
/// Descriptions and dumps never show it.
public struct SecurityCredential: Sendable {
    enum Kind: Sendable {
        case key(String)
        case basic(user: String, password: String)
        case provider(any AuthenticationProvider)
        case elsewhere
    }

    let kind: Kind

    /// A key or a token. It is sent in the place that an API key scheme specifies, and as a bearer token for other schemes.
    public static func key(_ key: String) -> SecurityCredential { SecurityCredential(kind: .key(key)) }

    /// A user and a password, for the HTTP schemes Basic and Digest.
    public static func basic(user: String, password: String) -> SecurityCredential {
        SecurityCredential(kind: .basic(user: user, password: password))
    }

    /// A provider, which decides itself where its credentials go.
    public static func provider(_ provider: any AuthenticationProvider) -> SecurityCredential {
        SecurityCredential(kind: .provider(provider))
    }

    /// A credential that the client sends in another way: a client certificate, a cookie of its jar, or a header of its configuration.
    public static let sentElsewhere = SecurityCredential(kind: .elsewhere)

    /// The provider for a scheme; `nil` if the credential is sent in another way.
    ///
    /// - Throws: ``AuthenticationError`` if the credential doesn't fit the scheme.
    func provider(for scheme: SecurityScheme) throws -> (any AuthenticationProvider)? {
        switch (kind, scheme.kind) {
        case (.elsewhere, _): return nil
        case (.provider(let provider), _): return provider
        case (.key(let key), .apiKey(let name, .header)): return APIKeyProvider(header: HTTPFields.Name(name), key: key)
        case (.key(let key), .apiKey(let name, .query)): return APIKeyProvider(query: name, key: key)
        case (.key(let key), .apiKey(let name, .cookie)): return APIKeyProvider(cookie: name, key: key)
        case (.key(let key), .http(let name)) where name != "basic" && name != "digest":
            return APIKeyProvider(header: .authorization, key: Self.scheme(name) + " " + key)
        case (.key(let key), .oauth2), (.key(let key), .openIDConnect):
            return APIKeyProvider(header: .authorization, key: "Bearer " + key)
        case (.basic(let user, let password), .http("basic")): return BasicAuthenticationProvider(user: user, password: password)
        case (.basic(let user, let password), .http("digest")): return DigestAuthenticationProvider(user: user, password: password)
        default:
            throw AuthenticationError(
                .unfitCredential,
                message:
                    "The credential for \(scheme) has another kind: use .key for keys and tokens, .basic for a user and a password, and "
                    + ".provider for others.")
        }
    }

    private static func scheme(_ name: String) -> String { name == "bearer" ? "Bearer" : name }
}

extension SecurityCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, without the secret.
    public var description: String {
        switch kind {
        case .key: "a key"
        case .basic: "a user and a password"
        case .provider(let provider): MaskedMirror.typeName(of: provider)
        case .elsewhere: "sent elsewhere"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Hides the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension AuthenticationError.Kind {
    /// A credential of a client has another kind than the scheme that it is for.
    public static let unfitCredential = Self(rawValue: "unfitCredential")
}
