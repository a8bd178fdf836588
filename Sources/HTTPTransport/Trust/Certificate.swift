public import Foundation

/// An X.509 certificate (RFC 5280), for use as a trusted authority or as a pin. It is only parsed, never verified.
public struct Certificate: Sendable, Hashable {
    /// The certificate in DER.
    package let bytes: [UInt8]
    private let layout: CertificateLayout

    /// The maximum size of a certificate in bytes.
    package static let longest = 1 << 20

    /// Creates a certificate from DER.
    ///
    /// - Throws: ``CertificateError`` if the bytes aren't a certificate or continue after it.
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
                message: "The bytes aren't a certificate in DER: \(error.message). Give an X.509 certificate as PEM or DER; "
                    + "a PKCS#12 file (.p12, .pfx) is a ClientIdentity.")
        }
        self.bytes = bytes
    }

    /// The certificate in DER.
    public var der: Data { Data(bytes) }

    /// The public key with its algorithm in DER: the `subjectPublicKeyInfo` of RFC 5280 §4.1.2.7, the basis of public key pins.
    public var subjectPublicKeyInfo: Data { Data(bytes[layout.subjectPublicKeyInfo]) }

    /// The pin of the public key: the Base64 form of the SHA-256 hash of ``subjectPublicKeyInfo`` (RFC 7469 §2.4).
    public var publicKeyPin: String { Data(publicKeyHash).base64EncodedString() }

    /// The fingerprint: the 32 bytes of the SHA-256 hash of the whole certificate.
    public var sha256: Data { Data(Self.hash(bytes)) }

    /// The SHA-256 hash of the public key with its algorithm.
    var publicKeyHash: [UInt8] { Self.hash([UInt8](bytes[layout.subjectPublicKeyInfo])) }

    /// The subject's common name, or else its organization; `nil` if it has neither. For display only, not for decisions.
    public var subjectName: String? { CertificateLayout.shortName(layout.subject, in: bytes) }

    /// The issuer's common name, or else its organization; `nil` if it has neither. For display only, not for decisions.
    public var issuerName: String? { CertificateLayout.shortName(layout.issuer, in: bytes) }

    /// Whether the subject and issuer are equal, as in the root of a chain.
    public var isSelfIssued: Bool { bytes[layout.subject].elementsEqual(bytes[layout.issuer]) }

    /// The certificate in PEM (RFC 7468 §5), ending with a line feed.
    public var pem: String {
        let base64 = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }

    /// Whether two certificates have the same bytes.
    public static func == (left: Certificate, right: Certificate) -> Bool { left.bytes == right.bytes }

    /// Hashes the certificate's bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension Certificate: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The subject's name and the pin of the public key.
    public var description: String { "certificate of \(subjectName ?? "an unnamed subject") (sha256/\(publicKeyPin))" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// Only the pin, because the bytes would be unreadable.
    public var customMirror: Mirror { Mirror(self, children: ["pin": publicKeyPin]) }
}

extension Certificate {
    /// The maximum size of a certificate file in bytes. A system's whole bundle has a few hundred thousand.
    private static let longestFile = 16 << 20

    /// Creates a certificate from a PEM text that contains exactly one. Other text around it is ignored.
    ///
    /// - Throws: ``CertificateError`` if the text contains no certificate or several, or the certificate is invalid.
    public init(pem: String) throws(CertificateError) {
        self = try Self.single(in: try Self.certificates(in: Data(pem.utf8)), "The text")
    }

    /// Creates a certificate from a PEM or DER file that contains exactly one.
    ///
    /// - Throws: ``CertificateError`` if the file contains no certificate or several, or can't be read. The error names the file.
    public init(file: URL) throws(CertificateError) {
        self = try Self.single(in: try Self.certificates(inFile: file), file.lastPathComponent)
    }

