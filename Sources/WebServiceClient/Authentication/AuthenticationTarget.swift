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
