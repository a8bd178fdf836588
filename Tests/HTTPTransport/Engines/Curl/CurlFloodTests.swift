import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import HTTPTransport

/// Servers that send without an end what brings nothing: each call ends by its own deadline, or before, and no other call waits for it.
@Suite(.enabled("libcurl can't be opened here") { (try? CurlLibrary.open()) != nil })
struct CurlFloodTests {
    /// The bytes that a server sends: a beginning, then one piece again and again.
    struct Flood: Sendable, CustomTestStringConvertible {
        let name: String
        let start: Data
        let unit: Data
        var isHTTP2 = true
        var isOfProxy = false

        var testDescription: String { name }

        /// Floods a connection until its client closes it.
        func run(on connection: RawConnection) {
            guard isHTTP2 ? connection.read(24) != nil : connection.readHead() != nil else { return }
            guard connection.write(start) else { return }
            let piece = (0..<max(1, 65_536 / unit.count)).reduce(into: Data()) { data, _ in data += unit }
            while connection.write(piece) {}
        }
    }

    /// A frame (RFC 9113 §4.1).
    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> Data {
        Data(
            [UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF), type, flags, 0, 0, 0, stream]
                + payload)
    }

    private static let settings = frame(4) + frame(4, flags: 1)
    /// Settings, and the head of a response of status 200 to the first request.
    private static let head = settings + frame(1, flags: 4, stream: 1, [0x88])

    private static let overHTTP2 = [
        Flood(name: "empty DATA", start: head, unit: frame(0, stream: 1)),
        Flood(name: "padding only", start: head, unit: frame(0, flags: 8, stream: 1, [200] + [UInt8](repeating: 0, count: 200))),
        Flood(name: "one byte of DATA", start: head, unit: frame(0, stream: 1, [97])),
        Flood(name: "DATA of another stream", start: head, unit: frame(0, stream: 3)),
        Flood(name: "PING", start: settings, unit: frame(6, [1, 2, 3, 4, 5, 6, 7, 8])),
        Flood(name: "PING acknowledged", start: settings, unit: frame(6, flags: 1, [1, 2, 3, 4, 5, 6, 7, 8])),
        Flood(name: "SETTINGS", start: settings, unit: frame(4)),
        Flood(name: "SETTINGS acknowledged", start: settings, unit: frame(4, flags: 1)),
        Flood(name: "empty HEADERS and CONTINUATION", start: settings, unit: frame(1, stream: 1) + frame(9, stream: 1)),
        Flood(name: "empty CONTINUATION", start: settings + frame(1, stream: 1, [0x88]), unit: frame(9, stream: 1)),
        Flood(
            name: "CONTINUATION with a field", start: settings + frame(1, stream: 1, [0x88]),
            unit: frame(9, stream: 1, [0x40, 1, 97, 1, 98])),
        Flood(name: "informational HEADERS", start: settings, unit: frame(1, flags: 4, stream: 1, [0x08, 3, 0x31, 0x30, 0x33])),
        Flood(name: "WINDOW_UPDATE", start: settings, unit: frame(8, [0, 0, 0, 1])),
        Flood(name: "WINDOW_UPDATE of the stream", start: head, unit: frame(8, stream: 1, [0, 0, 0, 1])),
        Flood(name: "RST_STREAM of another stream", start: settings, unit: frame(3, stream: 3, [0, 0, 0, 8])),
        Flood(name: "PRIORITY", start: settings, unit: frame(2, stream: 1, [0, 0, 0, 3, 1])),
        Flood(name: "GOAWAY", start: settings, unit: frame(7, [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])),
        Flood(name: "unknown frames", start: settings, unit: frame(0x42, [97, 98, 99])),
        Flood(name: "unknown frames of the stream", start: head, unit: frame(0x42, stream: 1)),
        Flood(name: "ALTSVC", start: settings, unit: frame(10, [0, 0])),
    ]

    private static func plain(_ name: String, _ start: String, _ unit: String, isOfProxy: Bool = false) -> Flood {
        Flood(name: name, start: Data(start.utf8), unit: Data(unit.utf8), isHTTP2: false, isOfProxy: isOfProxy)
    }

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    private static let overHTTP1 = [
        plain("an endless chunk extension", chunked + "1", ";a=aaaaaaaaaaaaaaaaaaaaaaaa"),
        plain("chunks of one byte with extensions", chunked, "1;aaaaaaaa\r\nx\r\n"),
        plain("chunks of one byte", chunked, "1\r\nx\r\n"),
        plain("an endless chunk size", chunked, "0"),
        plain("endless trailers", chunked + "0\r\n", "a: b\r\n"),
        plain("an endless trailer", chunked + "0\r\na: ", "bbbbbbbb"),
        plain("100 Continue", "", "HTTP/1.1 100 Continue\r\n\r\n"),
        plain("103 with fields", "", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"),
        plain("endless fields", "HTTP/1.1 200 OK\r\n", "a: b\r\n"),
        plain("an endless field", "HTTP/1.1 200 OK\r\na: ", "bbbbbbbb"),
        plain("endless blanks", "HTTP/1.1 200 OK\r\na:", " "),
        plain("an endless folded field", "HTTP/1.1 200 OK\r\na: b\r\n", " b\r\n"),
        plain("line breaks before the status line", "", "\r\n"),
        plain("an endless status line", "HTTP/1.1 200 ", "OK "),
        plain("an endless body", "HTTP/1.1 200 OK\r\n\r\n", "body"),
        plain("the endless body of a proxy's refusal", "HTTP/1.1 407 No\r\nContent-Length: 99999999999\r\n\r\n", "body", isOfProxy: true),
        plain("the endless head of a proxy's answer", "HTTP/1.1 407 No\r\n", "a: b\r\n", isOfProxy: true),
    ]

    /// Each flood occupies a core, so all of them run only if `EVERY_FLOOD` is set. The first one also has separate tests.
    private static let tried: [Flood] = {
        let all = overHTTP2 + overHTTP1
        guard ProcessInfo.processInfo.environment["EVERY_FLOOD"] == nil else { return all }
        return stride(from: 2, to: all.count, by: 4).map { all[$0] }
    }()

    /// A server that answers at once by HTTP/2 or HTTP/1.1.
    private static func healthy(isHTTP2: Bool, after milliseconds: UInt32 = 0) throws -> RawServer {
        try RawServer { connection in
            if isHTTP2 {
                connection.serveHTTP2 { stream in
                    usleep(milliseconds * 1_000)
                    connection.writeHTTP2(stream, length: "2", body: "ok", isEnd: true)
                }
            } else {
                while connection.readRequest() != nil {
                    usleep(milliseconds * 1_000)
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
    }

    private static func transport(for flood: Flood, _ server: RawServer) throws -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        configuration.httpVersion = flood.isHTTP2 ? .http2WithPriorKnowledge : .http1
        configuration.proxy = .none
        if flood.isOfProxy, let url = URL(string: "http://127.0.0.1:\(server.port)") {
            configuration.proxy = .url(url, exceptions: ["127.0.0.1"])
        }
        return try CurlTransport(configuration: configuration)
    }

    private static func request(_ flood: Flood, _ server: RawServer, total: Duration) throws -> ServiceRequest {
        var request = try server.request()
        if flood.isOfProxy { request.url = try #require(URL(string: "https://service.example/")) }
        request.timeouts = ServiceTimeouts(firstByte: nil, idle: nil, total: total)
        return request
    }

    /// Reads an answer to its end, and says how long it took and what came of it.
    private static func end(of request: ServiceRequest, over transport: CurlTransport) async -> (Duration, TransportError?) {
        let start = ContinuousClock.now
        do {
            for try await _ in try await transport.send(request).body {}
            return (.now - start, nil)
        } catch {
            return (.now - start, error as? TransportError ?? TransportError(.other, "\(error)"))
        }
    }

    @Test(.atOnce(1), arguments: tried)
    func `a flood ends by the deadline of its call, and others are answered meanwhile`(flood: Flood) async throws {
        let flooding = try RawServer { flood.run(on: $0) }
        let server = try Self.healthy(isHTTP2: flood.isHTTP2)
        let transport = try Self.transport(for: flood, flooding)
        let flooded = try Self.request(flood, flooding, total: .milliseconds(500))
        var fine = try server.request()
        fine.timeouts = ServiceTimeouts(firstByte: nil)
        async let ending = watched { await Self.end(of: flooded, over: transport) }
        var longest = Duration.zero
        for _ in 0..<10 {
            let (time, error) = try await watched { [fine] in await Self.end(of: fine, over: transport) }
            #expect(error == nil, "\(String(describing: error))")
            longest = max(longest, time)
            try await Task.sleep(for: .milliseconds(20))
        }
        let (time, error) = try await ending
        print("\(flood.name): ended after \(time) with \(error?.code.rawValue ?? "an answer"); another call took \(longest) at most")
        if let error {
            let codes: [TransportError.Code] = [.timedOutTotal, .unreadableResponse, .connectionLost, .truncated, .proxyRefused, .other]
            #expect(codes.contains(error.code), "\(error)")
            #expect(!error.isConnectionStale, "\(error)")
        }
        // The transport goes on.
        let (_, after) = try await watched { [fine] in await Self.end(of: fine, over: transport) }
        #expect(after == nil)
    }

    @Test func `a hundred calls keep their deadlines beside a flood`() async throws {
        let flood = try #require(Self.overHTTP2.first)
        let flooding = try RawServer { flood.run(on: $0) }
        let server = try Self.healthy(isHTTP2: true, after: 10)
        let transport = try Self.transport(for: flood, flooding)
        let flooded = try Self.request(flood, flooding, total: .seconds(1))
        var fine = try server.request()
        // None comes near to it but on a machine that does nothing else.
        fine.timeouts = ServiceTimeouts(firstByte: nil, total: .seconds(120))
        async let ending = watched { await Self.end(of: flooded, over: transport) }
        let times = try await watched { [fine] in
            await withTaskGroup(of: (Duration, TransportError?).self) { group in
                for _ in 0..<100 { group.addTask { await Self.end(of: fine, over: transport) } }
                return await group.reduce(into: [Duration]()) { times, result in
                    if result.1 == nil { times.append(result.0) }
                }
            }.sorted()
        }
        #expect(times.count == 100)
        let (time, error) = try await ending
        print("the flood ended after \(time); 100 calls took \(times.first ?? .zero) to \(times.last ?? .zero)")
        #expect(error?.code == .unreadableResponse || error?.code == .timedOutTotal, "\(String(describing: error))")
    }

    @Test func `a flood is told as one`() async throws {
        let flood = try #require(Self.overHTTP2.first)
        let flooding = try RawServer { flood.run(on: $0) }
        let transport = try Self.transport(for: flood, flooding)
        let request = try Self.request(flood, flooding, total: .seconds(600))
        let (_, error) = try await watched { await Self.end(of: request, over: transport) }
        #expect(error?.code == .unreadableResponse && error?.message.contains("flood") == true, "\(String(describing: error))")
        #expect(error?.isConnectionStale == false)
    }

    /// An exchange with many pieces in a round is paused until the round's end.
    @Test(arguments: [[1], [1, 1, 1, 7, 1, 5_000, 1, 2]]) func `a body in very small chunks arrives whole`(sizes: [Int]) async throws {
        let body = (0..<100_000).map { UInt8($0 % 251) }
        var answer = Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        var (start, number) = (0, 0)
        while start < body.count {
            let chunk = body[start..<min(body.count, start + sizes[number % sizes.count])]
            answer += Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
            (start, number) = (chunk.endIndex, number + 1)
        }
        answer += Data("0\r\nA: b\r\n\r\n".utf8)
        let server = try RawServer { [answer] connection in
            while connection.readRequest() != nil {
                guard connection.write(answer) else { return }
            }
        }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .none
        let transport = try CurlTransport(configuration: configuration)
        let request = try server.request()
        for _ in 0..<3 {
            let whole = try await watched { [UInt8](try await transport.send(request).body.collect(upTo: 200_000)) }
            #expect(whole == body)
        }
    }
}
