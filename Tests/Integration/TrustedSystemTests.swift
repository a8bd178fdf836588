import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// The meaning of "the system's authorities" in a policy over libcurl, independent of their location: `Tests/Integration/trusting`
    /// makes the system trust the authority of the test servers, by its file or by its folder.
    @Suite(
        .enabled(if: Route.isRootTrusted, "run the tests under `Tests/Integration/trusting DIR`, which needs root"),
        .enabled(if: CurlTransport.shared?.capabilities.contains(.ownCertificateAuthorities) == true, "needs libcurl 7.77 or later"))
    struct TrustedSystemTests {
        private func failure(_ trust: TrustPolicy?) async throws -> TransportError.Code? {
            let server = try TestServer.named("tls-nginx")
            var request = ServiceRequest(url: try #require(URL(string: server.url + "/hello.txt")))
            request.trust = trust
            do {
                let response = try await CurlTransport().send(request)
                _ = try await response.body.collect(upTo: 1 << 20)
                return nil
            } catch let error as TransportError {
                return error.code
            }
        }

        private func other() throws -> Certificate {
            try TestCertificates.certificate(try #require(try TestServer.named("tls-nginx").tls).otherRoot)
        }

        @Test func `they count without a policy, and in one that names none`() async throws {
            #expect(try await failure(nil) == nil)
            #expect(try await failure(TrustPolicy(minimumTLSVersion: .tlsv12)) == nil)
        }

        @Test func `they count beside those that are added`() async throws {
            #expect(try await failure(TrustPolicy(authorities: .system(adding: [other()]))) == nil)
        }

        @Test func `they don't count beside those that are to be the only ones`() async throws {
            #expect(try await failure(TrustPolicy(authorities: .only([other()]))) == .unknownIssuer)
        }
    }
}
