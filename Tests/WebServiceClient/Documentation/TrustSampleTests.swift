import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

/// The samples of the article on trusting servers, with identical code.
@Suite struct TrustSampleTests {
    private func configure(
        _ client: WebServiceClient, companyRoots: URL, identityFile: URL, passphrase: String, keyInUse: String, backupKey: String
    ) throws {
        var trust = TrustPolicy()
        trust.authorities = .system(adding: try Certificate.certificates(inFile: companyRoots))
        trust.pins["api.example.com"] = [.publicKey(sha256: keyInUse), .publicKey(sha256: backupKey)]
        trust.identity = try .pkcs12(file: identityFile, passphrase: passphrase)
        trust.minimumTLSVersion = .tlsv13
        client.configure { $0.trust = trust }
    }

    private func look(_ transport: some TrustEvaluating, _ serviceRoot: URL, _ trust: TrustPolicy) async throws {
        let evaluation = try await transport.evaluateTrust(of: serviceRoot, policy: trust)
        for pin in evaluation.publicKeyPins { print(pin) }
    }

    @Test func `The sample asks for all that a transport can be asked for`() throws {
        let folder = TemporaryFolder()
        let roots = folder.url.appending(path: "roots.pem")
        let identity = folder.url.appending(path: "identity.p12")
        try Data(SampleCertificate.pem.utf8).write(to: roots)
        try Data([0x30, 0x06, 0x02, 0x01, 0x03, 0x30, 0x01, 0x00]).write(to: identity)
        let client = WebServiceClient(serviceRoot: "https://api.example.com") { $0.transport = StubTransport() }
        try configure(
            client, companyRoots: roots, identityFile: identity, passphrase: "secret", keyInUse: SampleCertificate.pin,
            backupKey: SampleCertificate.pin)
        #expect(client.verify().isEmpty)
        client.configure { $0.transport = StubTransport(capabilities: []) }
        #expect(client.verify().count == 1)
    }
}
