import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

private struct Book: Codable, Sendable, Equatable {
    let id: Int
    let title: String
}

private final class Library: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "book(id:)": .get("/books/%%0%%"),
            "newest()": .get("/books/newest"),
            "chapter(id:number:)": .get("/books/%%id%%/chapters/%%number%%.txt").raw(),
            "add(book:)": .post("/books").body(.argument(0)).accepting(.created),
            "search(text:page:)": .get(uriTemplate: "/search{?text,page}").decoding(at: "result.items"),
            "shelf(path:)": .get(uriTemplate: "/shelves{/path*}"),
            "download(path:)": .get("%%0%%"),
            "open()": .get("/loans").query(["state": "open"]),
            "closed()": .get("/loans?state=closed"),
            "remove(id:)": .delete("/books/%%0%%"),
        ]
    }
    override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://library.example/v2/") }

    func book(id: Int) async throws -> Book { try await call(id) }
    func newest() async throws -> Book { try await call() }
    func chapter(id: Int, number: String) async throws -> String { try await call(id, number) }
    func add(book: Book) async throws { try await call(book) }
    func search(text: String, page: Int?) async throws -> [Book] { try await call(text, page) }
    func shelf(path: [String]) async throws -> [Book] { try await call(path) }
    func download(path: String) async throws -> String { try await call(path) }
    func open() async throws -> [Book] { try await call() }
    func closed() async throws -> [Book] { try await call() }
    func remove(id: Int) async throws { try await call(id) }
}

