import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CoalescingTests {
    private func get(_ client: Store, _ path: String = "/a", _ change: (ServiceCall) -> ServiceCall = { $0 }) async throws -> String {
        try await change(client.http.get(path).describing { $0.coalesced() }).value()
    }

    @Test func `identical calls share one exchange, interceptors run for each`() async throws {
        let gate = Gate()
        let prepared = Locked(0)
        let (client, stub) = Store.stubbed(
            gate.then("text"), configure: { $0.interceptors = [RequestPreparer { _ in prepared.withLock { $0 += 1 } }] })
        try await watched {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await self.get(client) } }
                try await gate.arrived()
                try await sending(20, client)
                gate.open()
                for try await text in group { #expect(text == "text") }
            }
        }
        #expect(stub.requests.count == 1 && prepared.withLock { $0 } == 20)
        #expect(client.runtime.exchanges.count == 0)
    }

    @Test func `other URLs, fields, methods, bodies and calls without the attribute have their own`() async throws {
        let gate = Gate()
        let (client, stub) = Store.stubbed(gate.then("text"))
        try await watched {
            async let same = self.get(client)
            try await gate.arrived(1)
            async let twin = self.get(client)
            async let other = self.get(client, "/b")
            async let field = self.get(client) { $0.header("X-A", "1") }
            async let plain: String = client.http.get("/a").value()
            async let post: String = client.with(Coalescing()) { try await $0.http.post("/a").value() }
            async let head: Void = client.http.head("/a").describing { $0.coalesced() }.ended()
            async let shorter = self.get(client) { $0.describing { $0.timeouts(ServiceTimeouts(idle: .seconds(1))) } }
            async let cookieless = self.get(client) { $0.describing { $0.cookies(.off) } }
            async let anonymous = self.get(client) { $0.describing { $0.attribute(SecurityRequirements([])) } }
            try await gate.arrived(9)
            try await sending(10, client)
            gate.open()
            _ = try await (same, twin, other, field, plain, post, head, shorter)
            _ = try await (cookieless, anonymous)
        }
        #expect(stub.requests.count == 9)
    }

    @Test func `an endpoint whose method can't share exchanges is a fault`() {
        final class Shared: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                ["send()": .post("/a").coalesced(), "fetch()": .get("/a").coalesced(), "look()": .head("/a").coalesced()]
            }
        }
        let faults = Shared.verify()
        #expect(faults.map(\.kind) == [.badPolicy])
        #expect(faults.first?.key == "send()")
        #expect("\(faults)".contains("remove .coalesced()"))
    }

    @Test func `one caller's cancellation and deadline leave the others alone`() async throws {
        let gate = Gate()
        let (client, stub) = Store.stubbed(gate.then("text"))
        try await watched {
            let first = client.start { try await self.get($0) }
            try await gate.arrived()
            let second = client.start { try await self.get($0) }
            try await sending(2, client)
            let late = await serviceError { _ = try await self.get(client) { $0.timeout(.milliseconds(10)) } }
            #expect((late?.cause as? TransportError)?.code == .timedOutTotal)
            first.cancel(reason: "Enough.")
            try await until { client.calls.count == 1 }
            gate.open()
            #expect(try await second.value == "text")
        }
        #expect(stub.requests.count == 1)
    }

    @Test func `when all leave, the exchange ends, and the next call begins another`() async throws {
        let gate = Gate()
        let ended = Locked(0)
        let (client, stub) = Store.stubbed(
            StubAnswer { request in
                do { try await gate.pass() } catch {
                    ended.withLock { $0 += 1 }
                    throw error
                }
                return TransportResponse(status: 200, url: request.request.url)
            })
        try await watched {
            let calls = (0..<3).map { _ in client.start { try await self.get($0) } }
            try await gate.arrived()
            for call in calls { call.cancel(reason: "Enough.") }
            try await until { ended.withLock { $0 } == gate.arrivals && client.calls.isEmpty }
            #expect(client.runtime.exchanges.count == 0)
            stub.fallback(.text("again"))
            #expect(try await self.get(client) == "again")
        }
    }

    @Test func `retries, failures and bodies that break off are shared`() async throws {
        let gate = Gate()
        let (client, stub) = Store.stubbed(
            .inTurn(
                StubAnswer { _ in
                    try await gate.pass()
                    throw TransportError(.connectionLost, "Lost.")
                }, .pieces([Data("abc".utf8)], failing: TransportError(.truncated, "Cut."))),
            configure: { $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .zero, cap: .zero)) })
        try await watched {
            let calls = (0..<2).map { _ in client.start { try await self.get($0) } }
            try await gate.arrived()
            try await sending(2, client)
            gate.open()
            for call in calls {
                let error = await serviceError { _ = try await call.value }
                #expect((error?.cause as? TransportError)?.code == .truncated)
                #expect(error?.stage == .body)
                #expect(call.attempts == 2)
            }
        }
        #expect(stub.requests.count == 2)
    }

    @Test func `a stream has an exchange of its own`() async throws {
        let (client, stub) = Store.stubbed(.text("x"))
        let call = client.http.get("/a").describing { $0.coalesced() }
        let (one, two) = (try await call.stream(), try await call.stream())
        #expect(try await one.value.collect(upTo: 10) == two.value.collect(upTo: 10))
        #expect(stub.requests.count == 2)
    }
}

extension ServiceCall {
    fileprivate func ended() async throws { try await send() }
}
