import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// libcurl connections belong to the identity that made them: no other identity uses them.
    @Suite(.enabled(if: CurlTransport.shared?.capabilities.contains(.clientCertificates) == true, "needs libcurl 7.77 or later"))
    struct TrustSeparationTests {
        private let transport: CurlTransport
        private let files: TestCertificates

        init() throws {
            transport = try CurlTransport()
            files = try #require(try TestServer.named("tls-client-nginx").tls)
        }

        private struct Who: Decodable {
            let client: String
            let connection: Int
        }

        /// Returns the number of the connection on which the server knows a client by its certificate.
        private func connection(of identity: ClientIdentity) async throws -> Int {
            var request = ServiceRequest(url: try #require(URL(string: try TestServer.named("tls-client-nginx").url + "/who")))
            request.trust = TrustPolicy(authorities: try files.ownAuthorityOnly(), identity: identity)
            let who = try JSONDecoder().decode(Who.self, from: try await transport.send(request).body.collect(upTo: 1 << 20))
            #expect(who.client.contains("CN=Integration Client"))
            return who.connection
        }

        /// The certificate alone is public: a client without its key, or without the passphrase, must not use another's connection.
        @Test func `an identity that can't be used doesn't ride on a connection of one that can`() async throws {
            let chain = URL(filePath: files.client)
            let (encrypted, pkcs12) = (URL(filePath: files.clientEncryptedKey), URL(filePath: files.clientPKCS12))
            let pairs: [(right: ClientIdentity, wrong: [ClientIdentity])] = [
                (try files.identity(), [try .pem(chainFile: chain, keyFile: URL(filePath: files.otherClientKey))]),
                (
                    try .pem(chainFile: chain, keyFile: encrypted, passphrase: files.passphrase),
                    [try .pem(chainFile: chain, keyFile: encrypted, passphrase: "wr0ng")]
                ),
                (
                    try .pkcs12(file: pkcs12, passphrase: files.passphrase),
                    [try .pkcs12(file: pkcs12, passphrase: "wr0ng"), try .pkcs12(file: pkcs12)]
                ),
            ]
            for (right, wrong) in pairs {
                let first = try await connection(of: right)
                for identity in wrong {
                    let error = await #expect(throws: TransportError.self) { _ = try await connection(of: identity) }
                    #expect(error?.code == .clientCertificate, "\(identity)")
                }
                // The right identity continues to use its connection.
                #expect(try await connection(of: right) == first, "\(right)")
            }
            // Also if the identity is created again.
            #expect(try await connection(of: try files.identity()) == connection(of: try files.identity()))
        }
    }
}
