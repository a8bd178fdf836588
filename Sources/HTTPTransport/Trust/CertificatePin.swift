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
        case .certificate(let certificate):
            "the certificate of \(certificate.subjectName ?? "an unnamed subject") (sha256/\(certificate.publicKeyPin))"
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
        let digits = text.utf8.filter { $0 != UInt8(ascii: ":") }
        return digits.count == 64 ? Hexadecimal.bytes(of: digits) : nil
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
