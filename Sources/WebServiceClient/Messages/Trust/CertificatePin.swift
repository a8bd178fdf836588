public import Foundation

/// A public key or a certificate that must be among those of a server's verified chain: of the server itself or of one of its issuers.
public struct CertificatePin: Sendable, Hashable, CustomStringConvertible {
    enum Kind: Sendable, Hashable {
        /// The SHA-256 of a `subjectPublicKeyInfo`.
        case publicKey([UInt8])
        case certificate(Certificate)
        /// A text that is no hash.
        case unreadable(String)
    }

    let kind: Kind

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
    var fault: String? {
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