    /// Returns all certificates in a PEM text, in order, or the one in DER.
    ///
    /// Text around the blocks and blocks of other kinds, such as keys, are ignored.
    ///
    /// - Throws: ``CertificateError`` if there are no certificates, or one is invalid.
    public static func certificates(in data: Data) throws(CertificateError) -> [Certificate] {
        let bytes = [UInt8](data)
        guard PEMText.isLikely(bytes) else {
            guard bytes.first == DERReader.Tag.sequence else {
                throw CertificateError(
                    message: "The data is neither PEM nor DER: a certificate in PEM begins with \"-----BEGIN CERTIFICATE-----\".")
            }
            return [try Certificate(bytes: bytes)]
        }
        let blocks = try PEMText.blocks(in: bytes)
        var certificates: [Certificate] = []
        for block in blocks where labels.contains(block.label) {
            do {
                certificates.append(try Certificate(bytes: try block.decoded()))
            } catch {
                throw CertificateError(message: "The certificate that begins in line \(block.line): \(error.message)")
            }
        }
        guard !certificates.isEmpty else {
            let others = Set(blocks.map(\.label)).sorted().joined(separator: ", ")
            throw CertificateError(
                message: "There is no certificate, only: \(others). \(advice(blocks.map(\.label)))")
        }
        return certificates
    }

    /// Returns all certificates in a PEM or DER file.
    ///
    /// - Throws: ``CertificateError`` if the file or a certificate can't be read, or the file contains no certificate. The error names the
    ///   file.
    public static func certificates(inFile file: URL) throws(CertificateError) -> [Certificate] {
        let data = try contents(of: file, limit: longestFile)
        do {
            return try certificates(in: data)
        } catch {
            throw CertificateError(message: "\(file.lastPathComponent): \(error.message)")
        }
    }

    /// Reads a file of at most `limit` bytes.
    static func contents(of file: URL, limit: Int) throws(CertificateError) -> Data {
        guard file.isFileURL else {
            throw CertificateError(message: "\(SecretMask.text(of: file)) isn't a file URL: pass one, or read the bytes and pass them.")
        }
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let data = try handle.read(upToCount: limit + 1) ?? Data()
            guard data.count <= limit else {
                throw CertificateError(message: "\(file.lastPathComponent) has more than \(limit) bytes: check that it is the right file.")
            }
            return data
        } catch let error as CertificateError {
            throw error
        } catch {
            if let shortage = DescriptorShortage.sentenceNow() {
                throw CertificateError(message: "\(file.lastPathComponent) can't be opened now. \(shortage)")
            }
            throw CertificateError(message: "\(file.lastPathComponent) can't be read: check that it is an existing, readable file.")
        }
    }

    /// `X509 CERTIFICATE` is the old name (RFC 7468 §5.1).
    private static let labels: Set<String> = ["CERTIFICATE", "X509 CERTIFICATE"]

    private static func single(in certificates: [Certificate], _ name: String) throws(CertificateError) -> Certificate {
        guard let certificate = certificates.first, certificates.count == 1 else {
            throw CertificateError(
                message: "\(name) holds \(certificates.count) certificates, but exactly one is expected:  "
                    + "read all of them with Certificate.certificates(in:) and choose.")
        }
        return certificate
    }

    private static func advice(_ labels: [String]) -> String {
        if labels.contains("TRUSTED CERTIFICATE") { return "Convert it with \"openssl x509 -in FILE -out CERTIFICATE.pem\"." }
        if labels.contains("PKCS7") { return "Convert it with \"openssl pkcs7 -print_certs -in FILE -out CERTIFICATES.pem\"." }
        if labels.contains(where: { $0.hasSuffix("REQUEST") }) { return "A request is not yet a certificate: let an authority sign it." }
        return "Give the file with \"-----BEGIN CERTIFICATE-----\"."
    }
}

/// The ranges of a certificate's parts in its DER form (RFC 5280 §4.1).
///
///     Certificate    ::= SEQUENCE { tbsCertificate, signatureAlgorithm SEQUENCE, signatureValue BIT STRING }
///     TBSCertificate ::= SEQUENCE { version [0] OPTIONAL, serialNumber INTEGER, signature SEQUENCE, issuer SEQUENCE,
///                                   validity SEQUENCE, subject SEQUENCE, subjectPublicKeyInfo SEQUENCE,
///                                   issuerUniqueID [1] OPTIONAL, subjectUniqueID [2] OPTIONAL, extensions [3] OPTIONAL }
struct CertificateLayout: Sendable {
    let subjectPublicKeyInfo: Range<Int>
    let issuer: Range<Int>
    let subject: Range<Int>

