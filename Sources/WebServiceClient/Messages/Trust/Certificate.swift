public import Foundation

/// An X.509 certificate (RFC 5280): to be trusted as an authority, or to be pinned. It is only read here, never verified.
public struct Certificate: Sendable, Hashable {
    /// The certificate in DER.
    package let bytes: [UInt8]
    private let layout: CertificateLayout

    /// The most bytes that a certificate may have.
    static let longest = 1 << 20

    /// A certificate in DER.
    ///
    /// - Throws: ``CertificateError`` when the bytes are no certificate, or have something after it.
    public init(der: Data) throws(CertificateError) {
        try self.init(bytes: [UInt8](der))
    }

    package init(bytes: [UInt8]) throws(CertificateError) {
        guard bytes.count <= Self.longest else {
            throw CertificateError(message: "\(bytes.count) bytes are too many for a certificate: at most \(Self.longest) are read.")
        }
        do {
            layout = try CertificateLayout(bytes)
        } catch {
            throw CertificateError(
                message: "That is no certificate in DER: \(error.message). Give an X.509 certificate as PEM or DER; "
                    + "a PKCS#12 file (.p12, .pfx) is a ClientIdentity.")
        }
        self.bytes = bytes
    }

    /// The certificate in DER.
    public var der: Data { Data(bytes) }

    /// The public key with its algorithm, in DER: the `subjectPublicKeyInfo` of RFC 5280 §4.1.2.7, which public key pins are made of.
    public var subjectPublicKeyInfo: Data { Data(bytes[layout.subjectPublicKeyInfo]) }

    /// The pin of the public key: the base64 of the SHA-256 of ``subjectPublicKeyInfo`` (RFC 7469 §2.4).
    public var publicKeyPin: String { Data(publicKeyHash).base64EncodedString() }

    /// The SHA-256 of the whole certificate, its fingerprint: 32 bytes.
    public var sha256: Data { Data(Self.hash(bytes)) }

    /// The SHA-256 of the public key with its algorithm.
    package var publicKeyHash: [UInt8] { Self.hash([UInt8](bytes[layout.subjectPublicKeyInfo])) }

    /// The subject's common name, else its organisation; `nil` where it has neither. For people, not for decisions.
    public var subjectName: String? { CertificateLayout.shortName(layout.subject, in: bytes) }

    /// The issuer's common name, else its organisation; `nil` where it has neither. For people, not for decisions.
    public var issuerName: String? { CertificateLayout.shortName(layout.issuer, in: bytes) }

    /// Whether subject and issuer are the same, as in the root of a chain.
    public var isSelfIssued: Bool { bytes[layout.subject].elementsEqual(bytes[layout.issuer]) }

    /// The certificate in PEM (RFC 7468 §5), with a line feed at its end.
    public var pem: String {
        let base64 = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }

    /// Whether two certificates are the same, byte for byte.
    public static func == (left: Certificate, right: Certificate) -> Bool { left.bytes == right.bytes }

    /// Hashes the certificate's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension Certificate: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The subject's name and the pin of the public key.
    public var description: String { "certificate of \(subjectName ?? "nobody") (sha256/\(publicKeyPin))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing but the description: a thousand bytes tell a person nothing.
    public var customMirror: Mirror { Mirror(self, children: ["pin": publicKeyPin]) }
}
