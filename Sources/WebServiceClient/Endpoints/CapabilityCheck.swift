/// Finds endpoints that ask for what a transport can't do. It fails closed: such a client makes no call at all.
enum CapabilityCheck {
    static func faults(table: CompiledTable, settings: EndpointSettings, capabilities: TransportCapabilities) -> [TableFault] {
        let own = table.keys.compactMap { key in (table.plans[key]?.settings ?? table.bareNames[key]?.settings).map { (key, $0) } }
        var common = settings
        // What every endpoint replaces counts for none of them.
        if !own.isEmpty, own.allSatisfy({ $0.1.timeouts != nil }) { common.timeouts = nil }
        return faults(common, key: nil, capabilities: capabilities)
            + own.flatMap { key, settings in faults(settings, key: key, capabilities: capabilities) }
    }

    /// The same for one endpoint, or for what holds for all.
    static func faults(_ settings: EndpointSettings, key: String?, capabilities: TransportCapabilities) -> [TableFault] {
        let owner = TableFault.owner(key)
        let (trusted, timed) = (settings.trust?.requiredCapabilities ?? [], settings.timeouts?.requiredCapabilities ?? [])
        return [
            fault(
                key, missing: settings.capabilities.subtracting(capabilities), "the transport can't do what is required",
                fix: "give the client another transport, or take .requiring(…) or .allowingBody() away"),
            fault(
                key, missing: trusted.subtracting(capabilities), "the trust policy\(owner) needs what the transport can't do",
                fix: "give the client a transport that can, such as CurlTransport with a recent libcurl, or take it out of the policy"),
            fault(
                key, missing: timed.subtracting(capabilities), "timeouts.connect\(owner) needs what the transport can't do",
                fix: "give the client a transport that can, such as CurlTransport with libcurl 7.80 or later, or leave it out: firstByte "
                    + "bounds connecting as well"),
        ].compactMap { $0 }
    }

    private static func fault(_ key: String?, missing: TransportCapabilities, _ problem: String, fix: String) -> TableFault? {
        guard !missing.isEmpty else { return nil }
        return TableFault(
            kind: .missingCapability, key: key, problem: "\(problem): \(missing.descriptions.joined(separator: ", "))", fix: fix)
    }
}
