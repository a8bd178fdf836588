import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Streams over real connections.
@Suite struct StreamExchangeTests {
    /// A server that sends an event every time the client has read the last one, as far as the sockets tell, and never ends.
    private static func endless(_ type: String, _ piece: @escaping @Sendable (Int) -> String) throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.fallback { _ in
                .script { wire in
                    try wire.write("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nConnection: close\r\n\r\n")
                    try wire.write(piece(0) + piece(1))
                    // Until the client disconnects.
                    try wire.hang()
                }
            }
        }
    }

    @Test func `Leaving the loop closes the connection and frees the slot`() async throws {
        let server = try Self.endless("text/event-stream") { "data: \($0)\n\n" }
        let client = Station(serviceRoot: server.url.absoluteString) { $0.queue = QueueLimits(active: 1) }
        for _ in 0..<3 {
            let stream = try await client.events()
            #expect(client.queue.activeCount == 1)
            for try await event in stream where event.data == "1" { break }
            try await server.waitForOpenConnections(atMost: 0)
            #expect(client.calls.isEmpty)
        }
        let lines = try Self.endless("application/x-ndjson") { "{\"id\":\($0),\"name\":\"a\"}\n" }
        let other = Station(serviceRoot: lines.url.absoluteString)
        for try await reading in try await other.elements() where reading.id == 1 { break }
        try await lines.waitForOpenConnections(atMost: 0)
    }

    @Test func `Releasing the stream and cancelling the task close the connection`() async throws {
        let server = try Self.endless("text/event-stream") { "data: \($0)\n\n" }
        let client = Station(serviceRoot: server.url.absoluteString)
        do { _ = try await client.events() }
        try await server.waitForRequests(count: 1)
        try await server.waitForOpenConnections(atMost: 0)
        let hasBegun = Locked(false)
        let task = Task {
            for try await event in try await client.events() where event.data == "1" { hasBegun.withLock { $0 = true } }
        }
        try await until { hasBegun.withLock { $0 } }
        task.cancel()
        _ = await task.result
        try await server.waitForOpenConnections(atMost: 0)
        #expect(client.calls.isEmpty)
    }

    @Test func `Events of cut connections continue after the last event`() async throws {
        let server = try LoopbackServer { routes in
            routes.fallback { request in
                let last = Int(request.fields["Last-Event-ID"] ?? "0") ?? 0
                guard last < 12 else { return .status(204) }
                let next = (last + 1...last + 3).map { "id: \($0)\ndata: event \($0)\n\n" }.joined()
                return .script { wire in
                    try wire.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\n")
                    try wire.write("retry: 1\n\n" + next + "id: 99\ndata: cut")
                }
            }
        }
        let client = Station(serviceRoot: server.url.absoluteString)
        let policy = ReconnectionPolicy(backoff: Backoff(base: .milliseconds(1), jitter: .none))
        let stream = try await client.with(policy) { try await $0.live() }
        #expect(try await stream.all().map(\.data) == (1...12).map { "event \($0)" })
        #expect(stream.lastEventID == "12" && server.requests.count == 5)
    }

    @Test func `Elements are uploaded while they are made`() async throws {
        let server = try LoopbackServer { routes in routes.fallback { _ in .status(204) } }
        let client = Station(serviceRoot: server.url.absoluteString) { $0.timeouts.firstByte = .seconds(600) }
        let count = 5_000
        let number = Locked(0)
        let readings = AsyncStream<Reading> {
            number.withLock { number in
                number += 1
                return number > count ? nil : Reading(id: number)
            }
        }
        try await client.ingest(readings: StreamUpload(.jsonLines, readings))
        let body = try #require(server.requests.first?.body)
        #expect(try await ResponseBody(body).elements(of: Reading.self, as: .jsonLines).all().map(\.id) == Array(1...count))
    }
}
