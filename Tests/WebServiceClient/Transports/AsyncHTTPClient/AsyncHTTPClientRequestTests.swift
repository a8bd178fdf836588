#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import Testing
import WebServiceClient

@Suite struct AsyncHTTPClientRequestTests {
    private let transport = AsyncHTTPClientEngine.transport

    private func code(_ text: String, change: (inout ServiceRequest) -> Void = { _ in }) async throws -> TransportError.Code? {
        var request = ServiceRequest(url: try #require(URL(string: text)))
        change(&request)
        let sent = request
        return try await failureCode { [transport] in _ = try await transport.send(sent) }
    }

    private let nowhere = "http://127.0.0.1:9/"

    @Test(arguments: [
        "ftp://127.0.0.1/", "/relative", "file:///etc/passwd", "mailto:a@b", "http:///nohost", "unix:///tmp/x", "http+unix://%2Fx/",
    ])
    func `a URL that isn't for the web is refused`(text: String) async throws {
        #expect(try await code(text) == .badRequest)
    }

    @Test func `user info in the URL is refused without telling it`() async throws {
        let request = ServiceRequest(url: try #require(URL(string: "http://ada:secret@127.0.0.1:9/")))
        let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
        #expect(error?.code == .badRequest)
        #expect(error?.message.contains("secret") == false)
    }

    @Test(arguments: ["\r", "\n", "\r\nX-Evil: 1", "a\0b", "bell\u{7}", "\u{7F}"]) func `a header value that is no line is refused`(
        value: String
    ) async throws {
        #expect(try await code(nowhere) { $0.headers["X-A"] = value } == .badRequest)
    }

    @Test(arguments: ["", "X Y", "X:Y", "X\r\nY", "Ü"]) func `a header name that is no token is refused`(name: String) async throws {
        #expect(try await code(nowhere) { $0.headers[HTTPFields.Name(name)] = "x" } == .badRequest)
    }

    @Test(arguments: ["", "G T", "GET\r\n"] as [ServiceRequest.Method]) func `a method that is no token is refused`(
        method: ServiceRequest.Method
    ) async throws {
        #expect(try await code(nowhere) { $0.method = method } == .badRequest)
    }

    @Test func `what the engine can't do is refused`() async throws {
        #expect(try await code(nowhere) { $0.method = "CONNECT" } == .unsupported)
        #expect(try await code(nowhere) { $0.timeouts.connect = .seconds(1) } == .unsupported)
        #expect(try await code(nowhere) { $0.trust = TrustPolicy(minimumTLSVersion: .tlsv13) } == .unsupported)
        let trace = try await code(nowhere) {
            $0.method = "TRACE"
            $0.body = RequestBody(Data("x".utf8))
        }
        #expect(trace == .badRequest)
    }

    @Test func `a path that the engine would change is refused`() async throws {
        #expect(try await code(nowhere + "a/%ff") == .unsupported)
    }

    @Test func `the framing is the transport's own`() async throws {
        #expect(try await code(nowhere) { $0.headers["Transfer-Encoding"] = "chunked" } == .badRequest)
        #expect(try await code(nowhere) { $0.headers["Content-Length"] = "3" } == .badRequest)
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        var request = try server.request(.post, headers: ["Content-Length": "2"], body: RequestBody(Data("ab".utf8)))
        request.headers["X"] = "1"
        let sent = request
        let status = try await watched { [transport] in try await transport.send(sent).status }
        #expect(status == 200)
    }

    @Test func `an IPv6 literal is reached, and named with its brackets`() async throws {
        let server = try RawServer(overIPv6: true) { connection in
            guard let request = connection.readRequest() else { return }
            let host = request.field("Host") ?? ""
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(host.utf8.count)\r\n\r\n\(host)")
        }
        let url = try #require(URL(string: "http://[::1]:\(server.port)/"))
        let body = try await watched { [transport] in try await transport.send(ServiceRequest(url: url)).body.collect(upTo: 100) }
        #expect(String(decoding: body, as: UTF8.self) == "[::1]:\(server.port)")
    }

    @Test func `the scheme may be written in capitals`() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let url = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/"))
        let status = try await watched { [transport] in try await transport.send(ServiceRequest(url: url)).status }
        #expect(status == 200)
    }
}
#endif
