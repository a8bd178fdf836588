// How declarations are made from a description again: the inverse of its making.

/// A descriptor that a description tells, with the settings of its class.
struct DescribedEndpoint {
    let key: String
    private(set) var descriptor: EndpointDescriptor
    /// The parts that a description doesn't tell, such as secrets and types of the program, each as text for a note.
    private(set) var omitted: [String] = []
    /// Whether a secret is among them.
    private(set) var lacksSecret = false

    /// Reads an endpoint of a description. The header fields and settings of the class become the endpoint's, since a profile has no class.
    ///
    /// - Returns: `nil` if the place that the request goes to has secrets, which are masked.
    init?(_ endpoint: ClientDescription.Endpoint, of description: ClientDescription) {
        let places = [endpoint.route, endpoint.serviceRoot, endpoint.cacheIdentifier, endpoint.identifier].compactMap(\.self)
        guard !places.contains(where: { $0.contains(SecretMask.mask) }) else { return nil }
        key = endpoint.key
        descriptor = EndpointDescriptor(
            method: ServiceRequest.Method(rawValue: endpoint.method),
            route: endpoint.routeKind == "uriTemplate" ? .uriTemplate(endpoint.route) : .template(endpoint.route))
        readParts(endpoint, OpenAPIExportMedia(endpoint, of: description).fields)
        switch endpoint.body {
        case "implicit": descriptor.body = .implicit
        case "none": descriptor.body = .none
        case let reference: descriptor.body = .argument(EndpointArgument(text: reference))
        }
        descriptor.allowsBody = endpoint.allowsBody ?? false
        readArguments(endpoint)
        descriptor.serviceRoot = endpoint.serviceRoot
        descriptor.bodyTypes = endpoint.bodyTypes.map { BodyTypes(described: $0, endpoint.encodings ?? []) }
        descriptor.root = endpoint.root.map(Self.names(inRoot:)) ?? []
        descriptor.cacheIdentifier = endpoint.cacheIdentifier
        descriptor.identifier = endpoint.identifier.flatMap { CallIdentifier(described: $0) }
        readSettings(endpoint, of: description)
    }

    // MARK: Request

    private mutating func readParts(_ endpoint: ClientDescription.Endpoint, _ fields: [ClientDescription.Part]) {
        for part in endpoint.query {
            if let argument = part.argument.map({ EndpointArgument(text: $0) }) {
                let style = part.style.flatMap { ArgumentStyle(text: $0) } ?? ArgumentStyle()
                descriptor.query.append(part.name == "…" ? .reflected(argument) : .named(part.name, argument, style))
            } else if let value = visible(part.value ?? "", of: "the query item \(part.name)") {
                descriptor.query.append(.template(name: part.name, value: value))
            }
        }
        for part in fields {
            let name = HTTPFields.Name(part.name)
            if let argument = part.argument.map({ EndpointArgument(text: $0) }) {
                if let cookie = part.cookieName {
                    descriptor.headers.append(
                        .cookie(cookie, argument, part.styleOfCookie.flatMap { ArgumentStyle(text: $0) } ?? ArgumentStyle()))
                } else if part.name == "…" {
                    descriptor.headers.append(.reflected(argument))
                } else {
                    descriptor.headers.append(.argument(name, argument, part.style.flatMap { ArgumentStyle(text: $0) } ?? ArgumentStyle()))
                }
            } else if let value = part.value {
                if let value = visible(value, of: "the header \(part.name)") { descriptor.headers.append(.template(name, value)) }
            } else {
                descriptor.headers.append(.bound(name, []))
            }
        }
    }

    /// The value, if it isn't masked.
    private mutating func visible(_ value: String, of part: String) -> String? {
        guard value.contains(SecretMask.mask) else { return value }
        omit("\(part) has a secret, which a description doesn't contain: give it to the client")
        lacksSecret = true
        return nil
    }

    private mutating func omit(_ text: String) { omitted.append(text) }

    private mutating func readArguments(_ endpoint: ClientDescription.Endpoint) {
        for argument in endpoint.arguments ?? [] {
            if argument.position == nil { descriptor.ignored.insert(argument.label) }
            for alias in argument.aliases ?? [] { descriptor.aliases[alias] = argument.label }
        }
        guard endpoint.takesPartOfLabels == true else { return }
        descriptor.optional = Set((endpoint.arguments ?? []).filter { $0.isOptional == true }.map(\.label))
    }

    /// The wire names of a root, in which a name with a dot is in quotation marks.
    private static func names(inRoot text: String) -> [String] {
        var names: [String] = []
        var rest = text[...]
        while !rest.isEmpty {
            if let (name, end) = quotedName(at: rest) {
                names.append(name)
                rest = rest[end...]
            } else {
                let end = rest.firstIndex(of: ".") ?? rest.endIndex
                names.append(String(rest[..<end]))
                rest = rest[end...]
            }
            rest = rest.dropFirst()
        }
        return names
    }

    /// The name in quotation marks at the start of a root, and the index after it. Only empty names and those with a dot have such marks.
    private static func quotedName(at text: Substring) -> (name: String, end: Substring.Index)? {
        guard text.first == "\"" else { return nil }
        let last = text.count > 1 && text.last == "\"" ? text.index(before: text.endIndex) : nil
        guard let end = text.firstRange(of: "\".")?.lowerBound ?? last, end > text.startIndex else { return nil }
        let name = text[text.index(after: text.startIndex)..<end]
        return name.isEmpty || name.contains(".") ? (String(name), text.index(after: end)) : nil
    }

