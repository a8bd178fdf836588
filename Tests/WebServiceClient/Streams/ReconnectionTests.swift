import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ReconnectionTests {
    private static let events: HTTPFields = ["Content-Type": "text/event-stream"]

    private static func answer(_ text: String, failing error: (any Error)? = nil) -> StubAnswer {
        .pieces(Station.pieces(of: text), failing: error, headers: events)
    }

    private static let lost = TransportError(.connectionLost, "lost")

    /// A client of a stub with one answer after another.
    private func station(
        _ time: Simulation, _ answers: StubAnswer...
    ) -> (client: Station, stub: StubTransport) {
        let stub = StubTransport()
        let left = Locked(answers[...])
        stub.fallback(.answering { _ in left.withLock { $0.popFirst() } ?? .status(204) })
        let client = time.client {
            Station(serviceRoot: "https://station.test") {
                $0.transport = stub
                $0.retry = .never
            }
        }
        return (client, stub)
    }

    private static let policy = ReconnectionPolicy(
        attempts: 3, backoff: Backoff(base: .seconds(1), cap: .seconds(60), jitter: .none), longestWait: .seconds(100))

    @Test func `A lost connection is opened again with the last event ID, until the service has no more events`() throws {
        try simulated { time in
            let (client, stub) = station(
                time, Self.answer("id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: cut", failing: Self.lost),
                Self.answer("data: c\n\nid\ndata: d\n\n"), Self.answer("data: e\n\n"))
            let stream = try await client.with(Self.policy) { try await $0.live() }
            #expect(try await stream.all().map(\.data) == ["a", "b", "c", "d", "e"])
            #expect(stub.requests.map { $0.request.headers["Last-Event-ID"] } == [nil, "2", nil, nil])
            #expect(stream.lastEventID == "")
            // A second after each connection that brought events.
            #expect(time.elapsed() >= .seconds(3) && time.elapsed() < .seconds(4))
            #expect(client.calls.isEmpty)
        }
    }

    @Test func `The stream's own time is waited, up to the policy's limit`() throws {
        try simulated { time in
            let (client, _) = station(time, Self.answer("retry: 5000\n\n"), Self.answer("retry: 99999999999999999999\ndata: a\n\n"))
            let stream = try await client.with(Self.policy) { try await $0.live() }
            #expect(try await stream.all().map(\.data) == ["a"])
            #expect(time.elapsed() >= .seconds(6 + 101) && time.elapsed() < .seconds(6 + 102))
        }
    }

    @Test func `Attempts without an event are bounded, and an event begins anew`() throws {
        try simulated { time in
            let none = StubAnswer.failure(Self.lost)
            let (client, stub) = station(
                time, Self.answer("data: a\n\n"), none, none, Self.answer("data: b\n\n", failing: Self.lost), none, none, none, none)
            var iterator = try await client.with(Self.policy) { try await $0.live() }.makeAsyncIterator()
            #expect(try await iterator.next()?.data == "a")
            #expect(try await iterator.next()?.data == "b")
            let error = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
            #expect(error?.kind == .transport && stub.requests.count == 7)
            // 1 + 2 + 4 before b, and the same after it.
            #expect(time.elapsed() >= .seconds(14) && time.elapsed() < .seconds(15))
            let (ending, _) = station(time, Self.answer(""), Self.answer(""), Self.answer(""), Self.answer(""))
            let ended = await #expect(throws: ServiceError.self) {
                _ = try await ending.with(Self.policy) { try await $0.live() }.all()
            }
            #expect((ended?.cause as? StreamError)?.kind == .reconnection)
        }
    }

    @Test func `Another status, another type and other errors are final`() throws {
        try simulated { time in
            for answer in [
                StubAnswer.status(500), .status(404), .data(Data("{}".utf8), type: "application/json"),
                .pieces([], status: 201, headers: Self.events), .failure(Refusal()),
            ] {
                let (client, stub) = station(time, Self.answer("data: a\n\n"), answer)
                let stream = try await client.with(Self.policy) { try await $0.live() }
                await #expect(throws: ServiceError.self) { _ = try await stream.all() }
                #expect(stub.requests.count == 2)
            }
            // An event that can't be decoded isn't a fault of the connection.
            let (client, stub) = station(time, Self.answer("data: x\n\n"))
            let call = client.http.get("/live").describing { $0.reconnecting(Self.policy) }
            await #expect(throws: ServiceError.self) { _ = try await call.events(of: Reading.self).all() }
            #expect(stub.requests.count == 1)
        }
    }

    @Test func `Without a policy, and with one of no attempts, the end is the end`() throws {
        try simulated { time in
            let (client, stub) = station(time, Self.answer("data: a\n\n"))
            let events = try await client.events().all()
            #expect(events.count == 1 && stub.requests.count == 1)
            let (never, other) = station(time, Self.answer("data: a\n\n"))
            let others = try await never.with(ReconnectionPolicy.never) { try await $0.live() }.all()
            #expect(others.count == 1 && other.requests.count == 1)
        }
    }

    @Test func `A body that can be sent once isn't sent again`() throws {
        try simulated { time in
            let once = RequestBody { AsyncThrowingStream { $0.finish() } }
            let (client, stub) = station(time, Self.answer("data: a\n\n", failing: Self.lost))
            let stream = try await client.with(Self.policy) { try await $0.posted(body: once) }
            let error = await #expect(throws: ServiceError.self) { _ = try await stream.all() }
            #expect(error?.kind == .transport && stub.requests.count == 1)
            let (again, other) = station(time, Self.answer("data: a\n\n", failing: Self.lost))
            #expect(try await again.with(Self.policy) { try await $0.posted(body: RequestBody(Data("x".utf8))) }.all().count == 1)
            #expect(other.requests.map(\.body) == [Data("x".utf8), Data("x".utf8)])
        }
    }

    @Test func `A wait ends with its call and its task`() throws {
        try simulated { time in
            let slow = ReconnectionPolicy(attempts: 3, backoff: Backoff(base: .seconds(1_000), cap: .seconds(1_000), jitter: .none))
            for end in [0, 1] {
                let (client, stub) = station(time, Self.answer("data: a\n\n"), Self.answer("data: b\n\n"))
                let outcome = Locked<(any Error)?>(nil)
                let task = time.start {
                    do {
                        _ = try await client.with(slow) { try await $0.live() }.all()
                    } catch {
                        outcome.withLock { $0 = error }
                    }
                }
                try await time.pass(.seconds(10))
                #expect(client.calls.count == 1 && stub.requests.count == 1)
                let before = time.elapsed()
                if end == 0 { client.cancelAll(reason: "Enough.") } else { task.cancel() }
                try await task.value
                let error = outcome.withLock { $0 }
                if end == 1 { #expect(error is CancellationError) } else { #expect((error as? ServiceError)?.kind == .cancelled) }
                #expect(time.elapsed() - before < .seconds(2) && stub.requests.count == 1)
            }
        }
    }

    @Test func `Waits have no overflow`() {
        let policies = [
            ReconnectionPolicy(backoff: Backoff(base: .seconds(Int64.max), cap: .seconds(Int64.max)), longestWait: .seconds(Int64.max)),
            ReconnectionPolicy(
                attempts: .min, backoff: Backoff(base: .seconds(-5), factor: .nan, cap: .seconds(-1)), longestWait: .seconds(-1)),
        ]
        for policy in policies {
            for asked in [nil, 0, 1, Int.max] {
                for failures in [0, 1, 100, Int.max] {
                    #expect(policy.wait(afterFailures: failures, asked: asked, fraction: 0.5) >= .zero)
                }
            }
        }
    }
}
