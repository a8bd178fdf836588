public import Foundation

/// A call without a table entry as data, which a program can write to a file and read back, for example to export a queue.
///
///     let data = try client.http.post("/orders").body(order).accepting(.created).stored().data()
///     …
///     let call = try client.http.call(from: try StoredCall(data: data))
///     try await call.send()
///
/// It contains the values that the call specifies: method, target, bound arguments, headers and body, accepted statuses, deadlines,
/// attributes. What client and class add, such as the service root, headers and credentials, comes from the client that sends it. Secrets
/// and values that can't be encoded are left out, and ``omitted`` lists them. Two calls that are stored with their secrets are equal if
/// their stored values are.
///
/// - Important: Read only data that your program wrote: a body can name any file.
public struct StoredCall: Sendable, Hashable {
    /// The version of the format that this library writes and reads.
    public static let version = 1

    /// The target of a call.
    public enum Target: Sendable, Hashable {
        /// A percent-encoded path below the service root, with its query.
        case path(String)
        /// A URL of the service.
        case link(URL)
        /// A URL outside the service.
        case outside(URL)
    }

    /// The method.
    public let method: ServiceRequest.Method
    /// The target of the call; `nil` if it was left out because it contains a secret.
    public internal(set) var target: Target?
    /// The origin of the service that the call was made for, such as `https://api.example.com`; `nil` for a call outside the service. A
    /// client of another service refuses the call. Set it to `nil` to send the call to another environment.
    public var origin: String?
    /// The parts that were left out and are needed. ``supply(target:)`` and its like provide them, ``ignore(_:)`` does without them.
    public internal(set) var omitted: [StoredOmission] = []

    /// A labeled argument of a placeholder in the service root, or in a header of client or class.
    struct Argument: Sendable, Hashable {
        let label: String
        var value: String?
    }

    /// The values of a header of the call. Without any, the client's field isn't sent.
    struct Header: Sendable, Hashable {
        let name: String
        var values: [StoredField]
    }

    /// An attribute as JSON.
    struct Attribute: Sendable, Hashable {
        let type: String
        let json: String
    }

    /// Which target to send to, if it was left out.
    var omittedTarget: TargetKind?
    var key = ""
    var route = ""
    var arguments: [Argument] = []
    var headers: [Header] = []
    var body: StoredBody?
    var statuses: StatusSet?
    var moreStatuses: StatusSet?
    var root: [String] = []
    var isRaw = false
    var bodyLimit: Int?
    var timeouts: ServiceTimeouts?
    var timeout: Duration?
    var cacheIdentifier: String?
    var requiredCapabilities: UInt32 = 0
    var attributes: [Attribute] = []
    /// The texts that are masked everywhere; only stored with secrets.
    var secrets: [String] = []

    /// The kinds of targets.
    enum TargetKind: String, Sendable, Hashable { case path, link, outside }

    init(method: ServiceRequest.Method) { self.method = method }

    mutating func omit(_ omission: StoredOmission) {
        if !omitted.contains(omission) { omitted.append(omission) }
    }

    // MARK: Parts that were left out

    /// Provides the target.
    public mutating func supply(target: Target) {
        self.target = target
        omittedTarget = nil
        omitted.removeAll { $0.part == .url }
    }

    /// Provides the value of a header field of the call.
    public mutating func supply(_ value: String, forHeader name: HTTPFields.Name) {
        headers.removeAll { HTTPFields.Name($0.name) == name }
        headers.append(Header(name: name.rawName, values: [StoredField(HTTPFields.Field(name: name, value: value))]))
        omitted.removeAll { $0.part == .header && HTTPFields.Name($0.name) == name }
    }

    /// Provides the value of a labeled argument.
    public mutating func supply(_ value: String, forArgument label: String) {
        arguments.removeAll { $0.label == label }
        arguments.append(Argument(label: label, value: value))
        omitted.removeAll { $0 == StoredOmission(.argument, label) }
    }

    /// Provides the body.
    ///
    /// - Throws: ``StoredDataError`` for a stream.
    public mutating func supply(body: RequestBody) throws {
        self.body = try StoredBody(body)
        omitted.removeAll { $0.part == .body }
    }

    /// Does without a part, or without an attribute that is stored. Target, body and arguments must be supplied, so they remain in
    /// ``omitted``.
    public mutating func ignore(_ omission: StoredOmission) {
        guard omission.canBeIgnored else { return }
        omitted.removeAll { $0 == omission }
        if omission.part == .attribute { attributes.removeAll { $0.type == omission.name } }
    }
}

extension StoredCall: Codable {
    private static let names: Set<String> = [
        "method", "target", "origin", "key", "route", "arguments", "headers", "body", "statuses", "moreStatuses", "root", "raw",
        "bodyLimit",
        "timeouts", "timeout", "cacheIdentifier", "requires", "attributes", "secrets", "omitted",
    ]

    /// Reads a call.
    ///
    /// - Throws: `DecodingError`, also for an unknown version or member.
    public init(from decoder: any Decoder) throws {
        let members = try StoredMembers(decoder, names: Self.names, version: Self.version)
        self.init(method: try members.method())
        omitted = try members.list("omitted")
        (target, omittedTarget) = try members.value("target", as: StoredTarget.self).parts
        if target == nil, !omitted.contains(StoredOmission(.url)) { throw members.fault("target", "the target is missing") }
        origin = try members.optional("origin")
        key = try members.value("key")
        route = try members.value("route")
        arguments = try members.list("arguments")
        headers = try members.list("headers")
        body = try members.optional("body")
        statuses = try members.optional("statuses")
        moreStatuses = try members.optional("moreStatuses")
        root = try members.list("root")
        isRaw = try members.optional("raw") ?? false
        bodyLimit = try members.optional("bodyLimit")
        timeouts = try members.timeouts()
        timeout = try members.duration("timeout")
        cacheIdentifier = try members.optional("cacheIdentifier")
        requiredCapabilities = try members.optional("requires") ?? 0
        attributes = try members.list("attributes")
        secrets = try members.list("secrets")
    }

