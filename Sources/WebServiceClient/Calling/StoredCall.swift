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

// Calls as stored values.
extension ServiceCall {
    /// Returns the call as data that can be stored. Its arguments are bound, and its body is encoded.
    ///
    /// Attributes that are `Codable` are stored. Closures, error handlers, serializers, parsers, trust policies and other attributes are
    /// listed as omitted.
    ///
    /// - Parameter includingSecrets: Whether secrets are stored, too. By default header fields that aren't known to be harmless are left
    ///   out, and so are a target, a body, an argument or an attribute with a secret: ``StoredCall/omitted`` lists them. A mask is never
    ///   stored.
    /// - Throws: ``ServiceError`` if the arguments can't be bound, ``StoredDataError`` if the body is a stream, or the service root or a
    ///   header of client or class takes an argument by its position.
    public func stored(includingSecrets: Bool = false) throws -> StoredCall {
        let dispatcher = try dispatcher()
        let bound = try bound(dispatcher)
        return try StoredCallWriter(self, dispatcher, bound, includingSecrets: includingSecrets).stored()
    }
}

/// Makes the stored value of a bound call.
private struct StoredCallWriter {
    let call: ServiceCall
    let endpoint: ResolvedEndpoint
    let binder: RequestBinder
    let bound: Dispatcher.BoundRequest
    let includesSecrets: Bool

    init(_ call: ServiceCall, _ dispatcher: Dispatcher, _ bound: Dispatcher.BoundRequest, includingSecrets: Bool) {
        self.call = call
        endpoint = dispatcher.endpoint
        self.bound = bound
        includesSecrets = includingSecrets
        var target: String?
        if case .encoded(let text) = call.target { target = text }
        binder = RequestBinder(dispatcher.endpoint, call.arguments, target: target)
    }

    private var known: RequestSecrets? { bound.request.secrets }

    private func hasSecret(_ text: String, isURL: Bool = false) -> Bool {
        !includesSecrets && (isURL ? SecretMask.text(ofURL: text, of: known) : SecretMask.text(text, of: known)) != text
    }

    func stored() throws -> StoredCall {
        var stored = StoredCall(method: call.descriptor.method)
        stored.key = endpoint.identity.key
        stored.route = endpoint.identity.route
        // An argument in the host may be a secret. Then the service is that of the argument, which must be supplied.
        if !bound.isForeign, let origin = bound.origin?.description, !hasSecret(origin, isURL: true) { stored.origin = origin }
        try addTarget(to: &stored)
        try addArguments(to: &stored)
        try addBody(to: &stored)
        try addHeaders(to: &stored)
        addSettings(to: &stored)
        try addAttributes(to: &stored)
        if includesSecrets { stored.secrets = Set(binder.secretTexts).sorted() }
        return stored
    }

    private func addTarget(to stored: inout StoredCall) throws {
        let (target, kind): (StoredCall.Target, StoredCall.TargetKind) =
            switch call.target {
            case .route, .encoded: (.path(try binder.pathAndQuery()), .path)
            case .link: (.link(bound.request.url), .link)
            case .outside: (.outside(bound.request.url), .outside)
            }
        if hasSecret(target.text, isURL: true) {
            stored.omittedTarget = kind
            stored.omit(StoredOmission(.url))
        } else {
            stored.target = target
        }
    }

    /// Adds the arguments that the service root and the headers of client and class take.
    private func addArguments(to stored: inout StoredCall) throws {
        let plan = endpoint.plan
        let positions = (plan.root?.arguments ?? []).union(plan.commonHeaders.flatMap(\.values).flatMap(\.arguments))
        for position in positions.sorted() {
            let label = plan.names.labels[position]
            guard label != "_" else {
                throw StoredDataError(
                    "The service root, or a header of the client or the class, takes argument \(position) by its position, which can't be "
                        + "stored: use a placeholder with a label, such as %%tenant%%.")
            }
            if !includesSecrets, plan.secretArguments.contains(position) {
                stored.omit(StoredOmission(.argument, label))
            } else {
                let value = try call.arguments[position].map { try ArgumentText.text(of: $0) } ?? nil
                stored.arguments.append(StoredCall.Argument(label: label, value: value))
            }
        }
    }

