// How a description is made from declarations.
extension ClientDescription {
    /// Describes a table.
    ///
    /// - Parameters:
    ///   - defaults: The class's defaults.
    ///   - perMethod: The class's defaults per method, if they aren't those of `defaults`.
    init(
        client: String, table: EndpointTable, defaults: EndpointDefaults = EndpointDefaults(),
        perMethod: [ServiceRequest.Method: EndpointDefaults]? = nil
    ) {
        self.client = client
        let methods = (perMethod ?? defaults.perMethod).sorted { $0.key.rawValue < $1.key.rawValue }.map { MethodDefaults($0, $1) }
        self.perMethod = methods.isEmpty ? nil : methods
        let common = Defaults(defaults)
        self.defaults = common == Defaults(EndpointDefaults()) ? nil : common
        let root = ServiceRoot.hasPlaceholders(defaults.serviceRoot) ? defaults.serviceRoot : nil
        let templates = HeaderTemplates(defaults.headers, defaults)
        endpoints = table.entries.map { entry in
            let name = try? MethodName(entry.key)
            let plan = name.map {
                EndpointCompiler.compile(entry.descriptor, for: $0, root: root, headers: templates[entry.descriptor.method]).0
            }
            return Endpoint(
                key: entry.key, entry.descriptor, arguments: plan.map { Argument.all(of: $0, entry.descriptor) })
        }
    }
}

extension ClientDescription.Defaults {
    fileprivate init(_ defaults: EndpointDefaults) {
        serviceRoot = defaults.serviceRoot.isEmpty ? nil : SecretMask.text(ofURL: defaults.serviceRoot)
        headers = defaults.headers.map { ClientDescription.Part($0) }
        success = ClientDescription.success(of: defaults.settings)
        settings = ClientDescription.Settings(defaults.settings).unlessEmpty
        requires = defaults.settings.requiredCapabilities.descriptions
        attributes = ClientDescription.attributes(of: defaults.settings)
    }
}

extension ClientDescription.MethodDefaults {
    fileprivate init(_ method: ServiceRequest.Method, _ defaults: EndpointDefaults) {
        self.method = method.rawValue
        headers = defaults.headers.map(\.name.rawName)
        fields = defaults.headers.map { ClientDescription.Part($0) }
        success = ClientDescription.success(of: defaults.settings)
        settings = ClientDescription.Settings(defaults.settings).unlessEmpty
        requires = defaults.settings.requiredCapabilities.descriptions
        attributes = ClientDescription.attributes(of: defaults.settings)
    }
}

extension ClientDescription.Endpoint {
    fileprivate init(key: String, _ descriptor: EndpointDescriptor, arguments: [ClientDescription.Argument]?) {
        self.key = key
        method = descriptor.method.rawValue
        route = SecretMask.text(ofURL: descriptor.route.text)
        routeKind =
            switch descriptor.route {
            case .template: "template"
            case .uriTemplate: "uriTemplate"
            }
        self.arguments = arguments
        query = descriptor.query.map { ClientDescription.Part($0) }
        headers = descriptor.headers.flatMap { ClientDescription.Part.all(of: $0) }
        body =
            switch descriptor.body {
            case .implicit: "implicit"
            case .none: "none"
            case .argument(let argument): "\(argument)"
            }
        allowsBody = descriptor.allowsBody ? true : nil
        takesPartOfLabels = descriptor.optional == nil ? nil : true
        serviceRoot = descriptor.serviceRoot.map(SecretMask.text(ofURL:))
        bodyTypes = descriptor.bodyTypes.map { $0.types + ($0.choice.map { ["chosen by argument \($0)"] } ?? []) }
        encodings = descriptor.bodyTypes.flatMap { $0.encodings.isEmpty ? nil : $0.described }
        success = ClientDescription.success(of: descriptor.settings)
        // A name with a dot isn't two names.
        let names = descriptor.root.map { $0.contains(".") || $0.isEmpty ? "\"\($0)\"" : $0 }
        root = names.isEmpty ? nil : names.joined(separator: ".")
        cacheIdentifier = descriptor.cacheIdentifier.map(SecretMask.text(ofURL:))
        identifier = descriptor.identifier.map { SecretMask.text(ofURL: $0.description) }
        settings = ClientDescription.Settings(descriptor.settings).unlessEmpty
        requires = descriptor.settings.requiredCapabilities.descriptions
        attributes = ClientDescription.attributes(of: descriptor.settings)
    }
}

