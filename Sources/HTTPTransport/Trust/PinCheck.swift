/// Checks that a server's certificate chain contains one of the pins of its host.
///
/// The check is in addition to the engine's full check, never a replacement. The chain must be the one that the full check has built and
/// verified, from the server's own certificate to the root. A server can *send* any certificates: it could match an authority's pin by
/// sending that authority's certificate.
public enum PinCheck {
    /// Checks a verified chain.
    ///
    /// - Parameters:
    ///   - host: The requested host, as the engine used it.
    ///   - chain: The verified chain, with the server's own certificate first. An engine that knows only that certificate can't declare
    ///     ``TransportCapabilities/pinning``, because pins of authorities would match nothing.
    ///   - policy: The policy with the pins. A host without pins passes.
    /// - Throws: ``PinMismatch``.
    public static func check(host: String, chain: [Certificate], policy: TrustPolicy) throws(PinMismatch) {
        guard let pins = policy.pins(forHost: host), !pins.matches(chain) else { return }
        throw PinMismatch(host: host, chain: chain, expected: pins.pins)
    }
}

extension TrustPolicy {
    /// Returns the pins of a host, or else of a matching wildcard; `nil` if there are none.
    ///
    /// If the policy has any pins, a name that the engine may interpret as another host gets an empty set, which matches nothing.
    public func pins(forHost host: String) -> PinSet? {
        guard !pins.isEmpty else { return nil }
        let name = HostPattern.normalized(host)
        guard HostPattern.isPlain(name) else { return PinSet([]) }
        let found = pins.filter { $0.key.matches(normalized: name) }
        return (found.first { !$0.key.isWildcard } ?? found.first)?.value
    }
}

/// An error for a chain that contains none of the host's pins: either the service has changed its keys, or the connection is intercepted.
///
/// It is the ``TransportError/underlying`` error of ``TransportError/Code/pinMismatch``, and contains the information needed to find out
/// which.
public struct PinMismatch: DescribedError, Sendable, Hashable {
    /// The role of a certificate in its chain.
    public enum Role: String, Sendable, Hashable {
        /// The server's certificate.
        case leaf
        /// The certificate of an authority between the server's and the root.
        case issuer
        /// The certificate of the authority that is trusted directly.
        case root
    }

    /// A certificate of the chain.
    public struct Seen: Sendable, Hashable, CustomStringConvertible {
        /// The certificate's role in the chain.
        public let role: Role
        /// The name of its subject, if any.
        public let name: String?
        /// The pin of its public key, in the form for ``CertificatePin/publicKey(sha256:)-(String)``.
        public let publicKeyPin: String

        /// The role, name and pin.
        public var description: String { "\(role.rawValue) “\(name ?? "nameless")” sha256/\(publicKeyPin)" }
    }

    /// The requested host.
    public let host: String
    /// The certificates of the verified chain, with the server's own first.
    public let seen: [Seen]
    /// The pins of the host.
    public let expected: [String]

    package init(host: String, chain: [Certificate], expected: [CertificatePin]) {
        self.host = host
        seen = chain.enumerated().map { index, certificate in
            let isRoot = index > 0 && index == chain.count - 1 && certificate.isSelfIssued
            return Seen(
                role: index == 0 ? .leaf : isRoot ? .root : .issuer, name: certificate.subjectName,
                publicKeyPin: certificate.publicKeyPin)
        }
        self.expected = expected.map(\.description)
    }

    /// The seen and expected pins, and what to do.
    public var description: String {
        let seen = seen.isEmpty ? "no certificate" : seen.map(\.description).joined(separator: ", ")
        let expected = expected.isEmpty ? "nothing, since no pin is set that this host could match" : expected.joined(separator: " or ")
        return "None of the pins for \(host) is in its chain of certificates. Seen: \(seen). Expected: \(expected). "
            + "Ask the service over another channel whether its keys changed. If so, pin the seen ones; if not, someone is intercepting."
    }
}
