#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import Testing
import WebServiceClient

@Suite struct AsyncHTTPClientExchangeTests {
    private let transport = AsyncHTTPClientEngine.transport

    private func answer(_ text: String, method: ServiceRequest.Method = .get) async throws -> (response: TransportResponse, body: String) {
        let server = try RawServer.answering(text)
        let request = try server.request(method)
        return try await watched { [transport] in
            let response = try await transport.send(request)
            let body = try await response.body.collect(upTo: 1_000_000)
            _ = server
            return (response, String(decoding: body, as: UTF8.self))
        }
    }

    /// Sends a request to a server that tells what it has got.
    private func sent(_ change: (inout ServiceRequest) throws -> Void, path: String = "/") async throws -> RawRequest {
        let seen = Locked<RawRequest?>(nil)
        let server = try RawServer { connection in
            guard let request = connection.readRequest() else { return }
            seen.withLock { $0 = request }
            connection.write("HTTP/1.1 204 No Content\r\n\r\n")
        }
        var request = try server.request(.get, path)
        try change(&request)
        let sent = request
        let response = try await watched { [transport] in try await transport.send(sent) }
        #expect(response.status == 204)
        return try #require(seen.withLock { $0 })
    }

    @Test func `a response has status, version, fields as they came, and body`() async throws {
        let (response, body) = try await answer(
            "HTTP/1.1 418 Teapot\r\nX-B: two\r\nx-a: one\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2, c\r\nContent-Length: 5\r\n\r\nhello")
        #expect(response.status == 418)
        #expect(response.httpVersion == "HTTP/1.1")
        #expect(
            response.headers.map { "\($0.name.rawName)=\($0.value)" }.prefix(4) == [
                "X-B=two", "x-a=one", "Set-Cookie=a=1", "Set-Cookie=b=2, c",
            ])
        #expect(response.body.expectedLength == 5)
        #expect(body == "hello")
    }

    @Test func `HTTP 1.0 is told`() async throws {
        let (response, body) = try await answer("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
        #expect(response.httpVersion == "HTTP/1.0")
        #expect(body == "ok")
    }

    @Test func `the request goes out as it is`() async throws {
        let got = try await sent(
            {
                $0.method = .delete
                $0.headers = ["X-One": "1", "x-two": "", "X-List": "a", "x-list": "b", "Ünused": "x"]
                $0.headers["Ünused"] = nil
            }, path: "/a%2Fb//c;d=%C3%BC?q=1%2B2&r=%20&&s")
        #expect(got.line == "DELETE /a%2Fb//c;d=%C3%BC?q=1%2B2&r=%20&&s HTTP/1.1")
        // A client that decompresses asks for what it can undo.
        let lines = got.head.components(separatedBy: "\r\n").dropFirst().filter { !$0.hasPrefix("Accept-Encoding: ") }
        #expect(lines.first?.hasPrefix("Host: 127.0.0.1:") == true)
        #expect(lines.contains("X-One: 1"))
        #expect(lines.contains("x-two: "))
        #expect(lines.contains("X-List: a"))
        #expect(lines.contains("x-list: b"))
        #expect(lines.count == 5)
    }

    @Test(arguments: ["", "?", "/?", "/?a=b?c", "/a/../b", "/./", "//", "/a%20b", "/'()*!$&+,;=:@", "/%7Euser", "?x=/"])
    func `the target is sent to the letter`(path: String) async throws {
        var target = ""
        let got = try await sent(
            {
                let origin = $0.url.absoluteString.dropLast()
                $0.url = try #require(URL(string: origin + path))
                target = $0.target
            })
        #expect(got.line == "GET \(target) HTTP/1.1")
    }

    @Test func `the Host of the caller wins`() async throws {
        let got = try await sent { $0.headers["Host"] = "other.example" }
        #expect(got.head.components(separatedBy: "\r\n").filter { $0.lowercased().hasPrefix("host:") } == ["Host: other.example"])
    }

    @Test func `methods are sent as they are written`() async throws {
        for method in ["PROPFIND", "get", "M-SEARCH"] as [ServiceRequest.Method] {
            #expect(try await sent { $0.method = method }.line == "\(method) / HTTP/1.1")
        }
    }

    @Test func `a GET can have a body`() async throws {
        let got = try await sent { $0.body = RequestBody(Data("hi".utf8), contentType: "text/plain") }
        #expect(got.body == Data("hi".utf8))
        #expect(got.field("Content-Type") == "text/plain")
        #expect(got.field("Content-Length") == "2")
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

    @Test func `informational responses are passed over, trailers bear no harm`() async throws {
        let (response, body) = try await answer(
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n"
        )
        #expect(response.status == 200)
        #expect(response.headers["X-T"] == nil)
        #expect(body == "ok")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect is the response, and is not followed`(status: Int) async throws {
        let (response, body) = try await answer("HTTP/1.1 \(status) X\r\nLocation: ../next?a=b\r\nContent-Length: 4\r\n\r\nmove")
        #expect(response.status == status)
        #expect(response.headers[.location] == "../next?a=b")
        #expect(body == "move")
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
        #expect(transport.capabilities == [.backPressure, .streamingUploads, .ipv6Literals, .http2])
        #expect(AsyncHTTPClientTransport(AsyncHTTPClientEngine.old).capabilities == [.backPressure, .streamingUploads, .ipv6Literals])
    }

    @Test func `a compressed body arrives decoded`() async throws {
        // "rounder and rounder and rounder" by gzip.
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAACAyvKL81LSS1SSMxLUSjCZAMAxV+GrB8AAAA="))
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n")
            connection.write(packed)
        }
        let request = try server.request()
        let (length, body) = try await watched { [transport] in
            let response = try await transport.send(request)
            return (response.body.expectedLength, try await response.body.collect(upTo: 1_000))
        }
        #expect(length == nil)
        #expect(String(decoding: body, as: UTF8.self) == "rounder and rounder and rounder")
    }

    @Test func `a large body is whole, and its progress rises to its end`() async throws {
        let data = SplitMix.bytes(5_000_000)
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(data.count)\r\n\r\n")
            connection.write(data)
        }
        let seen = Locked<[TransferProgress]>([])
        var request = try server.request()
        request.downloadProgress = { progress in seen.withLock { $0.append(progress) } }
        let sent = request
        let body = try await watched { [transport] in try await transport.send(sent).body.collect(upTo: .max) }
        #expect(body == data)
        let progress = seen.withLock { $0 }
        #expect(progress.last == TransferProgress(completed: Int64(data.count), total: Int64(data.count)))
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0.completed < $1.completed })
    }

    @Test func `a slow reader slows the sender down`() async throws {
        let written = Locked(0)
        let closed = AsyncStream<Void>.makeStream()
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n")
            let piece = Data(repeating: 1, count: 100_000)
            while connection.write(piece) { written.withLock { $0 += piece.count } }
            closed.continuation.yield()
        }
        let request = try server.request()
        try await watched { [transport] in
            let response = try await transport.send(request)
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            // It stands still once the buffers of the system, some megabytes, are full.
            var before = -1
            while written.withLock({ $0 }) != before {
                before = written.withLock { $0 }
                try await Task.sleep(for: .milliseconds(300))
            }
            #expect(before < 50_000_000)
            response.body.cancel()
            for await _ in closed.stream { break }
        }
    }

    @Test func `connections are kept for the next call`() async throws {
        let connections = Locked(0)
        let server = try RawServer { connection in
            connections.withLock { $0 += 1 }
            while connection.readRequest() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        let request = try server.request()
        for _ in 0..<5 {
            let body = try await watched { [transport] in try await transport.send(request).body.collect(upTo: 10) }
            #expect(body.count == 2)
        }
        #expect(connections.withLock { $0 } == 1)
    }
}
#endif
