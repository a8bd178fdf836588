/// Finds trust policies that can't be right. It fails closed: such a client makes no call.
enum TrustCheck {
    /// What can't be right in the policy of these settings themselves.
    static func faults(_ settings: EndpointSettings, key: String?) -> [TableFault] {
        (settings.trust?.faults ?? []).map { fault in
            TableFault(kind: .badTrust, key: key, problem: "the trust policy\(TableFault.owner(key)) can't be right", fix: fault)
        }
    }
}
