/// Finds settings that make no sense, at every level that has settings.
enum SettingsCheck {
    /// Returns the faults in the settings of one endpoint, or in those of the class or the client.
    ///
    /// - Parameters:
    ///   - method: The endpoint's method; `nil` for settings of several endpoints.
    ///   - mayHaveBody: Whether the endpoint's requests may have a body; `nil` for settings of several endpoints.
    static func faults(
        _ settings: EndpointSettings, key: String? = nil, method: ServiceRequest.Method? = nil, mayHaveBody: Bool? = nil
    ) -> [TableFault] {
        ResilienceCheck.faults(settings, key: key, method: method) + StreamCheck.faults(settings, key: key)
            + WebSocketCheck.faults(settings, key: key, method: method) + LimitCheck.faults(settings, key: key)
            + BodyCheck.faults(settings, key: key, mayHaveBody: mayHaveBody) + CacheCheck.faults(settings, key: key, method: method)
            + PagingCheck.faults(settings, key: key)
    }
}

/// Finds limits and deadlines that make no sense.
enum LimitCheck {
    /// Returns the faults of the limits in these settings.
    static func faults(_ settings: EndpointSettings, key: String?) -> [TableFault] {
        let attributes = settings.attributes
        let found =
            (attributes[RateLimit.self]?.faults ?? []) + (attributes[ClientRateLimit.self]?.limit.faults ?? [])
            + (attributes[ServiceRateLimits.self]?.faults ?? []) + (attributes[WaitingForNetwork.self]?.faults ?? [])
            + (attributes[RedirectPolicy.self]?.faults ?? []) + deadlineFaults(settings) + bodyFaults(settings)
        return found.map { problem, fix in
            TableFault(kind: .badLimit, key: key, problem: problem + (key == nil ? ", for the client or the class" : ""), fix: fix)
        }
    }

    private static func bodyFaults(_ settings: EndpointSettings) -> [(problem: String, fix: String)] {
        guard let limit = settings.bodyLimit, limit < 0 else { return [] }
        return [("the bodyLimit is \(limit)", "use zero or more bytes")]
    }

    /// The faults of deadlines that have passed before a call begins.
    private static func deadlineFaults(_ settings: EndpointSettings) -> [(problem: String, fix: String)] {
        let timeouts = settings.timeouts
        let deadlines = [
            ("firstByte", timeouts?.firstByte), ("connect", timeouts?.connect), ("idle", timeouts?.idle),
            ("total", settings.totalTimeout ?? timeouts?.total),
        ]
        return deadlines.compactMap { name, deadline in
            guard let deadline, deadline <= .zero else { return nil }
            return ("the deadline \(name) is \(deadline.text), so no call could succeed", "use a longer time, or nil for no limit")
        }
    }
}

/// Finds cache settings that make no sense.
enum CacheCheck {
    /// Returns the faults in these settings.
    ///
    /// - Parameter method: The method of the endpoint; `nil` for the common settings.
    static func faults(_ settings: EndpointSettings, key: String?, method: ServiceRequest.Method?) -> [TableFault] {
        guard !settings.attributes.isEmpty else { return [] }
        let owner = TableFault.owner(key)
        var faults: [TableFault] = []
        func add(_ problem: String, _ fix: String) {
            faults.append(TableFault(kind: .badCaching, key: key, problem: problem, fix: fix))
        }
        if case .lifetime(let lifetime)? = settings.attributes[EndpointCaching.self]?.rule {
            if lifetime <= .zero {
                add("the cache lifetime\(owner) is \(lifetime.text)", "give .cached(for:) more than zero, or use .uncached()")
            }
            if let method, method != .get {
                add("\(method) responses aren't cached", "remove .cached(for:): only responses to GET are stored")
            }
        }
        if let offline = settings.attributes[OfflineCaching.self], offline.maximumAge <= .zero {
            add("the greatest age of offline answers\(owner) is \(offline.maximumAge.text)", "give OfflineCaching(upTo:) more than zero")
        }
        if let tags = settings.attributes[CacheTags.self], tags.names.contains("") {
            add("a cache tag\(owner) is empty", "give each tag a name, such as \"orders\"")
        }
        return faults
    }
}

