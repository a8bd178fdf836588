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
        let owner = key == nil ? " of the client or the class" : ""
        let required = settings.capabilities
        let trusted = settings.trust?.requiredCapabilities ?? []
        let timed: TransportCapabilities = settings.timeouts?.connect == nil ? [] : .connectDeadlines
        return [
            fault(
                key, missing: required.subtracting(capabilities), "the transport can't do what is required",
                fix: "give the client another transport, or take .requiring(…) away"),
            fault(
                key, missing: trusted.subtracting(capabilities), "the trust policy\(owner) needs what the transport can't do",
                fix: "give the client a transport that can, such as CurlTransport, or take it out of the policy"),
            fault(
                key, missing: timed.subtracting(capabilities), "timeouts.connect\(owner) needs what the transport can't do",
                fix: "give the client a transport that can, such as CurlTransport, or leave it out: firstByte bounds connecting as well"),
        ].compactMap { $0 }
    }

    private static func fault(_ key: String?, missing: TransportCapabilities, _ problem: String, fix: String) -> TableFault? {
        guard !missing.isEmpty else { return nil }
        return TableFault(
            kind: .missingCapability, key: key, problem: "\(problem): \(missing.descriptions.joined(separator: ", "))", fix: fix)
    }
}