    /// Writes the call.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(Self.version, forKey: WireKey("version"))
        try container.encode(method.rawValue, forKey: WireKey("method"))
        try container.encode(StoredTarget(parts: (target, omittedTarget)), forKey: WireKey("target"))
        try container.encodeIfPresent(origin, forKey: WireKey("origin"))
        try container.encode(key, forKey: WireKey("key"))
        try container.encode(route, forKey: WireKey("route"))
        try container.encode(nonempty: arguments, "arguments")
        try container.encode(nonempty: headers, "headers")
        try container.encodeIfPresent(body, forKey: WireKey("body"))
        try container.encodeIfPresent(statuses, forKey: WireKey("statuses"))
        try container.encodeIfPresent(moreStatuses, forKey: WireKey("moreStatuses"))
        try container.encode(nonempty: root, "root")
        if isRaw { try container.encode(true, forKey: WireKey("raw")) }
        try container.encodeIfPresent(bodyLimit, forKey: WireKey("bodyLimit"))
        try container.encodeIfPresent(timeouts.map(StoredTimeouts.init), forKey: WireKey("timeouts"))
        try container.encode(timeout, "timeout")
        try container.encodeIfPresent(cacheIdentifier, forKey: WireKey("cacheIdentifier"))
        if requiredCapabilities != 0 { try container.encode(requiredCapabilities, forKey: WireKey("requires")) }
        try container.encode(nonempty: attributes, "attributes")
        try container.encode(nonempty: secrets, "secrets")
        try container.encode(nonempty: omitted, "omitted")
    }

    /// Reads a call from JSON.
    ///
    /// - Throws: ``StoredDataError``, which names the faulty member.
    public init(data: Data) throws {
        self = try StoredJSON.value(of: data)
    }

    /// The call as JSON, with sorted members.
    ///
    /// - Throws: ``StoredDataError`` if a deadline is too long.
    public func data() throws -> Data {
        try StoredJSON.data(of: self)
    }

    private struct StoredTarget: Codable {
        let parts: (target: Target?, omitted: TargetKind?)

        init(parts: (target: Target?, omitted: TargetKind?)) { self.parts = parts }

        init(from decoder: any Decoder) throws {
            let members = try StoredMembers(decoder, names: ["path", "link", "outside", "omitted"])
            let found: [(Target?, TargetKind?)] = [
                (try members.optional("path").map { .path($0) }, nil), (try members.url("link").map { .link($0) }, nil),
                (try members.url("outside").map { .outside($0) }, nil),
                (
                    nil,
                    try members.optional("omitted", as: String.self).map { text in
                        guard let kind = TargetKind(rawValue: text) else { throw members.fault("omitted", "the kind isn't known") }
                        return kind
                    }
                ),
            ].filter { $0.0 != nil || $0.1 != nil }
            guard found.count == 1 else { throw members.fault("path", "one of path, link and outside is needed") }
            parts = found[0]
            if case .path(let path)? = parts.target, !path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
                throw members.fault("path", "the path isn't percent-encoded")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: WireKey.self)
            switch parts.target {
            case .path(let path)?: try container.encode(path, forKey: WireKey("path"))
            case .link(let url)?: try container.encode(url, "link")
            case .outside(let url)?: try container.encode(url, "outside")
            case nil: try container.encode((parts.omitted ?? .path).rawValue, forKey: WireKey("omitted"))
            }
        }
    }
}

extension StoredCall.Argument: Codable {
    init(from decoder: any Decoder) throws {
        let members = try StoredMembers(decoder, names: ["label", "value"])
        label = try members.value("label")
        value = try members.optional("value")
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(label, forKey: WireKey("label"))
        try container.encodeIfPresent(value, forKey: WireKey("value"))
    }
}

extension StoredCall.Header: Codable {
    init(from decoder: any Decoder) throws {
        let members = try StoredMembers(decoder, names: ["name", "values"])
        name = try members.value("name")
        let header = HTTPFields.Name(name)
        guard header.isValid else { throw members.fault("name", "\"\(name)\" isn't a header name") }
        values = try members.list("values", of: String.self).map { StoredField(HTTPFields.Field(name: header, value: $0)) }
        guard values.allSatisfy(\.field.isValid) else { throw members.fault("values", "a value of \(name) holds control characters") }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(name, forKey: WireKey("name"))
        try container.encode(values.map(\.field.value), forKey: WireKey("values"))
    }
}

extension StoredCall.Attribute: Codable {
    init(from decoder: any Decoder) throws {
        let members = try StoredMembers(decoder, names: ["type", "json"])
        type = try members.value("type")
        json = try members.value("json")
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(type, forKey: WireKey("type"))
        try container.encode(json, forKey: WireKey("json"))
    }
}

extension StoredCall: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method, target, the names of the headers, and what was left out, with secrets masked.
    public var description: String { MaskedMirror.text(of: customMirror, type: "StoredCall") }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The parts of ``description``. A dump shows no secrets.
    public var customMirror: Mirror {
        let known = RequestSecrets(rules: .standard, texts: secrets)
        return Mirror(
            self,
            children: [
                "method": method, "target": target.map { SecretMask.text(ofURL: $0.text, of: known) } ?? "nil",
                "headers": headers.map(\.name), "omitted": omitted.map(\.description),
            ])
    }
}
