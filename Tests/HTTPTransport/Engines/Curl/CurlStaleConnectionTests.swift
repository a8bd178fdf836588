import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

/// Used connections of HTTP/1 that have something to read, or have ended, before they carry another request.
@Suite(.enabled("libcurl can't be opened here, or tells nothing before it sends") { (try? CurlLibrary.open())?.reportsConnections == true })
struct CurlStaleConnectionTests {
    /// What a server does on an idle connection after its answer.
    enum Afterwards: Sendable {
        case sends(String), ends, resets
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let method: ServiceRequest.Method
        let answer: String
        let body: String
        let afterwards: Afterwards

        init(
            _ name: String, _ afterwards: Afterwards, method: ServiceRequest.Method = .get, answer: String = ok, body: String = "first"
        ) {
            testDescription = name
            self.method = method
            self.answer = answer
            self.body = body
            self.afterwards = afterwards
        }
    }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
    private static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"
    static let cases = [
        Case("408", .sends("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")),
        Case("408 without a length", .sends("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\nlate")),
        Case("another answer", .sends(evil)),
        Case("another answer behind chunks", .sends(evil), answer: chunked),
        Case("two answers", .sends(evil + evil)),
        Case("half an answer", .sends("HTTP/1.1 200 OK\r\nContent-")),
        Case("an interim answer", .sends("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")),
        Case("a body behind 204", .sends("evil"), answer: "HTTP/1.1 204 No Content\r\n\r\n", body: ""),
        Case("an answer behind 204", .sends(evil), answer: "HTTP/1.1 204 No Content\r\n\r\n", body: ""),
        Case("a body behind 304", .sends("evil"), answer: "HTTP/1.1 304 Not Modified\r\n\r\n", body: ""),
        Case(
            "a body behind HEAD", .sends("evil"), method: .head, answer: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", body: ""),
        Case("a body behind a length of 0", .sends(evil), answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", body: ""),
        Case("a line break", .sends("\r\n")),
        Case("bytes beyond the length", .sends("X")),
        Case("a NUL", .sends("\0")),
        Case("bytes beyond the last chunk", .sends("0\r\n\r\n"), answer: chunked),
        Case("much", .sends(String(repeating: evil, count: 20_000))),
        Case("the end", .ends),
        Case("a reset", .resets),
    ]

    /// How the second request goes out.
    static let seconds: [ServiceRequest.Method] = [.get, .post, .put]

    /// A server that misbehaves on each connection after the first answer, and counts the later requests on all connections.
    private static func server(
        _ item: Case, after delay: Int, _ hasRead: Locked<Bool>, _ isDone: Locked<Bool>, _ counted: Locked<Int>, _ clientPort: Locked<Int>
    ) throws -> RawServer {
        try RawServer { connection in
            guard let first = connection.readRequest() else { return }
            if first.line.contains("/first") { clientPort.withLock { [port = connection.clientPort] in $0 = port } }
            guard first.line.contains("/first") else {
                counted.withLock { $0 += 1 }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond")
                _ = connection.waitForClose()
                return
            }
            connection.write(item.answer)
            // Bytes that arrive together with the answer are a different case.
            while !hasRead.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.001) }
            Thread.sleep(forTimeInterval: Double(delay) / 1_000)
            switch item.afterwards {
            case .sends(let text):
                // Much of it may not fit.
                connection.write(String(text.prefix(2_000)))
                isDone.withLock { $0 = true }
                connection.write(String(text.dropFirst(2_000)))
            case .ends:
                connection.finishSending()
                isDone.withLock { $0 = true }
            case .resets:
                connection.reset()
                return isDone.withLock { $0 = true }
            }
            // Nothing may come over this connection any more.
            if connection.readRequest() != nil { counted.withLock { $0 += 100 } }
        }
    }

    @Test(arguments: cases, seconds)
    func `a used connection with something to read carries no request`(item: Case, second: ServiceRequest.Method) async throws {
        for delay in [0, 3, 20] {
            let (hasRead, isDone, counted, clientPort) = (Locked(false), Locked(false), Locked(0), Locked(0))
            let server = try Self.server(item, after: delay, hasRead, isDone, counted, clientPort)
            let transport = try CurlTransport()
            #expect(try await Self.body(transport, try server.request(item.method, "/first")) == item.body)
            hasRead.withLock { $0 = true }
            while !isDone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            try await Self.arrival(at: clientPort)
            if delay == 20 { try await Task.sleep(for: .milliseconds(60)) }
            let body = second == .get ? nil : RequestBody(Data("once".utf8))
            #expect(try await Self.body(transport, try server.request(second, "/second", body: body)) == "second")
            #expect(counted.withLock { $0 } == 1)
        }
    }

