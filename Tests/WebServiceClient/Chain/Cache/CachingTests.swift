import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct CachingTests {
    /// A client with a cache, a transport that counts, and a clock.
    struct Setup: Sendable {
        let client: WebServiceClient
        let stub: StubTransport
        let clock: ManualCallClock
        let cache: ResponseCache

        init(
            cache: ResponseCache = ResponseCache(), clock: ManualCallClock = ManualCallClock(), _ answer: StubAnswer,
            configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
        ) {
            let stub = StubTransport()
            stub.fallback(answer)
            self.stub = stub
            self.clock = clock
            self.cache = cache
            client = CallClock.$current.withValue(clock.clock) {
                WebServiceClient(serviceRoot: "https://shop.test") {
                    $0.transport = stub
                    $0.cache = cache
                    configure(&$0)
                }
            }
        }

        func get(
            _ path: String = "/a", _ change: @escaping (EndpointDescriptor) -> EndpointDescriptor = { $0 }
        ) async throws -> ServiceResponse<String> {
            try await client.http.get(path).describing(change).response(String.self)
        }

        var sent: Int { stub.requests.count }
    }

    /// Answers with a number that grows with each request.
    static func counting(_ headers: HTTPFields = ["Cache-Control": "max-age=60"], status: Int = 200) -> StubAnswer {
        let count = Locked(0)
        return .answering { _ in
            let number = count.withLock {
                $0 += 1
                return $0
            }
            return .text("\(number)", status: status, headers: headers)
        }
    }

    @Test func `a fresh response is reused, and the caller sees where it comes from`() async throws {
        let setup = Setup(Self.counting())
        let first = try await setup.get()
        #expect(first.value == "1" && first.source == .network)
        setup.clock.advance(by: .seconds(59))
        let second = try await setup.get()
        #expect(second.value == "1" && second.source == .cache && second.headers["Age"] == "59")
        setup.clock.advance(by: .seconds(2))
        #expect(try await setup.get().value == "2")
        let statistics = setup.cache.statistics
        #expect(statistics.hits == 1 && statistics.misses == 2 && statistics.stored == 2 && statistics.savedBytes == 1)
        #expect(statistics.storedBytes > 0)
    }

    @Test func `without a cache nothing is reused`() async throws {
        let setup = Setup(Self.counting()) { $0.cache = nil }
        #expect(try await setup.get().value == "1")
        #expect(try await setup.get().value == "2")
    }

    @Test func `a stale response is validated, and its 304 freshens it`() async throws {
        let setup = Setup(
            .answering { request in
                request.request.headers["If-None-Match"] == "\"1\""
                    ? .status(304, headers: ["Cache-Control": "max-age=100", "X-New": "yes"])
                    : .text("body", headers: ["ETag": "\"1\"", "Cache-Control": "max-age=1"])
            })
        #expect(try await setup.get().source == .network)
        setup.clock.advance(by: .seconds(5))
        let validated = try await setup.get()
        #expect(validated.source == .validated && validated.value == "body" && validated.headers["X-New"] == "yes")
        setup.clock.advance(by: .seconds(50))
        #expect(try await setup.get().source == .cache)
        #expect(setup.sent == 2)
    }

    @Test func `the caller's own condition is the caller's`() async throws {
        let setup = Setup(.status(304, headers: ["ETag": "\"1\""]))
        let answer = try await setup.client.http.get("/a").header("If-None-Match", "\"1\"").response(String?.self)
        #expect(answer.status == 304 && answer.value == nil && answer.source == .network)
    }

    @Test func `endpoints have a lifetime of their own, or none`() async throws {
        let setup = Setup(Self.counting(["Cache-Control": "no-cache"]))
        func rates() async throws -> String { try await setup.get { $0.cached(for: .seconds(300)) }.value }
        #expect(try await rates() == "1")
        setup.clock.advance(by: .seconds(299))
        #expect(try await rates() == "1")
        setup.clock.advance(by: .seconds(2))
        #expect(try await rates() == "2")
        let other = Setup(Self.counting())
        for number in 1...2 { #expect(try await other.get { $0.uncached() }.value == "\(number)") }
        let forbidden = Setup(Self.counting(["Cache-Control": "no-store"]))
        for number in 1...2 { #expect(try await forbidden.get { $0.cached(for: .seconds(300)) }.value == "\(number)") }
        let failing = Setup(Self.counting([:], status: 404))
        for number in 1...2 {
            #expect(try await failing.get { $0.cached(for: .seconds(300)).accepting(.any) }.value == "\(number)")
        }
    }

    @Test func `calls choose what they want from the cache`() async throws {
        let setup = Setup(Self.counting())
        #expect(try await setup.get().value == "1")
        #expect(try await setup.client.with(CacheMode.reload) { _ in try await setup.get().value } == "2")
        #expect(try await setup.get().value == "2")
        #expect(try await setup.client.with(CacheMode.noStore) { _ in try await setup.get().value } == "3")
        #expect(try await setup.client.with(CacheMode.onlyCached) { _ in try await setup.get().value } == "2")
        let missing = try await setup.client.with(CacheMode.onlyCached) { _ in
            try await setup.get("/b") { $0.accepting(.any) }
        }
        #expect(missing.status == 504 && missing.source == .cache)
        #expect(setup.sent == 3)
    }

    @Test func `a call that wants only stored responses sends nothing, whatever its method, endpoint and client`() async throws {
        let setup = Setup(Self.counting())
        for method in [ServiceRequest.Method.head, .post, .options, "REPORT"] {
            let answer = try await setup.client.with(CacheMode.onlyCached) {
                try await $0.http.request(method, "/a").describing { $0.accepting(.any) }.response(String?.self)
            }
            #expect(answer.status == 504 && answer.source == .cache, "\(method)")
        }
        let uncached = try await setup.client.with(CacheMode.onlyCached) { _ in
            try await setup.get { $0.uncached().accepting(.any) }
        }
        #expect(uncached.status == 504)
        let header = try await setup.client.http.head("/a").header("Cache-Control", "only-if-cached")
            .describing { $0.accepting(.any) }.response(String?.self)
        #expect(header.status == 504)
        let error = await serviceError { _ = try await setup.client.with(CacheMode.onlyCached) { _ in try await setup.get() } }
        #expect(error?.status == 504 && error?.description.contains("takes only stored responses") == true)
        setup.client.configure { $0.cache = nil }
        let without = try await setup.client.with(CacheMode.onlyCached) { _ in try await setup.get { $0.accepting(.any) } }
        #expect(without.status == 504)
        #expect(setup.sent == 0)
    }

    @Test func `a reload replaces what is stored, even by a response that isn't stored or varies`() async throws {
        let fields = Locked<HTTPFields>(["Cache-Control": "max-age=60"])
        let count = Locked(0)
        let setup = Setup(
            .answering { _ in
                let number = count.withLock {
                    $0 += 1
                    return $0
                }
                return .text("\(number)", headers: fields.withLock { $0 })
            })
        #expect(try await setup.get().value == "1")
        fields.withLock { $0 = ["Cache-Control": "no-store"] }
        #expect(try await setup.client.with(CacheMode.reload) { _ in try await setup.get().value } == "2")
        #expect(try await setup.get().value == "3")
        fields.withLock { $0 = ["Cache-Control": "max-age=60", "ETag": "\"1\""] }
        #expect(try await setup.get().value == "4")
        fields.withLock { $0 = ["Cache-Control": "max-age=60", "Vary": "X-Kind"] }
        #expect(try await setup.client.with(CacheMode.reload) { _ in try await setup.get().value } == "5")
        #expect(setup.stub.requests.last?.request.headers["If-None-Match"] == nil)
        #expect(try await setup.get().value == "5")
    }

    @Test func `a condition by date counts from the date of a response without a date of change`() async throws {
        let clock = ManualCallClock()
        let setup = Setup(
            clock: clock, .text("x", headers: ["Cache-Control": "max-age=600", "Date": HTTPDate.text(of: clock.date)]))
        _ = try await setup.get()
        func status(since seconds: Double) async throws -> Int {
            try await setup.client.http.get("/a").header("If-Modified-Since", HTTPDate.text(of: clock.date.addingTimeInterval(seconds)))
                .describing { $0.accepting(.any) }.response(String?.self).status
        }
        #expect(try await status(since: 10) == 304)
        #expect(try await status(since: -10) == 200)
        #expect(setup.sent == 1)
    }

    @Test func `a condition doesn't turn a stored failure into a 304`() async throws {
        let setup = Setup(.text("gone", status: 404, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]))
        for _ in 0..<2 {
            let answer = try await setup.client.http.get("/a").header("If-None-Match", "*").describing { $0.accepting(.any) }
                .response(String.self)
            #expect(answer.status == 404 && answer.value == "gone")
        }
        #expect(setup.sent == 1)
    }

    @Test func `tags, identifiers and prefixes find and remove responses`() async throws {
        let setup = Setup(Self.counting())
        for path in ["/orders/1", "/orders/2", "/users/1"] {
            _ = try await setup.client.http.get(path, path).describing {
                $0.cacheTags("all", path.hasPrefix("/orders") ? "orders" : "users").cacheIdentifier("id%%0%%")
            }.response(String.self)
        }
        #expect(await setup.cache.entries().count == 3)
        #expect(await setup.cache.entries(tag: "orders").count == 2)
        #expect(await setup.cache.entries(identifier: "id/users/1").map(\.url) == ["https://shop.test/users/1"])
        #expect(await setup.cache.entries(urlPrefix: "https://shop.test/o").count == 2)
        #expect(await setup.cache.flush(identifier: "id/orders/1") == 1)
        #expect(await setup.cache.flush(tag: "orders") == 1)
        #expect(await setup.cache.flush(urlPrefix: "https://shop.test/U") == 0)
        #expect(await setup.cache.flush() == 1)
        #expect(await setup.cache.entries().isEmpty)
        #expect(setup.cache.statistics.storedBytes == 0)
    }

    @Test func `an unsafe call invalidates, also what it names on its origin`() async throws {
        let setup = Setup(
            .answering { request in
                request.request.method == .get
                    ? .text("x", headers: ["Cache-Control": "max-age=60"])
                    : .status(201, headers: ["Location": "/b", "Content-Location": "https://other.test/c"])
            })
        for path in ["/a", "/b", "/c"] { _ = try await setup.get(path) }
        _ = try await setup.client.http.post("/a").send()
        #expect(await setup.cache.entries().map(\.url) == ["https://shop.test/c"])
        _ = try await setup.client.http.get("/c").header("X-HTTP-Method-Override", "DELETE").response(String.self)
        #expect(await setup.cache.entries().isEmpty)
    }

    @Test func `a response that was requested before an invalidation isn't stored after it`() async throws {
        let setup = Setup(.pieces([Data("old".utf8)], headers: ["Cache-Control": "max-age=60"]))
        let response = try await setup.client.http.get("/a").stream()
        setup.cache.invalidate(["https://shop.test/a"])
        #expect(try await response.value.collect(upTo: 100) == Data("old".utf8))
        #expect(await setup.cache.entries().isEmpty)
    }

    // MARK: Incomplete bodies and cancellation

    @Test func `only complete bodies are stored`() async throws {
        let pieces = [Data("ab".utf8), Data("cd".utf8)]
        let setup = Setup(.pieces(pieces, headers: ["Cache-Control": "max-age=60"]))
        do {
            let response = try await setup.client.http.get("/a").stream()
            var iterator = response.value.makeAsyncIterator()
            #expect(try await iterator.next() == pieces[0])
        }
        #expect(await setup.cache.entries().isEmpty)
        let broken = Setup(.pieces(pieces, failing: TransportError(.truncated, "cut"), headers: ["Cache-Control": "max-age=60"]))
        _ = await serviceError { _ = try await broken.get() }
        #expect(await broken.cache.entries().isEmpty)
        #expect(try await setup.get().value == "abcd")
        #expect(await setup.cache.entries().map(\.bodyLength) == [4])
    }

    @Test func `a cancelled call isn't answered from the cache, and leaves it as it was`() async throws {
        let setup = Setup(
            .inTurn(.text("x", headers: ["Cache-Control": "max-age=1, stale-if-error=100"]), .never),
            configure: { $0.attributes[OfflineCaching.self] = OfflineCaching(upTo: .seconds(1_000)) })
        _ = try await setup.get()
        setup.clock.advance(by: .seconds(10))
        let task = Task { try await setup.get() }
        while setup.sent < 2 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await setup.cache.entries().count == 1)
    }

    // MARK: Stale answers

    @Test func `offline answers are marked, bounded, and only for transport failures`() async throws {
        func setup(_ failure: StubAnswer, _ headers: HTTPFields = ["Cache-Control": "max-age=1"]) -> Setup {
            Setup(.inTurn(.text("x", headers: headers), failure)) {
                $0.attributes[OfflineCaching.self] = OfflineCaching(upTo: .seconds(100))
            }
        }
        let lost = setup(.failure(TransportError(.connectionLost, "lost")))
        _ = try await lost.get()
        lost.clock.advance(by: .seconds(50))
        #expect(try await lost.get().source == .stale)
        lost.clock.advance(by: .seconds(60))
        #expect(await serviceError { _ = try await lost.get() }?.kind == .transport)
        for other in [
            setup(.failure(TransportError(.pinMismatch, "pin"))), setup(.status(503)),
            setup(.failure(TransportError(.connectionLost, "lost")), ["Cache-Control": "max-age=1, must-revalidate"]),
        ] {
            _ = try await other.get()
            other.clock.advance(by: .seconds(50))
            #expect(await serviceError { _ = try await other.get() } != nil)
        }
    }

    @Test func `stale-if-error hides failures of the server for its time`() async throws {
        let setup = Setup(.inTurn(.text("x", headers: ["Cache-Control": "max-age=1, stale-if-error=60"]), .status(503)))
        _ = try await setup.get()
        setup.clock.advance(by: .seconds(30))
        let answer = try await setup.get()
        #expect(answer.value == "x" && answer.source == .stale)
        setup.clock.advance(by: .seconds(60))
        #expect(await serviceError { _ = try await setup.get() }?.status == 503)
    }

    @Test func `stale-while-revalidate answers at once, and validates once in the background`() async throws {
        let setup = Setup(
            .answering { request in
                request.request.headers["If-None-Match"] == nil
                    ? .text("x", headers: ["Cache-Control": "max-age=10, stale-while-revalidate=100", "ETag": "\"1\""])
                    : .status(304, headers: ["ETag": "\"1\""])
            })
        _ = try await setup.get()
        setup.clock.advance(by: .seconds(20))
        let answers = try await withThrowingTaskGroup(of: ResponseSource.self) { group in
            for _ in 0..<20 { group.addTask { try await setup.get().source } }
            var sources: [ResponseSource] = []
            for try await source in group { sources.append(source) }
            return sources
        }
        #expect(answers.allSatisfy { $0 == .stale || $0 == .cache } && answers.contains(.stale))
        await setup.client.runtime.background.idle()
        #expect(setup.sent == 2)
        #expect(try await setup.get().source == .cache)
    }

    @Test func `a call that is answered only from the cache validates nothing in the background`() async throws {
        let setup = Setup(.text("x", headers: ["Cache-Control": "max-age=10, stale-while-revalidate=100"]))
        _ = try await setup.get()
        setup.clock.advance(by: .seconds(20))
        let answer = try await setup.client.with(CacheMode.onlyCached) { _ in try await setup.get() }
        await setup.client.runtime.background.idle()
        #expect(answer.source == .stale && setup.sent == 1)
    }

    @Test func `a validation in the background ends with its client`() async throws {
        let stub = StubTransport()
        stub.fallback(.inTurn(.text("x", headers: ["Cache-Control": "max-age=10, stale-while-revalidate=100"]), .never))
        let clock = ManualCallClock()
        var client: WebServiceClient? = CallClock.$current.withValue(clock.clock) {
            WebServiceClient(serviceRoot: "https://shop.test") {
                $0.transport = stub
                $0.cache = ResponseCache()
            }
        }
        for _ in 0..<2 {
            _ = try await client?.http.get("/a").response(String.self)
            clock.advance(by: .seconds(20))
        }
        while stub.requests.count < 2 { await Task.yield() }
        let background = try #require(client).runtime.background
        client = nil
        try await watched { await background.idle() }
        #expect(!background.start {})
    }

    // MARK: HEAD and ranges

    @Test func `a HEAD refreshes the stored response, or tells that it is out of date`() async throws {
        let tag = Locked("\"1\"")
        let setup = Setup(
            .answering { request in
                let tag = tag.withLock { $0 }
                return request.request.method == .head
                    ? .status(200, headers: ["ETag": tag, "Cache-Control": "max-age=100"])
                    : .text("x", headers: ["ETag": tag, "Cache-Control": "max-age=10"])
            })
        _ = try await setup.get()
        setup.clock.advance(by: .seconds(50))
        _ = try await setup.client.http.request(.head, "/a").send()
        #expect(try await setup.get().source == .cache)
        tag.withLock { $0 = "\"2\"" }
        _ = try await setup.client.http.request(.head, "/a").send()
        #expect(try await setup.get().source == .network)
    }

    @Test func `complete responses answer ranges`() async throws {
        let setup = Setup(.text("0123456789", headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]))
        _ = try await setup.get()
        func range(_ text: String) async throws -> ServiceResponse<String> {
            try await setup.client.http.get("/a").header("Range", text).response(String.self)
        }
        let part = try await range("bytes=2-4")
        #expect(part.value == "234" && part.status == 206 && part.headers["Content-Range"] == "bytes 2-4/10")
        #expect(part.headers["Content-Length"] == "3" && part.source == .cache)
        #expect(try await range("bytes=-2").value == "89")
        #expect(setup.sent == 1)
        _ = try await range("bytes=0-1,3-4")
        _ = try await range("bytes=20-")
        #expect(setup.sent == 3)
    }

    @Test func `parts with ranges of their own aren't stored`() async throws {
        // RFC 9110 §15.3.7.2 forbids a Content-Range field here, and some servers send it.
        for type in ["text/plain", "multipart/byteranges; boundary=b"] {
            let setup = Setup(
                .text(
                    "01234", status: 206,
                    headers: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Content-Type": type, "Content-Range": "bytes 0-4/10"]))
            for _ in 0..<2 { _ = try await setup.client.http.get("/a").header("Range", "bytes=0-4").send() }
            #expect(setup.sent == (type == "text/plain" ? 1 : 2), "\(type)")
        }
    }

    @Test func `the end of a part answers smaller ranges from the end, even if the server counts wrong`() async throws {
        for range in ["bytes 5-9/10", "bytes 4-9/10"] {
            let setup = Setup(.text("56789", status: 206, headers: ["Cache-Control": "max-age=60", "Content-Range": range]))
            _ = try await setup.client.http.get("/a").header("Range", "bytes=-5").send()
            let end = try await setup.client.http.get("/a").header("Range", "bytes=-2").response(String.self)
            #expect(end.value == "89" && end.status == 206 && end.headers["Content-Range"] == "bytes 8-9/10")
            #expect(setup.sent == 1)
        }
    }

    @Test func `a coded body that isn't decoded on its way is neither stored nor taken from the cache`() async throws {
        let setup = Setup(Self.counting(["Cache-Control": "max-age=60", "Content-Encoding": "gzip", "ETag": "\"1\""]))
        func get(_ name: HTTPFields.Name, _ value: String) async throws -> String {
            try await setup.client.http.get("/a").header(name, value).response(String.self).value
        }
        // The server ignores the range and sends the whole body, coded.
        #expect(try await get("Range", "bytes=0-3") == "1")
        #expect(try await get("Accept-Encoding", "identity") == "2")
        #expect(try await setup.get().value == "3")
        #expect(try await get("Accept-Encoding", "identity") == "4")
        #expect(setup.stub.requests.last?.request.headers["If-None-Match"] == nil)
        #expect(try await get("Range", "bytes=0-3") == "5")
        #expect(try await setup.get().value == "3")
    }

    @Test func `dry runs neither read nor fill the cache`() async throws {
        let setup = Setup(Self.counting())
        _ = try await setup.get()
        let request = try await setup.client.dryRun { _ in _ = try await setup.get() }
        #expect(request.url.path == "/a")
    }

    @Test func `settings that make no sense are faults`() {
        final class Bad: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                [
                    "a()": .get("/a").cached(for: .zero), "b()": .post("/b").cached(for: .seconds(1)), "c()": .get("/c").cacheTags("x", ""),
                    "d()": .get("/d").attribute(OfflineCaching(upTo: .seconds(-1))),
                ]
            }
        }
        let faults = Bad.verify()
        #expect(faults.map(\.kind) == Array(repeating: .badCaching, count: 4))
        #expect(faults.compactMap(\.key) == ["a()", "b()", "c()", "d()"])
        #expect(Bad.describe().endpoints[0].attributes == ["EndpointCaching.lifetime(0 s)"])
    }
}
