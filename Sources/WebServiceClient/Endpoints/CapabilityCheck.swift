/// Finds endpoints that ask for what a transport can't do. It fails closed: such a client makes no call at all.
enum CapabilityCheck {
    static func faults(table: CompiledTable, settings: EndpointSettings, capabilities: TransportCapabilities) -> [TableFault] {
        var faults = faults(settings, key: nil, capabilities: capabilities)
        for key in table.keys {
            guard let settings = table.plans[key]?.settings ?? table.bareNames[key]?.settings else { continue }
            faults += Self.faults(settings, key: key, capabilities: capabilities)
        }
        return faults
    }

    /// The same for one endpoint, or for what holds for all.
    static func faults(_ settings: EndpointSettings, key: String?, capabilities: TransportCapabilities) -> [TableFault] {
        [
            fault(key: key, missing: settings.capabilities.subtracting(capabilities)),
            TrustCheck.missing(settings, key: key, capabilities: capabilities),
        ].compactMap { $0 }
    }

    private static func fault(key: String?, missing: TransportCapabilities) -> TableFault? {
        guard !missing.isEmpty else { return nil }
        return TableFault(
            kind: .missingCapability, key: key,
            problem: "the transport can't do what is required: \(missing.descriptions.joined(separator: ", "))",
            fix: "give the client another transport, or take .requiring(…) away")
    }
}
