import Foundation

// Calls as stored values.
extension ServiceCall {
    /// Returns the call as data that can be stored. Its arguments are bound, and its body is encoded.
    ///
    /// Attributes that are `Codable` are stored, and so is the call's identifier. Closures, error handlers, serializers, parsers, trust
    /// policies and other attributes are listed as omitted.
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
            // A path would be relative to the client's root.
            case .route where endpoint.plan.serviceRoot != nil, .encoded where endpoint.plan.serviceRoot != nil:
                (.link(bound.request.url), .link)
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
        var attributes = call.descriptor.settings.attributes
        // The template's arguments are bound.
        if let identifier = bound.identifier, attributes[CallIdentifier.self] == nil { attributes.set(identifier) }
        for attribute in attributes.all where !(attribute is any BindingAttribute) {
            let name = AttributeCatalog.storedName(of: type(of: attribute))
            guard let encodable = attribute as? any Encodable, attribute is any Decodable else {
                stored.omit(StoredOmission(.attribute, "\(type(of: attribute))"))
                continue
            }
            let json = String(decoding: try StoredJSON.data(of: encodable), as: UTF8.self)
            if !includesSecrets, SecretMask.text(ofBody: json, contentType: "application/json", of: known) != json {
                stored.omit(StoredOmission(.attribute, "\(type(of: attribute))"))
            } else {
                stored.attributes.append(StoredCall.Attribute(type: name, json: json))
            }
        }
    }
}

extension StoredCall.Target {
    /// The path, or the URL.
    var text: String {
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
    ///   - types: The types of the program's attributes that the call may have. This library's own needn't be listed.
    /// - Throws: ``StoredDataError`` if parts that were left out are still missing, an attribute's type isn't listed, a file of the body
    ///   has changed, or the call was made for another service; ``ServiceError`` if the call doesn't fit the client.
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
        for attribute in stored.attributes {
            let listed = types.first { AttributeCatalog.storedName(of: $0) == attribute.type }
            guard let type = listed ?? AttributeCatalog.storedTypes[attribute.type] else {
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
