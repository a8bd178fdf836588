public import Foundation

/// The certificate and private key by which a client shows who it is (RFC 8446 §4.4.2), where the service asks for them.
///
/// Files are read when the identity is made. When they are renewed, make a new one and set it with `client.configure { … }`.
/// Neither key nor passphrase is ever printed.
public struct ClientIdentity: Sendable, Hashable {
    /// What an identity is made of: for transports, which present it. It shows nothing of itself.
    public enum Content: Sendable, Hashable {
        /// The client's certificate with its issuers, and its key as one block of PEM.
        case pem(chain: [Certificate], key: [UInt8])
        /// A PKCS#12 file's bytes (RFC 7292).
        case pkcs12([UInt8])
    }

    /// What the identity is made of, for the transport that presents it.
    public let content: Content
    /// What the key, or the PKCS#12 file, is encrypted with; `nil` where it isn't. It is never printed by the library.
    public let passphrase: String?

    /// The most bytes of a file that are read.
    private static let longestFile = 1 << 20

    /// The identity in texts in PEM.
    ///
    /// - Parameters:
    ///   - chain: the client's certificate first, then its issuers'. Keys among them are left out.
    ///   - key: the private key; what else stands there is left out, so that one file may hold both.
    ///   - passphrase: what the key is encrypted with.
    /// - Throws: ``CertificateError`` when a certificate or the key isn't there, the two are swapped, or the key is encrypted and there is no passphrase.
    public static func pem(chain: Data, key: Data, passphrase: String? = nil) throws(CertificateError) -> ClientIdentity {
        guard !areSwapped(chain: [UInt8](chain), key: [UInt8](key)) else {
            throw CertificateError(
                message: "Chain and key seem to be swapped: the chain holds a private key and no certificate, and the key a certificate "
                    + "and no private key. Give them the other way round.")
        }
        let certificates = try Certificate.certificates(in: chain)
        let keys = try PEMText.blocks(in: [UInt8](key)).filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard let block = keys.first, keys.count == 1 else {
            throw CertificateError(
                message: "There are \(keys.count) private keys where one is wanted: it begins with \"-----BEGIN PRIVATE KEY-----\". "
                    + "A key in DER is converted with \"openssl pkey -inform der -in FILE -out KEY.pem\".")
        }
        guard passphrase != nil || !isEncrypted(block) else {
            throw CertificateError(message: "The private key is encrypted: give its passphrase.")
        }
        return ClientIdentity(content: .pem(chain: certificates, key: [UInt8](block.text.utf8)), passphrase: passphrase)
    }

    /// The identity in files in PEM, which may be one and the same.
    ///
    /// - Throws: ``CertificateError``, as ``pem(chain:key:passphrase:)`` does. It names the file.
    public static func pem(chainFile: URL, keyFile: URL, passphrase: String? = nil) throws(CertificateError) -> ClientIdentity {
        let chain = try Certificate.contents(of: chainFile, limit: longestFile)
        let key = try Certificate.contents(of: keyFile, limit: longestFile)
        do {
            return try pem(chain: chain, key: key, passphrase: passphrase)
        } catch {
            let names = Set([chainFile.lastPathComponent, keyFile.lastPathComponent]).sorted().joined(separator: ", ")
            throw CertificateError(message: "\(names): \(error.message)")
        }
    }

    /// The identity in the bytes of a PKCS#12 file (RFC 7292), often named `.p12` or `.pfx`.
    ///
    /// What is inside can't be told before it is used: a wrong passphrase ends the first call with
    /// ``TransportError/Code/clientCertificate``.
    ///
    /// - Throws: ``CertificateError`` when the bytes are none.
    public static func pkcs12(_ data: Data, passphrase: String? = nil) throws(CertificateError) -> ClientIdentity {
        let bytes = [UInt8](data)
        guard isPKCS12(bytes) else {
            throw CertificateError(
                message: PEMText.isLikely(bytes)
                    ? "That is PEM, no PKCS#12: use ClientIdentity.pem(chain:key:)."
                    : "That is no PKCS#12: give the bytes of a .p12 or .pfx file.")
        }
        return ClientIdentity(content: .pkcs12(bytes), passphrase: passphrase)
    }

    /// The identity in a PKCS#12 file.
    ///
    /// - Throws: ``CertificateError``, as ``pkcs12(_:passphrase:)`` does. It names the file.
    public static func pkcs12(file: URL, passphrase: String? = nil) throws(CertificateError) -> ClientIdentity {
        let data = try Certificate.contents(of: file, limit: longestFile)
        do {
            return try pkcs12(data, passphrase: passphrase)
        } catch {
            throw CertificateError(message: "\(file.lastPathComponent): \(error.message)")
        }
    }

    private static func areSwapped(chain: [UInt8], key: [UInt8]) -> Bool {
        func holds(_ bytes: [UInt8]) -> (certificate: Bool, key: Bool) {
            let labels = (try? PEMText.blocks(in: bytes))?.map(\.label) ?? []
            return (labels.contains { $0.hasSuffix("CERTIFICATE") }, labels.contains { $0.hasSuffix("PRIVATE KEY") })
        }
        return holds(chain) == (certificate: false, key: true) && holds(key) == (certificate: true, key: false)
    }

    /// Encrypted by PKCS#8 (RFC 5958 §3), or the old way with a header (RFC 1421 §4.6.1.1).
    private static func isEncrypted(_ block: PEMText.Block) -> Bool {
        block.label == "ENCRYPTED PRIVATE KEY" || block.lines.contains { $0.hasPrefix("Proc-Type:") && $0.contains("ENCRYPTED") }
    }

    /// `PFX ::= SEQUENCE { version INTEGER, authSafe ContentInfo, macData OPTIONAL }`. Some programs write lengths that are indefinite
    /// (RFC 7292 asks for BER only), so that nothing but the beginning is looked at.
    private static func isPKCS12(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8, bytes[0] == DERReader.Tag.sequence else { return false }
        let header = bytes[1] < 0x80 ? 2 : 2 + Int(bytes[1] & 0x7f)
        return bytes.dropFirst(header).starts(with: [0x02, 0x01, 0x03])
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name in the certificate, never the key.
    public var description: String {
        switch content {
        case .pem(let chain, _): "client identity of \(chain.first?.subjectName ?? "nobody")"
        case .pkcs12: "client identity in PKCS#12"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing: not even a dump shows the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ClientIdentity.Content: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The form, and nothing of the key.
    public var description: String {
        switch self {
        case .pem: "an identity in PEM"
        case .pkcs12: "an identity in PKCS#12"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Nothing: not even a dump shows the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
