public import Foundation

/// A public key or a certificate that must be among those of a server's verified chain: of the server itself or of one of its issuers.
public struct CertificatePin: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// The SHA-256 of a `subjectPublicKeyInfo`.
        case publicKey([UInt8])
        case certificate(Certificate)
        /// A text that is no hash.
        case unreadable(String)
    }

    package let kind: Kind

    /// The pin of a public key: the SHA-256 of its `subjectPublicKeyInfo` (RFC 7469 §2.4) in base64, such as ``Certificate/publicKeyPin``,
    /// with or without `sha256/` in front, or in 64 hexadecimal digits.
    ///
    /// A text that is none of these matches nothing, and the client that uses it is refused with its fault.
    public static func publicKey(sha256 text: String) -> CertificatePin {
        CertificatePin(kind: hash(text).map(Kind.publicKey) ?? .unreadable(String(text.prefix(80))))
    }

    /// The pin of a public key by the 32 bytes of its SHA-256.
    public static func publicKey(sha256 bytes: Data) -> CertificatePin {
        CertificatePin(kind: bytes.count == 32 ? .publicKey([UInt8](bytes)) : .unreadable("\(bytes.count) bytes"))
    }

    /// The public key of a certificate, which stays the same when the certificate is renewed with its key.
    public static func publicKey(of certificate: Certificate) -> CertificatePin {
        CertificatePin(kind: .publicKey(certificate.publicKeyHash))
    }

    /// Exactly this certificate: the server's own, or one of its issuers'.
    public static func certificate(_ certificate: Certificate) -> CertificatePin {
        CertificatePin(kind: .certificate(certificate))
    }

    /// Whether a certificate is the pinned one, or has the pinned key.
    public func matches(_ certificate: Certificate) -> Bool {
        switch kind {
        case .publicKey(let hash): certificate.publicKeyHash == hash
        case .certificate(let pinned): certificate == pinned
        case .unreadable: false
        }
    }

    /// What can't be right with the pin, and what to write; `nil` when nothing is.
    package var fault: String? {
        guard case .unreadable(let text) = kind else { return nil }
        return "the pin \"\(text)\" is no SHA-256 of a public key: write 44 characters of base64, as Certificate.publicKeyPin gives them"
    }

    /// The pin as a person would write it.
    public var description: String {
        switch kind {
        case .publicKey(let hash): "sha256/\(Data(hash).base64EncodedString())"
        case .certificate(let certificate): "the certificate of \(certificate.subjectName ?? "nobody") (sha256/\(certificate.publicKeyPin))"
        case .unreadable(let text): "\"\(text)\", which is no pin"
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

/// The pins of a host: one of them must match. Pin a backup too, a key that isn't in use yet: without it, a lost key locks clients out
/// (RFC 7469 §4.3).
///
///     trust.pins["api.example.com"] = [.publicKey(sha256: "hash of the key in use"), .publicKey(sha256: "hash of its backup")]
public struct PinSet: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The pins.
    public var pins: [CertificatePin]

    /// A set of pins. An empty one lets nothing pass.
    public init(_ pins: [CertificatePin]) { self.pins = pins }

    /// A set of pins.
    public init(arrayLiteral pins: CertificatePin...) { self.pins = pins }

    /// Whether a certificate of a verified chain matches one of the pins.
    public func matches(_ chain: [Certificate]) -> Bool {
        chain.contains { certificate in pins.contains { $0.matches(certificate) } }
    }
}

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

    /// What was seen, what was expected, and what to do.
    public var description: String {
        let seen = seen.isEmpty ? "no certificate" : seen.map(\.description).joined(separator: ", ")
        let expected = expected.isEmpty ? "nothing, since no pin is set that this host could match" : expected.joined(separator: " or ")
        return "None of the pins for \(host) is in its chain of certificates. Seen: \(seen). Expected: \(expected). "
            + "Ask the service, by another way, whether it has changed its keys; only then pin what was seen. Otherwise somebody is in between."
    }
}
