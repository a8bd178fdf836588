import Foundation
import HTTPTransport
import TestSupport
import Testing

@Suite struct URLSessionExchangeTests {
    private let transport = URLSessionTransport()

    private func answer(_ text: String, method: ServiceRequest.Method = .get, headers: HTTPFields = [:]) async throws -> (
        response: TransportResponse, body: String
    ) {
        let server = try RawServer.answering(text)
        let request = try server.request(method, headers: headers)
        return try await watched { [transport] in
            let response = try await transport.send(request)
            let body = try await response.body.collect(upTo: 1_000_000)
            _ = server
            return (response, String(decoding: body, as: UTF8.self))
        }
    }

    @Test func `a response has status, fields and body`() async throws {
        let (response, body) = try await answer("HTTP/1.1 418 Teapot\r\nX-B: two\r\nx-a: one\r\nContent-Length: 5\r\n\r\nhello")
        #expect(response.status == 418)
        #expect(response.headers["X-A"] == "one")
        #expect(response.headers["x-b"] == "two")
        #expect(response.body.expectedLength == 5)
        #expect(body == "hello")
    }

    @Test func `the request goes out as it is`() async throws {
        let seen = Locked<RawRequest?>(nil)
        let server = try RawServer { connection in
            guard let request = connection.readRequest() else { return }
            seen.withLock { $0 = request }
            connection.write("HTTP/1.1 204 No Content\r\n\r\n")
        }
        var request = try server.request(.delete, "/a%2Fb/c?q=1%2B2&r=%20")
        request.headers = ["X-One": "1", "x-two": "", "X-List": "a", "x-list": "b", "Cookie": "a=1", "cookie": "b=2"]
        let sent = request
        let response = try await watched { [transport] in try await transport.send(sent) }
        #expect(response.status == 204)
        let got = try #require(seen.withLock { $0 })
        #expect(got.line == "DELETE /a%2Fb/c?q=1%2B2&r=%20 HTTP/1.1")
        #expect(got.field("X-One") == "1")
        #expect(got.field("X-Two") == "")
        #expect(got.field("X-List") == "a, b")
        #expect(got.field("Cookie") == "a=1; b=2")
        #expect(got.field("Content-Type") == nil)
    }

