import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// HTTP/2 over TLS, and the metrics of a connection.
    @Suite(.enabled(if: CurlTransport.shared?.capabilities.contains(.http2) == true, "needs libcurl with HTTP/2"))
    struct HTTP2Tests {
        private func request(_ server: String, _ path: String = "/hello.txt") throws -> ServiceRequest {
            let server = try TestServer.named(server)
            var request = ServiceRequest(url: try #require(URL(string: server.url + path)))
            request.trust = TrustPolicy(authorities: try #require(server.tls).ownAuthorityOnly())
            return request
        }

        @Test(arguments: ["tls-nginx", "tls-apache", "tls-lighttpd"])
        func `it is negotiated, and many calls share a connection`(server: String) async throws {
            let transport = try CurlTransport()
            let request = try request(server, server == "tls-lighttpd" ? "/status/200" : "/hello.txt")
            let first = try await transport.send(request)
            _ = try await first.body.collect(upTo: 1 << 20)
            #expect(first.httpVersion == "HTTP/2")
            #expect(first.report?.metrics.tlsVersion?.hasPrefix("TLSv1.") == true)
            #expect(first.report?.metrics.secureConnect ?? .zero > .zero)
            let reused = try await ending(within: .seconds(60)) {
                try await withThrowingTaskGroup(of: Bool?.self) { group in
                    for _ in 0..<50 {
                        group.addTask {
                            let response = try await transport.send(request)
                            _ = try await response.body.collect(upTo: 1 << 20)
                            return response.report?.metrics.isConnectionReused
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            // lighttpd handles eight calls at a time on a connection, and libcurl opens others for the rest.
            #expect(server == "tls-lighttpd" ? reused.contains(true) : reused.allSatisfy { $0 == true })
        }

        @Test(arguments: [false, true])
        func `where Apache requires HTTP/1.1 it gets it, once asked by HTTP/2`(isWarm: Bool) async throws {
            let files = try #require(try TestServer.named("tls-apache").tls)
            let transport = try CurlTransport()
            let trust = TrustPolicy(authorities: try files.ownAuthorityOnly(), identity: try files.identity())
            let client = WebServiceClient(serviceRoot: try TestServer.named("tls-apache").url) {
                $0.transport = transport
                $0.trust = trust
            }
            if isWarm { #expect(try await client.http.get("/hello.txt").send().httpVersion == "HTTP/2") }
            for _ in 0..<2 {
                let response = try await client.http.get("/private.txt").send()
                #expect(response.status == 200 && response.httpVersion == "HTTP/1.1")
            }
            var request = try request("tls-apache", "/private.txt")
            request.trust = trust
            request.method = .post
            request.body = RequestBody(Data("once".utf8))
            let posted = request
            let fresh = try CurlTransport()
            let error = await #expect(throws: TransportError.self) { try await fresh.send(posted) }
            #expect(error?.code == .connectionLost && error?.message.contains("HTTP/1.1") == true, "\(String(describing: error))")
        }

        @Test func `without TLS it is spoken where that is known before`() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.httpVersion = .http2WithPriorKnowledge
            let transport = try CurlTransport(configuration: configuration)
            let url = try #require(URL(string: try TestServer.named("nginx-h2c").url + "/hello.txt"))
            for _ in 0..<2 {
                let response = try await transport.send(ServiceRequest(url: url))
                #expect(response.status == 200 && response.httpVersion == "HTTP/2")
                #expect(try await response.body.collect(upTo: 1 << 20).isEmpty == false)
            }
            let other = try #require(URL(string: try TestServer.named("nginx-gzip").url + "/hello.txt"))
            await #expect(throws: TransportError.self) { try await transport.send(ServiceRequest(url: other)).body.collect(upTo: 1 << 20) }
        }

        @Test func `with HTTP/1 only, it isn't`() async throws {
            var configuration = CurlTransport.Configuration()
            configuration.httpVersion = .http1
            let response = try await CurlTransport(configuration: configuration).send(try request("tls-nginx"))
            #expect(response.httpVersion == "HTTP/1.1")
        }
    }
}