    private func addBody(to stored: inout StoredCall) throws {
        guard var body = bound.request.body else { return }
        // Members in a fixed order make stored calls comparable.
        if body.hasUnorderedKeys, let data = body.data { body = RequestBody(JSONKeyOrder.sorted(data), contentType: body.contentType) }
        let part = try StoredBody(body)
        if includesSecrets || !part.hasSecrets(known) {
            stored.body = part
        } else {
            stored.omit(StoredOmission(.body))
        }
    }

    private func addHeaders(to stored: inout StoredCall) throws {
        var own = HTTPFields()
        for header in endpoint.plan.headers { header.bind(to: &own) }
        try binder.bindHeaders(&own)
        // The body's own type replaced the field, and does so again.
        if let type = bound.request.body?.contentType, bound.request.headers[.contentType] == type { own[.contentType] = nil }
        var names: [HTTPFields.Name] = []
        for name in endpoint.plan.headers.compactMap(\.name) + own.map(\.name) where !names.contains(name) { names.append(name) }
        if bound.request.body?.contentType != nil { names.removeAll { $0 == .contentType && !own.contains($0) } }
        for name in names {
            let fields = own.filter { $0.name == name }.map(StoredField.init)
            if !includesSecrets, fields.contains(where: { $0.isSecret(endpoint.headerRules, known) }) {
                stored.omit(StoredOmission(.header, name.rawName))
            } else {
                stored.headers.append(StoredCall.Header(name: name.rawName, values: fields))
            }
        }
    }

    private func addSettings(to stored: inout StoredCall) {
        let settings = call.descriptor.settings
        stored.statuses = settings.statuses
        stored.moreStatuses = settings.moreStatuses
        stored.root = endpoint.plan.payloadRoot
        stored.bodyLimit = settings.bodyLimit
        stored.timeouts = settings.timeouts
        stored.timeout = call.options.timeout ?? settings.totalTimeout
        stored.requiredCapabilities = settings.capabilities.subtracting(.bodiesWithGET).rawValue
        if let identifier = bound.cacheIdentifier {
            if hasSecret(identifier) {
                stored.omit(StoredOmission(.cacheIdentifier))
            } else {
                stored.cacheIdentifier = identifier
            }
        }
        var left: [String] = []
        if call.options.prepare != nil { left.append("prepare") }
        if settings.errorHandler != nil { left.append("errorHandler") }
        if settings.serializer != nil { left.append("serializer") }
        if settings.urlBuilder != nil { left.append("urlBuilder") }
        if settings.trust != nil { left.append("trust") }
        switch settings.parsing {
        case .forced?: left.append("decoding(with:)")
        case .off?: stored.isRaw = true
        case .byContentType?, nil: break
        }
        for name in left { stored.omit(StoredOmission(.setting, name)) }
    }

    private func addAttributes(to stored: inout StoredCall) throws {
        for attribute in call.descriptor.settings.attributes.all where !(attribute is any BindingAttribute) {
            let name = String(describing: type(of: attribute))
            guard let encodable = attribute as? any Encodable, attribute is any Decodable else {
                stored.omit(StoredOmission(.attribute, name))
                continue
            }
            let json = String(decoding: try StoredJSON.data(of: encodable), as: UTF8.self)
            if !includesSecrets, SecretMask.text(ofBody: json, contentType: "application/json", of: known) != json {
                stored.omit(StoredOmission(.attribute, name))
            } else {
                stored.attributes.append(StoredCall.Attribute(type: name, json: json))
            }
        }
    }
}

extension StoredCall.Target {
    fileprivate var text: String {
        switch self {
        case .path(let path): path
        case .link(let url), .outside(let url): url.absoluteString
        }
    }
}

