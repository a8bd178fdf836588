import Foundation

/// The headers and query items that a client keeps and adds to the requests of its service: ``WebServiceClient/WebServiceClient/session``.
///
/// The encoded value includes the secrets; ``withoutSecrets`` has none.
public struct SessionState: Sendable, Hashable {
    /// An item of the query.
    public struct QueryItem: Sendable, Hashable, Codable {
        /// The name, unencoded.
        public var name: String
        /// The value, unencoded; with `nil`, the name is sent alone.
        public var value: String?

        /// Creates an item.
        public init(_ name: String, _ value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The header fields. They take precedence over those of the client; those of the class, the endpoint and the call take precedence over
    /// them. Values have no placeholders.
    public var headers: HTTPFields = [:]
    /// The query items, in order. The request's own items of the same name take precedence.
    public var query: [QueryItem] = []
    /// The names of further header fields that are credentials. Fields with names such as `Authorization` or `X-Token` are credentials in
    /// any case.
    public var secretHeaders: Set<HTTPFields.Name> = []
    /// The names of further query items that are credentials. Items with names such as `access_token` are credentials in any case.
    public var secretQuery: Set<String> = []

    /// Creates a session without items.
    public init() {}

    /// Whether the session has no items.
    public var isEmpty: Bool { headers.isEmpty && query.isEmpty }

    /// The value of the first query item of a name. Setting replaces all items of the name; `nil` removes them.
    public subscript(query name: String) -> String? {
        get { query.first { $0.name == name }?.value }
        set {
            let place = query.firstIndex { $0.name == name } ?? query.endIndex
            query.removeAll { $0.name == name }
            if let newValue { query.insert(QueryItem(name, newValue), at: min(place, query.endIndex)) }
        }
    }

    /// Whether a header field is a credential.
    public func isSecret(header name: HTTPFields.Name) -> Bool { secretHeaders.contains(name) || SecretMask.namesSecret(name) }

    /// Whether a query item is a credential.
    public func isSecret(query name: String) -> Bool { secretQuery.contains(name) || SecretMask.hidesParameter(named: name) }

    /// The session without its secret headers and query items.
    public var withoutSecrets: SessionState {
        var state = self
        state.headers = HTTPFields(headers.filter { !isSecret(header: $0.name) })
        state.query.removeAll { isSecret(query: $0.name) }
        state.secretHeaders = []
        state.secretQuery = []
        return state
    }

    /// Fields that belong to one message, so that a session can't contain them (RFC 9110 §5.1, §7.6.1, RFC 9112 §6).
    private static let ofMessages: Set<String> = [
        "connection", "content-encoding", "content-length", "content-range", "content-type", "expect", "host", "keep-alive",
        "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The problem of the first unusable item, with its fix; `nil` if all items can be sent.
    var problem: String? {
        for field in headers {
            guard field.isValid else {
                return "the header \"\(field.name)\" has a bad name or value: use token characters in names and no controls in values"
            }
            if URLEncoding.headerFault(in: field.value) != nil || field.value.first == " " || field.value.last == " " {
                return "the value of the header \"\(field.name)\" has characters that a header can't carry: encode it"
            }
            guard !Self.ofMessages.contains(field.name.canonicalName) else {
                return "the header \"\(field.name)\" belongs to single messages: set it on the endpoint or the call"
            }
        }
        return query.contains { $0.name.isEmpty } ? "a query item has no name: give it one" : nil
    }

    /// The items as the chain needs them.
    var items: SessionItems {
        var items = SessionItems()
        items.headers = headers
        items.query = query.map { ($0.name, URLQueryItems.pair($0.name, $0.value)) }
        items.secretTexts = query.filter { isSecret(query: $0.name) }.compactMap(\.value)
        // Vary distinguishes the other headers. Query items are part of the URL, but an endpoint's own cache identifier replaces the URL.
        var identity = headers.filter { isSecret(header: $0.name) }.map { "\($0.name.canonicalName): \($0.value)" }
        identity += items.query.map { "?" + $0.pair }
        if !identity.isEmpty { items.identity = SHA256.hexadecimal(of: identity.joined(separator: "\n")) }
        return items
    }
}

extension SessionState.QueryItem: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, and the value with its secrets masked. The session knows which other names are secret: print the session.
    public var description: String { SessionState.text(of: self, isSecret: SecretMask.hidesParameter(named: name)) }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["item": description]) }
}

extension SessionState: Codable {
    private enum CodingKeys: String, CodingKey {
        case headers, query
    }

    private struct Item: Codable {
        var name: String
        var value: String?
        var isSecret: Bool?
    }

    /// Reads a session.
    ///
    /// - Throws: `DecodingError`, also if an item can't be sent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        for item in try container.decodeIfPresent([Item].self, forKey: .headers) ?? [] {
            let name = HTTPFields.Name(item.name)
            headers.append(name, item.value ?? "")
            if item.isSecret == true { secretHeaders.insert(name) }
        }
        for item in try container.decodeIfPresent([Item].self, forKey: .query) ?? [] {
            query.append(QueryItem(item.name, item.value))
            if item.isSecret == true { secretQuery.insert(item.name) }
        }
        if let problem {
            throw DecodingError.dataCorruptedError(forKey: .headers, in: container, debugDescription: problem)
        }
    }

    /// Writes the session with its secrets.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(
            headers.map { Item(name: $0.name.rawName, value: $0.value, isSecret: secretHeaders.contains($0.name) ? true : nil) },
            forKey: .headers)
        try container.encode(
            query.map { Item(name: $0.name, value: $0.value, isSecret: secretQuery.contains($0.name) ? true : nil) }, forKey: .query)
    }
}

extension SessionState: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The items, with secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "SessionState") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts of ``description``: a dump shows no secrets.
    public var customMirror: Mirror {
        let rules = HeaderRules(secret: secretHeaders)
        return Mirror(
            self,
            children: [
                "headers": headers.map { "\($0.name): \(SecretMask.text(of: $0, rules: rules))" },
                "query": query.map { Self.text(of: $0, isSecret: isSecret(query: $0.name)) },
            ])
    }

    fileprivate static func text(of item: QueryItem, isSecret: Bool) -> String {
        item.name + (item.value.map { "=" + (isSecret ? SecretMask.mask : SecretMask.text($0)) } ?? "")
    }
}
