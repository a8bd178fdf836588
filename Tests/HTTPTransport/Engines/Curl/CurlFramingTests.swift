import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// Heads that say in two ways where the body ends (RFC 9112 §6): whoever reads them the other way takes the rest for another answer.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlFramingTests {
    private static let chunks = "5\r\nright\r\n0\r\n\r\n"

    private static func outcome(of text: String, method: ServiceRequest.Method = .get) async throws -> Result<String, TransportError> {
        let answered = Locked(0)
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                let number = answered.withLock { answered in
                    defer { answered += 1 }
                    return answered
                }
                connection.write(number == 0 ? text : "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
                // A body without a length ends with the connection.
                if number == 0, text.contains("close") { return }
            }
        }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        let transport = try CurlTransport(configuration: configuration)
        let (request, next) = (try server.request(method), try server.request())
        return try await watched {
            let result: Result<String, TransportError>
            do {
                result = .success(String(decoding: try await transport.send(request).body.collect(upTo: 1_000), as: UTF8.self))
            } catch let error as TransportError {
                result = .failure(error)
            }
            // Whatever came, the next answer is its own.
            let after = try await transport.send(next)
            let body = String(decoding: try await after.body.collect(upTo: 1_000), as: UTF8.self)
            #expect(after.status == 200 && body == "next", "\(text)")
            return result
        }
    }

    @Test(arguments: [
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 15\r\nTransfer-Encoding: chunked", "Content-Length: 0\r\nTransfer-Encoding: chunked",
        "content-length: 5\r\ntransfer-encoding: CHUNKED", "Transfer-Encoding: gzip, chunked\r\nContent-Length: 5",
        "Transfer-Encoding: identity\r\nContent-Length: 5", "Transfer-Encoding:\r\nContent-Length: 5",
        "Transfer-Encoding: chunked\r\nX: y\r\nContent-Length: 5, 5",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: chunked , identity",
        "Transfer-Encoding: ,chunked,,chunked", "Transfer-Encoding: chunked;a=b, chunked",
        "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5, 6", "Content-Length: +5", "Content-Length: -5", "Content-Length: 5 5",
        "Content-Length: 0x5", "Content-Length: 5.0", "Content-Length:", "Content-Length: 5,", "Content-Length: five",
        "Content-Length: 5;", "Content-Length: \"5\"", "Content-Length: ٥",
        "Content-Length : 5", "Content-Length\t: 5", "Transfer-Encoding : chunked", "transfer-encoding \t: gzip",
        "X: y\r\nCONTENT-LENGTH  :5", "Content-Length: 5\r\n 6", "Content-Length: 5\r\n\t", "X: y\r\nContent-Length: 1\r\n 5",
        "Transfer-Encoding: chunked\r\n , identity",
    ]) func `a contradiction is an error`(fields: String) async throws {
        let result = try await Self.outcome(of: "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(Self.chunks)")
        guard case .failure(let error) = result else {
            Issue.record("\(fields): \(result)")
            return
        }
        #expect(error.code == .unreadableResponse && !error.isConnectionStale, "\(fields): \(error)")
    }

    @Test(arguments: [
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n" + chunks,
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\nright",
        "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright",
        "HTTP/1.1 103 Early Hints\r\ntransfer-encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright",
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
    ]) func `a coding where there is none is an error`(text: String) async throws {
        let result = try await Self.outcome(of: text)
        guard case .failure(let error) = result else {
            Issue.record("\(text): \(result)")
            return
        }
        #expect(error.code == .unreadableResponse, "\(text): \(error)")
    }

    @Test(arguments: [
        ("Transfer-Encoding: chunked", chunks, "right"), ("Transfer-Encoding: Chunked", chunks, "right"),
        ("transfer-encoding:chunked", chunks, "right"), ("Transfer-Encoding: \t chunked \t", chunks, "right"),
        ("Content-Length: 5, 5", "right", "right"), ("Content-Length: 5\r\nContent-Length: 5", "right", "right"),
        ("Content-Length: 05", "right", "right"), ("Content-Length:5", "right", "right"), ("Content-Length: \t5\t", "right", "right"),
        ("Content-Length: 0", "", ""), ("X-Transfer-Encoding: chunked\r\nContent-Length: 5", "right", "right"),
        ("Connection: close", "right", "right"),
    ]) func `what is right is read`(fields: String, body: String, expected: String) async throws {
        let result = try await Self.outcome(of: "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(body)")
        guard case .success(let text) = result else {
            Issue.record("\(fields): \(result)")
            return
        }
        #expect(text == expected, "\(fields)")
    }

    /// A 204 ends with its head whatever its fields state (RFC 9112 §6.3). Bytes after it don't answer the next request.
    @Test(arguments: ["", chunks, "0\r\n\r\n"]) func `a 204 with a coding has no body`(rest: String) async throws {
        let result = try await Self.outcome(of: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n\(rest)")
        guard case .success("") = result else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func `the head of an answer to HEAD may tell of chunks`() async throws {
        let result = try await Self.outcome(of: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", method: .head)
        guard case .success("") = result else {
            Issue.record("\(result)")
            return
        }
    }
}
