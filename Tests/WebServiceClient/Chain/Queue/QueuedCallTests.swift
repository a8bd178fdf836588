import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// What happens to calls in the queue of a client: pauses, redirects, restarts, replacements, and the client's end.
@Suite struct QueuedCallTests {
    /// A body that a transfer delivers: its slot is free when it has ended or is cancelled.
    private static func body() -> ResponseBody {
        let left = Locked(Data("moved".utf8))
        return ResponseBody(
            expectedLength: nil,
            next: {
                left.withLock { left in
                    defer { left = Data() }
                    return left.isEmpty ? nil : left
                }
            }, cancel: {})
    }

    @Test func `A queue is paused again and again, while active calls continue`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for round in 1...3 {
                    client.queue.pause()
                    group.addTask { try await client.job(round) }
                    try await time.settle()
                    #expect(client.queue.activeCount == 0 && transport.sent.count == round - 1)
                    let id = try #require(client.queue.pending.first?.id)
                    client.queue.resume()
                    try await time.settle()
                    #expect(transport.sent.count == round)
                    // A started call isn't pending, and a pause doesn't hold it back.
                    client.queue.pause()
                    #expect(!client.queue.cancel(id, reason: "Too late."))
                    transport.answer()
                    try await group.next()
                    #expect(client.queue.activeCount == 0 && client.queue.isPaused)
                }
            }
        }
    }

    @Test func `A redirect takes one slot after the other, and its call ends once`() throws {
        try simulated { time in
            let transport = HeldTransport(
                answersAtOnce: true,
                respond: { request in
                    let hop = Int(request.url.lastPathComponent) ?? 0
                    guard hop < 3 else { return TransportResponse(status: 200, url: request.url, body: Self.body()) }
                    return TransportResponse(
                        status: 302, headers: ["Location": "/jobs/\(hop + 1)"], url: request.url, body: Self.body())
                })
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            try await client.job(1)
            #expect(transport.sent == ["/jobs/1", "/jobs/2", "/jobs/3"] && transport.mostActive == 1)
            let stopped = await serviceError { try await client.http.get("/jobs/1").describing { $0.redirects(.stop) }.send() }
            #expect(stopped?.status == 302 && transport.sent.count == 4)
            #expect(client.queue.activeCount == 0 && client.queue.pending.isEmpty)
        }
    }

    @Test func `What needs no request doesn't wait: invalid URLs and fresh cached responses`() async throws {
        let stub = StubTransport()
        stub.fallback(.text("text", headers: ["Cache-Control": "max-age=60"]))
        let client = Jobs(serviceRoot: "https://jobs.test") {
            $0.transport = stub
            $0.queue = QueueLimits(active: 1)
            $0.cache = ResponseCache()
        }
        try await watched {
            for isPaused in [false, true] {
                if isPaused { client.queue.pause() }
                let text: String = try await client.http.get("/text").value()
                #expect(text == "text")
            }
            for path in ["//other.test/a", "a/../b", "http://other.test/a"] {
                let error = await serviceError { try await client.http.get("%%0%%", path).send() }
                #expect(error?.kind == .argument)
            }
        }
        #expect(client.queue.pending.isEmpty && client.queue.activeCount == 0 && stub.requests.count == 1)
    }

    @Test func `Calls that were saved are queued by another client, and complete in order`() throws {
        try simulated { time in
            let before = Jobs.make(time, HeldTransport())
            let saved = try (1...4).map { try before.http.put("/jobs/%%0%%", $0).body(["number": $0] as [String: Int]).stored().data() }
            let transport = HeldTransport()
            let client = Jobs.make(time, transport, QueueLimits(active: 1))
            client.queue.pause()
            let ended = Locked<[Int]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, data) in saved.enumerated() {
                    group.addTask {
                        try await client.http.call(from: StoredCall(data: data)).send()
                        ended.withLock { $0.append(index + 1) }
                    }
                    try await time.settle()
                }
                #expect(client.queue.pending.count == 4 && transport.sent.isEmpty)
                client.queue.resume()
                for _ in saved {
                    try await time.settle()
                    transport.answer()
                }
                try await group.waitForAll()
            }
            #expect(transport.sent == ["/jobs/1", "/jobs/2", "/jobs/3", "/jobs/4"] && ended.withLock { $0 } == [1, 2, 3, 4])
        }
    }

    /// Handles run their calls in separate tasks, outside of simulated time.
    @Test func `A pending call is restarted and replaced at its own place, and an active one frees its slot`() async throws {
        let transport = HeldTransport()
        let client = Jobs(serviceRoot: "https://jobs.test") {
            $0.transport = transport
            $0.queue = QueueLimits(active: 1)
        }
        try await watched {
            let active = client.start { try await $0.job(1) }
            try await until { transport.held == ["/jobs/1"] }
            let pending = client.start { try await $0.job(2) }
            try await until { client.queue.pending.count == 1 }
            let id = client.queue.pending.first?.id
            pending.restart()
            try await until { client.queue.pending.count == 1 && client.queue.pending.first?.id != id }
            #expect(pending.cancel(reason: "Enough."))
            try await until { client.queue.pending.isEmpty }
            #expect(pending.state == .cancelled && pending.attempts == 0 && transport.sent == ["/jobs/1"])

            let old = client.http.get("/jobs/3").identifier("three").start(String?.self)
            try await until { client.queue.pending.count == 1 }
            let new = client.http.get("/jobs/3").identifier("three").start(String?.self)
            let error = await serviceError { _ = try await old.value }
            #expect((error?.cause as? CallCancelled)?.origin == .replaced)
            try await until { client.queue.pending.count == 1 && client.calls.count == 2 }

            active.restart()
            try await until { transport.sent.count >= 2 }
            active.cancel(reason: "All.")
            new.cancel(reason: "All.")
            #expect(await serviceError { _ = try await active.value }?.kind == .cancelled)
            #expect(await serviceError { _ = try await new.value }?.kind == .cancelled)
            try await until { client.queue.activeCount == 0 && client.queue.pending.isEmpty && client.calls.isEmpty }
        }
    }

    @Test func `A queue that stays paused is told by the client's end, and nobody waits`() async throws {
        let clock = HandClock()
        let client = clock.provide {
            Jobs(serviceRoot: "https://jobs.test") { $0.transport = HeldTransport() }
        }
        client.queue.pause()
        try await watched {
            let calls = (1...3).map { id in Task { try await client.job(id) } }
            try await until { client.queue.pending.count == 3 }
            async let shutdown = client.shutdown(within: .seconds(60))
            try await until { clock.timerCount == 1 }
            #expect(client.queue.pending.count == 3)
            clock.advance(by: .seconds(60))
            let report = await shutdown
            #expect(report.cancelled.map(\.identity.key) == ["job(_:)", "job(_:)", "job(_:)"] && report.finished == 0)
            for call in calls {
                let error = await serviceError { try await call.value }
                #expect((error?.cause as? CallCancelled)?.origin == .shutdown)
            }
        }
        #expect(client.queue.pending.isEmpty && client.queue.isPaused && client.calls.isEmpty)
    }
}