    /// Waits until the client's socket has what the server has written, or its end.
    private static func arrival(at clientPort: Locked<Int>) async throws {
        let port = clientPort.withLock { $0 }
        while !RawConnection.hasArrived(atClientPort: port) { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func `a streamed body goes out whole over the new connection`() async throws {
        let (received, clientPort) = (Locked<[Data]>([]), Locked(0))
        let isDone = Locked(false)
        let server = try RawServer { connection in
            guard let first = connection.readRequest() else { return }
            if first.line.contains("/first") { clientPort.withLock { [port = connection.clientPort] in $0 = port } }
            received.withLock { $0.append(first.body) }
            connection.write(Self.ok)
            if first.line.contains("/first") { connection.write("X") }
            isDone.withLock { $0 = true }
            _ = connection.waitForClose()
        }
        let transport = try CurlTransport()
        #expect(try await Self.body(transport, try server.request(.get, "/first")) == "first")
        while !isDone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
        try await Self.arrival(at: clientPort)
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let stream = RequestBody(length: Int64(bytes.count)) {
            AsyncThrowingStream { continuation in
                continuation.yield(bytes.prefix(100_000))
                continuation.yield(bytes.dropFirst(100_000))
                continuation.finish()
            }
        }
        #expect(try await Self.body(transport, try server.request(.put, "/second", body: stream)) == "first")
        #expect(received.withLock { $0 } == [Data(), bytes])
    }

    @Test(arguments: ["127.0.0.1", "unix"]) func `a connection without a word is used again, also by many at once`(way: String) async throws
    {
        let connections = Locked(0)
        let handle: @Sendable (RawConnection) -> Void = { connection in
            connections.withLock { $0 += 1 }
            while connection.readRequest() != nil { connection.write(Self.ok) }
        }
        let folder = TemporaryFolder()
        let path = folder.url.appending(path: "s").path(percentEncoded: false)
        var configuration = CurlTransport.Configuration()
        if way == "unix" { configuration.unixSocket = path }
        let server = way == "unix" ? try RawServer(unixPath: path, handle) : try RawServer(handle)
        let transport = try CurlTransport(configuration: configuration)
        let url = try #require(URL(string: "http://127.0.0.1:\(max(1, server.port))/"))
        for _ in 0..<20 { #expect(try await Self.body(transport, ServiceRequest(url: url)) == "first") }
        #expect(connections.withLock { $0 } == 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<400 {
                group.addTask {
                    let text = try await Self.body(transport, ServiceRequest(url: url))
                    #expect(text == "first")
                }
            }
            try await group.waitForAll()
        }
        #expect(connections.withLock { $0 } <= 256)
        withExtendedLifetime(server) {}
    }

    @Test func `late bytes over a Unix-domain socket aren't the next answer`() async throws {
        let (isDone, folder) = (Locked(false), TemporaryFolder())
        let path = folder.url.appending(path: "s").path(percentEncoded: false)
        let server = try RawServer(unixPath: path) { connection in
            while let request = connection.readRequest() {
                connection.write(Self.ok)
                guard request.line.contains("/late") else { continue }
                connection.write(Self.evil)
                isDone.withLock { $0 = true }
            }
        }
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = path
        let transport = try CurlTransport(configuration: configuration)
        let url = try #require(URL(string: "http://service.example/"))
        for _ in 0..<10 {
            isDone.withLock { $0 = false }
            #expect(try await Self.body(transport, ServiceRequest(url: url.appending(path: "late"))) == "first")
            while !isDone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .milliseconds(5))
            #expect(try await Self.body(transport, ServiceRequest(method: .post, url: url)) == "first")
        }
        withExtendedLifetime(server) {}
    }

    @Test func `where calls wait for the only connection, each gets its own answer`() async throws {
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                let name = request.line.split(separator: " ")[1]
                // The body is longer than one read of libcurl, and unrequested bytes follow it.
                let body = String(repeating: "x", count: 200_000) + name
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body + Self.evil)
            }
        }
        var configuration = CurlTransport.Configuration()
        configuration.maximumConnectionsPerHost = 1
        let transport = try CurlTransport(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                let request = try server.request(.post, "/\(number)", body: RequestBody(Data("x".utf8)))
                group.addTask {
                    let text = try await Self.body(transport, request)
                    #expect(text.hasSuffix("x/\(number)"))
                }
            }
            try await group.waitForAll()
        }
    }

    private static func body(_ transport: CurlTransport, _ request: ServiceRequest) async throws -> String {
        try await watched {
            String(decoding: try await transport.send(request).body.collect(upTo: 1 << 20), as: UTF8.self)
        }
    }
}
