import Foundation
import TestSupport
import Testing
import WebServiceClient

extension IntegrationTests {
    /// A proxy's response must never be taken for the server's, even if a reused tunnel breaks.
    @Suite(.enabled(if: CurlTransport.shared?.capabilities.contains(.proxyAuthentication) == true, "needs libcurl 7.80 or later"))
    struct DyingTunnelTests {
        /// The proxy `dying-tunnel`, in a separate process.
        private final class Proxy {
            let url: URL
            private let process: RunningProcess
            private let (input, output) = (Pipe(), Pipe())

            init() throws {
                let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "dying-tunnel")
                process = try RunningProcess(
                    ["python3", script.path(percentEncoded: false)], input: input.fileHandleForReading, output: output.fileHandleForWriting)
                try output.fileHandleForWriting.close()
                url = try #require(URL(string: "http://127.0.0.1:\(try Self.line(of: output))"))
            }

            deinit {
                process.kill()
            }

            /// Sends a word, and returns the answer.
            func ask(_ word: String) throws -> String {
                try input.fileHandleForWriting.write(contentsOf: Data("\(word)\n".utf8))
                return try Self.line(of: output)
            }

            private static func line(of pipe: Pipe) throws -> String {
                var line = Data()
                while let byte = try pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { line += byte }
                return String(decoding: line, as: UTF8.self)
            }
        }

        @Test(arguments: [CurlTransport.HTTPVersion.http1, .http2WhereOffered], [ServiceRequest.Method.get, .post])
        func `a call whose tunnel dies is lost, and no other tunnel is asked for`(
            version: CurlTransport.HTTPVersion, method: ServiceRequest.Method
        ) async throws {
            let proxy = try Proxy()
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .url(proxy.url)
            configuration.httpVersion = version
            let transport = try CurlTransport(configuration: configuration)
            let server = try TestServer.named("tls-nginx")
            var request = ServiceRequest(url: try #require(URL(string: server.url + "/hello.txt")))
            request.trust = TrustPolicy(authorities: try #require(server.tls).ownAuthorityOnly())
            // The second response says that the proxy has relayed all frames that HTTP/2 sends after a connection's first request.
            for _ in 1...2 {
                let response = try await transport.send(request)
                #expect(try await response.body.collect(upTo: 100) == Data("hello\n".utf8))
            }
            #expect(try proxy.ask("die") == "dying")
            request.method = method
            if method == .post { request.body = RequestBody(Data("once".utf8)) }
            let second = request
            let error = await #expect(throws: TransportError.self) {
                let response = try await transport.send(second)
                Issue.record("There is a response: \(response.status)")
                _ = try await response.body.collect(upTo: 100)
            }
            #expect(error?.code == .connectionLost, "\(String(describing: error))")
            #expect(try proxy.ask("count") == "1")
        }
    }
}
