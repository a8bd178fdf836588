import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// Answers to requests whose bodies haven't been sent to their ends, and never will be.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlEarlyAnswerTests {
    private struct Broken: Error {}

    /// A stream that yields some bytes, then stays silent, and throws its own error when it is cancelled.
    private static func body(length: Int64?) -> RequestBody {
        RequestBody(length: length) {
            let given = Locked(false)
            return AsyncThrowingStream {
                let isFirst = given.withLock { given in
                    defer { given = true }
                    return !given
                }
                if isFirst { return Data("some".utf8) }
                do { try await Task.sleep(for: .seconds(1000)) } catch { throw Broken() }
                return nil
            }
        }
    }

    /// A server that refuses a body when its first bytes have come, and leaves the connection to its client.
    private static func refusing(_ rest: String) throws -> RawServer {
        try RawServer { connection in
            guard connection.wait(for: "some") else { return }
            connection.write("HTTP/1.1 413 Too Large\r\n\(rest)")
            _ = connection.waitForClose()
        }
    }

    @Test(arguments: [nil, 100], ["Content-Length: 6\r\n\r\nreason", "Transfer-Encoding: chunked\r\n\r\n6\r\nreason\r\n0\r\n\r\n"])
    func `a refusal is delivered to its end while the body is silent`(length: Int64?, answer: String) async throws {
        let server = try Self.refusing(answer)
        let transport = try CurlTransport()
        let request = try server.request(.post, body: Self.body(length: length))
        let (status, text) = try await watched {
            let response = try await transport.send(request)
            return (response.status, try await response.body.collect(upTo: 100))
        }
        #expect(status == 413 && text == Data("reason".utf8))
    }

    private static func answering(_ rest: String) throws -> RawServer {
        try RawServer { connection in
            guard connection.wait(for: "some") else { return }
            connection.write("HTTP/1.1 200 OK\r\n\(rest)")
            _ = connection.waitForClose()
        }
    }

    @Test(arguments: [nil, 100], [("Content-Length: 6\r\n\r\nenough", "enough"), ("Content-Length: 0\r\n\r\n", "")])
    func `a server that closes behind a complete answer wants no more of a body`(length: Int64?, answer: (String, String)) async throws {
        let server = try Self.answering("Connection: Close\r\n" + answer.0)
        let transport = try CurlTransport()
        let request = try server.request(.post, body: Self.body(length: length))
        let (status, text) = try await watched {
            let response = try await transport.send(request)
            return (response.status, try await response.body.collect(upTo: 100))
        }
        #expect(status == 200 && text == Data(answer.1.utf8))
    }

    /// It answers when the head has come, and takes no more of the body than fits the first window (RFC 9113 §5.2 and §8.1).
    @Test func `an answer over HTTP/2 that is complete before the body is delivered, at the latest when the time is over`() async throws {
        let server = try RawServer { connection in
            connection.serveHTTP2 { connection.writeHTTP2($0, length: "2", body: "ok", isEnd: true) }
        }
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = .http2WithPriorKnowledge
        let transport = try CurlTransport(configuration: configuration)
        let data = Data(repeating: 1, count: 200_000)
        for body in [
            RequestBody(data),
            RequestBody(length: 200_000) {
                AsyncThrowingStream {
                    $0.yield(data); $0.finish()
                }
            },
        ] {
            var request = try server.request(.post, body: body)
            request.timeouts.total = .milliseconds(300)
            let reported = Locked<Int64>(0)
            request.uploadProgress = { progress in reported.withLock { $0 = progress.completed } }
            let sent = request
            #expect(try await watched { try await transport.send(sent).body.collect(upTo: 100) } == Data("ok".utf8))
            #expect(reported.withLock { $0 } < 200_000)
        }
    }

    /// The transfer coding determines where the body ends, and a Content-Length field doesn't (RFC 9112 §6.3).
    @Test func `a length beside a transfer coding makes no answer complete`() async throws {
        let server = try Self.answering(
            "Connection: close\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n14\r\nmore than two letters")
        let transport = try CurlTransport()
        var request = try server.request(.post, body: Self.body(length: nil))
        request.timeouts.idle = .milliseconds(100)
        let sent = request
        await #expect(throws: TransportError.self) { try await watched { _ = try await transport.send(sent).body.collect(upTo: 100) } }
    }

    /// While the server keeps the connection open, the upload may continue. After the idle time the call ends.
    @Test func `a complete answer is delivered also where the body stays silent`() async throws {
        let server = try Self.answering("Content-Length: 6\r\n\r\nenough")
        let transport = try CurlTransport()
        var request = try server.request(.post, body: Self.body(length: nil))
        request.timeouts.idle = .milliseconds(100)
        let sent = request
        #expect(try await watched { try await transport.send(sent).body.collect(upTo: 100) } == Data("enough".utf8))
    }

    @Test func `a body that goes silent is named where the time passes, before an answer and within one`() async throws {
        let server = try Self.answering("Content-Length: 60\r\n\r\nnot enough")
        let deaf = try RawServer { _ = $0.waitForClose() }
        let transport = try CurlTransport()
        for server in [server, deaf] {
            var request = try server.request(.post, body: Self.body(length: nil))
            request.timeouts.firstByte = .milliseconds(100)
            request.timeouts.idle = .milliseconds(100)
            let sent = request
            let error = await #expect(throws: TransportError.self) {
                try await watched { _ = try await transport.send(sent).body.collect(upTo: 100) }
            }
            #expect(error?.isTimeout == true && error?.message.contains("request's body") == true, "\(String(describing: error))")
        }
    }

    @Test func `what the body throws after the end of its exchange takes no answer away`() async throws {
        let server = try Self.refusing("Content-Length: 6\r\n\r\nreason")
        let transport = try CurlTransport()
        let request = try server.request(.post, body: Self.body(length: nil))
        let text = try await watched {
            let response = try await transport.send(request)
            // After this pause the answer is complete and the body's stream is cancelled.
            try await Task.sleep(for: .milliseconds(100))
            return try await response.body.collect(upTo: 100)
        }
        #expect(text == Data("reason".utf8))
    }

    /// When a reused connection dies, libcurl reconnects before it asks whether it may send the request again.
    @Test(arguments: [ServiceRequest.Method.get, .post])
    func `a request whose server goes away is lost, and not unsent`(method: ServiceRequest.Method) async throws {
        let (server, seen) = (Locked<RawServer?>(nil), Locked(0))
        // Held there only: with it the port goes.
        try server.withLock { held in
            held = try RawServer { connection in
                while connection.readRequest() != nil {
                    let count = seen.withLock { seen in
                        seen += 1
                        return seen
                    }
                    guard count == 1 else { return server.withLock { $0 = nil } }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
        let warm = try #require(try server.withLock { try $0?.request() })
        var request = warm
        request.method = method
        if method == .post { request.body = RequestBody(Data("once".utf8)) }
        let again = request
        let transport = try CurlTransport()
        _ = try await watched { try await transport.send(warm).body.collect(upTo: 100) }
        let error = await #expect(throws: TransportError.self) { _ = try await watched { try await transport.send(again) } }
        #expect(error?.code == .connectionLost && error?.isConnectionStale == true, "\(String(describing: error))")
        #expect(seen.withLock { $0 } == 2)
    }
}
