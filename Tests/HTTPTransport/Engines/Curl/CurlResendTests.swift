import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import HTTPTransport

/// Requests that libcurl by itself would send a second time.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlResendTests {
    /// A server that ends each request by HTTP/2, without TLS, with an error code (RFC 9113 §7), and answers those by HTTP/1.1.
    private static func refusing(_ code: UInt8, _ connections: Locked<Int>) throws -> RawServer {
        try RawServer { connection in
            connections.withLock { $0 += 1 }
            guard let first = connection.peek(4) else { return }
            guard first == Data("PRI ".utf8) else {
                while connection.readRequest() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
                return
            }
            connection.serveHTTP2 { connection.resetHTTP2($0, code) }
        }
    }

    private static func transport() throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = .http2WithPriorKnowledge
        return try CurlTransport(configuration: configuration)
    }

    private static func request(_ method: ServiceRequest.Method, to server: RawServer) throws -> ServiceRequest {
        try server.request(method, body: method == .post ? RequestBody(Data("once".utf8)) : nil)
    }

    @Test(arguments: [ServiceRequest.Method.get, .post])
    func `a request that an HTTP/2 server refuses is sent once, and may be sent again`(method: ServiceRequest.Method) async throws {
        let connections = Locked(0)
        // REFUSED_STREAM
        let server = try Self.refusing(0x7, connections)
        let transport = try Self.transport()
        let request = try Self.request(method, to: server)
        let error = await #expect(throws: TransportError.self) { _ = try await watched { try await transport.send(request) } }
        #expect(error?.code == .connectionLost && error?.isConnectionStale == true && error?.message.contains("refused") == true)
        #expect(connections.withLock { $0 } == 1)
    }

    @Test(arguments: [ServiceRequest.Method.get, .post])
    func `where HTTP/1.1 is required, that is said, and the next request goes that way`(method: ServiceRequest.Method) async throws {
        let connections = Locked(0)
        // HTTP_1_1_REQUIRED
        let server = try Self.refusing(0xD, connections)
        let transport = try Self.transport()
        let request = try Self.request(method, to: server)
        let error = await #expect(throws: TransportError.self) { _ = try await watched { try await transport.send(request) } }
        #expect(error?.code == .connectionLost && error?.isConnectionStale == true && error?.message.contains("HTTP/1.1") == true)
        #expect(connections.withLock { $0 } == 1)
        let response = try await watched { try await transport.send(request) }
        #expect(response.httpVersion == "HTTP/1.1")
        #expect(try await response.body.collect(upTo: 10) == Data("ok".utf8))
    }

    /// libcurl sends it again also where an answer has begun.
    @Test func `an answer that breaks off for HTTP/1.1 is no 417`() async throws {
        let hasBegun = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            connection.serveHTTP2 { stream in
                connection.writeHTTP2(stream, length: "100", body: "abc", isEnd: false)
                hasBegun.wait()
                connection.resetHTTP2(stream, 0xD)
            }
        }
        let transport = try Self.transport()
        let request = try server.request()
        let error = await #expect(throws: TransportError.self) {
            try await watched {
                for try await piece in try await transport.send(request).body {
                    #expect(piece == Data("abc".utf8))
                    hasBegun.signal()
                }
            }
        }
        let message = error?.message.replacing(":\(server.port)", with: "") ?? ""
        #expect(error?.code == .truncated && !message.contains("417"), "\(String(describing: error))")
    }

    @Test func `the chain sends what may be sent again by HTTP/1.1, without more ado`() async throws {
        let server = try Self.refusing(0xD, Locked(0))
        let transport = try Self.transport()
        let client = WebServiceClient(serviceRoot: "http://127.0.0.1:\(server.port)") { $0.transport = transport }
        #expect(try await watched { try await client.http.get("/").send().status } == 200)
    }

    /// libcurl would send the request again without the field, over the same connection.
    @Test(arguments: [("Connection: close\r\nContent-Length: 4\r\n\r\nwhat", "what"), ("Content-Length: 0\r\n\r\n", "")])
    func `a 417 is the answer to a request with Expect`(answer: String, body: String) async throws {
        let heads = Locked(0)
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            heads.withLock { $0 += 1 }
            connection.write("HTTP/1.1 417 Expectation Failed\r\n\(answer)")
            if body.isEmpty { _ = connection.waitForClose() }
        }
        let transport = try CurlTransport()
        let request = try server.request(.post, headers: ["Expect": "100-continue"], body: RequestBody(Data("once".utf8)))
        let response = try await watched { try await transport.send(request) }
        #expect(response.status == 417)
        #expect(try await watched { try await response.body.collect(upTo: 100) } == Data(body.utf8))
        #expect(heads.withLock { $0 } == 1)
    }

    @Test func `where libcurl keeps nothing of the body of a 417, its reader is told`() async throws {
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 4\r\n\r\nwhat")
            _ = connection.waitForClose()
        }
        let transport = try CurlTransport()
        let request = try server.request(.post, headers: ["Expect": "100-continue"], body: RequestBody(Data("once".utf8)))
        let response = try await watched { try await transport.send(request) }
        #expect(response.status == 417)
        let error = await #expect(throws: TransportError.self) { try await watched { try await response.body.collect(upTo: 100) } }
        #expect(error?.code == .truncated && error?.message.contains("omit Expect") == true)
    }

    /// libcurl notes with its handle that a body must be rewound before it is sent again, and a reset leaves the note (curl's issue 18206).
    @Test func `an upload that libcurl would have sent again doesn't harm the next one`() async throws {
        let connections = Locked(0)
        let server = try RawServer { connection in
            let isFirst = connections.withLock { connections in
                connections += 1
                return connections == 1
            }
            // The upload over the first connection dies when a part of its body has come.
            if isFirst, connection.readRequest() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                _ = connection.wait(for: "piece")
            } else if connection.wait(for: "piece\r\n0\r\n\r\n") {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                _ = connection.waitForClose()
            }
        }
        let transport = try CurlTransport()
        let body = RequestBody(isReplayable: true) {
            AsyncThrowingStream { continuation in
                continuation.yield(Data("piece".utf8))
                continuation.finish()
            }
        }
        #expect(try await watched { try await transport.send(try server.request()).body.collect(upTo: 10) } == Data("ok".utf8))
        let upload = try server.request(.post, body: body)
        let error = await #expect(throws: TransportError.self) { try await watched { try await transport.send(upload) } }
        #expect(error?.code == .connectionLost && error?.isConnectionStale == true, "\(String(describing: error))")
        #expect(try await watched { try await transport.send(upload).body.collect(upTo: 10) } == Data("ok".utf8))
        #expect(connections.withLock { $0 } == 2)
    }
}
