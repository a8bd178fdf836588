public import Foundation

/// A public key or certificate that must be in a server's verified chain: the server's own or an issuer's.
public struct CertificatePin: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// The SHA-256 hash of a `subjectPublicKeyInfo`.
        case publicKey([UInt8])
        case certificate(Certificate)
        /// A text that isn't a hash.
        case unreadable(String)
    }

    package let kind: Kind

    /// Pins a public key by the SHA-256 hash of its `subjectPublicKeyInfo` (RFC 7469 §2.4): in Base64, such as
    /// ``Certificate/publicKeyPin``, with or without a leading `sha256/`, or in 64 hexadecimal digits.
    ///
    /// Any other text matches nothing, and a client that uses it fails with its fault.
    public static func publicKey(sha256 text: String) -> CertificatePin {
        CertificatePin(kind: hash(text).map(Kind.publicKey) ?? .unreadable(String(text.prefix(80))))
    }

    /// Pins a public key by the 32 bytes of its SHA-256 hash.
    public static func publicKey(sha256 bytes: Data) -> CertificatePin {
        CertificatePin(kind: bytes.count == 32 ? .publicKey([UInt8](bytes)) : .unreadable("\(bytes.count) bytes"))
    }

    /// Pins the public key of a certificate, which is kept when the certificate is renewed with the same key.
    public static func publicKey(of certificate: Certificate) -> CertificatePin {
        CertificatePin(kind: .publicKey(certificate.publicKeyHash))
    }

    /// Pins exactly this certificate: the server's own or an issuer's.
    public static func certificate(_ certificate: Certificate) -> CertificatePin {
        CertificatePin(kind: .certificate(certificate))
    }

    /// Whether a certificate is pinned, or contains the pinned key.
    public func matches(_ certificate: Certificate) -> Bool {
        switch kind {
        case .publicKey(let hash): certificate.publicKeyHash == hash
        case .certificate(let pinned): certificate == pinned
        case .unreadable: false
        }
    }

    /// The fault of the pin and its fix; `nil` if the pin is valid.
    package var fault: String? {
        guard case .unreadable(let text) = kind else { return nil }
        return "the pin \"\(text)\" isn't the SHA-256 of a public key: use 44 characters of base64, as in Certificate.publicKeyPin"
    }

    /// The pin in a readable form.
    public var description: String {
        switch kind {
        case .publicKey(let hash): "sha256/\(Data(hash).base64EncodedString())"
        case .certificate(let certificate): "the certificate of \(certificate.subjectName ?? "nobody") (sha256/\(certificate.publicKeyPin))"
        case .unreadable(let text): "\"\(text)\", an invalid pin"
        }
    }

    private static func hash(_ text: String) -> [UInt8]? {
        var text = text[...]
        for start in ["sha256//", "sha256/"] where text.hasPrefix(start) {
            text = text.dropFirst(start.count)
            break
        }
        if let bytes = Data(base64Encoded: String(text)), bytes.count == 32 { return [UInt8](bytes) }
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

/// The pins of a host. At least one must match. Also pin a backup key that isn't in use yet: without it, a lost key locks clients out (RFC
/// 7469 §4.3).
///
///     trust.pins["api.example.com"] = [.publicKey(sha256: "hash of the key in use"), .publicKey(sha256: "hash of its backup")]
public struct PinSet: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The pins.
    public var pins: [CertificatePin]

    /// Creates a set of pins. An empty set matches nothing.
    public init(_ pins: [CertificatePin]) { self.pins = pins }

    /// Creates a set of pins.
    public init(arrayLiteral pins: CertificatePin...) { self.pins = pins }

    /// Whether a certificate of a verified chain matches one of the pins.
    public func matches(_ chain: [Certificate]) -> Bool {
        chain.contains { certificate in pins.contains { $0.matches(certificate) } }
    }
}

/// Checks that a server's certificate chain contains one of the pins of its host.
///
/// The check is in addition to the engine's full check, never a replacement. The chain must be the one that the full check has built and
/// verified, from the server's own certificate to the root. A server can *send* any certificates: it could match an authority's pin by
/// sending that authority's certificate.
public enum PinCheck {
    /// Checks a verified chain.
    ///
    /// - Parameters:
    ///   - host: the requested host, as the engine used it.
    ///   - chain: the verified chain, with the server's own certificate first. An engine that knows only that certificate can't declare
    ///     ``TransportCapabilities/pinning``, because pins of authorities would match nothing.
    ///   - policy: the policy with the pins. A host without pins passes.
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
/// It is the ``TransportError/underlying`` error of ``TransportError/Code/pinMismatch``, and contains what a person needs to decide which.
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
