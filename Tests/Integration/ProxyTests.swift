import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// Calls through Apache as a forward proxy.
    @Suite(.enabled(if: CurlTransport.shared != nil, "needs libcurl"))
    struct ProxyTests {
        private func client(
            _ proxy: String, root: String, authorities: CertificateAuthorities = .system, pins: [HostPattern: PinSet] = [:],
            _ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
        ) throws -> WebServiceClient {
            var transport = CurlTransport.Configuration()
            transport.proxy = .url(try #require(URL(string: try TestServer.named(proxy).url)))
            transport.proxyAuthorities = authorities
            let engine = try CurlTransport(configuration: transport)
            let files = try #require(try TestServer.named("tls-nginx").tls)
            let trust = TrustPolicy(authorities: try files.ownAuthorityOnly(), pins: pins)
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
            #expect(try await client.http.get("/status/204").send().status == 204)
        }

        @Test(arguments: ["httpbin", "tls-nginx"])
        func `the proxy's challenge is answered by its provider`(target: String) async throws {
            let client = try client("proxy-basic", root: try TestServer.named(target).url) {
                $0.proxyAuthenticationProvider = try? credentials("proxy-basic")
            }
            #expect(try await client.http.get("/status/204").send().status == 204)
        }

        @Test(arguments: ["httpbin", "tls-nginx"])
        func `without credentials, or with wrong ones, the proxy's 407 is the answer`(target: String) async throws {
            for provider in [nil, try credentials("proxy-basic", password: "wrong")] {
                let client = try client("proxy-basic", root: try TestServer.named(target).url) {
                    $0.proxyAuthenticationProvider = provider
                }
                let error = await #expect(throws: ServiceError.self) { try await client.http.get("/status/204").send() }
                #expect(error?.response?.status == 407)
                #expect(error?.message.contains("proxy's credentials") == true)
            }
        }

        /// By default, libcurl would reuse a tunnel that other credentials have opened.
        @Test func `a tunnel is for those only who show the proxy the same credentials`() async throws {
            struct Who: Decodable, Sendable {
                let connection: Int
            }
            let root = try TestServer.named("tls-nginx").url
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .url(try #require(URL(string: try TestServer.named("proxy-basic").url)))
            let transport = try CurlTransport(configuration: configuration)
            let trust = TrustPolicy(authorities: try #require(try TestServer.named("tls-nginx").tls).ownAuthorityOnly())
            func client(_ provider: BasicAuthenticationProvider?) -> WebServiceClient {
                WebServiceClient(serviceRoot: root) {
                    $0.transport = transport
                    $0.trust = trust
                    $0.proxyAuthenticationProvider = provider
                }
            }
            let known = client(try credentials("proxy-basic"))
            let first = try await known.http.get("/who").value(Who.self).connection
            for provider in [nil, try credentials("proxy-basic", password: "wrong")] {
                let stranger = client(provider)
                let error = await #expect(throws: ServiceError.self) { try await stranger.http.get("/who").send() }
                #expect(error?.response?.status == 407)
            }
            #expect(try await known.http.get("/who").value(Who.self).connection == first)
            #expect(try await client(try credentials("proxy-basic")).http.get("/who").value(Who.self).connection == first)
        }

        /// The proxy's certificate is trusted separately from the server's.
        @Test(arguments: ["httpbin", "tls-nginx"])
        func `a proxy over TLS is trusted by authorities of its own`(target: String) async throws {
            let root = try TestServer.named(target).url
            let files = try #require(try TestServer.named("tls-proxy").tls)
            let other = try TestCertificates.certificate(files.otherRoot)
            for authorities in [CertificateAuthorities.only([other]), .system(adding: [other])] {
                let client = try client("tls-proxy", root: root, authorities: authorities)
                #expect(try await client.http.get("/status/204").send().status == 204)
            }
            for authorities in [CertificateAuthorities.system, try files.ownAuthorityOnly()] {
                let client = try client("tls-proxy", root: root, authorities: authorities)
                let error = await #expect(throws: ServiceError.self) { try await client.http.get("/status/204").send() }
                let cause = error?.cause as? TransportError
                #expect(cause?.code == .unknownIssuer)
                #expect(cause?.message.contains("proxyAuthorities") == true)
            }
        }

        @Test func `a proxy's fault is told of its own exchanges only, and by what it is`() async throws {
            let target = try #require(URL(string: try TestServer.httpbin + "/status/204"))
            // Reached directly, with a handle that may have used the proxy before: the system doesn't trust this certificate, either.
            let direct = try #require(URL(string: try TestServer.named("tls-nginx").url.replacing("127.0.0.1", with: "localhost")))
            func codes(_ proxy: String) async throws -> [TransportError] {
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .url(try #require(URL(string: proxy)), exceptions: ["localhost"])
                let transport = try CurlTransport(configuration: configuration)
                var errors: [TransportError] = []
                for url in [target, direct] {
                    let error = await #expect(throws: TransportError.self) { _ = try await transport.send(ServiceRequest(url: url)) }
                    errors.append(try #require(error))
                }
                return errors
            }
            let untrusted = try await codes(try TestServer.named("tls-proxy").url)
            #expect(untrusted.map(\.code) == [.unknownIssuer, .unknownIssuer])
            #expect(untrusted.map { $0.message.contains("proxyAuthorities") } == [true, false])
            let insecure = try await codes(try TestServer.named("proxy").url.replacing("http://", with: "https://"))
            #expect(insecure.map(\.code) == [.tls, .unknownIssuer])
            #expect(insecure.map { $0.message.contains("the proxy for") } == [true, false])
        }

        @Test func `a proxy that nobody can vouch for is refused when the transport is made`() {
            var configuration = CurlTransport.Configuration()
            configuration.proxyAuthorities = .only([])
            let error = #expect(throws: TransportError.self) { try CurlTransport(configuration: configuration) }
            #expect(error?.code == .badRequest && error?.message.contains("proxyAuthorities") == true)
        }

        @Test func `pins are the server's, not the proxy's`() async throws {
            let root = try TestServer.named("tls-nginx").url
            let files = try #require(try TestServer.named("tls-proxy").tls)
            let authorities = CertificateAuthorities.only([try TestCertificates.certificate(files.otherRoot)])
            let right = try client(
                "tls-proxy", root: root, authorities: authorities, pins: ["127.0.0.1": [.publicKey(sha256: files.serverPin)]])
            #expect(try await right.http.get("/status/204").send().status == 204)
            // The certificate that the proxy presents.
            let wrong = try client(
                "tls-proxy", root: root, authorities: authorities, pins: ["127.0.0.1": [.publicKey(sha256: files.wrongPin)]])
            let error = await #expect(throws: ServiceError.self) { try await wrong.http.get("/status/204").send() }
            #expect((error?.cause as? TransportError)?.code == .pinMismatch)
        }
    }
}
