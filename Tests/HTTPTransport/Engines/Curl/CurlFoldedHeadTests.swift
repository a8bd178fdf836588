import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// Heads whose first field line begins with a blank. Over a connection that was used before, libcurl 7.83 to 8.0 wrote into freed memory
/// there: run this suite under valgrind, too.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlFoldedHeadTests {
    private static let good = "HTTP/1.1 200 OK\r\nX-B: 1\r\nContent-Length: 2\r\n\r\nok"

    /// Answers `/good` well, and other requests with that text.
    private static func server(_ text: String) throws -> RawServer {
        try RawServer { connection in
            while let request = connection.readRequest() { connection.write(request.line.contains("/good") ? good : text) }
        }
    }

    private static func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        change(&configuration)
        return try CurlTransport(configuration: configuration)
    }

    private static func body(_ transport: CurlTransport, _ request: ServiceRequest) async throws -> String {
        try await watched {
            String(decoding: try await transport.send(request).body.collect(upTo: 1 << 20), as: UTF8.self)
        }
    }

    private static let rest = "Content-Length: 2\r\n\r\nok"
    private static let bad = [
        "HTTP/1.1 200 OK\r\n X-A: 1\r\n" + rest,
        "HTTP/1.1 200 OK\r\n\tX-A: 1\r\n" + rest,
        "HTTP/1.1 200 OK\r\n  \t X-A: 1\r\n" + rest,
        "HTTP/1.1 200 OK\r\n no colon\r\n" + rest,
        "HTTP/1.1 200 OK\r\n \r\n" + rest,
        "HTTP/1.1 200 OK\r\n\t\r\n" + rest,
        "HTTP/1.1 200 OK\r\n :\r\n" + rest,
        "HTTP/1.1 200 OK\r\n a: 1\r\n b: 2\r\n c: 3\r\n" + rest,
        "HTTP/1.1 200 OK\n X-A: 1\nContent-Length: 2\n\nok",
        "HTTP/1.1 200\r\n X-A: 1\r\n" + rest,
        "HTTP/1.0 200 OK\r\n X-A: 1\r\n" + rest,
        "HTTP/1.1 204 No Content\r\n X-A: 1\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\n X-A: 1\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\n X-A: 1\r\n" + rest,
        "HTTP/1.1 500 Error\r\n Content-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\n Content-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\n X-A: \(String(repeating: "v", count: 50_000))\r\n" + rest,
        "HTTP/1.1 200 OK\r\n \(String(repeating: "v ", count: 20_000))\r\n" + rest,
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n X-A: 1\r\n" + rest,
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n X-A: 1\r\n" + rest,
        "HTTP/1.1 103 Early Hints\r\n Link: </a>\r\n\r\n" + good,
        "HTTP/1.1 100 Continue\r\n\tX-A: 1\r\n\r\n" + good,
        "HTTP/1.1 102 Processing\r\nX-A: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\n X-A: 1\r\n\r\n" + good,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n X-A: 1\r\n\r\n",
    ]

    @Test(arguments: bad)
    func `a head that begins with a blank is unreadable, and harms nobody`(text: String) async throws {
        let server = try Self.server(text)
        let transport = try Self.transport()
        let (good, other) = (try server.request(.get, "/good"), try server.request(.get, "/bad"))
        for round in 0..<4 {
            // On a fresh handle and connection, and on used ones.
            if round > 0 { #expect(try await Self.body(transport, good) == "ok") }
            let error = await #expect(throws: TransportError.self) { try await Self.body(transport, other) }
            #expect(error?.code == .unreadableResponse, "\(String(describing: error))")
            // libcurl looks for a colon before it hands a line on.
            let reasons = ["begins with whitespace", "header without colon", "a line in its trailers isn't a field"]
            #expect(reasons.contains { error?.message.contains($0) == true }, "\(error?.message ?? "")")
        }
        #expect(try await Self.body(transport, good) == "ok")
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\n" + rest,
        "HTTP/1.1 200 OK\r\nX-A:\r\n\t2\r\n 3\r\n" + rest,
        "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "v ", count: 30_000))\r\n" + rest,
        "HTTP/1.1 200 OK\r\nX-A:  \(String(repeating: " ", count: 40_000))v\r\n" + rest,
        "HTTP/1.1 103 Early Hints\r\nLink: </a>,\r\n </b>\r\n\r\n" + good,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n 2\r\n\r\n",
    ])
    func `a line further down may go on with the one before it`(text: String) async throws {
        let server = try Self.server(text)
        let transport = try Self.transport()
        for _ in 0..<3 {
            #expect(try await Self.body(transport, try server.request(.get, "/good")) == "ok")
            #expect(try await Self.body(transport, try server.request(.get, "/bad")) == "ok")
        }
    }

    @Test func `many at once, good and bad, all get their own`() async throws {
        let server = try Self.server(Self.bad[0])
        let transport = try Self.transport()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                let request = try server.request(number % 5 == 4 ? .post : .get, number % 3 == 2 ? "/bad" : "/good")
                group.addTask {
                    if number % 3 == 2 {
                        let error = await #expect(throws: TransportError.self) { _ = try await Self.body(transport, request) }
                        #expect(error?.code == .unreadableResponse, "\(number): \(String(describing: error))")
                    } else {
                        let text = try await Self.body(transport, request)
                        #expect(text == "ok")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n X-A: 1\r\n\r\n", "HTTP/1.1 200 OK\r\n\tX-A: 1\r\n\r\n",
        "HTTP/1.1 407 No\r\n X-A: 1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 502 Bad\r\n no colon\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 100 Continue\r\n X-A: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n \r\nX-A: 1\r\n\r\n",
    ])
    func `a proxy's answer to CONNECT that begins with a blank is unreadable`(text: String) async throws {
        let proxy = try RawServer { connection in
            while let request = connection.readRequest() { connection.write(request.line.hasPrefix("CONNECT") ? text : Self.good) }
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(proxy.port)"))
        let transport = try Self.transport { $0.proxy = .url(url) }
        let plain = ServiceRequest(url: try #require(URL(string: "http://service.example/good")))
        let secure = ServiceRequest(url: try #require(URL(string: "https://service.example/")))
        for _ in 0..<4 {
            #expect(try await Self.body(transport, plain) == "ok")
            let error = await #expect(throws: TransportError.self) { try await Self.body(transport, secure) }
            #expect(error?.code == .unreadableResponse, "\(String(describing: error))")
            #expect(error?.message.contains("proxy") == true, "\(error?.message ?? "")")
        }
    }
}
