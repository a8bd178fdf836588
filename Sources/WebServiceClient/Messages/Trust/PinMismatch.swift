/// None of a host's pins is among the certificates of its chain: either the service has changed its keys, or somebody is in between.
///
/// It is the ``TransportError/underlying`` error of ``TransportError/Code/pinMismatch``, and tells what a person needs to decide which.
public struct PinMismatch: DescribedError, Sendable, Hashable {
    /// What a certificate is in its chain.
    public enum Role: String, Sendable, Hashable {
        /// The server's own.
        case leaf
        /// An authority's, between the server's and the root.
        case issuer
        /// The authority's that is trusted by itself.
        case root
    }

    /// A certificate of the chain.
    public struct Seen: Sendable, Hashable, CustomStringConvertible {
        /// What it is in the chain.
        public let role: Role
        /// Its subject's name, if it has one.
        public let name: String?
        /// The pin of its public key, as ``CertificatePin/publicKey(sha256:)-(String)`` takes it.
        public let publicKeyPin: String

        /// Role, name and pin.
        public var description: String { "\(role.rawValue) “\(name ?? "nameless")” sha256/\(publicKeyPin)" }
    }

    /// The host that was called.
    public let host: String
    /// The certificates of the verified chain, the server's own first.
    public let seen: [Seen]
    /// The pins of the host.
    public let expected: [String]

    init(host: String, chain: [Certificate], expected: [CertificatePin]) {
        self.host = host
        seen = chain.enumerated().map { index, certificate in
            let isRoot = index > 0 && index == chain.count - 1 && certificate.isSelfIssued
            return Seen(
                role: index == 0 ? .leaf : isRoot ? .root : .issuer, name: certificate.subjectName,
                publicKeyPin: certificate.publicKeyPin)
        }
        self.expected = expected.map(\.description)
    }

    /// What was seen, what was expected, and what to do.
    public var description: String {
        let seen = seen.isEmpty ? "no certificate" : seen.map(\.description).joined(separator: ", ")
        let expected = expected.isEmpty ? "nothing, since no pin is set that this host could match" : expected.joined(separator: " or ")
        return "None of the pins for \(host) is in its chain of certificates. Seen: \(seen). Expected: \(expected). "
            + "Ask the service, by another way, whether it has changed its keys; only then pin what was seen. Otherwise somebody is in between."
    }
}
