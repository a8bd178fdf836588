/// Finds trust policies that can't be right, and those that a transport can't honour. It fails closed: such a client makes no call.
enum TrustCheck {
    /// What can't be right in the policy of these settings themselves.
    static func faults(_ settings: EndpointSettings, key: String?) -> [TableFault] {
        (settings.trust?.faults ?? []).map { fault in
            TableFault(kind: .badTrust, key: key, problem: "the trust policy\(owner(key)) can't be right", fix: fault)
        }
    }

    /// What the policy of these settings needs, and the transport can't do.
    static func missing(_ settings: EndpointSettings, key: String?, capabilities: TransportCapabilities) -> TableFault? {
        let missing = settings.trust?.requiredCapabilities.subtracting(capabilities) ?? []
        guard !missing.isEmpty else { return nil }
        return TableFault(
            kind: .missingCapability, key: key,
            problem: "the trust policy\(owner(key)) needs what the transport can't do: \(missing.descriptions.joined(separator: ", "))",
            fix: "give the client a transport that can, such as CurlTransport, or take it out of the policy")
    }

    /// Whose policy it is, where no key says so.
    private static func owner(_ key: String?) -> String { key == nil ? " of the client or the class" : "" }
}
