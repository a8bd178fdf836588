/// What client and class set for the endpoints of one HTTP method, merged by precedence: library < client < class < class per method.
struct CommonSettings: Sendable {
    let settings: EndpointSettings
    /// The fields of all levels, those with placeholders excluded.
    let headers: HTTPFields
    /// Whether client, session or class set `Accept`.
    let hasOwnAccept: Bool
    /// The serializers of all levels, the innermost first.
    let serializers: [any SerializationDelegate]
    /// The configuration's parsers, laid over the serializers and the library's parsers.
    let parsers: SerializationRegistry
}

/// ``CommonSettings`` of every method.
struct CommonLevels: Sendable {
    private let common: CommonSettings
    private let perMethod: [ServiceRequest.Method: CommonSettings]
    /// The headers with placeholders, which are compiled for each endpoint.
    let templates: HeaderTemplates

    /// - Parameter session: The session's fields, between those of client and class. Their values are taken literally.
    init(_ configuration: WebServiceClient.Configuration, _ defaults: EndpointDefaults, session: HTTPFields = [:]) {
        var headers: HTTPFields = ["User-Agent": ClientState.userAgent]
        headers.replace(with: configuration.headers)
        for name in Set(session.map(\.name)) { headers[name] = nil }
        headers.replace(with: defaults.headers)
        func fixed(_ headers: HTTPFields) -> HTTPFields {
            var fixed = HeaderTemplates.split(headers).fixed
            for field in session where !headers.contains(field.name) { fixed.append(field.name, field.value) }
            return fixed
        }
        let settings = configuration.settings.overlaid(by: defaults.settings)
        let hasAccept = configuration.headers.contains(.accept) || session.contains(.accept) || defaults.headers.contains(.accept)
        func level(
            _ settings: EndpointSettings, _ headers: HTTPFields, hasAccept: Bool, own: (any SerializationDelegate)? = nil
        ) -> CommonSettings {
            let serializers = [own, defaults.settings.serializer, configuration.serializer].compactMap { $0 }
            return CommonSettings(
                settings: settings, headers: fixed(headers), hasOwnAccept: hasAccept, serializers: serializers,
                parsers: configuration.parsers.completed(by: serializers))
        }
        common = level(settings, headers, hasAccept: hasAccept)
        var perMethod: [ServiceRequest.Method: CommonSettings] = [:]
        for (method, own) in defaults.perMethod {
            var all = headers
            all.replace(with: own.headers)
            var settings = settings.overlaid(by: own.settings)
            if let own = own.settings.attributes[ClientRateLimit.self] {
                // It has its own bucket: in a shared one, calls would keep replacing one limit by the other.
                settings.attributes.set(ClientRateLimit(limit: own.limit, method: method))
            }
            perMethod[method] = level(
                settings, all, hasAccept: hasAccept || own.headers.contains(.accept),
                own: own.settings.serializer)
        }
        self.perMethod = perMethod
        templates = HeaderTemplates(headers, defaults)
    }

    /// What client and class set for the endpoints of a method.
    subscript(method: ServiceRequest.Method) -> CommonSettings { perMethod[method] ?? common }

    /// The settings of endpoints whose method doesn't have separate defaults.
    var settings: EndpointSettings { common.settings }
}

/// Finds faults in the defaults of a class, without those of the service root.
enum DefaultsCheck {
    static func faults(in defaults: EndpointDefaults) -> [TableFault] {
        var faults = ClientState.faults(in: defaults.headers) + TrustCheck.faults(defaults.settings, key: nil)
        faults += perMethodFaults(in: defaults)
        return faults
    }

    /// The faults of the defaults per method, in the order of the methods' names.
    static func perMethodFaults(in defaults: EndpointDefaults) -> [TableFault] {
        defaults.perMethod.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { method, own in
            var faults: [TableFault] = []
            func add(_ kind: TableFault.Kind, _ problem: String, _ fix: String) {
                faults.append(TableFault(kind: kind, key: nil, problem: problem, fix: fix))
            }
            if !method.isValid {
                add(
                    .badMethod, "perMethod has the key \"\(method)\", which isn't an HTTP method",
                    "use a name of letters, such as GET")
            } else if let known = method.knownSpelling, known != method {
                add(.badMethod, "perMethod has the key \"\(method)\", but methods are case-sensitive", "write \(known)")
            }
            if !own.serviceRoot.isEmpty {
                add(
                    .badDefaults, "the defaults of \(method) have a service root, which all methods share",
                    "give the root to the class's defaults")
            }
            if !own.perMethod.isEmpty {
                add(.badDefaults, "the defaults of \(method) have defaults per method", "add them to the class's perMethod")
            }
            if let statuses = own.settings.statuses, statuses.isEmpty {
                add(.badStatuses, "no status counts as success in the defaults of \(method)", "give them at least one status")
            }
            let ofSettings =
                TrustCheck.faults(own.settings, key: nil) + RetryCheck.faults(own.settings.attributes, key: nil)
                + SettingsCheck.faults(own.settings, method: method)
            faults += (ClientState.faults(in: own.headers) + ofSettings).map {
                TableFault(kind: $0.kind, key: nil, problem: "in the defaults of \(method) " + $0.problem, fix: $0.fix)
            }
            return faults
        }
    }
}
