public import Foundation

/// The certificate and private key that identify a client to services that ask for them (RFC 8446 §4.4.2).
///
/// Files are read when the identity is created. After they are renewed, create a new identity and set it with `client.configure { … }`. The
/// key and the passphrase are never printed.
public struct ClientIdentity: Sendable, Hashable {
    /// The content of an identity, for transports. Its descriptions show no secrets.
    public enum Content: Sendable, Hashable {
        /// The client's certificate with its issuers, and its key as a single PEM block.
        case pem(chain: [Certificate], key: [UInt8])
        /// The bytes of a PKCS#12 file (RFC 7292).
        case pkcs12([UInt8])
    }

    /// The content of the identity, for the transport that presents it.
    public let content: Content
    /// The passphrase of the key or of the PKCS#12 file; `nil` if it isn't encrypted. The library never prints it.
    public let passphrase: String?

    /// The maximum size of a file in bytes.
    private static let longestFile = 1 << 20

    /// Creates an identity from PEM texts.
    ///
    /// - Parameters:
    ///   - chain: The client's certificate, followed by its issuers' certificates. Keys in the text are ignored.
    ///   - key: The private key. Other blocks are ignored, so one file may contain both.
    ///   - passphrase: The passphrase of an encrypted key.
    /// - Throws: ``CertificateError`` if a certificate or the key is missing, the two are swapped, or the key is encrypted and there is no
    ///   passphrase.
    public static func pem(chain: Data, key: Data, passphrase: String? = nil) throws(CertificateError) -> ClientIdentity {
        guard !areSwapped(chain: [UInt8](chain), key: [UInt8](key)) else {
            throw CertificateError(
                message: "Chain and key seem to be swapped: the chain holds a private key and no certificate, and the key a certificate "
                    + "and no private key. Swap the arguments.")
        }
        let certificates = try Certificate.certificates(in: chain)
        let keys = try PEMText.blocks(in: [UInt8](key)).filter { $0.label.hasSuffix("PRIVATE KEY") }
        guard let block = keys.first, keys.count == 1 else {
            throw CertificateError(
                message: "There are \(keys.count) private keys instead of one, which begins with \"-----BEGIN PRIVATE KEY-----\". "
                    + "A key in DER is converted with \"openssl pkey -inform der -in FILE -out KEY.pem\".")
        }
        guard passphrase != nil || !isEncrypted(block) else {
            throw CertificateError(message: "The private key is encrypted: give its passphrase.")
        }
        return ClientIdentity(content: .pem(chain: certificates, key: [UInt8](block.text.utf8)), passphrase: passphrase)
    }

    /// Creates an identity from PEM files, which may be the same file.
    ///
    /// - Throws: ``CertificateError`` like ``pem(chain:key:passphrase:)``. The error names the file.
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

    /// Creates an identity from the bytes of a PKCS#12 file (RFC 7292), often named `.p12` or `.pfx`.
    ///
    /// The content isn't checked until it is used: with a wrong passphrase, the first call fails with
    /// ``TransportError/Code/clientCertificate``.
    ///
    /// - Throws: ``CertificateError`` if the bytes aren't PKCS#12.
    public static func pkcs12(_ data: Data, passphrase: String? = nil) throws(CertificateError) -> ClientIdentity {
        let bytes = [UInt8](data)
        guard isPKCS12(bytes) else {
            throw CertificateError(
                message: PEMText.isLikely(bytes)
                    ? "The data is PEM, not PKCS#12: use ClientIdentity.pem(chain:key:)."
                    : "The data isn't PKCS#12: pass the bytes of a .p12 or .pfx file.")
        }
        return ClientIdentity(content: .pkcs12(bytes), passphrase: passphrase)
    }

    /// Creates an identity from a PKCS#12 file.
    ///
    /// - Throws: ``CertificateError`` like ``pkcs12(_:passphrase:)``. The error names the file.
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

    /// Whether a key is encrypted with PKCS#8 (RFC 5958 §3), or in the old way with a header (RFC 1421 §4.6.1.1).
    private static func isEncrypted(_ block: PEMText.Block) -> Bool {
        block.label == "ENCRYPTED PRIVATE KEY" || block.lines.contains { $0.hasPrefix("Proc-Type:") && $0.contains("ENCRYPTED") }
    }

    /// Checks only the beginning: `PFX ::= SEQUENCE { version INTEGER, authSafe ContentInfo, macData OPTIONAL }`. Some programs write
    /// indefinite lengths (RFC 7292 requires only BER).
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
        case .pem(let chain, _): "client identity of \(chain.first?.subjectName ?? "an unnamed subject")"
        case .pkcs12: "client identity in PKCS#12"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, so that a dump doesn't show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ClientIdentity.Content: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The format, without the key.
    public var description: String {
        switch self {
        case .pem: "an identity in PEM"
        case .pkcs12: "an identity in PKCS#12"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// An empty mirror, so that a dump doesn't show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
