import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct TrustPolicyTests {
    private func identity(_ passphrase: String? = nil) throws -> ClientIdentity {
        try .pem(chain: Data(SampleCertificate.pem.utf8), key: Data(SampleCertificate.key.utf8), passphrase: passphrase)
    }

    @Test func `The default is the system's authorities and asks for nothing`() {
        let policy = TrustPolicy()
        #expect(policy.isStandard && policy.authorities.isSystem && policy.faults.isEmpty && policy.requiredCapabilities.isEmpty)
        #expect(policy.storageID == TrustPolicy().storageID)
    }

    @Test func `A copy that is changed is another policy, and the first stays`() throws {
        var policy = TrustPolicy()
        policy.minimumTLSVersion = .tlsv13
        let copy = policy
        policy.pins["api.test"] = [.publicKey(sha256: SampleCertificate.pin)]
        #expect(copy.pins.isEmpty && copy != policy && copy.storageID != policy.storageID)
        // Setting an equal value keeps the state that a transport has prepared.
        let before = policy.storageID
        policy.minimumTLSVersion = .tlsv13
        #expect(policy.storageID == before)
    }

    @Test func `Equal policies are equal wherever they were made`() throws {
        let one = TrustPolicy(authorities: .only([try SampleCertificate.certificate()]), identity: try identity())
        let two = TrustPolicy(authorities: .only([try SampleCertificate.certificate()]), identity: try identity())
        #expect(one == two && one.hashValue == two.hashValue && one.storageID != two.storageID)
        #expect(one != TrustPolicy(authorities: .system(adding: [try SampleCertificate.certificate()]), identity: try identity()))
        #expect(one != TrustPolicy(authorities: one.authorities, identity: try identity("other")))
    }

    @Test func `Each wish asks for its capability`() throws {
        let inPEM = TrustPolicy(identity: try identity())
        #expect(inPEM.requiredCapabilities == [.clientCertificates, .clientCertificatesInPEM])
        let refusal = #expect(throws: TransportError.self) { try inPEM.check([.clientCertificates], callTo: nil) }
        #expect(refusal?.code == .unsupported && refusal?.message.contains("openssl pkcs12 -export") == true)
        let inPKCS12 = try ClientIdentity.pkcs12(Data([0x30, 0x06, 0x02, 0x01, 0x03, 0x30, 0x01, 0x00]))
        #expect(TrustPolicy(identity: inPKCS12).requiredCapabilities == .clientCertificates)
        #expect(TrustPolicy(pins: ["a.test": []]).requiredCapabilities == .pinning)
        #expect(TrustPolicy(minimumTLSVersion: .tlsv12).requiredCapabilities == .minimumTLSVersion)
        #expect(TrustPolicy(authorities: .only([])).requiredCapabilities == .ownCertificateAuthorities)
        let added = TrustPolicy(authorities: .system(adding: [try SampleCertificate.certificate()]))
        #expect(added.requiredCapabilities == .ownCertificateAuthorities)
        #expect(TrustPolicy(authorities: .system(adding: [])).requiredCapabilities.isEmpty)
        let error = #expect(throws: TransportError.self) { try added.check([.pinning], callTo: nil) }
        #expect(error?.code == .unsupported && error?.message.contains("own certificate authorities") == true)
        try added.check([.ownCertificateAuthorities], callTo: nil)
    }

    @Test func `Without its identity it is the same policy each time`() throws {
        let policy = TrustPolicy(identity: try identity(), pins: ["a.test": [.publicKey(sha256: SampleCertificate.pin)]])
        let anonymous = policy.withoutIdentity
        #expect(anonymous.identity == nil && anonymous.pins == policy.pins)
        #expect(anonymous.storageID == policy.withoutIdentity.storageID && anonymous.storageID != policy.storageID)
        #expect(anonymous.withoutIdentity.storageID == anonymous.storageID)
    }

    @Test func `Faults name the offender`() {
        let policy = TrustPolicy(
            authorities: .only([]), pins: ["https://a.test": [.publicKey(sha256: "nonsense")], "b.test": []])
        #expect(policy.faults.count == 4)
        for text in ["no authority is trusted", "https://a.test", "nonsense", "b.test"] {
            #expect(policy.faults.contains { $0.contains(text) })
        }
        let error = #expect(throws: TransportError.self) { try policy.check([.pinning, .ownCertificateAuthorities], callTo: nil) }
        #expect(error?.code == .badRequest)
    }

    @Test func `Neither key nor passphrase is ever printed`() throws {
        let policy = TrustPolicy(identity: try identity("s3cret"), pins: ["a.test": []])
        var request = ServiceRequest(url: URL(fileURLWithPath: "/"))
        request.trust = policy
        var dumped = ""
        dump(policy, to: &dumped)
        dump(request, to: &dumped)
        dump(policy.identity, to: &dumped)
        let texts = [
            dumped, "\(policy)", String(reflecting: policy), "\(request)", String(reflecting: request), String(reflecting: policy.identity),
        ]
        let secrets = ["s3cret", String(SampleCertificate.key.split(separator: "\n")[1].prefix(20))]
        for text in texts { #expect(!secrets.contains { text.contains($0) }) }
        #expect("\(policy)".contains("a.test") && "\(policy)".contains("client identity"))
    }

    @Test func `A policy costs a request eight bytes`() {
        #expect(MemoryLayout<TrustPolicy?>.size == 8)
    }

    @Test func `An identity wants one key and a certificate`() {
        let chain = Data(SampleCertificate.pem.utf8)
        let key = Data(SampleCertificate.key.utf8)
        #expect(throws: CertificateError.self) { try ClientIdentity.pem(chain: key, key: key) }
        let none = #expect(throws: CertificateError.self) { try ClientIdentity.pem(chain: chain, key: chain) }
        #expect(none?.message.contains("0 private keys") == true)
        let swapped = #expect(throws: CertificateError.self) { try ClientIdentity.pem(chain: key, key: chain) }
        #expect(swapped?.message.contains("swapped") == true && none?.message.contains("swapped") == false)
        // One of the two may be right, so the error names the other one.
        let both = #expect(throws: CertificateError.self) { try ClientIdentity.pem(chain: key, key: key + Data("\n".utf8) + chain) }
        #expect(both?.message.contains("swapped") == false && both?.message.contains("no certificate") == true)
        #expect(throws: CertificateError.self) { try ClientIdentity.pem(chain: chain, key: key + Data("\n".utf8) + key) }
        #expect(throws: CertificateError.self) { try ClientIdentity.pkcs12(Data([0x30, 0x03, 0x02, 0x01, 0x03])) }
        #expect(throws: CertificateError.self) { try ClientIdentity.pkcs12(Data()) }
    }
}