extension ClientDescription.Part {
    fileprivate init(_ field: HTTPFields.Field) {
        self.init(name: field.name.rawName, value: Self.text(of: field))
    }

    fileprivate init(_ part: EndpointDescriptor.QueryPart) {
        switch part {
        case .template(let name, let value):
            let isSecret = SecretMask.hidesParameter(named: name) && !Self.isPlaceholder(value)
            self.init(name: name, value: isSecret ? SecretMask.mask : SecretMask.text(value))
        case .named(let name, let argument, let style): self.init(name: name, argument: "\(argument)", style: style.text)
        case .reflected(let argument): self.init(name: "…", argument: "\(argument)")
        }
    }

    /// Whether a template has nothing that could be a secret.
    private static func isPlaceholder(_ template: String) -> Bool {
        Template.placeholders(in: template).first.map { "%%\($0)%%" == template } ?? false
    }

    /// The template of a header's value. A value that isn't known to be harmless is masked, with a checksum of two bytes that distinguishes
    /// it from others, unless the header's name marks the value as secret.
    private static func text(of field: HTTPFields.Field) -> String {
        let text = SecretMask.text(of: field)
        guard SecretMask.hides(field.name), !field.value.isEmpty else { return text }
        if isPlaceholder(field.value) { return field.value }
        guard !SecretMask.namesSecret(field.name) else { return text }
        var hash = SHA256()
        hash.update(Array(field.value.utf8))
        let sum = hash.finalize().prefix(2).reduce(0) { $0 << 8 | UInt32($1) }
        return text + " (checksum \(String(sum | 1 << 16, radix: 16).dropFirst()))"
    }

    fileprivate static func all(of part: EndpointDescriptor.HeaderPart) -> [Self] {
        switch part {
        case .template(let name, let value): [Self(HTTPFields.Field(name: name, value: value))]
        case .bound(let name, let values):
            values.isEmpty ? [Self(name: name.rawName)] : values.map { Self(HTTPFields.Field(name: name, value: $0)) }
        case .reflected(let argument): [Self(name: "…", argument: "\(argument)")]
        case .argument(let name, let argument, let style): [Self(name: name.rawName, argument: "\(argument)", style: style.text)]
        case .cookie(let name, let argument, let style):
            [Self(name: "Cookie", argument: "\(argument)", style: Self.style(ofCookie: name, style))]
        }
    }
}

extension ClientDescription.Argument {
    /// The arguments of a method, and where they go.
    fileprivate static func all(of plan: EndpointPlan, _ descriptor: EndpointDescriptor) -> [Self] {
        var places: [Int: [String]] = [:]
        func add(_ positions: some Sequence<Int>, _ place: String) {
            for position in positions where places[position]?.contains(place) != true { places[position, default: []].append(place) }
        }
        add(plan.root?.arguments.sorted() ?? [], "service root")
        switch plan.path {
        case .fixed: break
        case .segments(let segments): for segment in segments { add(segment.arguments.sorted(), "path") }
        case .whole(let position): add([position], "path")
        case .uriTemplate(_, let positions): add(positions.values.sorted(), "route")
        }
        for part in plan.query {
            switch part {
            case .fixed: break
            case .pair(let name, let value):
                add(name.arguments.union(value?.arguments ?? []).sorted(), "query \(name.literal ?? "…")")
            case .named(let name, let position, _): add([position], "query \(name)")
            case .reflected(let position): add([position], "query …")
            }
        }
        for (name, values) in plan.commonHeaders { for value in values { add(value.arguments.sorted(), "header \(name)") } }
        for header in plan.headers {
            switch header {
            case .fixed, .bound: break
            case .template(let name, let value): add(value.arguments.sorted(), "header \(name)")
            case .reflected(let position): add([position], "header …")
            case .argument(let name, let position, _): add([position], "header \(name)")
            case .cookie(let name, let position, _): add([position], "cookie \(name)")
            }
        }
        add([plan.bodyTypes?.choice].compactMap(\.self), "media type of the body")
        add([plan.body].compactMap(\.self), "body")
        add(plan.cacheIdentifier?.arguments.sorted() ?? [], "cache identifier")
        add(plan.identifier?.template.arguments.sorted() ?? [], "identifier")
        var position = 0
        return plan.key.labels.map { label in
            let isOptional = descriptor.optional?.contains(label) ?? false
            let aliases = descriptor.aliases.filter { $0.value == label }.keys.sorted()
            var argument = Self(label: label, places: [], isOptional: isOptional ? true : nil, aliases: aliases.isEmpty ? nil : aliases)
            guard !descriptor.ignored.contains(label) else { return argument }
            argument.position = position
            argument.places = places[position] ?? []
            position += 1
            return argument
        }
    }
}

