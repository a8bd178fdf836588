public import Foundation

extension Certificate {
    /// The most bytes of a file of certificates that are read: a system's whole bundle has a few hundred thousand.
    private static let longestFile = 16 << 20

    /// The one certificate in a text in PEM. Other text around it is left out.
    ///
    /// - Throws: ``CertificateError`` when there is none or more than one, or it can't be read.
    public init(pem: String) throws(CertificateError) {
        self = try Self.single(in: try Self.certificates(in: Data(pem.utf8)), "The text")
    }

    /// The one certificate in a file, in PEM or DER.
    ///
    /// - Throws: ``CertificateError`` when there is none or more than one, or it can't be read. It names the file.
    public init(file: URL) throws(CertificateError) {
        self = try Self.single(in: try Self.certificates(inFile: file), file.lastPathComponent)
    }

    /// All certificates in a text in PEM, in their order, or the one in DER.
    ///
    /// Other text around the blocks and blocks of other kinds, such as keys, are left out.
    ///
    /// - Throws: ``CertificateError`` when there is no certificate, or one of them can't be read.
    public static func certificates(in data: Data) throws(CertificateError) -> [Certificate] {
        let bytes = [UInt8](data)
        guard PEMText.isLikely(bytes) else {
            guard bytes.first == DERReader.Tag.sequence else {
                throw CertificateError(
                    message: "That is neither PEM nor DER: a certificate in PEM begins with \"-----BEGIN CERTIFICATE-----\".")
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

    /// All certificates in a file, in PEM or DER.
    ///
    /// - Throws: ``CertificateError`` when the file or a certificate can't be read, or there is none. It names the file.
    public static func certificates(inFile file: URL) throws(CertificateError) -> [Certificate] {
        let data = try contents(of: file, limit: longestFile)
        do {
            return try certificates(in: data)
        } catch {
            throw CertificateError(message: "\(file.lastPathComponent): \(error.message)")
        }
    }

    /// A file's bytes, no more than so many.
    static func contents(of file: URL, limit: Int) throws(CertificateError) -> Data {
        guard file.isFileURL else {
            throw CertificateError(message: "\(SecretMask.text(of: file)) is no file: give a file URL, or read the bytes and give them.")
        }
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let data = try handle.read(upToCount: limit + 1) ?? Data()
            guard data.count <= limit else {
                throw CertificateError(message: "\(file.lastPathComponent) has more than \(limit) bytes: is it the right file?")
            }
            return data
        } catch let error as CertificateError {
            throw error
        } catch {
            if let shortage = DescriptorShortage.sentenceNow() {
                throw CertificateError(message: "\(file.lastPathComponent) can't be opened now. \(shortage)")
            }
            throw CertificateError(message: "\(file.lastPathComponent) can't be read: is it there, readable, and no folder?")
        }
    }

    /// `X509 CERTIFICATE` is the old name (RFC 7468 §5.1).
    private static let labels: Set<String> = ["CERTIFICATE", "X509 CERTIFICATE"]

    private static func single(in certificates: [Certificate], _ name: String) throws(CertificateError) -> Certificate {
        guard let certificate = certificates.first, certificates.count == 1 else {
            throw CertificateError(
                message: "\(name) holds \(certificates.count) certificates where one is wanted: "
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
