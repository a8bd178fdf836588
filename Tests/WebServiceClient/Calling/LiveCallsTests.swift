import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct LiveCallsTests {
    @Test func `calls are listed in order with what is known of them`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then(#"{"id": 1, "name": "a"}"#))
        try await watched {
            async let first = client.item(id: 1)
            try await gate.arrived(1)
            async let second: StoreItem = client.http.get("/b").identifier("b").value()
            try await gate.arrived(2)
            let calls = client.calls
            #expect(calls.map(\.identity.key) == ["item(id:)", "GET /b"])
            #expect(calls.map(\.identifier) == [nil, "b"])
            #expect(calls.map(\.state) == [.running, .running] && calls.map(\.attempt) == [1, 1])
            #expect(calls[0].id < calls[1].id && calls[0].started <= calls[1].started)
            #expect(calls[0].request?.url.path == "/v1/items/1")
            #expect("\(calls[1])".contains("\"b\": running, attempt 1"))
            gate.open()
            _ = try await (first, second)
            #expect(client.calls.isEmpty)
            #expect(calls.map(\.state) == [.finished, .finished])
        }
    }

    @Test func `a dry run isn't a call`() async throws {
        let (client, _) = Store.stubbed()
        let listed = Locked(-1)
        client.configure { configuration in
            configuration.interceptors = [RequestPreparer { [weak client] _ in listed.withLock { $0 = client?.calls.count ?? -1 } }]
        }
        _ = try await client.dryRun { try await $0.item(id: 1) }
        #expect(listed.withLock { $0 } == 0)
    }

    @Test func `a client that is shut down refuses calls with a clear error`() async throws {
        let (client, stub) = Store.stubbed()
        let report = await client.shutdown(within: .seconds(10))
        #expect(report.finished == 0 && report.cancelled.isEmpty)
        let error = await serviceError { try await client.http.get("/a").send() }
        #expect(error?.kind == .cancelled && error?.stage == .chain)
        #expect((error?.cause as? CallCancelled)?.origin == .shutdown)
        #expect(error?.message.contains("make a new client") == true)
        #expect(await serviceError { _ = try await client.start { try await $0.item(id: 1) }.value }?.kind == .cancelled)
        #expect(stub.requests.isEmpty)
        // A dry run sends nothing.
        #expect(try await client.dryRun { try await $0.item(id: 1) }.url.path == "/v1/items/1")
    }

    @Test func `running calls may finish before a shutdown ends`() async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then("{}"))
        try await watched {
            async let call: Void = client.http.get("/a").finish()
            try await gate.arrived()
            async let report = client.shutdown(within: .seconds(3_600))
            try await until {
                guard let place = try? client.runtime.calls.begin(CallContext().record, started: .now) else { return true }
                client.runtime.calls.end(place)
                return false
            }
            gate.open()
            try await call
            let result = await report
            #expect(result.finished >= 1 && result.cancelled.isEmpty)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .milliseconds(5), .nanoseconds(1)])
    func `what is pending at the limit is cancelled and reported, to each caller`(_ limit: Duration) async throws {
        let gate = Gate()
        let (client, _) = Store.stubbed(gate.then("{}"))
        try await watched {
            let call = Task { try await client.http.get("/a").send() }
            try await gate.arrived()
            let ended = Locked(0)
            client.runtime.calls.onShutdown { _ in ended.withLock { $0 += 1 } }
            async let other = client.shutdown(within: limit)
            let report = await client.shutdown(within: limit)
            #expect(report.cancelled.map(\.identity.key) == ["GET /a"])
            #expect(report.cancelled.map(\.state) == [.cancelled])
            let same = await other
            #expect(same.cancelled.map(\.id) == report.cancelled.map(\.id))
            #expect("\(report)".contains("1 were cancelled"))
            let error = await serviceError { _ = try await call.value }
            #expect((error?.cause as? CallCancelled)?.origin == .shutdown)
            client.runtime.calls.onShutdown { _ in ended.withLock { $0 += 1 } }
            #expect(ended.withLock { $0 } == 2)
            #expect(client.calls.isEmpty)
        }
    }

    @Test func `many calls at once leave nothing behind`() async throws {
        let (client, _) = Store.stubbed()
        try await watched {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<500 {
                    group.addTask {
                        if number % 7 == 0 { client.cancelAll(reason: "Enough.") }
                        _ = try? await client.http.get("/\(number)").identifier("\(number % 5)", .find).send()
                    }
                }
            }
        }
        #expect(client.calls.isEmpty)
        #expect((0..<5).allSatisfy { client.call(identifier: "\($0)") == nil })
        #expect(client.runtime.exchanges.count == 0)
    }
}

extension ServiceCall {
    fileprivate func finish() async throws { try await send() }
}
