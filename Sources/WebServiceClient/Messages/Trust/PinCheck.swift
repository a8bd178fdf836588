/// Whether a server's chain of certificates holds one of the pins of its host.
///
/// This comes on top of the engine's full check, never in its place. The chain must be the one which that check has built and verified,
/// from the server's own certificate to the root: a server can *send* any certificates it likes, and would pass a pin of an authority by
/// sending that authority's certificate along.
public enum PinCheck {
    /// Checks a verified chain.
    ///
    /// - Parameters:
    ///   - host: the host that was called, as the engine took it.
    ///   - chain: the verified chain, the server's own certificate first. An engine that knows only this one can't
    ///     declare ``TransportCapabilities/pinning``: pins of authorities would match nothing.
    ///   - policy: whose pins are checked. A host without pins passes.
    /// - Throws: ``PinMismatch``.
    public static func check(host: String, chain: [Certificate], policy: TrustPolicy) throws(PinMismatch) {
        guard let pins = policy.pins(forHost: host), !pins.matches(chain) else { return }
        throw PinMismatch(host: host, chain: chain, expected: pins.pins)
    }
}

extension TrustPolicy {
    /// The pins of a host: those of the host itself, else those of a wildcard; `nil` when it has none.
    ///
    /// A name that may be another one to the engine gets an empty set, which nothing matches, as soon as there are any pins.
    public func pins(forHost host: String) -> PinSet? {
        guard !pins.isEmpty else { return nil }
        let name = HostPattern.normalized(host)
        guard HostPattern.isPlain(name) else { return PinSet([]) }
        let found = pins.filter { $0.key.matches(normalized: name) }
        return (found.first { !$0.key.isWildcard } ?? found.first)?.value
    }
}
