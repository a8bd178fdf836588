#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// Compares certificates created by the openssl program with that program's output. Reported as skipped without the program.
@Suite(.enabled(if: OpenSSL.command != nil, "needs the openssl command in PATH"))
struct CertificateToolTests {
    private let folder = TemporaryFolder()

    private func openssl(_ arguments: String...) async throws -> Data {
        let result = try await OpenSSL.run(arguments, in: folder.url)
        try #require(result.status == 0, "openssl \(arguments.joined(separator: " "))")
        return result.output
    }

    /// Returns the pin computed by openssl commands.
    private func pin(of file: String) async throws -> String {
        try await openssl("x509", "-in", file, "-pubkey", "-noout").write(to: folder.url.appending(path: "public.pem"))
        try await openssl("pkey", "-pubin", "-in", "public.pem", "-outform", "der").write(to: folder.url.appending(path: "public.der"))
        return try await openssl("dgst", "-sha256", "-binary", "public.der").base64EncodedString()
    }

    @Test(arguments: [
        ["-newkey", "rsa:2048"], ["-newkey", "rsa:3072", "-sigopt", "rsa_padding_mode:pss"],
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"], ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-521"],
        ["-newkey", "ed25519"], ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt", "ec_param_enc:explicit"],
    ])
    func `Pins, fingerprints and both forms agree for every kind of key`(key: [String]) async throws {
        let made = try await OpenSSL.run(
            ["req", "-x509", "-nodes", "-utf8", "-keyout", "key.pem", "-out", "a.pem", "-subj", "/O=Bücher AG/CN=bücher.example"] + key,
            in: folder.url)
        try #require(made.status == 0)
        let certificate = try Certificate(file: folder.url.appending(path: "a.pem"))
        #expect(certificate.publicKeyPin == (try await pin(of: "a.pem")))
        #expect(certificate.der == (try await openssl("x509", "-in", "a.pem", "-outform", "der")))
        #expect(Data(certificate.pem.utf8) == (try await openssl("x509", "-in", "a.pem")))
        #expect(certificate.subjectName == "bücher.example")
        let fingerprint = String(decoding: try await openssl("x509", "-in", "a.pem", "-noout", "-fingerprint", "-sha256"), as: UTF8.self)
        let digits = fingerprint.split(separator: "=").last?.filter(\.isHexDigit).lowercased()
        #expect(digits == Hexadecimal.text(of: [UInt8](certificate.sha256)))
        #expect(CertificatePin.publicKey(sha256: try await pin(of: "a.pem")).matches(certificate))
    }

    @Test func `A certificate of version 1 has no version and no extensions`() async throws {
        _ = try await openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "k.pem", "-out", "r.pem", "-subj", "/O=Old")
        _ = try await openssl("x509", "-req", "-in", "r.pem", "-signkey", "k.pem", "-out", "v1.pem")
        let text = String(decoding: try await openssl("x509", "-in", "v1.pem", "-noout", "-text"), as: UTF8.self)
        try #require(text.contains("Version: 1"))
        let certificate = try Certificate(file: folder.url.appending(path: "v1.pem"))
        #expect(certificate.publicKeyPin == (try await pin(of: "v1.pem")) && certificate.subjectName == "Old")
        let request = #expect(throws: CertificateError.self) { try Certificate(file: folder.url.appending(path: "r.pem")) }
        #expect(request?.message.contains("r.pem") == true && request?.message.contains("not yet a certificate") == true)
    }

    @Test func `An identity is read from PEM, plain and encrypted, and from PKCS 12`() async throws {
        _ = try await openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "k.pem", "-out", "c.pem", "-subj", "/CN=client")
        _ = try await openssl("pkcs12", "-export", "-in", "c.pem", "-inkey", "k.pem", "-out", "i.p12", "-passout", "pass:s3cret")
        _ = try await openssl("pkcs8", "-topk8", "-in", "k.pem", "-out", "e.pem", "-passout", "pass:s3cret")
        _ = try await openssl("rsa", "-in", "k.pem", "-aes128", "-traditional", "-out", "t.pem", "-passout", "pass:s3cret")
        let file = { (name: String) in folder.url.appending(path: name) }
        #expect(try ClientIdentity.pem(chainFile: file("c.pem"), keyFile: file("k.pem")).description.contains("client"))
        let swapped = #expect(throws: CertificateError.self) { try ClientIdentity.pem(chainFile: file("k.pem"), keyFile: file("c.pem")) }
        #expect(swapped?.message.contains("c.pem") == true && swapped?.message.contains("swapped") == true, "\(swapped?.message ?? "")")
        _ = try ClientIdentity.pkcs12(file: file("i.p12"), passphrase: "s3cret")
        for name in ["e.pem", "t.pem"] {
            _ = try ClientIdentity.pem(chainFile: file("c.pem"), keyFile: file(name), passphrase: "s3cret")
            let error = #expect(throws: CertificateError.self) { try ClientIdentity.pem(chainFile: file("c.pem"), keyFile: file(name)) }
            #expect(error?.message.contains("passphrase") == true && error?.message.contains(name) == true)
        }
        let certificate = #expect(throws: CertificateError.self) { try Certificate(file: file("i.p12")) }
        #expect(certificate?.message.contains("ClientIdentity") == true)
        for name in ["c.pem", "k.pem"] {
            #expect(throws: CertificateError.self) { try ClientIdentity.pkcs12(file: file(name)) }
        }
    }
}

/// Parses the system's authorities, which are certificates from many issuers.
@Suite struct SystemAuthoritiesTests {
    private static let bundle = ["/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem", "/etc/pki/tls/certs/ca-bundle.crt"]
        .first { FileManager.default.isReadableFile(atPath: $0) }

    @Test(.enabled(if: bundle != nil, "needs the system's bundle of certificates"))
    func `Every certificate of the system's bundle is read`() throws {
        let file = URL(fileURLWithPath: try #require(Self.bundle))
        let text = try String(contentsOf: file, encoding: .utf8)
        let certificates = try Certificate.certificates(inFile: file)
        #expect(certificates.count == text.components(separatedBy: "-----BEGIN CERTIFICATE-----").count - 1)
        #expect(certificates.allSatisfy { $0.subjectName != nil })
    }
}
#endif
