import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Tests that descriptions in the OData modules don't show credentials.
@Suite struct CSRFSecretsTests {
    @Test func `a protection shows neither user info nor tokens`() throws {
        var secrets = SampleSecrets(seed: 37)
        for sample in secrets.samples(rounds: 1) {
            let secret = URLEncoding.pathSegment(sample.secret)
            let url = try #require(URL(string: "https://ada:\(secret)@h.test/sap/?sap-client=100&token=\(secret)"))
            let token = CSRFToken(value: sample.secret, cookies: ["SAP_SESSIONID=\(sample.secret)"])
            let shown = SecretLeaks.texts(of: CSRFProtection(fetchingFrom: url)) + SecretLeaks.texts(of: token)
            #expect(SecretLeaks.leak(of: sample.hiddenPart, in: shown) == nil, "\(sample.kind): \(shown)")
            let link = "htt p://x?token=\(secret)"
            let text = "\(ODataLinkError.malformed(link)) \(ODataLinkError.loop(link))"
            #expect(SecretLeaks.leak(of: sample.hiddenPart, in: text) == nil, "\(text)")
        }
    }
}