    /// Parses a whole certificate, without bytes before or after it.
    init(_ bytes: [UInt8]) throws(DERReader.Fault) {
        var outer = DERReader(bytes)
        let certificate = try outer.read(DERReader.Tag.sequence, "the certificate")
        try outer.expectEnd(of: "the certificate")
        var parts = outer.inside(certificate)
        let body = try parts.read(DERReader.Tag.sequence, "the certificate's body")
        _ = try parts.read(DERReader.Tag.sequence, "the algorithm of the signature")
        _ = try parts.read(DERReader.Tag.bitString, "the signature")
        try parts.expectEnd(of: "the signature")

        var fields = parts.inside(body)
        if fields.nextTag == DERReader.Tag.context(0) { _ = try fields.read() }
        _ = try fields.read(DERReader.Tag.integer, "the serial number")
        _ = try fields.read(DERReader.Tag.sequence, "the algorithm of the signature")
        issuer = try fields.read(DERReader.Tag.sequence, "the issuer").whole
        _ = try fields.read(DERReader.Tag.sequence, "the validity")
        subject = try fields.read(DERReader.Tag.sequence, "the subject").whole
        let key = try fields.read(DERReader.Tag.sequence, "the public key")
        subjectPublicKeyInfo = key.whole
        try Self.checkKey(fields.inside(key))
        // Unique identifiers (primitive [1] and [2]) and extensions, in this order and at most once each.
        for tag in [0x81, 0x82, DERReader.Tag.context(3)] where fields.nextTag == tag { _ = try fields.read() }
        try fields.expectEnd(of: "the extensions")
    }

    /// `SubjectPublicKeyInfo ::= SEQUENCE { algorithm SEQUENCE, subjectPublicKey BIT STRING }`.
    private static func checkKey(_ reader: DERReader) throws(DERReader.Fault) {
        var reader = reader
        _ = try reader.read(DERReader.Tag.sequence, "the algorithm of the public key")
        _ = try reader.read(DERReader.Tag.bitString, "the bits of the public key")
        try reader.expectEnd(of: "the public key")
    }

    /// Returns the common name, or else the organization, as text for display; `nil` if the name has neither.
    ///
    ///     Name ::= SEQUENCE OF SET OF SEQUENCE { type OBJECT IDENTIFIER, value }
    static func shortName(_ name: Range<Int>, in bytes: [UInt8]) -> String? {
        var found: [UInt8: String] = [:]
        var outer = DERReader(bytes, in: name)
        guard let sequence = try? outer.read(DERReader.Tag.sequence, "a name") else { return nil }
        var sets = outer.inside(sequence)
        while let set = try? sets.read(DERReader.Tag.set, "a part of a name") {
            var attributes = sets.inside(set)
            while let attribute = try? attributes.read(DERReader.Tag.sequence, "an attribute") {
                var pair = attributes.inside(attribute)
                guard let type = try? pair.read(DERReader.Tag.objectIdentifier, "a type"), let value = try? pair.read() else { continue }
                // 2.5.4.3 is the common name, 2.5.4.10 the organization.
                let identifier = bytes[type.content]
                guard identifier.count == 3, identifier.starts(with: [0x55, 0x04]), let kind = identifier.last else { continue }
                found[kind] = text(bytes[value.content])
            }
        }
        return found[3] ?? found[10]
    }

    /// Returns a name as a single line of printable text. Names come from untrusted certificates and appear in errors.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let text = String(decoding: bytes.prefix(256), as: UTF8.self).unicodeScalars.prefix(80)
        return String(String.UnicodeScalarView(text.map { isPrintable($0) ? $0 : "?" }))
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: scalar != "\u{FFFD}"
        }
    }
}

/// An error that explains why a certificate or a client identity can't be read.
public struct CertificateError: DescribedError, Sendable, Hashable {
    /// The fault and its fix.
    public let message: String

    /// Creates an error with a message.
    public init(message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