extension ClientDescription.Settings {
    fileprivate init(_ settings: EndpointSettings) {
        parsing =
            switch settings.parsing {
            case nil: nil
            case .byContentType?: "by media type"
            case .forced(let parser)?: SerializerCatalog.text(of: parser)
            case .off?: "raw"
            }
        serializer = settings.serializer.map { SerializerCatalog.text(of: $0) }
        errorHandler = settings.errorHandler.map { MaskedMirror.typeName(of: $0) }
        arrays = settings.arrays?.rawValue
        urlBuilder = settings.urlBuilder.map { MaskedMirror.typeName(of: $0) }
        bodyLimit = settings.bodyLimit
        deadlines = Self.deadlines(settings)
        trust = settings.trust.map(Self.text(of:))
    }

    /// The settings; `nil` if none is set.
    fileprivate var unlessEmpty: Self? { self == Self() ? nil : self }

    private static func deadlines(_ settings: EndpointSettings) -> String? {
        guard settings.timeouts != nil || settings.totalTimeout != nil else { return nil }
        let deadlines = settings.deadlines
        var parts: [String] = []
        // The other deadlines are those of the class and the client, unless all are set.
        if settings.timeouts != nil {
            parts.append("connect \(deadlines.connect?.text ?? "none")")
            parts.append("firstByte \(deadlines.firstByte?.text ?? "none")")
            parts.append("idle \(deadlines.idle?.text ?? "none")")
        }
        parts.append("total \(deadlines.total?.text ?? "none")")
        return parts.joined(separator: ", ")
    }

    private static func text(of trust: TrustPolicy) -> String {
        var parts = [trust.description]
        for certificate in trust.authorities.certificates { parts.append("authority sha256/\(certificate.publicKeyPin)") }
        for (pattern, set) in trust.pins.sorted(by: { $0.key.description < $1.key.description }) {
            parts.append("\(pattern): \(set.pins.map(\.description).joined(separator: ", "))")
        }
        return parts.joined(separator: "; ")
    }
}

extension ClientDescription {
    fileprivate static func success(of settings: EndpointSettings) -> String? {
        guard let statuses = settings.statuses else { return settings.moreStatuses.map { "+ \($0)" } }
        return "\(settings.moreStatuses.map(statuses.union) ?? statuses)"
    }

    fileprivate static func attributes(of settings: EndpointSettings) -> [String] {
        settings.attributes.all.map { text(of: $0) }.sorted()
    }

    /// The text of an attribute.
    static func text(of attribute: any EndpointAttribute) -> String {
        let text = ValueText.text(of: attribute)
        // The name of an enumeration's case doesn't include the enumeration.
        let isBare = Mirror(reflecting: attribute).displayStyle == .enum && !(attribute is any CustomStringConvertible)
        return isBare ? "\(type(of: attribute)).\(text)" : text
    }
}
