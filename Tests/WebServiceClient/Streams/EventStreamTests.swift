import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct EventStreamTests {
    @Test func `A method's result type decides that events are read`() async throws {
        let (client, stub) = Station.answering("event: a\ndata: 1\nid: 7\n\ndata: 2\n\n")
        #expect(
            try await client.events().all() == [
                ServerEvent(type: "a", data: "1", id: "7"), ServerEvent(data: "2", id: "7"),
            ])
        #expect(try await client.texts().all() == ["1", "2"])
        let request = try #require(stub.requests.first?.request)
        #expect(request.headers["Accept"] == "text/event-stream" && request.headers["Cache-Control"] == "no-store")
        #expect(client.calls.isEmpty)
    }

    @Test func `Data is decoded by the endpoint's serializer`() async throws {
        let (client, _) = Station.answering("data: {\"id\":1,\ndata: \"name\":\"b\"}\n\n: ping\n\ndata: {\"id\":2,\"name\":\"c\"}\n\n")
        #expect(try await client.readings().all() == [Reading(id: 1, name: "b"), Reading(id: 2, name: "c")])
        let events = try await client.http.get("/events").events(of: Reading.self)
        #expect(try await events.all().count == 2)
        let dynamic: EventStream<Reading> = try await client.dynamic.readings()
        #expect(try await dynamic.all().count == 2)
        let response = try await client.http.get("/events").response(EventStream<Reading>.self)
        #expect(response.status == 200)
    }

    @Test func `An error names event, line and byte, and is the call's`() async throws {
        let (client, _) = Station.answering(
            "data: {\"id\":1,\"name\":\"b\"}\n\n\nevent: delta\ndata: {\"id\":\"x\"}\n\ndata: {\"id\":3}\n\n")
        var iterator = try await client.readings().makeAsyncIterator()
        #expect(try await iterator.next()?.id == 1)
        let error = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
        #expect(error?.kind == .decoding && error?.call.key == "readings()" && error?.response?.status == 200)
        let cause = try #require(error?.cause as? StreamError)
        #expect(cause.place == StreamPlace(element: 2, line: 4, byte: 28, event: "delta") && cause.cause is DecodingError)
        #expect(error?.message.contains("event 2 (delta), line 4, byte 28") == true)
        #expect(try await iterator.next() == nil)
    }

    @Test func `An end mark ends the stream, and its absence is an error`() async throws {
        let (client, _) = Station.answering("data: {\"id\":1,\"name\":\"b\"}\n\ndata: [DONE]\n\ndata: junk\n\n")
        #expect(try await client.chat(question: "?").all().map(\.id) == [1])
        let (cut, _) = Station.answering("data: {\"id\":1,\"name\":\"b\"}\n\ndata: [DONE]")
        var iterator = try await cut.chat(question: "?").makeAsyncIterator()
        #expect(try await iterator.next()?.id == 1)
        let error = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
        #expect((error?.cause as? StreamError)?.kind == .truncated)
        let (stopped, _) = Station.answering("event: a\ndata: 1\n\nevent: stop\ndata: 2\n\nevent: a\ndata: 3\n\n")
        #expect(try await stopped.untilStop().all().map(\.data) == ["1", "2"])
        let (never, _) = Station.answering("event: a\ndata: 1\n\n")
        await #expect(throws: ServiceError.self) { _ = try await never.untilStop().all() }
    }

    @Test func `An event reports an error of the service`() async throws {
        let (client, _) = Station.answering("data: {\"id\":1,\"name\":\"b\"}\n\nevent: error\ndata: {\"message\":\"overloaded\"}\n\n")
        var iterator = try await client.chat(question: "?").makeAsyncIterator()
        _ = try await iterator.next()
        let error = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
        #expect(error?.kind == .refused && error?.message.contains("overloaded") == true)
        #expect((error?.errorBody as? ServerEvent)?.data == "{\"message\":\"overloaded\"}")
        #expect(error?.body(as: [String: String].self) == ["message": "overloaded"])
        #expect(error?.body(as: String.self, at: "message") == "overloaded" && error?.body(as: Int.self) == nil)
    }

    @Test func `Another type or status is an error before the first event`() async throws {
        for (type, text) in [("application/json", "text/event-stream is expected"), (nil, "without a Content-Type")] as [(String?, String)]
        {
            let (client, _) = Station.answering("{}", type: type)
            let error = await #expect(throws: ServiceError.self) { _ = try await client.events() }
            #expect(error?.kind == .format && error?.message.contains(text) == true)
        }
        let (failed, _) = Station.answering("{\"error\":\"no\"}", type: "application/json", status: 400)
        let error = await #expect(throws: ServiceError.self) { _ = try await failed.events() }
        #expect(error?.status == 400 && error?.response?.body.isEmpty == false)
        let (forced, _) = Station.answering("data: 1\n\n", type: "text/plain")
        let call = forced.http.get("/").describing { $0.framing(.events) }
        #expect(try await call.events().all().map(\.data) == ["1"])
        let (empty, _) = Station.answering("", type: nil, status: 204)
        #expect(try await empty.events().all().isEmpty)
        let (optional, _) = Station.answering("data: 1\n\n")
        await #expect(throws: ServiceError.self) { _ = try await optional.optional() }
    }

    @Test func `A broken connection is the call's error`() async throws {
        let (client, _) = Station.answering("data: 1\n\ndata: 2", failing: TransportError(.connectionLost, "lost"))
        var iterator = try await client.events().makeAsyncIterator()
        #expect(try await iterator.next()?.data == "1")
        let error = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
        #expect(error?.kind == .transport && error?.stage == .body)
    }

    @Test func `Leaving the loop or releasing the stream cancels the transfer, and nothing is read ahead`() async throws {
        let left = WatchedBody { _ in "data: x\n\n" }
        let stream = left.body.events
        for try await _ in stream { break }
        #expect(left.taken == 1)
        // `map` makes a body that only the stream refers to.
        let watched = WatchedBody { _ in "data: x\n\n" }
        func events() -> EventStream<ServerEvent> { watched.body.map { $0 }.events }
        do {
            var iterator = events().makeAsyncIterator()
            _ = try await iterator.next()
        }
        #expect(watched.isCancelled)
        let unread = WatchedBody { _ in "data: x\n\n" }
        do { _ = unread.body.map { $0 }.events }
        #expect(unread.isCancelled && unread.taken == 0)
    }

    @Test func `A stream has one reader`() async throws {
        let stream = ResponseBody(Data("data: 1\n\ndata: 2\n\n".utf8)).events
        #expect(try await stream.all().count == 2)
        let error = await #expect(throws: StreamError.self) { _ = try await stream.all() }
        #expect(error?.kind == .misuse)
    }

    @Test func `A call that is cancelled ends its stream`() async throws {
        let stub = StubTransport()
        stub.fallback(.pieces([Data("data: 1\n\n".utf8), Data("data: 2\n\n".utf8)], headers: ["Content-Type": "text/event-stream"]))
        let client = Station(serviceRoot: "https://station.test") { $0.transport = stub }
        var iterator = try await client.events().makeAsyncIterator()
        _ = try await iterator.next()
        client.cancelAll(reason: "Enough.")
        let error = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
        #expect(error?.kind == .cancelled)
        #expect(client.calls.isEmpty)
    }

    @Test func `Settings that make no sense are faults`() {
        class Faulty: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                [
                    "a()": .get("/").reconnecting(ReconnectionPolicy(attempts: -1, longestWait: .seconds(-1))),
                    "b()": .get("/").endsStream(atEvent: "").failsStream(atEvent: ""),
                    "c()": .get("/").endsStream(atEvent: "x").failsStream(atEvent: "x"),
                ]
            }
        }
        #expect(Faulty.verify().filter { $0.kind == .badPolicy }.map(\.key) == ["a()", "a()", "b()", "b()", "b()", "c()"])
        #expect(Station.verify().isEmpty)
        #expect(Station.describe().endpoints.contains { $0.attributes.contains { $0.contains("[DONE]") } })
    }
}
