/// Finds endpoints that ask for what a transport can't do. It fails closed: such a client makes no call at all.
enum CapabilityCheck {
    static func faults(table: CompiledTable, settings: EndpointSettings, capabilities: TransportCapabilities) -> [TableFault] {
        var faults: [TableFault] = []
        if let fault = fault(key: nil, missing: settings.capabilities.subtracting(capabilities)) { faults.append(fault) }
        if let fault = TrustCheck.missing(settings, key: nil, capabilities: capabilities) { faults.append(fault) }
        for key in table.keys {
            guard let settings = table.plans[key]?.settings ?? table.bareNames[key]?.settings else { continue }
            if let fault = fault(key: key, missing: settings.capabilities.subtracting(capabilities)) { faults.append(fault) }
            if let fault = TrustCheck.missing(settings, key: key, capabilities: capabilities) { faults.append(fault) }
        }
        return faults
    }

    private static func fault(key: String?, missing: TransportCapabilities) -> TableFault? {
        guard !missing.isEmpty else { return nil }
        return TableFault(
            kind: .missingCapability, key: key,
            problem: "the transport can't do what is required: \(missing.descriptions.joined(separator: ", "))",
            fix: "give the client another transport, or take .requiring(…) away")
    }
}
