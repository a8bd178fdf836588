import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct CertificateTests {
    @Test func `Pin, fingerprint and names are what openssl says`() throws {
        let certificate = try Certificate(pem: SampleCertificate.pem)
        #expect(certificate.publicKeyPin == SampleCertificate.pin)
        #expect(Hexadecimal.text(of: [UInt8](certificate.sha256)) == SampleCertificate.fingerprint)
        #expect(certificate.subjectName == "Example Root" && certificate.issuerName == "Example Root")
        #expect(certificate.isSelfIssued)
        #expect(certificate.description.contains(SampleCertificate.pin))
    }

    @Test func `PEM and DER come back as they were`() throws {
        let certificate = try Certificate(pem: SampleCertificate.pem)
        #expect(certificate.pem == SampleCertificate.pem + "\n")
        #expect(try Certificate(der: certificate.der) == certificate)
        // The slice doesn't start at index zero.
        let padded = Data([1, 2, 3]) + certificate.der
        #expect(try Certificate(der: padded.dropFirst(3)) == certificate)
    }

    @Test(arguments: [
        "Bag Attributes\n    friendlyName: x\n\(SampleCertificate.pem)",
        "\u{FEFF}" + SampleCertificate.pem,
        SampleCertificate.pem.replacingOccurrences(of: "\n", with: "\r\n"),
        SampleCertificate.pem.replacingOccurrences(of: "\n", with: "  \n\n"),
        SampleCertificate.pem.replacingOccurrences(of: "CERTIFICATE", with: "X509 CERTIFICATE"),
        SampleCertificate.key + "\n" + SampleCertificate.pem,
    ])
    func `Text around a block, line ends and old labels make no difference`(text: String) throws {
        #expect(try Certificate(pem: text).publicKeyPin == SampleCertificate.pin)
    }

    @Test func `Several certificates are read in their order`() throws {
        let one = try SampleCertificate.certificate()
        let two = try SampleCertificate.variant(1)
        #expect(try Certificate.certificates(in: Data((one.pem + "text\n" + two.pem).utf8)) == [one, two])
        let error = #expect(throws: CertificateError.self) { try Certificate(pem: one.pem + two.pem) }
        #expect(error?.message.contains("2 certificates") == true)
    }

    @Test(arguments: [
        ("", "neither PEM nor DER"), ("hello", "neither PEM nor DER"),
        (SampleCertificate.key, "PRIVATE KEY"), (String(SampleCertificate.pem.dropLast(30)), "cut short"),
        (SampleCertificate.pem.replacingOccurrences(of: "MII", with: "M!I"), "base64"),
        (SampleCertificate.pem.replacingOccurrences(of: "END CERTIFICATE", with: "END KEY"), "has not begun"),
        ("-----END CERTIFICATE-----\n-----BEGIN X-----", "has not begun"),
        (SampleCertificate.pem.replacingOccurrences(of: "CERTIFICATE", with: "PKCS7"), "openssl pkcs7"),
        (SampleCertificate.pem.replacingOccurrences(of: "CERTIFICATE", with: "TRUSTED CERTIFICATE"), "openssl x509"),
        ("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----", "line 1"),
    ])
    func `What can't be read is told with its fix`(text: String, hint: String) {
        let error = #expect(throws: CertificateError.self) { try Certificate(pem: text) }
        #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    }

    @Test func `An error names the file`() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "broken.pem")
        try Data("x".utf8).write(to: file)
        for url in [file, folder.url.appending(path: "missing.pem"), folder.url] {
            let error = #expect(throws: CertificateError.self) { try Certificate.certificates(inFile: url) }
            #expect(error?.message.contains(url.lastPathComponent) == true)
        }
        let error = #expect(throws: CertificateError.self) {
            try Certificate(file: #require(URL(string: "https://ada:s3cret@api.test/a")))
        }
        #expect(error?.message.contains("s3cret") == false)
    }

    @Test func `A name of a stranger stays on its line`() throws {
        var bytes = try SampleCertificate.certificate().bytes
        let name = Array("Example Root".utf8)
        let starts = bytes.indices.filter { bytes[$0...].starts(with: name) }
        for start in starts { bytes[start + 3] = 0x0A }
        #expect(try Certificate(bytes: bytes).subjectName == "Exa?ple Root")
    }
}

/// Parses damaged bytes, which must produce an error or a certificate whose key is within its bytes, and must not trap.
@Suite struct CertificateDamageTests {
    private func bytes() throws -> [UInt8] { try SampleCertificate.certificate().bytes }

    @Test func `Every truncation and every addition is refused`() throws {
        let bytes = try bytes()
        for length in bytes.indices {
            #expect(throws: CertificateError.self) { try Certificate(bytes: Array(bytes[..<length])) }
        }
        #expect(throws: CertificateError.self) { try Certificate(bytes: bytes + [0]) }
    }

    @Test func `Every change of one byte is an error or leaves parts inside`() throws {
        let bytes = try bytes()
        for index in bytes.indices {
            for change in [0x01, 0x80, 0xff] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= change
                guard let certificate = try? Certificate(bytes: damaged) else { continue }
                _ = certificate.description
                #expect(certificate.subjectPublicKeyInfo.first == 0x30)
            }
        }
    }

    @Test func `Random bytes and random nestings never trap`() {
        var random = SeededGenerator(seed: 7)
        for round in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            if round.isMultiple(of: 2) { bytes = bytes.map { $0 < 100 ? [0x30, 0x02, 0x03, 0xa0, 0x84, 0x81][Int($0) % 6] : $0 } }
            #expect(throws: CertificateError.self) { try Certificate(bytes: bytes) }
            _ = CertificateLayout.shortName(0..<bytes.count, in: bytes)
        }
    }

    @Test(
        arguments: [
            ([0x30, 0x80, 0x00, 0x00], "indefinite"), ([0x30, 0x81, 0x01, 0x00], "shortest"), ([0x30, 0x82, 0x00, 0x81], "shortest"),
            ([0x3f, 0x01, 0x00], "tag 63"), ([0x30, 0x85, 1, 1, 1, 1, 1], "longer than what follows"),
            ([0x30, 0x84, 0xff, 0xff, 0xff, 0xff], "4294967295 bytes"), ([0x30], "cut short"), ([0x02, 0x01, 0x00], "tag 2"),
            ([], "missing"),
        ] as [([UInt8], String)])
    func `The encoding rules are kept strictly`(bytes: [UInt8], hint: String) {
        let error = #expect(throws: CertificateError.self) { try Certificate(bytes: bytes) }
        #expect(error?.message.contains(hint) == true, "\(error?.message ?? "")")
    }

    @Test func `Too many bytes are refused before they are looked at`() {
        #expect(throws: CertificateError.self) { try Certificate(bytes: [UInt8](repeating: 0x30, count: Certificate.longest + 1)) }
    }
}