/// Finds settings of bodies that make no sense: a coding that the system lacks, an invalid digest, or a setting without effect.
enum BodyCheck {
    /// Returns the faults in the settings of one endpoint, or in those of the class or the client.
    ///
    /// - Parameter mayHaveBody: Whether the endpoint's requests may have a body; `nil` for settings of several endpoints.
    static func faults(_ settings: EndpointSettings, key: String?, mayHaveBody: Bool? = nil) -> [TableFault] {
        let attributes = settings.attributes
        guard BodySettings.concern(attributes) else { return [] }
        var faults = attributes[BodyCompression.self]?.faults ?? []
        if let above = attributes[ContinueExpectation.self]?.above, above < 0 {
            faults.append(("100 Continue is expected above \(above) bytes", "give .expectingContinue(above:) 0 or more"))
        }
        if let fault = attributes[ExpectedDigest.self]?.fault { faults.append(fault) }
        if let sent = attributes[SentDigest.self], Set(sent.algorithms).count < sent.algorithms.count {
            faults.append(("an algorithm of the sent digests is listed twice", "list it once"))
        }
        if let wanted = attributes[DigestVerification.self]?.wanted, Set(wanted).count < wanted.count {
            faults.append(("an algorithm of the wanted digests is listed twice", "list it once"))
        }
        if let weak = attributes[DigestVerification.self]?.wanted.first(where: { !$0.isActive }) {
            faults.append(("digests by \(weak) are wanted, which aren't verified", "ask for sha-256 or sha-512"))
        }
        if mayHaveBody == false {
            let idle: [(String, Bool)] = [
                (".compressed(…)", attributes[BodyCompression.self]?.coding != nil),
                (".expectingContinue(…)", attributes[ContinueExpectation.self]?.above != nil),
                (".sendingDigest(…)", attributes[SentDigest.self]?.algorithms.isEmpty == false),
            ]
            for (modifier, isSet) in idle where isSet {
                faults.append(("\(modifier) has no effect: the request has no body", "remove it, or give the endpoint a body"))
            }
        }
        let place = key == nil ? ", in the settings\(TableFault.owner(key))" : ""
        return faults.map { TableFault(kind: .badPolicy, key: key, problem: $0.problem + place, fix: $0.fix) }
    }
}

/// Finds endpoints that require capabilities that a transport lacks. It fails closed: such a client makes no calls.
enum CapabilityCheck {
    ///
    /// - Parameter perMethod: The class's own settings by method.
    static func faults(
        table: CompiledTable, settings: EndpointSettings, perMethod: [ServiceRequest.Method: EndpointSettings] = [:],
        capabilities: TransportCapabilities
    ) -> [TableFault] {
        let own = table.settings
        var common = settings
        // A setting that every endpoint replaces has no effect.
        if !own.isEmpty, own.allSatisfy({ $0.settings.timeouts != nil || perMethod[$0.method]?.timeouts != nil }) { common.timeouts = nil }
        let ofMethods = perMethod.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { method, settings in
            faults(settings, key: nil, capabilities: capabilities).map {
                TableFault(kind: $0.kind, key: nil, problem: "in the defaults of \(method) " + $0.problem, fix: $0.fix)
            }
        }
        return faults(common, key: nil, capabilities: capabilities) + ofMethods
            + own.flatMap { key, _, settings in faults(settings, key: key, capabilities: capabilities) }
    }

    /// Returns the faults of one endpoint's settings, or of the common settings.
    static func faults(_ settings: EndpointSettings, key: String?, capabilities: TransportCapabilities) -> [TableFault] {
        let owner = TableFault.owner(key)
        let expecting =
            settings.attributes.isEmpty || settings.attributes[ContinueExpectation.self]?.above == nil
            ? [] : TransportCapabilities.expectations
        let sockets: TransportCapabilities = settings.attributes[WebSocketSettings.self] == nil ? [] : .webSockets
        let (trusted, timed) = (settings.trust?.requiredCapabilities ?? [], settings.timeouts?.requiredCapabilities ?? [])
        return [
            fault(
                key, missing: settings.capabilities.subtracting(capabilities), "the transport lacks required capabilities",
                fix: "use another transport, or remove .requiring(…) or .allowingBody()"),
            fault(
                key, missing: expecting.subtracting(capabilities),
                "Expect: 100-continue\(owner) needs a capability that the transport lacks",
                fix: "use a transport that has it, such as CurlTransport, or remove .expectingContinue(…)"),
            fault(
                key, missing: trusted.subtracting(capabilities), "the trust policy\(owner) needs capabilities that the transport lacks",
                fix: "use a transport that has them, such as CurlTransport with a recent libcurl, or change the policy"),
            fault(
                key, missing: timed.subtracting(capabilities), "timeouts.connect\(owner) needs capabilities that the transport lacks",
                fix: "use a transport that has them, such as CurlTransport with libcurl 7.80 or later, or omit it: firstByte "
                    + "bounds connecting as well"),
            fault(
                key, missing: sockets.subtracting(capabilities), "the WebSocket\(owner) needs capabilities that the transport lacks",
                fix: "use a transport that has them, such as CurlTransport, or remove .webSocket(…)"),
        ].compactMap { $0 }
    }

    private static func fault(_ key: String?, missing: TransportCapabilities, _ problem: String, fix: String) -> TableFault? {
        guard !missing.isEmpty else { return nil }
        return TableFault(
            kind: .missingCapability, key: key, problem: "\(problem): \(missing.descriptions.joined(separator: ", "))", fix: fix)
    }
}

/// Finds invalid trust policies. It fails closed: such a client makes no calls.
enum TrustCheck {
    /// Returns the faults of the trust policy in these settings.
    static func faults(_ settings: EndpointSettings, key: String?) -> [TableFault] {
        (settings.trust?.faults ?? []).map { fault in
            TableFault(kind: .badTrust, key: key, problem: "the trust policy\(TableFault.owner(key)) is invalid", fix: fault)
        }
    }
}
