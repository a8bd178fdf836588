import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

extension IntegrationTests {
    /// HTTP/1.1 over TLS: unexpected bytes, and bodies that end with their connection.
    @Suite(.enabled(if: CurlTransport.shared?.capabilities.contains(.connectDeadlines) == true, "needs libcurl 7.80 or later"))
    struct CarelessServerTests {
        private static let late = [
            "408", "408-chunks", "answer", "answer-204", "answer-chunks", "answer-head", "body-204", "body-head", "break", "break-chunks",
            "half",
            "part", "notify", "notify-204", "close", "end", "reset", "reset-chunks", "at-once",
        ]

        private static func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
            var configuration = CurlTransport.Configuration()
            change(&configuration)
            return try CurlTransport(configuration: configuration)
        }

        private static func request(_ path: String, _ method: ServiceRequest.Method = .get) throws -> ServiceRequest {
            let server = try TestServer.named("tls-careless")
            let body = method == .post || method == .put ? RequestBody(Data("once".utf8)) : nil
            var request = ServiceRequest(method: method, url: try #require(URL(string: server.url + path)), body: body)
            request.trust = TrustPolicy(authorities: try #require(server.tls).ownAuthorityOnly())
            return request
        }

        private static func text(_ transport: CurlTransport, _ path: String, _ method: ServiceRequest.Method = .get) async throws -> String
        {
            let response = try await transport.send(try request(path, method))
            return String(decoding: try await response.body.collect(upTo: 10_000_000), as: UTF8.self)
        }

        @Test(arguments: late, [ServiceRequest.Method.get, .post])
        func `a connection with late bytes carries no request`(late: String, method: ServiceRequest.Method) async throws {
            let transport = try Self.transport()
            let counter = try Self.transport()
            _ = try await Self.text(counter, "/count")
            for wait in [5, 30, 200] {
                let first = try await Self.text(transport, "/late/\(late)", late.hasSuffix("-head") ? .head : .get)
                #expect(["first", ""].contains(first))
                #expect(try await Self.text(counter, "/settled") == "settled")
                try await Task.sleep(for: .milliseconds(wait))
                #expect(try await Self.text(transport, "/next", method) == "second")
            }
            // Each once, and over a new connection.
            #expect(try await Self.text(counter, "/count") == "3 3")
        }

        @Test func `a connection without late bytes is used again`() async throws {
            let transport = try Self.transport()
            let counter = try Self.transport()
            _ = try await Self.text(counter, "/count")
            for _ in 0..<10 { #expect(try await Self.text(transport, "/next", .post) == "second") }
            #expect(try await Self.text(counter, "/count") == "10 1")
        }

        @Test(arguments: ["tls-nginx", "tls-nginx-12", "tls-nginx-13", "tls-apache", "tls-lighttpd"])
        func `kept connections are used again over TLS, by HTTP/1.1, too`(name: String) async throws {
            let server = try TestServer.named(name)
            for version in [CurlTransport.HTTPVersion.http1, .http2WhereOffered] {
                let transport = try Self.transport { $0.httpVersion = version }
                var request = ServiceRequest(url: try #require(URL(string: server.url + (name == "tls-lighttpd" ? "/get" : "/hello.txt"))))
                request.trust = TrustPolicy(authorities: try #require(server.tls).ownAuthorityOnly())
                for number in 0..<10 {
                    if number == 5 { try await Task.sleep(for: .milliseconds(200)) }
                    let response = try await transport.send(request)
                    _ = try await response.body.collect(upTo: 10_000)
                    #expect(response.report?.metrics.isConnectionReused == (number > 0), "\(name), \(version), request \(number)")
                }
            }
        }

        @Test(arguments: [
            "notify", "notify-old", "notify-closing", "notify-empty", "notify-large", "notify-gzip", "notify-slow", "end-length",
            "end-length-old",
            "end-length-closing", "end-length-large", "end-chunks", "end-chunks-large", "end-chunks-gzip", "end-204",
        ])
        func `a body whose end is known is complete`(end: String) async throws {
            for isLenient in [false, true] {
                let whole =
                    end.contains("empty") || end.contains("204")
                    ? "" : String(repeating: "whole", count: end.contains("large") ? 200_000 : 1)
                for method in [ServiceRequest.Method.get, .post] {
                    // A transport for each: the server closes connections without announcing it, perhaps while a request is in flight.
                    let transport = try Self.transport { $0.acceptsUnannouncedEnds = isLenient }
                    #expect(try await Self.text(transport, "/end/\(end)", method) == whole)
                }
            }
        }

        private static let unannounced = [
            "end", "end-old", "end-closing", "end-empty", "end-large", "end-gzip", "end-slow", "end-old-closing", "end-old-empty",
            "end-old-large",
            "end-closing-gzip", "end-large-slow",
        ]

        @Test(arguments: unannounced) func `a body that ends with an unannounced end is incomplete`(end: String) async throws {
            let transport = try Self.transport()
            for method in [ServiceRequest.Method.get, .post] {
                let error = await #expect(throws: TransportError.self) { try await Self.text(transport, "/end/\(end)", method) }
                #expect(error?.code == .truncated, "\(String(describing: error))")
                #expect(error?.message.contains("acceptsUnannouncedEnds") == true, "\(String(describing: error))")
            }
            // A response without a body is complete.
            let head = try Self.request("/end/\(end)", .head)
            #expect(try await transport.send(head).body.collect(upTo: 10).isEmpty)
        }

        @Test(arguments: unannounced) func `where a server is known to do that, its bodies are taken`(end: String) async throws {
            let transport = try Self.transport { $0.acceptsUnannouncedEnds = true }
            let whole = end.contains("empty") ? "" : String(repeating: "whole", count: end.contains("large") ? 200_000 : 1)
            #expect(try await Self.text(transport, "/end/\(end)") == whole)
        }

        @Test(arguments: ["end-short", "notify-short", "end-short-old", "reset", "reset-large", "reset-slow", "reset-short"])
        func `what breaks off is truncated whatever is set`(end: String) async throws {
            for isLenient in [false, true] {
                let transport = try Self.transport { $0.acceptsUnannouncedEnds = isLenient }
                let error = await #expect(throws: TransportError.self) { try await Self.text(transport, "/end/\(end)") }
                // A reset may overtake the head.
                #expect(
                    error?.code == .truncated || end.hasPrefix("reset") && error?.code == .connectionLost, "\(String(describing: error))")
            }
        }

        @Test func `a download with an unannounced end leaves no file`() async throws {
            let transport = try Self.transport()
            let file = FileManager.default.temporaryDirectory.appending(path: "careless-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            for path in ["end", "end-large", "end-old"] {
                let response = try await transport.send(try Self.request("/end/\(path)"))
                await #expect(throws: TransportError.self) { try await response.write(to: file) }
                #expect(!FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
            }
            try await transport.send(try Self.request("/end/notify")).write(to: file)
            #expect(try Data(contentsOf: file) == Data("whole".utf8))
        }
    }
}
