import Foundation
import HTTPTransport
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct CallActivityTests {
    private static func client(_ time: Simulation, _ transport: HeldTransport) -> WebServiceClient {
        time.client { WebServiceClient(serviceRoot: "https://shop.example.com") { $0.transport = transport } }
    }

    @Test func `the number of calls is reported, and a zero late`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let client = Self.client(time, transport)
            let counts = Locked<[Int]>([])
            let reader = time.start {
                for await count in client.activity { counts.withLock { $0.append(count) } }
            }
            try await time.settle()
            #expect(counts.withLock { $0 } == [0])
            let calls = (0..<2).map { number in time.start { try await client.http.get("/\(number)").send() } }
            try await time.settle()
            #expect(counts.withLock { $0.last } == 2)
            transport.answer()
            try await time.settle()
            #expect(counts.withLock { $0.last } == 1)
            transport.answer()
            for call in calls { try await call.value }
            try await time.pass(.milliseconds(249))
            #expect(counts.withLock { $0.last } == 1)
            try await time.pass(.milliseconds(2))
            #expect(counts.withLock { $0.last } == 0)
            reader.cancel()
            try await reader.value
        }
    }

    @Test func `an indicator doesn't flicker between calls`() throws {
        try simulated { time in
            let client = Self.client(
                time,
                HeldTransport(answersAtOnce: true) { request in
                    try await time.pass(.milliseconds(100))
                    return TransportResponse(status: 200, url: request.url)
                })
            let counts = Locked<[Int]>([])
            let reader = time.start {
                for await count in client.activity { counts.withLock { $0.append(count) } }
            }
            try await time.settle()
            for _ in 0..<20 {
                try await client.http.get("/").send()
                try await time.pass(.milliseconds(100))
            }
            try await time.pass(.seconds(1))
            #expect(counts.withLock { $0 } == [0, 1, 0])
            reader.cancel()
            try await reader.value
        }
    }

    @Test func `several clients are counted together, and the sequence ends with them`() throws {
        try simulated { time in
            let transport = HeldTransport()
            let counts = Locked<[Int]>([])
            let reader: Task<Void, any Error>
            do {
                let clients = [Self.client(time, transport), Self.client(time, transport)]
                let activity = CallActivity(of: clients[0], clients[1])
                reader = time.start {
                    for await count in activity { counts.withLock { $0.append(count) } }
                }
                let calls = clients.map { client in time.start { try await client.http.get("/").send() } }
                try await time.settle()
                #expect(counts.withLock { $0.last } == 2)
                transport.answer(2)
                for call in calls { try await call.value }
                try await time.pass(.seconds(1))
                #expect(counts.withLock { $0.last } == 0)
            }
            try await reader.value
        }
    }

    @Test func `nothing is kept for a reader that has gone`() async throws {
        let client = WebServiceClient(serviceRoot: "https://shop.example.com") { $0.transport = HeldTransport(answersAtOnce: true) }
        do {
            var iterator = client.activity.makeAsyncIterator()
            #expect(await iterator.next() == 0)
        }
        try await client.http.get("/").send()
        #expect(client.runtime.calls.count == 0)
    }
}

@Suite struct BackgroundTimeTests {
    /// Counts the times that are taken and given back.
    private final class Hook: Sendable {
        let events = Locked<[String]>([])
        let expired = Locked<(@Sendable () -> Void)?>(nil)

        var time: BackgroundTime {
            BackgroundTime { _, expired in
                self.events.withLock { $0.append("begin") }
                self.expired.withLock { $0 = expired }
                return { self.events.withLock { $0.append("end") } }
            }
        }
    }

    @Test func `a client takes the time once for all of its calls, and gives it back`() async throws {
        let (hook, transport) = (Hook(), HeldTransport())
        let told = Locked<[String]>([])
        let client = WebServiceClient(serviceRoot: "https://shop.example.com") {
            $0.transport = transport
            $0.backgroundTime = hook.time
            $0.diagnostics = Diagnostics { event in told.withLock { $0.append(event.message) } }
        }
        #expect(hook.events.withLock { $0.isEmpty })
        for round in 1...2 {
            let calls = (0..<5).map { _ in Task { try await client.http.get("/").send() } }
            try await until { transport.held.count == 5 }
            #expect(hook.events.withLock { $0.count } == 2 * round - 1)
            hook.expired.withLock { $0 }?()
            transport.answer(5)
            for call in calls { _ = try await call.value }
            try await until { hook.events.withLock { $0.count } == 2 * round }
        }
        #expect(hook.events.withLock { $0 } == ["begin", "end", "begin", "end"])
        #expect(told.withLock { $0.count { $0.contains("background time") } } == 2)
    }

    @Test func `the hook changes while calls run`() async throws {
        let (first, second, transport) = (Hook(), Hook(), HeldTransport())
        let client = WebServiceClient(serviceRoot: "https://shop.example.com") { $0.transport = transport }
        let call = Task { try await client.http.get("/").send() }
        try await until { transport.held.count == 1 }
        client.configure { $0.backgroundTime = first.time }
        #expect(first.events.withLock { $0 } == ["begin"])
        client.configure { $0.backgroundTime = nil }
        #expect(first.events.withLock { $0 } == ["begin", "end"])
        client.configure { $0.backgroundTime = second.time }
        transport.answer()
        _ = try await call.value
        try await until { second.events.withLock { $0 } == ["begin", "end"] }
    }

    @Test func `begin and end alternate under many calls`() async throws {
        let hook = Hook()
        let client = WebServiceClient(serviceRoot: "https://shop.example.com") {
            $0.transport = HeldTransport(answersAtOnce: true)
            $0.backgroundTime = hook.time
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<100 { try await client.http.get("/").send() } }
            }
            try await group.waitForAll()
        }
        try await until { hook.events.withLock { $0.count.isMultiple(of: 2) } }
        let events = hook.events.withLock { $0 }
        #expect(!events.isEmpty && events.enumerated().allSatisfy { $0.element == ($0.offset.isMultiple(of: 2) ? "begin" : "end") })
    }

    @Test func `the system's hook does no harm`() {
        BackgroundTime.system.begin("a test") {}()
    }
}
