#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import TestSupport
import Testing
import HTTPTransport

/// Tests of this engine alone. The conformance suite checks what every transport must do.
@Suite struct AsyncHTTPClientTransportTests {
    private let transport = AsyncHTTPClientEngine.transport

    private func code(_ request: ServiceRequest) async throws -> TransportError.Code? {
        try await failureCode { [transport] in
            _ = try await transport.send(request).body.collect(upTo: .max)
        }
    }

    /// Returns the error code of a request to a closed port. The request is refused before it is sent.
    private func refusal(of text: String = "http://127.0.0.1:9/", _ change: (inout ServiceRequest) -> Void = { _ in }) async throws
        -> TransportError.Code?
    {
        var request = ServiceRequest(url: try #require(URL(string: text)))
        change(&request)
        return try await code(request)
    }

    @Test func `a client that follows redirects is refused before anything is sent`() async throws {
        let connections = Locked(0)
        let server = try RawServer { _ in connections.withLock { $0 += 1 } }
        for client in [AsyncHTTPClientEngine.following, .shared] {
            let request = try server.request()
            do {
                _ = try await watched { try await AsyncHTTPClientTransport(client).send(request) }
                Issue.record("It was sent.")
            } catch let error as TransportError {
                #expect(error.code == .unsupported)
                #expect(error.message.contains("AsyncHTTPClientTransport.configuration"))
            }
        }
        #expect(connections.withLock { $0 } == 0)
    }

    @Test func `capabilities are what the client can do`() {
        #expect(transport.capabilities == [.backPressure, .streamingUploads, .ipv6Literals, .bodiesWithGET, .http2])
        #expect(
            AsyncHTTPClientTransport(AsyncHTTPClientEngine.old).capabilities == [
                .backPressure, .streamingUploads, .ipv6Literals, .bodiesWithGET,
            ])
    }

    @Test func `what the engine can't do is refused`() async throws {
        #expect(try await refusal { $0.method = "CONNECT" } == .unsupported)
        #expect(try await refusal { $0.timeouts.connect = .seconds(1) } == .unsupported)
        #expect(try await refusal { $0.trust = TrustPolicy(minimumTLSVersion: .tlsv13) } == .unsupported)
        #expect(try await refusal(of: "http://127.0.0.1:9/a/%ff") == .unsupported)
    }

    @Test(arguments: ["unix:///tmp/x", "http+unix://%2Fx/", "https+unix://%2Fx/"])
    func `the engine's own schemes are refused`(text: String) async throws {
        #expect(try await refusal(of: text) == .badRequest)
    }

    @Test func `the framing is the transport's own`() async throws {
        #expect(try await refusal { $0.headers["Transfer-Encoding"] = "chunked" } == .badRequest)
        #expect(try await refusal { $0.headers["Content-Length"] = "3" } == .badRequest)
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let request = try server.request(.post, headers: ["Content-Length": "2"], body: RequestBody(Data("ab".utf8)))
        #expect(try await code(request) == nil)
    }

    @Test func `a field in Latin-1 is repaired, and no trap`() async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write(Data("HTTP/1.1 200 OK\r\nX-Name: Jos".utf8) + [0xE9] + Data("\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        let request = try server.request()
        let value = try await watched { [transport] in try await transport.send(request).headers["X-Name"] }
        #expect(value == "Jos\u{FFFD}")
    }

    @Test func `calls that wait for a connection run into the time to the first byte`() async throws {
        let server = try RawServer { connection in
            _ = connection.readRequest()
            _ = connection.waitForClose()
        }
        var request = try server.request()
        request.timeouts.firstByte = .milliseconds(300)
        let sent = request
        // The pool has fewer connections for one host than that.
        let codes = try await watched {
            try await withThrowingTaskGroup(of: TransportError.Code?.self) { group in
                for _ in 0..<30 { group.addTask { try await code(sent) } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
        }
        #expect(codes == [.timedOutWaiting])
    }
}
#endif