extension HTTPCalls {
    /// Creates a call from stored data. Nothing is sent.
    ///
    ///     let call = try client.http.call(from: stored, attributes: [Audited.self])
    ///
    /// - Parameters:
    ///   - stored: The call.
    ///   - types: The types of the attributes that the call may have.
    /// - Throws: ``StoredDataError`` if parts that were left out are still missing, an attribute's type isn't listed, a file of the body has
    ///   changed, or the call was made for another service; ``ServiceError`` if the call doesn't fit the client.
    public func call(
        from stored: StoredCall, attributes types: [any (EndpointAttribute & Decodable).Type] = []
    ) throws -> ServiceCall {
        guard stored.omitted.isEmpty, let target = stored.target else { throw StoredDataError(missing: stored.omitted) }
        var call = ServiceCall(client: client, descriptor: .endpoint(stored.method, ""))
        switch target {
        case .path(let path): call.target = .encoded(path)
        case .link(let url): call.target = .link(url)
        case .outside(let url): call.target = .outside(url)
        }
        call = call.named(stored.key, route: stored.route)
        call.secretTexts = stored.secrets
        for argument in stored.arguments { call = call.argument(argument.label, argument.value) }
        for header in stored.headers {
            call.descriptor.headers.append(.bound(HTTPFields.Name(header.name), header.values.map(\.field.value)))
        }
        if let body = try stored.body?.body() {
            call = call.body(body)
            if stored.method == .get { call = call.allowingBody() }
        } else {
            call = call.withoutBody()
        }
        if let identifier = stored.cacheIdentifier {
            call.arguments.append(identifier)
            call.descriptor.cacheIdentifier = "%%\(call.arguments.count - 1)%%"
        }
        call.descriptor.root = stored.root
        call.descriptor.settings = try settings(of: stored, call.descriptor.settings, types)
        call.options.timeout = stored.timeout
        try check(call, stored)
        return call
    }

    private func settings(
        of stored: StoredCall, _ own: EndpointSettings, _ types: [any (EndpointAttribute & Decodable).Type]
    ) throws -> EndpointSettings {
        var settings = own
        settings.statuses = stored.statuses
        settings.moreStatuses = stored.moreStatuses
        if stored.isRaw { settings.parsing = .off }
        settings.bodyLimit = stored.bodyLimit
        settings.timeouts = stored.timeouts
        settings.capabilities.formUnion(TransportCapabilities(rawValue: stored.requiredCapabilities))
        let known: [any (EndpointAttribute & Decodable).Type] = types + [RedirectPolicy.self, PagingStyle.self, ProblemReading.self]
        for attribute in stored.attributes {
            guard let type = known.first(where: { String(describing: $0) == attribute.type }) else {
                throw StoredDataError(
                    "The attribute \(attribute.type) of the stored call isn't known: list its type in call(from:attributes:), or ignore it "
                        + "with stored.ignore(StoredOmission(.attribute, \"\(attribute.type)\")).")
            }
            do {
                settings.attributes.set(try Self.decode(type, from: attribute.json))
            } catch {
                throw StoredDataError("The attribute \(attribute.type) can't be read: \(DecodingErrorText.text(of: error))")
            }
        }
        return settings
    }

    private static func decode<Value: EndpointAttribute & Decodable>(_ type: Value.Type, from json: String) throws -> Value {
        try JSONReader().decode(type, from: Data(json.utf8))
    }

    /// Binds the call, to find faults now rather than when it is sent, and compares the service.
    private func check(_ call: ServiceCall, _ stored: StoredCall) throws {
        let dispatcher = try call.dispatcher()
        let bound = try call.bound(dispatcher)
        guard !bound.isForeign, let origin = stored.origin, origin != bound.origin?.description,
            !dispatcher.state.allowedOrigins.contains(where: { $0.description == origin })
        else { return }
        throw StoredDataError(
            "The call was stored for \(SecretMask.text(ofURL: origin)), and the client's service is "
                + "\(bound.origin?.description ?? "another"): use a client of that service, add the origin to Configuration.allowedOrigins, "
                + "or set stored.origin to nil.")
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
