import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CallIdentifierTests {
    final class Orders: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "order(id:)": .get("/orders/%%id%%").identifier("order/%%id%%", .reuse),
                "search(text:)": .get("/search").query("q", .argument(0)).identifier("search"),
                "filter(text:by:)": .get("/search").query("q", .argument(0)).identifier("filter/%%by%%", .find),
                "export(text:)": .get("/export").query("q", .argument(0)).identifier("export", .reuse),
            ]
        }

        func order(id: Int) async throws -> StoreItem { try await call(id) }
        func search(text: String) async throws -> [StoreItem] { try await call(text) }
        func filter(text: String, by: String?) async throws -> [StoreItem] { try await call(text, by) }
        func export(text: String) async throws -> [StoreItem] { try await call(text) }
    }

    private func client(
        _ answer: StubAnswer, configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (Orders, StubTransport) {
        let stub = StubTransport()
        stub.fallback(answer)
        return (
            Orders(serviceRoot: "https://api.test") {
                $0.transport = stub
                configure(&$0)
            }, stub
        )
    }

    @Test func `find tells of the running call, the latest of several, and nothing after it`() async throws {
        let gate = Gate()
        let (client, _) = client(gate.then("[]"))
        try await watched {
            #expect(client.call(identifier: "filter/name") == nil)
            async let first = client.filter(text: "a", by: "name")
            try await gate.arrived(1)
            let second = Task { try await client.filter(text: "b", by: "name") }
            try await gate.arrived(2)
            let found = try #require(client.call(identifier: "filter/name"))
            #expect(found.request?.url.query() == "q=b")
            #expect(found.cancel(reason: "Enough."))
            #expect(await serviceError { _ = try await second.value }?.kind == .cancelled)
            #expect(client.call(identifier: "filter/name")?.request?.url.query() == "q=a")
            gate.open()
            #expect(try await first.isEmpty)
            #expect(client.call(identifier: "filter/name") == nil)
        }
    }

    @Test func `replace cancels the earlier call with a reason, and only the last completes`() async throws {
        let gate = Gate()
        let (client, stub) = client(gate.then("[]"))
        try await watched {
            let first = Task { try await client.search(text: "a") }
            try await gate.arrived(1)
            async let second = client.search(text: "b")
            try await gate.arrived(2)
            let error = await serviceError { _ = try await first.value }
            let cause = error?.cause as? CallCancelled
            #expect(error?.kind == .cancelled && cause?.origin == .replaced)
            #expect(cause?.reason.contains("\"search\"") == true)
            // The late end of the first left the entry of the second.
            #expect(client.call(identifier: "search")?.request?.url.query() == "q=b")
            gate.open()
            #expect(try await second.isEmpty)
        }
        #expect(stub.requests.count == 2 && client.calls.isEmpty)
    }

    @Test func `a storm of replacements ends each call once, and the last succeeds`() async throws {
        let (client, _) = client(
            StubAnswer { request in
                await Task.yield()
                return TransportResponse(status: 200, url: request.request.url, body: ResponseBody(Data("[]".utf8)))
            })
        let outcomes = try await watched {
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        do {
                            _ = try await client.search(text: "\(number)")
                            return "success"
                        } catch let error as ServiceError {
                            return (error.cause as? CallCancelled)?.origin.rawValue ?? "\(error)"
                        }
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
        }
        #expect(outcomes.values.reduce(0, +) == 300)
        #expect(Set(outcomes.keys).isSubset(of: ["success", "replaced"]) && outcomes["success", default: 0] >= 1)
        #expect(client.call(identifier: "search") == nil && client.calls.isEmpty)
    }

    @Test func `reuse gives all waiters the one result`() async throws {
        let gate = Gate()
        let (client, stub) = client(gate.then(#"{"id": 7, "name": "seven"}"#))
        try await watched {
            async let first = client.order(id: 7)
            try await gate.arrived()
            async let second = client.order(id: 7)
            async let third: Data = client.http.get("/orders/%%0%%", 7).identifier("order/%%0%%", .reuse).value()
            try await sending(3, client)
            gate.open()
            #expect(try await first == StoreItem(id: 7, name: "seven"))
            #expect(try await second.name == "seven")
            #expect(try await third.count > 10)
            // The next call has another exchange.
            _ = try await client.order(id: 7)
        }
        #expect(stub.requests.count == 2 && client.runtime.exchanges.count == 0)
    }

    @Test func `replace ends all waiters of a shared call, whose handles tell it once`() async throws {
        let gate = Gate()
        let (client, stub) = client(gate.then(#"{"id": 7, "name": "seven"}"#))
        let told = Locked<[String]>([])
        try await watched {
            let earlier = (0..<3).map { _ in client.start { try await $0.order(id: 7) } }
            for call in earlier {
                call.onCompletion(on: .taskPool) { result in
                    let cause = (result.failure as? ServiceError)?.cause as? CallCancelled
                    told.withLock { $0.append(cause?.origin.rawValue ?? "\(result)") }
                }
            }
            try await gate.arrived()
            try await sending(3, client)
            let later = client.http.get("/orders/7").identifier("order/7", .replace).start(StoreItem.self)
            for call in earlier {
                let error = await serviceError { _ = try await call.value }
                #expect((error?.cause as? CallCancelled)?.origin == .replaced && call.state == .cancelled)
            }
            try await until { client.calls.count == 1 }
            #expect(client.call(identifier: "order/7") != nil)
            gate.open()
            #expect(try await later.value.name == "seven")
            try await until { told.withLock { $0.count } == 3 }
        }
        #expect(told.withLock { $0 } == ["replaced", "replaced", "replaced"])
        #expect(stub.requests.count == 2 && client.runtime.exchanges.count == 0 && client.calls.isEmpty)
    }

    @Test func `a call is replaced while it waits to be repeated, and a restart replaces itself`() async throws {
        let clock = HandClock()
        let stub = StubTransport()
        stub.fallback(.status(503))
        let client = clock.provide {
            Orders(serviceRoot: "https://api.test") {
                $0.transport = stub
                $0.retry = RetryPolicy(attempts: 3, backoff: Backoff(base: .seconds(60), cap: .seconds(60), jitter: .none))
            }
        }
        try await watched {
            let first = client.start { try await $0.search(text: "a") }
            try await until { stub.requests.count == 1 && clock.timerCount == 1 }
            stub.fallback(.json("[]"))
            #expect(try await client.search(text: "b").isEmpty)
            let error = await serviceError { _ = try await first.value }
            #expect((error?.cause as? CallCancelled)?.origin == .replaced)
            first.restart()
            #expect(try await first.value.isEmpty)
            try await until { clock.timerCount == 0 && client.calls.isEmpty }
        }
        #expect(stub.requests.compactMap { $0.request.url.query() } == ["q=a", "q=b", "q=a"])
    }

    @Test func `identifiers belong to one client, and differ by case`() async throws {
        let (gate, other) = (Gate(), Gate())
        let (client, _) = client(gate.then("[]"))
        let (second, _) = self.client(other.then("[]"))
        try await watched {
            async let one = client.search(text: "a")
            try await gate.arrived(1)
            async let two: [StoreItem] = client.http.get("/search").identifier("Search").value()
            try await gate.arrived(2)
            async let three = second.search(text: "a")
            try await other.arrived()
            #expect(client.calls.count == 2 && second.calls.count == 1)
            #expect(client.call(identifier: "search")?.id != client.call(identifier: "Search")?.id)
            gate.open()
            other.open()
            _ = try await (one, two, three)
        }
    }

    @Test func `a failure is everybody's, one caller's cancellation is not, and the last one ends the exchange`() async throws {
        let gate = Gate()
        let (client, stub) = client(
            StubAnswer { request in
                try await gate.pass()
                throw TransportError(.connectionLost, "Lost.")
            })
        try await watched {
            let first = client.start { try await $0.order(id: 1) }
            try await gate.arrived()
            let second = client.start { try await $0.order(id: 1) }
            try await sending(2, client)
            #expect(first.cancel(reason: "Enough."))
            #expect(await serviceError { _ = try await first.value }?.kind == .cancelled)
            gate.open()
            let error = await serviceError { _ = try await second.value }
            #expect(error?.kind == .transport && error?.request?.url == "https://api.test/orders/1")
            #expect(stub.requests.count == 1)

            let other = Gate()
            stub.fallback(other.then("{}"))
            let third = client.start { try await $0.order(id: 2) }
            try await other.arrived()
            third.cancel(reason: "Enough.")
            try await until { client.runtime.exchanges.count == 0 && client.calls.isEmpty }
        }
    }

    @Test func `another request under a reused identifier is an error, and so is a stream`() async throws {
        let gate = Gate()
        let (client, _) = client(gate.then("[]"))
        try await watched {
            async let first = client.export(text: "a")
            try await gate.arrived()
            let error = await serviceError { _ = try await client.export(text: "b") }
            #expect(error?.message.contains("has another request") == true)
            // A check that only the later call asks for must not be left out.
            let unchecked = await serviceError {
                _ = try await client.with(.expectedDigest(sha256: String(repeating: "0", count: 64))) { try await $0.export(text: "a") }
            }
            #expect(unchecked?.message.contains("or other settings") == true)
            // Nor may the response come from the cache, or a redirect be followed, for a call that doesn't want that.
            for attribute in [CacheMode.reload, RedirectPolicy.stop] as [any EndpointAttribute] {
                let other = await serviceError { _ = try await client.with(attribute) { try await $0.export(text: "a") } }
                #expect(other?.message.contains("or other settings") == true, "\(attribute)")
            }
            let stream = await serviceError { _ = try await client.http.get("/x").identifier("x", .reuse).stream() }
            #expect(stream?.message.contains("a stream can't be shared") == true)
            gate.open()
            #expect(try await first.isEmpty)
        }
        #expect(client.calls.isEmpty)
    }

    @Test func `each waiter has its own deadline`() async throws {
        let gate = Gate()
        let (client, _) = client(gate.then("[]"))
        try await watched {
            async let first: [StoreItem] = client.http.get("/a").identifier("a", .reuse).value()
            try await gate.arrived()
            let late = await serviceError {
                _ = try await client.http.get("/a").identifier("a", .reuse).timeout(.milliseconds(10)).value([StoreItem].self)
            }
            #expect(late?.kind == .timeout && (late?.cause as? TransportError)?.code == .timedOutTotal)
            gate.open()
            #expect(try await first.isEmpty)
        }
    }

    @Test func `a nil argument and an empty identifier are clear errors`() async throws {
        let (client, _) = client(.json("[]"))
        let error = await serviceError { _ = try await client.filter(text: "a", by: nil) }
        #expect(error?.kind == .argument && error?.message.contains("identifier") == true && error?.message.contains("nil") == true)
        let empty = await serviceError { try await client.with(CallIdentifier("")) { _ = try await $0.search(text: "") } }
        #expect(empty?.message.contains("identifier is empty") == true)
        let own = await serviceError { try await client.http.get("/").identifier("").send() }
        #expect(own?.kind == .table && own?.message.contains("identifier is empty") == true)
    }

    @Test func `an attribute names a single call`() async throws {
        let gate = Gate()
        let (client, _) = client(gate.then("[]"))
        try await watched {
            async let call = client.with(CallIdentifier("mine", .find)) { try await $0.search(text: "a") }
            try await gate.arrived()
            #expect(client.call(identifier: "mine") != nil && client.call(identifier: "search") == nil)
            gate.open()
            _ = try await call
        }
    }

    @Test func `templates are verified and described`() {
        final class Faulty: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                ["one(id:)": .get("/%%id%%").identifier("one/%%idd%%"), "two()": .get("/").identifier("")]
            }
        }
        let faults = Faulty.verify().map(\.description)
        #expect(faults.count == 2)
        #expect(faults[0].contains("the call's identifier \"one/%%idd%%\""))
        #expect(faults[1].contains("the call's identifier is empty"))
        #expect(Orders.verify().isEmpty)
        #expect(
            Orders.describe().endpoints.map(\.identifier) == [
                "order/%%id%% (reuse)", "search (replace)", "filter/%%by%% (find)", "export (reuse)",
            ])
        #expect("\(EndpointDescriptor.get("/").identifier("a"))".contains("a (replace)"))
    }
}