@Suite struct MockServerTests {
    private func client(_ server: MockServer<Library>, _ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> Library {
        Library(serviceRoot: server.serviceRoot, configure: configure)
    }

    @Test func `endpoints with service roots of their own have routes`() async throws {
        final class Releases: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                [
                    "list()": .get("/list"), "upload(id:)": .post("/files/%%id%%").serviceRoot("/upload/").withoutBody(),
                    "asset(id:)": .get("/files/%%id%%").serviceRoot("https://uploads.example/v3?x=1"),
                ]
            }
            override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://library.example/v2/") }
            func list() async throws -> String { try await call() }
            func upload(id: Int) async throws -> String { try await call(id) }
            func asset(id: Int) async throws -> String { try await call(id) }
        }
        let target = MockAnswer { .text($0.target) }
        let server = try MockServer(Releases.self)
            .answering("list()", with: target).answering("upload(id:)", with: target).answering("asset(id:)", with: target)
        let releases = Releases(serviceRoot: server.serviceRoot) {
            $0.allowedOrigins = ["https://uploads.example"]
            $0.transport = server.transport
        }
        #expect(try await releases.list() == "/v2/list")
        #expect(try await releases.upload(id: 1) == "/upload/files/1")
        #expect(try await releases.asset(id: 2) == "/v3/files/2?x=1")
        try server.expectNoMisses()
        // In front of a service, such requests go to the roots that the endpoints have there.
        let spy = try MockServer(Releases.self, forwardingTo: server.loopback.url.absoluteString + "/v2", over: server.transport)
        let client = Releases(serviceRoot: spy.serviceRoot) {
            $0.allowedOrigins = ["https://uploads.example"]
            $0.transport = spy.transport
        }
        #expect(try await client.list() == "/v2/list")
        #expect(try await client.upload(id: 3) == "/upload/files/3")
        #expect(try await client.asset(id: 4) == "/v3/files/4?x=1")
        #expect(server.requestCount(for: "upload(id:)") == 2 && spy.requestCount(for: "asset(id:)") == 1)
    }

    @Test func `requests get the answers of their endpoints`() async throws {
        let server = try MockServer(Library.self)
            .answering("book(id:)", with: .value(Book(id: 7, title: "Tea")))
            .answering("newest()", with: .json(#"{"id": 9, "title": "New"}"#))
            .answering("chapter(id:number:)", with: MockAnswer { .text($0.path) })
            .answering("add(book:)", with: .status(201))
            .answering("search(text:page:)", with: .samples(of: [Book].self, count: 3))
            .answering("shelf(path:)", with: .samples(of: [Book].self, count: 1))
            .answering("open()", with: .samples(of: [Book].self, count: 2))
            .answering("closed()", with: .samples(of: [Book].self, count: 4))
        #expect(server.serviceRoot.hasSuffix("/v2"))
        let library = client(server)
        #expect(try await library.book(id: 7) == Book(id: 7, title: "Tea"))
        // The route with more fixed parts is meant.
        #expect(try await library.newest().title == "New")
        #expect(try await library.chapter(id: 1, number: "a b") == "/v2/books/1/chapters/a%20b.txt")
        try await library.add(book: Book(id: 1, title: "x"))
        #expect(try await library.search(text: "tea", page: nil).count == 3)
        #expect(try await library.shelf(path: ["a", "b/c"]).count == 1)
        #expect(try await library.open().count == 2)
        #expect(try await library.closed().count == 4)
        try server.expectNoMisses()
        #expect(server.requestCount(for: "book(id:)") == 1 && server.uncalledKeys == ["download(path:)", "remove(id:)"])
    }

    @Test func `samples are the same for equal requests and in each run`() async throws {
        var titles: [[String]] = []
        for _ in 0..<2 {
            let server = try MockServer(Library.self, seed: 5).answering("search(text:page:)", with: .samples(of: [Book].self, count: 2))
            let library = client(server)
            let first = try await library.search(text: "a", page: 1)
            #expect(try await library.search(text: "a", page: 1) == first)
            #expect(try await library.search(text: "a", page: 2) != first)
            titles.append(first.map(\.title))
        }
        #expect(titles[0] == titles[1])
    }

    @Test func `answers by method have the type of its result`() async throws {
        let server = try MockServer(Library.self)
        let library = client(server)
        try await server.answer(Library.book(id:), on: library, with: .value(Book(id: 1, title: "typed")))
        try await server.answer(Library.search(text:page:), on: library, with: .samples(count: 2))
        try await server.answer(Library.remove(id:), on: library, with: .status(204))
        try await server.answer(Library.newest, on: library, with: .inTurn(.response(.status(404)), .sample()))
        #expect(try await library.book(id: 3).title == "typed")
        #expect(try await library.search(text: "x", page: 1).count == 2)
        try await library.remove(id: 1)
        let missing = await serviceError { _ = try await library.newest() }
        #expect(missing?.response?.status == 404)
        #expect(try await !library.newest().title.isEmpty)
    }

    @Test func `faults are counted per request, and don't use up answers`() async throws {
        let server = try MockServer(Library.self)
            .answering("newest()", with: .inTurn(.value(Book(id: 1, title: "a")), .value(Book(id: 2, title: "b"))))
            .failing(
                "newest()", .times(2, .status(503, retryAfter: 0)), .passing(1), .times(1, .connectionLost), .times(1, .cut(afterBytes: 5)))
        let library = client(server)
        let first = await serviceError { _ = try await library.newest() }
        #expect(first?.response?.status == 503 && first?.response?.headers[.retryAfter] == "0")
        _ = await serviceError { _ = try await library.newest() }
        #expect(try await library.newest().id == 1)
        let lost = await serviceError { _ = try await library.newest() }
        #expect(lost?.kind == .transport)
        let cut = await serviceError { _ = try await library.newest() }
        #expect((cut?.cause as? TransportError)?.code == .truncated, "\(cut as Any)")
        #expect(try await library.newest().id == 2)
        #expect(server.faultCount(for: "newest()") == 4 && server.requestCount(for: "newest()") == 6)

        // A repeated call is several requests.
        try server.failing("book(id:)", .times(2, .status(503)), then: .reset(afterBytes: 10))
            .answering("book(id:)", with: .value(Book(id: 1, title: "long enough")))
        let patient = client(server) {
            $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .milliseconds(1)))
        }
        let failed = await serviceError { _ = try await patient.book(id: 1) }
        #expect(failed?.response?.status == 503 && server.requestCount(for: "book(id:)") == 2)
        let reset = await serviceError { _ = try await library.book(id: 1) }
        #expect(reset?.cause is TransportError, "\(reset as Any)")
    }

    @Test(arguments: [0, 100, Int.max]) func `a cut fails the body, however long it is`(count: Int) async throws {
        let server = try MockServer(Library.self).answering("newest()", with: .value(Book(id: 1, title: "a")))
            .failing("newest()", .times(1, .cut(afterBytes: count)))
        let library = client(server)
        let cut = await serviceError { _ = try await library.newest() }
        #expect((cut?.cause as? TransportError)?.code == .truncated, "\(cut as Any)")
        #expect(try await library.newest().id == 1)
    }

    @Test func `faults out of their range are errors with the fix`() throws {
        let server = try MockServer(Library.self)
        let share = #expect(throws: TestingFailure.self) { try server.failing("newest()", share: 30, of: .status(503)) }
        #expect(share?.description.contains("use a number from 0 to 1") == true, "\(share as Any)")
        #expect(throws: TestingFailure.self) { try server.failing("newest()", .times(0, .connectionLost)) }
        #expect(throws: TestingFailure.self) { try server.failing("newest()", .passing(1), then: .cut(afterBytes: -1)) }
        #expect(throws: TestingFailure.self) { try server.latency("newest()", .fixed(.seconds(-1))) }
        // The earlier faults are kept.
        #expect(throws: Never.self) { try server.latency("newest()", .fixed(.zero)) }
    }

    @Test func `shares of requests fail by the seed`() async throws {
        var counts: [Int] = []
        for _ in 0..<2 {
            let server = try MockServer(Library.self, seed: 11).answering("newest()", with: .value(Book(id: 1, title: "a")))
                .failing("newest()", share: 0.3, of: .status(500))
            let library = client(server)
            for _ in 0..<60 { _ = try? await library.newest() }
            counts.append(server.faultCount(for: "newest()"))
        }
        #expect(counts[0] == counts[1] && (5...35).contains(counts[0]), "\(counts)")
    }

    @Test func `latencies follow the clock`() async throws {
        let clock = ManualClock()
        let server = try MockServer(Library.self, clock: clock).answering("newest()", with: .value(Book(id: 1, title: "a")))
            .latency("newest()", .fixed(.seconds(3_600)))
        let library = client(server)
        try await watched {
            async let book = library.newest()
            try await clock.waitForSleepers(count: 1, within: .seconds(200))
            clock.advance(by: .seconds(3_600))
            #expect(try await book.id == 1)
        }
    }

    @Test func `requests without an answer are reported with the nearest route`() async throws {
        let server = try MockServer(Library.self)
        let library = client(server)
        let unanswered = await serviceError { _ = try await library.newest() }
        #expect(unanswered?.response?.status == 501)
        let unknown = await serviceError { try await library.http.put("/bocks/1/pages").send() }
        #expect(unknown?.response?.status == 404)
        _ = await serviceError { try await library.http.get("/books/1?token=hush").send() }
        let failure = #expect(throws: TestingFailure.self) { try server.expectNoMisses() }
        let text = failure?.description ?? ""
        #expect(text.contains("“newest()” has no answer") && text.contains("The nearest is") && !text.contains("hush"), "\(text)")
        let wrong = #expect(throws: TestingFailure.self) { try server.answering("bok(id:)", with: .status(200)) }
        #expect(wrong?.description.contains("the nearest is “book(id:)”") == true)
    }

    @Test func `requests without an answer are forwarded to a real service`() async throws {
        let real = try LoopbackServer { routes in
            routes.get("/v2/books/:id") { .json("{\"id\": \($0.parameters["id"] ?? "0"), \"title\": \"\($0.fields["X-Team"] ?? "")\"}") }
            routes.on("POST", "/v2/books") { .text($0.text, status: 201) }
        }
        let server = try MockServer(Library.self, forwardingTo: real.url.absoluteString + "/v2")
            .answering("newest()", with: .value(Book(id: 0, title: "mine")))
        let library = client(server) { $0.headers = ["X-Team": "core"] }
        #expect(try await library.newest().title == "mine")
        #expect(try await library.book(id: 4) == Book(id: 4, title: "core"))
        try await library.add(book: Book(id: 5, title: "sent"))
        #expect(real.requests.last?.text.contains("sent") == true && server.requestCount(for: "add(book:)") == 1)
        real.stop()
        let gone = await serviceError { _ = try await library.book(id: 4) }
        #expect(gone?.response?.status == 502)
        #expect(throws: TestingFailure.self) { try MockServer(Library.self, forwardingTo: "nonsense") }
    }

    @Test func `many calls at once are counted right`() async throws {
        let count = Sweep.isFull ? 10_000 : 300
        let server = try MockServer(Library.self).answering("book(id:)", with: .sample(of: Book.self))
            .failing("book(id:)", .times(count / 3, .status(500)))
        let library = client(server) { $0.queue = QueueLimits(activePerOrigin: 32) }
        let failed = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<count {
                group.addTask { await serviceError { _ = try await library.book(id: number) } != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failed == count / 3 && server.faultCount(for: "book(id:)") == failed)
        #expect(server.requestCount(for: "book(id:)") == count)
    }
}
