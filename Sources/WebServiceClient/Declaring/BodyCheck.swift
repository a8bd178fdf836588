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
