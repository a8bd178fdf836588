// The faults of a client, and its description.
extension WebServiceClient {
    /// Lists every fault in the class's declarations: its table's keys, placeholders, arguments, bodies and headers, and its default
    /// headers and service root. Empty if there are none.
    ///
    /// A one-line test verifies a table:
    ///
    ///     #expect(GitHub.verify().isEmpty)
    public class func verify() -> [TableFault] {
        let defaults = defaults
        let table = compiledTable(defaults)
        return table.faults + ServiceRoot.faults(in: defaults.serviceRoot) + DefaultsCheck.faults(in: defaults)
            + RetryCheck.faults(table: table, settings: defaults.settings, perMethod: defaults.perMethod.mapValues(\.settings))
            + SettingsCheck.faults(defaults.settings)
    }

    /// Lists every fault, and every requirement of an endpoint that a transport with these capabilities can't meet.
    public class func verify(for capabilities: TransportCapabilities) -> [TableFault] {
        let defaults = defaults
        return verify()
            + CapabilityCheck.faults(
                table: compiledTable(defaults), settings: defaults.settings, perMethod: defaults.perMethod.mapValues(\.settings),
                capabilities: capabilities)
    }

    /// Lists every fault of this client: its table with its profile, its service root, its trust policy, and the capabilities that its
    /// transport lacks.
    ///
    /// For each configuration, the first call of this method or of an endpoint reports the faults as a warning to
    /// ``Configuration/diagnostics``. Debug builds also print them to standard error, in case the program swallows the error; release
    /// builds print nothing.
    public func verify() -> [TableFault] {
        state.faults
    }

    /// Lists the faults that this client would have with a profile and doesn't have without one. It checks the service root and the
    /// endpoints that profile and class form together, and the origin of the profile's `BaseURL` if the program doesn't list it. Empty if
    /// the profile can be set.
    ///
    /// A bare name of the profile must fit the methods of that name in the class's table. A method that isn't in the table is checked when
    /// it is called. Missing capabilities of the transport for an endpoint don't count as faults of the profile.
    public func verify(_ profile: ServiceProfile) -> [TableFault] {
        let (configuration, environment) = configurationAndEnvironment
        let known = Set(ClientState(self, configuration: configuration, environment: environment, profile: nil).faults)
        let state = ClientState(self, configuration: configuration, environment: environment, profile: profile, ownRoot: profiles.root)
        return state.faults.filter {
            // Capabilities count for the settings common to all endpoints only: a replaced endpoint may have had its own.
            ($0.kind != .missingCapability || $0.key == nil) && !known.contains($0)
        }
    }

    /// The class's table as a value that can be stored and compared.
    public class func describe() -> ClientDescription {
        ClientDescription(client: String(describing: self), table: endpoints, defaults: defaults)
    }

    /// The class's table as text: JSON for a file that ``ClientDescription/changes(since:)`` compares with later tables, an API reference
    /// in Markdown, or an OpenAPI document.
    ///
    ///     try GitHub.describe(as: .markdown).write(to: file, atomically: true, encoding: .utf8)
    public class func describe(as format: DescriptionFormat) -> String {
        switch format {
        case .json: describe().json
        case .markdown: describe().markdown
        case .openAPI: describe().openAPI()
        }
    }

    /// The class's table. A root and headers with placeholders use arguments, so they belong to it.
    class func compiledTable(_ defaults: EndpointDefaults) -> CompiledTable {
        let root = ServiceRoot.hasPlaceholders(defaults.serviceRoot) ? defaults.serviceRoot : nil
        return CompiledTable.of(self, root: root, headers: HeaderTemplates(defaults.headers, defaults), endpoints)
    }
}

extension ClientState {
    /// Reports each fault once to the diagnostics, and in debug builds to standard error because an unnoticed fault costs hours.
    func reportFaults() {
        for note in profileNotes { configuration.diagnostics.report(.init(.notice, "The profile of \(clientName): \(note).")) }
        if configuration.proxyAuthenticationProvider != nil, !configuration.transport.capabilities.contains(.proxyAuthentication) {
            configuration.diagnostics.report(
                .init(.warning, "The transport of \(clientName) doesn't deliver a proxy's 407, so proxyAuthenticationProvider is unused."))
        }
        if let trust = configuration.trust, !trust.isStandard, root?.origin.scheme == "http" {
            configuration.diagnostics.report(
                .init(.warning, "The service root of \(clientName) is http, so its trust policy has no effect: use https."))
        }
        if sharesProvider {
            configuration.diagnostics.report(
                .init(
                    .warning,
                    "The current environment of \(clientName) uses the client's own authentication provider, so each environment without a "
                        + "provider gets its credentials. Set the provider of each environment in ServiceEnvironment.configure."))
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