    // MARK: Settings

    private mutating func readSettings(_ endpoint: ClientDescription.Endpoint, of description: ClientDescription) {
        let common = description.defaults
        let own = description.perMethod?.first { $0.method == endpoint.method }
        let levels = [
            (common?.success, common?.settings, common?.requires, common?.attributes),
            (own?.success, own?.settings, own?.requires, own?.attributes),
            (endpoint.success, endpoint.settings, endpoint.requires, endpoint.attributes),
        ]
        for (success, settings, requires, attributes) in levels {
            var level = EndpointSettings()
            read(success, into: &level)
            if let settings { read(settings, into: &level) }
            level.capabilities = TransportCapabilities(descriptions: requires ?? [])
            for text in attributes ?? [] {
                if let attribute = AttributeCatalog.attribute(text, from: .exportedTable) {
                    level.attributes.set(attribute)
                } else {
                    omit("the attribute \(text) is left out: set it for the client, or in its class")
                }
            }
            descriptor.settings = descriptor.settings.overlaid(by: level)
        }
        // What attributes require isn't a requirement of the endpoint's own.
        if descriptor.settings.attributes[ContinueExpectation.self]?.above != nil { descriptor.settings.capabilities.remove(.expectations) }
    }

    private mutating func read(_ success: String?, into level: inout EndpointSettings) {
        guard let success else { return }
        if success.hasPrefix("+ ") {
            level.moreStatuses = StatusSet(described: String(success.dropFirst(2)))
        } else {
            level.statuses = StatusSet(described: success)
        }
        if level.statuses == nil, level.moreStatuses == nil { omit("the statuses \(success) can't be read") }
    }

    private mutating func read(_ settings: ClientDescription.Settings, into level: inout EndpointSettings) {
        switch settings.parsing {
        case nil: break
        case "raw"?: level.parsing = .off
        case "by media type"?: level.parsing = .byContentType
        case let text?:
            let parser = SerializerCatalog.serializer(text)
            level.parsing = parser.map { .forced($0) }
            if parser == nil { omit("the parser \(text) is left out: register it for the client, or set it in its class") }
        }
        if let text = settings.serializer {
            level.serializer = SerializerCatalog.serializer(text)
            if level.serializer == nil { omit("the serializer \(text) is left out: set it for the client, or in its class") }
        }
        if let handler = settings.errorHandler { omit("the error handler \(handler) is left out: set it for the client") }
        if let builder = settings.urlBuilder { omit("\(builder), which builds the URLs, is left out: set it for the client") }
        if settings.trust != nil { omit("the trust policy is left out: a document can't set it") }
        level.arrays = settings.arrays.flatMap { FieldReflection.ArrayStrategy(rawValue: $0) }
        level.bodyLimit = settings.bodyLimit
        if let text = settings.deadlines, !level.read(deadlines: text) { omit("the deadlines \(text) can't be read") }
    }
}

extension EndpointArgument {
    /// Reads what ``description`` writes.
    fileprivate init(text: String) {
        self.init(reference: Int(text).map { .position($0) } ?? .label(text))
    }
}

extension BodyTypes {
    fileprivate static let choiceText = "chosen by argument "

    fileprivate init(described texts: [String], _ described: [ClientDescription.PropertyEncoding]) {
        let choice = texts.last.flatMap { $0.hasPrefix(Self.choiceText) ? String($0.dropFirst(Self.choiceText.count)) : nil }
        self.init(types: choice == nil ? texts : texts.dropLast(), choice: choice.map { EndpointArgument(text: $0) })
        for one in described {
            let style = one.style.flatMap { $0.isEmpty ? ArgumentStyle() : ArgumentStyle(text: $0) }
            let type = one.contentType.flatMap { MediaType($0) == nil ? nil : $0 }
            encodings[one.mediaType, default: [:]][one.property] = PropertyEncoding(style: style, contentType: type)
        }
    }
}

extension TransportCapabilities {
    fileprivate init(descriptions: [String]) {
        self = []
        for bit in 0..<UInt32(32) {
            let one = TransportCapabilities(rawValue: 1 << bit)
            if let text = one.descriptions.first, descriptions.contains(text) { insert(one) }
        }
    }
}

extension EndpointSettings {
    /// Reads deadlines such as `connect none, firstByte 60 s, idle 60 s, total 5 s`.
    ///
    /// - Returns: Whether the text could be read.
    fileprivate mutating func read(deadlines text: String) -> Bool {
        var found: [String: Duration?] = [:]
        for part in text.split(separator: ", ") {
            let words = part.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { return false }
            let value = Duration(text: words[1])
            guard value != nil || words[1] == "none" else { return false }
            found[String(words[0])] = .some(value)
        }
        guard let total = found["total"] else { return false }
        if found.count == 1 {
            totalTimeout = total
            return total != nil
        }
        guard found.count == 4, let connect = found["connect"], let first = found["firstByte"], let idle = found["idle"] else {
            return false
        }
        timeouts = ServiceTimeouts(firstByte: first, idle: idle, total: total, connect: connect)
        return true
    }
}
