import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// Calls through Apache as a forward proxy.
    @Suite(.enabled(if: CurlTransport.shared != nil, "needs libcurl"))
    struct ProxyTests {
        private func client(
            _ proxy: String, root: String, _ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
        ) throws -> WebServiceClient {
            var transport = CurlTransport.Configuration()
            transport.proxy = .url(try #require(URL(string: try TestServer.named(proxy).url)))
            let engine = try CurlTransport(configuration: transport)
            let files = try #require(try TestServer.named("tls-nginx").tls)
            let trust = TrustPolicy(authorities: try files.ownAuthorityOnly())
            return WebServiceClient(serviceRoot: root) {
                $0.transport = engine
                $0.trust = trust
                configure(&$0)
            }
        }

        private func credentials(_ proxy: String, password: String? = nil) throws -> BasicAuthenticationProvider {
            let server = try TestServer.named(proxy)
            return BasicAuthenticationProvider(user: server.user, password: password ?? server.password)
        }

        @Test(arguments: ["httpbin", "tls-nginx"])
        func `plain and secure calls go through`(target: String) async throws {
            let client = try client("proxy", root: try TestServer.named(target).url)
            #expect(try await client.get("/status/204").send().status == 204)
        }

        @Test(arguments: ["httpbin", "tls-nginx"])
        func `the proxy's challenge is answered by its provider`(target: String) async throws {
            let client = try client("proxy-basic", root: try TestServer.named(target).url) {
                $0.proxyAuthenticationProvider = try? credentials("proxy-basic")
            }
            #expect(try await client.get("/status/204").send().status == 204)
        }

        @Test(arguments: ["httpbin", "tls-nginx"])
        func `without credentials, or with wrong ones, the proxy's 407 is the answer`(target: String) async throws {
            for provider in [nil, try credentials("proxy-basic", password: "wrong")] {
                let client = try client("proxy-basic", root: try TestServer.named(target).url) {
                    $0.proxyAuthenticationProvider = provider
                }
                let error = await #expect(throws: ServiceError.self) { try await client.get("/status/204").send() }
                #expect(error?.response?.status == 407)
                #expect(error?.message.contains("proxy's credentials") == true)
            }
        }
    }
}
