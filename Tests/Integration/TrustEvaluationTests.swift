import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// Evaluates the trust of a host without a call.
    @Suite(.enabled(if: CurlTransport.shared?.capabilities.contains(.pinning) == true, "needs libcurl 7.80 or later with OpenSSL"))
    struct TrustEvaluationTests {
        private func evaluate(_ server: String, pin: String? = nil) async throws -> TrustEvaluation {
            let server = try TestServer.named(server)
            let files = try #require(server.tls)
            var policy = TrustPolicy(authorities: try files.ownAuthorityOnly())
            if let pin { policy.pins = ["127.0.0.1": [.publicKey(sha256: pin)]] }
            let transport = try CurlTransport()
            return try await transport.evaluateTrust(of: try #require(URL(string: server.url)), policy: policy)
        }

        @Test func `a trusted host shows its chain and what could be pinned`() async throws {
            let files = try #require(try TestServer.named("tls-nginx").tls)
            let evaluation = try await evaluate("tls-nginx")
            #expect(evaluation.host == "127.0.0.1")
            #expect(evaluation.publicKeyPins == [files.serverPin, files.intermediatePin, files.rootPin])
            #expect(evaluation.tlsVersion?.hasPrefix("TLSv1.") == true)
            #expect(try await evaluate("tls-nginx", pin: files.serverPin) == evaluation)
        }

        @Test(arguments: [("tls-expired", TransportError.Code.certificateExpired), ("tls-unknown-issuer", .unknownIssuer)])
        func `an untrusted one says why`(server: String, code: TransportError.Code) async throws {
            let error = await #expect(throws: TransportError.self) { try await evaluate(server) }
            #expect(error?.code == code)
        }

        @Test func `wrong pins are told apart, and plain http is refused`() async throws {
            let files = try #require(try TestServer.named("tls-nginx").tls)
            let error = await #expect(throws: TransportError.self) { try await evaluate("tls-nginx", pin: files.wrongPin) }
            #expect(error?.code == .pinMismatch)
            #expect(error?.message.contains(files.serverPin) == true)
            let url = try #require(URL(string: try TestServer.httpbin))
            let plain = await #expect(throws: TransportError.self) { try await CurlTransport().evaluateTrust(of: url) }
            #expect(plain?.code == .badRequest)
        }
    }
}
