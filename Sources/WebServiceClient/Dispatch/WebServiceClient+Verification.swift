extension WebServiceClient {
    /// Lists every fault of what the class declares: its table's keys, placeholders, arguments, bodies and headers, its own headers and service
    /// root. Empty when there is none.
    ///
    /// A test of one line keeps a table right:
    ///
    ///     #expect(GitHub.verify().isEmpty)
    public class func verify() -> [TableFault] {
        let defaults = defaults
        return CompiledTable.of(self, root: rootWithPlaceholders).faults + ServiceRoot.faults(in: defaults.serviceRoot)
            + ClientState.faults(in: defaults.headers) + TrustCheck.faults(defaults.settings, key: nil)
    }

    /// Lists every fault, and what endpoints require that a transport of these capabilities can't do.
    public class func verify(for capabilities: TransportCapabilities) -> [TableFault] {
        let table = CompiledTable.of(self, root: rootWithPlaceholders)
        return verify() + CapabilityCheck.faults(table: table, settings: defaults.settings, capabilities: capabilities)
    }

    /// Lists every fault of this client: its table with its profile, its service root, its trust policy, and what its transport can't do.
    ///
    /// The faults are told once for each configuration, by whichever comes first of this and a call: to ``Configuration/diagnostics`` as a
    /// warning, and where the package is built for debugging to standard error as well, since an error that somebody catches may stay
    /// unseen there. Release builds print nothing.
    public func verify() -> [TableFault] {
        state.faults
    }

    /// Lists the faults that this client would have with a profile, and hasn't without any: in the service root and the endpoints that the two
    /// make together, in the origin of the profile's `BaseURL` where the program doesn't list it, and for methods that this client has called by bare names of a profile. Empty when the profile can be set. What the
    /// transport can't do for an endpoint is no fault of the profile.
    public func verify(_ profile: ServiceProfile) -> [TableFault] {
        let known = Set(ClientState(self, configuration: configuration, profile: nil).faults)
        let state = ClientState(
            self, configuration: configuration, profile: profile, ownRoot: profileRoot, methods: calledByBareName)
        return state.faults.filter {
            // Of all endpoints' common settings: one that the profile replaces may have had its own in their place.
            ($0.kind != .missingCapability || $0.key == nil) && !known.contains($0)
        }
    }

    /// What the class's table says, as a value that can be stored and compared.
    public class func describe() -> ClientDescription {
        ClientDescription(client: String(describing: self), table: endpoints)
    }

    /// The root's placeholders use arguments, so a root that has some belongs to the table.
    private class var rootWithPlaceholders: String? {
        ServiceRoot.hasPlaceholders(defaults.serviceRoot) ? defaults.serviceRoot : nil
    }
}

extension ClientState {
    /// Says each fault once: through the diagnostics, and in debug builds on standard error, since an unnoticed fault costs hours.
    func tellFaults() {
        for note in profileNotes { configuration.diagnostics.report(.init(.notice, "The profile of \(clientName): \(note).")) }
        if configuration.proxyAuthenticationProvider != nil, !configuration.transport.capabilities.contains(.proxyAuthentication) {
            configuration.diagnostics.report(
                .init(.warning, "The transport of \(clientName) delivers no proxy's 407, so proxyAuthenticationProvider is never asked."))
        }
        if let trust = configuration.trust, !trust.isStandard, root?.origin.scheme == "http" {
            configuration.diagnostics.report(
                .init(.warning, "The service root of \(clientName) is http, where its trust policy protects nothing: use https."))
        }
        if let note = DefaultTransport.note(to: clientName, over: configuration.transport) { configuration.diagnostics.report(note) }
        guard !faults.isEmpty else { return }
        let text = TableFaults(client: clientName, faults: faults).description
        configuration.diagnostics.report(.init(.warning, text))
        #if DEBUG
        StandardError.write(text + "\n")
        #endif
    }
}
