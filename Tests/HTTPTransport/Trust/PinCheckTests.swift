import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct PinCheckTests {
    private let leaf: Certificate
    private let root: Certificate

    init() throws {
        leaf = try SampleCertificate.variant(1)
        root = try SampleCertificate.certificate()
    }

    private func passes(_ host: String, _ pins: [HostPattern: PinSet], chain: [Certificate]? = nil) -> Bool {
        (try? PinCheck.check(host: host, chain: chain ?? [leaf, root], policy: TrustPolicy(pins: pins))) != nil
    }

    @Test func `The leaf's and an authority's key and certificate match`() {
        let pins: [CertificatePin] = [
            .publicKey(sha256: leaf.publicKeyPin), .publicKey(sha256: "sha256/" + root.publicKeyPin), .publicKey(of: leaf),
            .certificate(leaf), .certificate(root),
        ]
        for pin in pins { #expect(passes("api.test", ["api.test": [pin]])) }
    }

    @Test func `Every spelling of a hash is the same pin`() throws {
        let hash = try #require(Data(base64Encoded: SampleCertificate.pin))
        let hex = hash.map { String(format: "%02X", $0) }
        for pin: CertificatePin in [
            .publicKey(sha256: "sha256//" + SampleCertificate.pin), .publicKey(sha256: hash), .publicKey(sha256: hex.joined()),
            .publicKey(sha256: hex.joined(separator: ":").lowercased()),
        ] {
            #expect(pin == .publicKey(sha256: SampleCertificate.pin) && pin.matches(root) && pin.fault == nil)
        }
        for text in ["", "x", "sha256/", String(SampleCertificate.pin.dropLast()), "sha1/" + SampleCertificate.pin, hex.joined() + "0"] {
            let pin = CertificatePin.publicKey(sha256: text)
            #expect(pin.fault?.contains("base64") == true && !pin.matches(root))
        }
        #expect(CertificatePin.publicKey(sha256: Data(count: 31)).fault != nil)
    }

    @Test func `A backup is enough, and another key isn't`() throws {
        let other = try SampleCertificate.variant(9)
        #expect(passes("api.test", ["api.test": [.publicKey(of: other), .publicKey(of: leaf)]]))
        #expect(!passes("api.test", ["api.test": [.publicKey(of: other)]]))
        #expect(!passes("api.test", ["api.test": [.certificate(other)]]))
        #expect(!passes("api.test", ["api.test": [.publicKey(of: root)]], chain: [leaf]))
        #expect(!passes("api.test", ["api.test": [.publicKey(of: leaf)]], chain: []))
    }

    @Test func `What can't be right lets nothing pass`() {
        #expect(!passes("api.test", ["api.test": []]))
        #expect(!passes("api.test", ["api.test": [.publicKey(sha256: "nonsense")]]))
    }

    @Test func `Hosts without pins pass, and pins of the host win over the wildcard's`() throws {
        let other = try SampleCertificate.variant(9)
        let pins: [HostPattern: PinSet] = ["*.example.com": [.publicKey(of: other)], "api.example.com": [.publicKey(of: leaf)]]
        #expect(passes("other.test", pins) && passes("example.com", pins))
        #expect(passes("API.example.com.", pins))
        #expect(!passes("www.example.com", pins))
    }

    @Test(arguments: ["api%00.test", "0x7f.1", "127.1", "2130706433", "127.0.0.1.", "a b", "[::zz]", "api@evil.test"])
    func `A host that may be another one to the engine passes no pins`(host: String) {
        let passes = passes(host, ["127.0.0.1": [.publicKey(sha256: SampleCertificate.pin)]], chain: [leaf])
        #expect(!passes)
        #expect(self.passes(host, [:], chain: [leaf]))
    }

    @Test func `A mismatch shows a person what was seen and what was expected`() throws {
        let other = try SampleCertificate.variant(9)
        let between = try SampleCertificate.variant(2)
        let policy = TrustPolicy(pins: ["api.test": [.publicKey(of: other), .certificate(other)]])
        let error = #expect(throws: PinMismatch.self) {
            try PinCheck.check(host: "api.test", chain: [leaf, between, root], policy: policy)
        }
        let mismatch = try #require(error)
        #expect(mismatch.host == "api.test" && mismatch.seen.map(\.role) == [.leaf, .issuer, .root] && mismatch.expected.count == 2)
        for text in ["api.test", leaf.publicKeyPin, root.publicKeyPin, other.publicKeyPin, "leaf “Example Root”", "root “"] {
            #expect(mismatch.description.contains(text))
        }
        let wrapped = TransportError(mismatch)
        #expect(wrapped.code == .pinMismatch && wrapped.isTrustFailure && (wrapped.underlying as? PinMismatch) == mismatch)
    }
}
