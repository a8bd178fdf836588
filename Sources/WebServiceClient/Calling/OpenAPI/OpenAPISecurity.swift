/// Reads the security schemes of an OpenAPI document, and the requirements of its operations (OpenAPI 3.1.1, "Security Scheme Object" and
/// "Security Requirement Object").
struct OpenAPISecurity {
    private let document: OpenAPIDocument
    /// The schemes in the document's order.
    let schemes: [SecurityScheme]
    private let byName: [String: SecurityScheme]
    /// The requirements of operations that state none; `nil` if the document states none either.
    private(set) var common: SecurityRequirements?

    init(_ document: OpenAPIDocument) {
        self.document = document
        var schemes: [SecurityScheme] = []
        if let all = document.root["components"]?["securitySchemes"] {
            all.forEachMember { name, node in
                guard let node = document.object(node) else { return }
                schemes.append(SecurityScheme(name: name, kind: Self.kind(of: node, document)))
            }
        }
        self.schemes = schemes
        byName = Dictionary(schemes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        common = document.root["security"].map { requirements($0) }
    }

    private static func kind(of node: OpenAPINode, _ document: OpenAPIDocument) -> SecurityScheme.Kind {
        let type = node["type"]?.text ?? ""
        switch type {
        case "apiKey":
            guard let name = node["name"]?.text, !name.isEmpty, let place = node["in"]?.text.flatMap({ SecurityScheme.Place(rawValue: $0) })
            else {
                document.note(node, "the key isn't in a header, the query or a cookie, or has no name: give the scheme a provider")
                return .unknown(type)
            }
            return .apiKey(name: name, in: place)
        case "http":
            guard let scheme = node["scheme"]?.text, HTTPFields.Name.isToken(scheme) else {
                document.note(node, "the HTTP scheme has no valid name: give the security scheme a provider")
                return .unknown(type)
            }
            return .http(scheme: scheme.lowercased())
        case "oauth2": return .oauth2
        case "openIdConnect": return .openIDConnect(url: node["openIdConnectUrl"]?.text ?? "")
        case "mutualTLS": return .mutualTLS
        default:
            document.note(node, "the type \"\(SerializationError.excerpt(type))\" isn't known: give the security scheme a provider")
            return .unknown(type)
        }
    }

    /// The requirements of an operation; `nil` if neither the operation nor the document states any.
    func requirements(of operation: OpenAPINode) -> SecurityRequirements? {
        operation["security"].map { requirements($0) } ?? common
    }

    /// A scheme that the document doesn't describe is still required, because an unknown scheme doesn't mean that none is needed.
    private func requirements(_ node: OpenAPINode) -> SecurityRequirements {
        guard node.json.isArray else {
            document.note(node, "the security requirements aren't an array, and are left out")
            return SecurityRequirements([[SecurityRequirements.Requirement(SecurityScheme(name: "", kind: .unknown("no array")))]])
        }
        var alternatives: [[SecurityRequirements.Requirement]] = []
        node.forEachElement { alternative in
            var members: [SecurityRequirements.Requirement] = []
            alternative.forEachMember { name, scopes in
                let scheme = byName[name] ?? SecurityScheme(name: name, kind: .unknown("not described"))
                if byName[name] == nil { document.note(scopes, "the document describes no such security scheme: give it a provider") }
                members.append(SecurityRequirements.Requirement(scheme, scopes: scopes.texts))
            }
            if alternative.json.isObject { alternatives.append(members) } else { document.note(alternative, "it isn't an object") }
        }
        return SecurityRequirements(alternatives)
    }
}