    @Test func `the body arrives piece by piece, the head before it`() async throws {
        let release = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in ["one", "two", "three"] {
                _ = release.wait(timeout: .now() + 30)
                connection.write("\(String(piece.utf8.count, radix: 16))\r\n\(piece)\r\n")
            }
            connection.write("0\r\n\r\n")
        }
        let request = try server.request()
        let pieces = try await watched { [transport] in
            let response = try await transport.send(request)
            #expect(response.body.expectedLength == nil)
            var iterator = response.body.makeAsyncIterator()
            var pieces: [String] = []
            for _ in 0..<3 {
                release.signal()
                if let piece = try await iterator.next() { pieces.append(String(decoding: piece, as: UTF8.self)) }
            }
            #expect(try await iterator.next() == nil)
            return pieces
        }
        #expect(pieces == ["one", "two", "three"])
    }

    @Test func `a body ended by the close of the connection is whole`() async throws {
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end")
        }
        let request = try server.request()
        let body = try await watched { [transport] in try await transport.send(request).body.collect(upTo: 100) }
        #expect(body == Data("until the end".utf8))
    }

    @Test(arguments: [204, 304]) func `a response without a body ends at once`(status: Int) async throws {
        let (response, body) = try await answer("HTTP/1.1 \(status) X\r\nETag: \"a\"\r\n\r\n")
        #expect(response.status == status)
        #expect(response.body.expectedLength == 0)
        #expect(body.isEmpty)
    }

    @Test func `HEAD has a length and no body`() async throws {
        let (response, body) = try await answer("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n", method: .head)
        #expect(response.headers[.contentLength] == "12345")
        #expect(response.body.expectedLength == 0)
        #expect(body.isEmpty)
    }

    @Test func `informational responses are passed over`() async throws {
        let (response, body) = try await answer(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(response.status == 200)
        #expect(body == "ok")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is the response, and is not followed`(status: Int) async throws {
        let (response, body) = try await answer("HTTP/1.1 \(status) X\r\nLocation: ../next?a=b\r\nContent-Length: 4\r\n\r\nmove")
        #expect(response.status == status)
        #expect(response.headers[.location] == "../next?a=b")
        #expect(body == "move")
    }

    // Not among them: `//[::1]/` and `//a%20b/`, which end the process inside this system's URLSession, as the documentation says.
    @Test(arguments: [
        "?q=%zz", "//[::1", "//host:99999999/", "//host:-1/", "http:", "http:foo", "//", "///a", "//a b/c", "#%%", "\\\\host",
        "mailto:a@b", "http://[::1]:80/%", "/a?b?c#d#e", "%2F%2f", "..", "http://é.example/ü", "//u:p@h:1/x", ":", "http://h:x/", "",
    ])
    func `a redirect to anywhere is the response`(location: String) async throws {
        let (response, _) = try await answer("HTTP/1.1 302 X\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
        #expect(response.status == 302)
        #expect(response.headers[.location] == location)
    }

    @Test func `a redirect without a Location is the response`() async throws {
        let (response, _) = try await answer("HTTP/1.1 302 X\r\nContent-Length: 0\r\n\r\n")
        #expect(response.status == 302)
    }

    static let challenges = [
        "Basic realm=\"a\"", "basic realm=\"a\", charset=\"UTF-8\"", "Bearer realm=\"a\", Basic realm=\"b\"",
        "Basic realm=\"a\", Bearer realm=\"b\"", "Digest realm=\"a\", nonce=\"n\", qop=\"auth\"", "Bearer", "Basic", "Negotiate",
        "Basic realm=", "Basic realm", "Basic =", "",
    ]

    @Test(arguments: challenges, ["", "Basic YTpi"])
    func `a 401 is the response, with its body`(challenge: String, credentials: String) async throws {
        let (response, body) = try await answer(
            "HTTP/1.1 401 X\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 6\r\n\r\ndenied",
            headers: credentials.isEmpty ? [:] : ["Authorization": credentials])
        #expect(response.status == 401)
        #expect(response.headers[.wwwAuthenticate] == challenge)
        #expect(body == "denied")
    }

    @Test func `after a 401 the same transport goes on`() async throws {
        let server = try RawServer.answering(
            "HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 6\r\n\r\ndenied")
        let request = try server.request()
        let statuses = try await watched { [transport] in
            var statuses: [Int] = []
            for _ in 0..<20 { statuses.append(try await transport.send(request).status) }
            return statuses
        }
        #expect(statuses == Array(repeating: 401, count: 20))
    }

    @Test func `a compressed body arrives decoded`() async throws {
        // "compressed compressed compressed" by gzip.
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAACA0vOzy0oSi0uTk1RSMbGBAAnY5ocIAAAAA=="))
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
                connection.write(packed)
            }
        }
        let request = try server.request()
        let (length, body) = try await watched { [transport] in
            let response = try await transport.send(request)
            return (response.body.expectedLength, try await response.body.collect(upTo: 1_000))
        }
        #expect(length == nil)
        #expect(String(decoding: body, as: UTF8.self) == "compressed compressed compressed")
    }

    @Test func `a large body is whole, and its progress rises to its end`() async throws {
        let large = SeededGenerator.bytes(5_000_000)
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(large.count)\r\n\r\n")
            connection.write(large)
        }
        let seen = Locked<[TransferProgress]>([])
        var request = try server.request()
        request.downloadProgress = { progress in seen.withLock { $0.append(progress) } }
        let sent = request
        let body = try await watched { [transport] in try await transport.send(sent).body.collect(upTo: .max) }
        #expect(body == large)
        let progress = seen.withLock { $0 }
        #expect(progress.last == TransferProgress(completed: 5_000_000, total: 5_000_000))
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completed < $1.completed })
    }

    @Test func `cookies are neither kept nor sent`() async throws {
        let seen = Locked<[String?]>([])
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                seen.withLock { $0.append(request.field("Cookie")) }
                connection.write("HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let request = try server.request()
        try await watched { [transport] in
            for _ in 0..<2 {
                let response = try await transport.send(request)
                #expect(response.headers[.setCookie] == "a=1; Path=/")
            }
        }
        #expect(seen.withLock { $0 } == [nil, nil])
    }

    @Test func `an invalidated transport refuses, and ends what is under way`() async throws {
        let release = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo")
            _ = release.wait(timeout: .now() + 30)
            connection.write("dy")
        }
        let request = try server.request()
        let own = URLSessionTransport()
        let body = try await watched {
            let response = try await own.send(request)
            own.invalidate()
            own.invalidate()
            let code = try await failureCode { _ = try await own.send(request) }
            #expect(code == .other)
            release.signal()
            return try await response.body.collect(upTo: 10)
        }
        #expect(body == Data("body".utf8))
    }

    @Test func `a body outlives its transport`() async throws {
        let server = try RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")
        let request = try server.request()
        let body = try await watched {
            let response = try await URLSessionTransport().send(request)
            return try await response.body.collect(upTo: 10)
        }
        #expect(body == Data("body".utf8))
    }
}
