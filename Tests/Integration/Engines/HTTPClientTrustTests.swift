#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOSSL
import Testing
import WebServiceClient

extension IntegrationTests {
    /// The trust and the identity of an `HTTPClient` come from its configuration: against nginx and Apache.
    @Suite struct HTTPClientTrustTests {
        private typealias Change = (inout TLSConfiguration, TestCertificates) throws -> Void

        /// Calls a server with a client of that configuration, which is shut down afterwards. Returns the text of the body.
        private func ask(_ name: String, at path: String = "/hello.txt", change: Change = { _, _ in }) async throws -> (Int, String) {
            let server = try TestServer.named(name)
            let certificates = try #require(server.tls)
            let client = HTTPClient(configuration: try HTTPClients.configuration(for: certificates) { try change(&$0, certificates) })
            let way = Way(transport: AsyncHTTPClientTransport(client), server: server, trust: nil, speaksHTTP2: true)
            let result: Result<(Int, String), any Error>
            do {
                let (response, body) = try await way.exchange(try way.request(.get, path))
                result = .success((response.status, String(decoding: body, as: UTF8.self)))
            } catch {
                result = .failure(error)
            }
            try await client.shutdown()
            return try result.get()
        }

        private func code(_ name: String, change: Change = { _, _ in }) async throws -> TransportError.Code? {
            do {
                _ = try await ask(name, change: change)
                return nil
            } catch let error as TransportError {
                #expect(error.message.contains("127.0.0.1"))
                return error.code
            }
        }

        @Test func `its authorities count, and the system's where it names none`() async throws {
            #expect(try await ask("tls-nginx") == (200, "hello\n"))
            #expect(try await ask("tls-apache") == (200, "hello\n"))
            #expect(try await code("tls-nginx") { tls, _ in tls.trustRoots = .default } == .tls)
            #expect(try await code("tls-nginx") { tls, files in tls.trustRoots = .file(files.otherRoot) } == .tls)
        }

        // The engine's only distinct certificate error is the one for another host.
        @Test(arguments: [
            ("tls-wrong-host", TransportError.Code.certificateForOtherHost), ("tls-expired", .tls), ("tls-not-yet-valid", .tls),
            ("tls-unknown-issuer", .tls), ("tls-self-signed", .tls), ("tls-incomplete", .tls),
        ])
        func `no certificate with a fault passes`(server: String, expected: TransportError.Code) async throws {
            #expect(try await code(server) == expected)
        }

        @Test func `it shows its certificate where a client's is wanted`() async throws {
            let shown: Change = { tls, files in
                tls.certificateChain = try NIOSSLCertificate.fromPEMFile(files.client).map { .certificate($0) }
                tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: files.clientKey, format: .pem))
            }
            #expect(try await ask("tls-client-nginx", at: "/who", change: shown).1.contains("Integration Client"))
            #expect(try await ask("tls-client-apache", change: shown) == (200, "hello\n"))
            #expect(try await ask("tls-client-nginx", at: "/who").0 == 400)
            // In TLS 1.3 the server refuses the client after the handshake, and the engine may see only the connection's end.
            let refused = try await code("tls-client-apache")
            #expect([.clientCertificate, .connectionLost].contains(refused))
        }

        @Test func `versions that have nothing in common are a TLS error`() async throws {
            #expect(try await code("tls-nginx-12") { tls, _ in tls.minimumTLSVersion = .tlsv13 } == .tls)
            #expect(try await code("tls-nginx-13") { tls, _ in tls.minimumTLSVersion = .tlsv13 } == nil)
        }
    }
}
#endif
