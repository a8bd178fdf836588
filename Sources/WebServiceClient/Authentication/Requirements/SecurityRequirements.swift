/// A named way to authenticate that a service describes (OpenAPI 3.1.1, "Security Scheme Object"): a key in a header, an HTTP scheme,
/// OAuth.
public struct SecurityScheme: Sendable, Hashable, CustomStringConvertible {
    /// The places of a key.
    public enum Place: String, Sendable, Hashable, Codable, CaseIterable {
        /// A header field.
        case header
        /// A query item.
        case query
        /// A cookie.
        case cookie
    }

    /// The kinds of schemes.
    public enum Kind: Sendable, Hashable {
        /// A key with a name at a place.
        case apiKey(name: String, in: Place)
        /// A scheme of `Authorization` in lower case, such as `basic` or `bearer`.
        case http(scheme: String)
        /// OAuth 2.0.
        case oauth2
        /// OpenID Connect, with the URL of the discovery document.
        case openIDConnect(url: String)
        /// The client's certificate: see ``TrustPolicy``.
        case mutualTLS
        /// A kind that this library doesn't know, or a scheme that the document doesn't describe.
        case unknown(String)
    }

    /// The scheme's name in the document, by which a client's credentials refer to it.
    public let name: String
    /// The kind.
    public let kind: Kind

    /// Creates a scheme.
    public init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// The name and the kind.
    public var description: String {
        switch kind {
        case .apiKey(let key, let place): "\(name) (\(place.rawValue) \(key))"
        case .http(let scheme): "\(name) (HTTP \(scheme))"
        case .oauth2: "\(name) (OAuth 2.0)"
        case .openIDConnect: "\(name) (OpenID Connect)"
        case .mutualTLS: "\(name) (client certificate)"
        case .unknown(let kind): "\(name) (\(kind))"
        }
    }
}

extension SecurityScheme.Kind {
    /// Reads the kind in the description of a scheme. The URL of OpenID Connect isn't in it, and an unknown kind may have any text, so that
    /// both aren't read.
    fileprivate init?(described text: Substring) {
        if text == "OAuth 2.0" {
            self = .oauth2
        } else if text == "client certificate" {
            self = .mutualTLS
        } else if let (word, name) = text.divided(by: " "), HTTPFields.Name.isToken(String(name)) {
            if word == "HTTP" {
                self = .http(scheme: String(name))
            } else if let place = SecurityScheme.Place(rawValue: String(word)) {
                self = .apiKey(name: String(name), in: place)
            } else {
                return nil
            }
        } else {
            return nil
        }
    }
}

extension SecurityScheme: Codable {
    // A member `apiKey` would be taken for a secret, and its value masked.
    private enum CodingKeys: String, CodingKey {
        case name, type, detail, place = "in"
    }

    /// Reads a scheme.
    ///
    /// - Throws: `DecodingError`, also if the type isn't known.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func detail() throws -> String { try container.decode(String.self, forKey: .detail) }
        let kind: Kind =
            switch try container.decode(String.self, forKey: .type) {
            case "apiKey": .apiKey(name: try detail(), in: try container.decode(Place.self, forKey: .place))
            case "http": .http(scheme: try detail())
            case "oauth2": .oauth2
            case "openIdConnect": .openIDConnect(url: try detail())
            case "mutualTLS": .mutualTLS
            case "unknown": .unknown(try detail())
            default:
                throw DecodingError.dataCorruptedError(forKey: .type, in: container, debugDescription: "The type isn't known.")
            }
        self.init(name: try container.decode(String.self, forKey: .name), kind: kind)
    }

    /// Writes the scheme, with the types of OpenAPI, or `unknown`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        let (type, detail): (String, String?) =
            switch kind {
            case .apiKey(let name, _): ("apiKey", name)
            case .http(let scheme): ("http", scheme)
            case .oauth2: ("oauth2", nil)
            case .openIDConnect(let url): ("openIdConnect", url)
            case .mutualTLS: ("mutualTLS", nil)
            case .unknown(let kind): ("unknown", kind)
            }
        try container.encode(type, forKey: .type)
        try container.encodeIfPresent(detail, forKey: .detail)
        if case .apiKey(_, let place) = kind { try container.encode(place, forKey: .place) }
    }
}

/// The schemes with which an endpoint's calls authenticate: an attribute (OpenAPI 3.1.1, "Security Requirement Object").
///
/// The client fills them from ``WebServiceClient/WebServiceClient/Configuration/credentials``: the first alternative of which it has all
/// credentials. If it has none for any alternative, its
/// ``WebServiceClient/WebServiceClient/Configuration/authenticationProvider`` authorizes the call.
///
///     "me()": .get("/me").attribute(SecurityRequirements([[bearer], [key, signature]]))     // bearer, or key and signature
///     "status()": .get("/status").attribute(SecurityRequirements([]))                       // no credentials
public struct SecurityRequirements: EndpointAttribute, DecisiveAttribute, PortableAttribute, Hashable, Codable, CustomStringConvertible {
    /// A scheme with the scopes or roles that the endpoint needs.
    public struct Requirement: Sendable, Hashable, Codable, CustomStringConvertible {
        /// The scheme.
        public let scheme: SecurityScheme
        /// The scopes or roles.
        public let scopes: [String]

        /// Creates a requirement.
        public init(_ scheme: SecurityScheme, scopes: [String] = []) {
            self.scheme = scheme
            self.scopes = scopes
        }

        /// The scheme and the scopes.
        public var description: String { scopes.isEmpty ? "\(scheme)" : "\(scheme) with \(scopes.joined(separator: " "))" }

        fileprivate init?(described text: Substring) {
            guard let (name, rest) = text.divided(by: " ("), let (words, end) = rest.divided(by: ")"),
                HTTPFields.Name.isToken(String(name)), let kind = SecurityScheme.Kind(described: words)
            else { return nil }
            let scopes = end.isEmpty ? [] : end.inside(" with ", "")?.split(separator: " ").map(String.init)
            guard let scopes else { return nil }
            self.init(SecurityScheme(name: String(name), kind: kind), scopes: scopes)
        }
    }

    /// The alternatives, of which one suffices; each requires all of its schemes. An empty one needs no credentials; without any, no
    /// credentials are sent.
    public let alternatives: [[Requirement]]

    /// Creates the requirements of an endpoint.
    public init(_ alternatives: [[Requirement]]) {
        self.alternatives = alternatives
    }

    /// Whether calls may have no credentials.
    public var areOptional: Bool { alternatives.contains(where: \.isEmpty) }

    /// The alternatives.
    public var description: String {
        let texts = alternatives.map { $0.isEmpty ? "none" : $0.map(\.description).joined(separator: " and ") }
        // Without alternatives no credentials are sent; an empty alternative leaves that to the client's provider.
        return "security(\(texts.isEmpty ? "never" : texts.joined(separator: ", or ")))"
    }

    package static let firstWords = ["security"]

    package init?(described text: String) {
        guard let content = text.inside("security(") else { return nil }
        var alternatives: [[Requirement]] = []
        for alternative in content == "never" ? [] : content.split(mark: ", or ") {
            let parts = alternative == "none" ? [] : alternative.split(mark: " and ")
            let requirements = parts.compactMap { Requirement(described: $0) }
            guard requirements.count == parts.count else { return nil }
            alternatives.append(requirements)
        }
        self.init(alternatives)
    }

    /// A profile can't choose the credentials that calls send.
    package var leastTrustedSource: AttributeSource { .exportedTable }
}
