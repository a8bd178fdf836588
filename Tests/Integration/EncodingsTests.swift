import Foundation
import Testing
import WebServiceClient

extension IntegrationTests {
    /// Coded bodies over libcurl, made by Python's gzip and zlib, brotli and zstd, and sent by nginx and httpbin.
    @Suite(.enabled(if: CurlTransport.shared != nil, "libcurl isn't here."))
    struct EncodingsTests {
        private let transport: CurlTransport

        init() throws {
            transport = try CurlTransport()
        }

        private func get(_ server: String, _ path: String, _ headers: HTTPFields = [:]) async throws -> (head: HTTPFields, body: Data) {
            let url = try #require(URL(string: try TestServer.named(server).url + path))
            let response = try await transport.send(ServiceRequest(url: url, headers: headers))
            return (response.headers, try await response.body.collect(upTo: 1 << 20))
        }

        @Test func `a file is the same in every coding that is offered, and in one that nobody knows`() async throws {
            let plain = try await get("encodings", "/unknown").body
            #expect((try JSONSerialization.jsonObject(with: plain) as? [Any])?.isEmpty == false)
            let echo = try await get("httpbin", "/headers").body
            let offered = try JSONDecoder().decode([String: [String: String]].self, from: echo)["headers"]?["Accept-Encoding"] ?? ""
            #expect(offered.contains("gzip, deflate"))
            for coding in offered.split(separator: ", ").map(String.init) {
                let (head, body) = try await get("encodings", "/\(coding)")
                #expect(head[.contentEncoding] == coding)
                #expect(body == plain, "\(coding)")
                #expect(try await get("encodings", "/\(coding)", ["Accept-Encoding": "identity"]).body != plain)
            }
        }

        @Test(arguments: [("/gzip", "gzipped"), ("/deflate", "deflated"), ("/brotli", "brotli")])
        func `what httpbin encodes on the way is decoded`(path: String, mark: String) async throws {
            let (_, body) = try await get("httpbin", path)
            guard let json = try? JSONSerialization.jsonObject(with: body) as? [String: Any] else {
                #expect(mark == "brotli", "Only brotli's library may be missing.")
                return
            }
            #expect(json[mark] as? Bool == true)
        }

        @Test func `what nginx encodes on the way, in chunks, is decoded`() async throws {
            let plain = try await get("nginx-gzip", "/products.json", ["Accept-Encoding": "identity"])
            let coded = try await get("nginx-gzip", "/products.json")
            #expect(plain.head[.contentEncoding] == nil)
            #expect(coded.head[.contentEncoding] == "gzip")
            #expect(coded.body == plain.body)
        }
    }
}
