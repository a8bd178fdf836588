import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct SessionTests {
    private func client(
        _ answer: StubAnswer = .json("{}"), root: String = "https://api.test/v1",
        configure: (inout WebServiceClient.Configuration) -> Void = { _ in }
    ) -> (client: Store, stub: StubTransport) {
        Store.stubbed(answer, root: root, configure: configure)
    }

    private func urls(_ stub: StubTransport) -> [String] { stub.requests.map(\.request.url.absoluteString) }

    // MARK: What is added

    @Test func `the items go with each call, escaped, and change while running`() async throws {
        let (client, stub) = client()
        #expect(client.session.state.isEmpty)
        try client.session.update {
            $0.headers["X-Tenant"] = "5"
            $0[query: "locale"] = "de & en"
            $0.query.append(.init("flag", nil))
        }
        try await client.http.get("/a?x=1").send()
        try client.session.update {
            $0.headers["X-Tenant"] = "6"
            $0[query: "locale"] = nil
        }
        try await client.http.post("/b").send()
        client.session.clear()
        try await client.http.get("/c").send()
        #expect(stub.requests.map { $0.request.headers["X-Tenant"] } == ["5", "6", nil])
        #expect(
            urls(stub) == ["https://api.test/v1/a?x=1&locale=de%20%26%20en&flag", "https://api.test/v1/b?flag", "https://api.test/v1/c"])
    }

    @Test func `headers take precedence over the client's, and the call's over them`() async throws {
        let (client, stub) = client { $0.headers = ["X-Client": "client", "User-Agent": "client", "X-Both": "%%client%%"] }
        #expect(!client.verify().isEmpty, "the client's placeholder has no argument")
        try client.session.update {
            $0.headers = [
                "X-Client": "session", "User-Agent": "session", "Accept": "text/session", "X-Call": "session", "X-Both": "%%client%%",
            ]
        }
        #expect(client.verify().isEmpty)
        try await client.http.get("/a").header("X-Call", "call").send()
        let headers = try #require(stub.requests.last).request.headers
        #expect(headers["X-Call"] == "call" && headers["User-Agent"] == "session" && headers["Accept"] == "text/session")
        #expect(headers["X-Client"] == "session" && headers["X-Both"] == "%%client%%", "a session's value has no placeholders")
        #expect(try await client.dryRun { try await $0.http.get("/b").send() }.headers["X-Client"] == "session")
    }

    @Test func `class and endpoint override the session, and the request's own query item stays`() async throws {
        final class Shelf: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                ["own()": .get("/own?tenant=9").header("X-Endpoint", "endpoint"), "plain()": .get("/plain?b=c")]
            }
            override class var defaults: EndpointDefaults {
                var defaults = EndpointDefaults(headers: ["X-Class": "class"])
                defaults.perMethod[.get] = EndpointDefaults(headers: ["X-Method": "method"])
                return defaults
            }
            func own() async throws { try await call() }
            func plain() async throws { try await call() }
        }
        let stub = StubTransport()
        stub.fallback(.status(204))
        let shelf = Shelf(serviceRoot: "https://api.test?k=v") { $0.transport = stub }
        try shelf.session.update {
            $0.headers = ["X-Endpoint": "session", "X-Class": "session", "X-Method": "session", "X-Own": "session"]
            $0[query: "tenant"] = "5"
            $0[query: "b"] = "session"
            $0[query: "k"] = "session"
        }
        try await shelf.own()
        try await shelf.plain()
        let headers = stub.requests.map(\.request.headers)
        #expect(headers.map { $0["X-Endpoint"] } == ["endpoint", "session"])
        for fields in headers { #expect(fields["X-Class"] == "class" && fields["X-Method"] == "method" && fields["X-Own"] == "session") }
        #expect(urls(stub) == ["https://api.test/own?k=v&tenant=9&b=session", "https://api.test/plain?k=v&b=c&tenant=5"])
    }

    @Test func `secret names are kept before there is an item`() throws {
        let client = WebServiceClient(serviceRoot: "https://shop.test")
        try client.session.update { $0.secretHeaders = ["X-Shop"] }
        try client.session.update { $0.headers["X-Shop"] = "s3cret" }
        #expect(client.session.state.withoutSecrets.headers["X-Shop"] == nil)
        client.session.clear()
        #expect(client.session.state == SessionState())
    }

    @Test func `bad items are an error and change nothing`() throws {
        let (client, _) = client()
        try client.session.update { $0.headers["X-A"] = "1" }
        let bad: [@Sendable (inout SessionState) -> Void] = [
            { $0.headers["X-B"] = "s3cret\r\nX-C: 1" }, { $0.headers["X B"] = "1" }, { $0.headers["Content-Length"] = "1" },
            { $0.headers["Host"] = "x" }, { $0.headers["X-B"] = " blank" }, { $0[query: ""] = "1" },
        ]
        for change in bad {
            let error = #expect(throws: SessionError.self) { try client.session.update(change) }
            #expect(error?.message.contains("The session of Store") == true && error?.message.contains("s3cret") == false)
        }
        #expect(throws: Refusal()) { try client.session.update { _ in throw Refusal() } }
        #expect(client.session.state.headers == ["X-A": "1"])
    }

    @Test func `calls in flight keep their session, with redirects and retries`() async throws {
        let gate = Gate()
        let (client, stub) = client(gate.then("{}"))
        stub.on(
            .get, "/v1/late",
            .answering { _ in
                try await gate.pass()
                return .redirect(to: "/v1/next")
            })
        stub.on(.get, "/v1/next", .inTurn(.status(503), .status(200)))
        client.configure { $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .zero, cap: .zero)) }
        try client.session.update {
            $0.headers["X-Tenant"] = "old"
            $0[query: "t"] = "old"
        }
        try await watched {
            async let call = client.http.get("/late").send()
            try await gate.arrived()
            try client.session.update {
                $0.headers["X-Tenant"] = "new"
                $0[query: "t"] = "new"
            }
            gate.open()
            _ = try await call
            try await client.http.get("/late").send()
        }
        #expect(
            urls(stub) == [
                "https://api.test/v1/late?t=old", "https://api.test/v1/next?t=old", "https://api.test/v1/next?t=old",
                "https://api.test/v1/late?t=new", "https://api.test/v1/next?t=new",
            ])
        #expect(stub.requests.map { $0.request.headers["X-Tenant"] } == ["old", "old", "old", "new", "new"])
    }

    // MARK: Where it goes

    @Test func `the items stay in the service, harmless ones too`() async throws {
        let (client, stub) = client { $0.allowedOrigins = ["https://eu.api.test"] }
        stub.on(.get, "/v1/away", .redirect(to: "https://other.test/back"))
        stub.on(.get, "/back", .redirect(to: "https://api.test/v1/end"))
        stub.on(.get, "/v1/eu", .redirect(to: "https://eu.api.test/x?t=server"))
        try client.session.update {
            $0.headers = ["Accept-Language": "da", "X-Key": "s3cret"]
            $0[query: "t"] = "s3cret"
        }
        try await client.http.get("/away").send()
        try await client.http.get("/eu").send()
        try await client.http.request(outside: try #require(URL(string: "https://other.test/x"))).send()
        try await client.http.get("/moved").prepare { $0.url = URL(string: "https://other.test/y") ?? $0.url }.send()
        let all = stub.requests.map(\.request)
        #expect(
            all.map(\.url.absoluteString) == [
                "https://api.test/v1/away?t=s3cret", "https://other.test/back", "https://api.test/v1/end?t=s3cret",
                "https://api.test/v1/eu?t=s3cret", "https://eu.api.test/x?t=server", "https://other.test/x", "https://other.test/y",
            ])
        let isService = all.map { $0.url.host()?.hasSuffix("api.test") == true }
        for (request, isService) in zip(all, isService) {
            #expect(request.headers["Accept-Language"] == (isService ? "da" : nil), "\(request.url)")
            #expect(request.headers["X-Key"] == (isService ? "s3cret" : nil), "\(request.url)")
        }
        // An endpoint's own value isn't the session's.
        try await client.http.get("/away").header("Accept-Language", "fr").send()
        #expect(stub.requests.suffix(3).map { $0.request.headers["Accept-Language"] } == ["fr", "fr", "fr"])
    }

    @Test func `a session belongs to the service's origin`() async throws {
        let (client, stub) = client()
        try client.session.update { $0.headers["X-Key"] = "s3cret" }
        client.configure { $0.serviceRoot = "https://other.test" }
        #expect(client.session.state.isEmpty)
        try await client.http.get("/a").send()
        #expect(stub.requests.last?.request.headers["X-Key"] == nil)
        client.configure { $0.serviceRoot = "https://api.test/v2" }
        #expect(client.session.state.headers["X-Key"] == "s3cret")
    }

    @Test func `secrets are masked everywhere`() async throws {
        let (client, _) = client(.status(500))
        try client.session.update {
            $0.headers = ["Accept-Language": "s3cret", "X-Api-Key": "s3cret"]
            $0.secretHeaders = ["Accept-Language"]
            $0.query = [.init("who", "s3cret"), .init("access_token", "s3cret"), .init("page", "7")]
            $0.secretQuery = ["who"]
        }
        var dumped = ""
        dump(client.session.state, to: &dumped)
        for text in ["\(client.session.state)", String(reflecting: client.session.state), dumped] {
            #expect(!text.contains("s3cret") && text.contains("page"), "\(text)")
        }
        let error = try #require(await serviceError { try await client.http.get("/a").send() })
        let request = try await client.dryRun { try await $0.http.get("/a").send() }
        for text in ["\(error)", error.localizedDescription, "\(request)", request.curlCommand] {
            #expect(!text.contains("s3cret"), "\(text)")
        }
        #expect(request.url.absoluteString.hasSuffix("who=s3cret&access_token=s3cret&page=7"))
    }

    // MARK: What calls share

    @Test func `another session gets no cached response`() async throws {
        let stub = StubTransport()
        stub.fallback(CachingTests.counting())
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.cache = ResponseCache()
        }
        func get() async throws -> String {
            try await client.http.get("/a").describing { $0.cacheIdentifier("a") }.value()
        }
        #expect(try await get() == "1")
        for (number, change) in [{ $0.headers["X-Session"] = "a" }, { $0[query: "user"] = "b" }, { $0[query: "user"] = "c" }].enumerated()
            as EnumeratedSequence<[(inout SessionState) -> Void]>
        {
            try client.session.update {
                change(&$0)
                $0.secretHeaders = ["X-Session"]
            }
            #expect(try await get() == "\(number + 2)")
            #expect(try await get() == "\(number + 2)")
        }
        client.session.clear()
        #expect(try await get() == "1")
    }

    @Test func `another session shares no exchange`() async throws {
        let gate = Gate()
        let (client, stub) = client(gate.then("text"))
        @Sendable func get() async throws -> String {
            try await client.http.get("/a").describing { $0.identifier("a", .reuse).coalesced() }.value()
        }
        try await watched {
            async let first = get()
            try await gate.arrived()
            try client.session.update { $0[query: "user"] = "b" }
            async let second = get()
            try await gate.arrived(2)
            gate.open()
            _ = try await (first, second)
        }
        #expect(urls(stub) == ["https://api.test/v1/a", "https://api.test/v1/a?user=b"])
    }

    @Test func `concurrent changes are all kept`() async throws {
        let (client, _) = client()
        try await watched {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask { try client.session.update { $0[query: "q\(number)"] = "\(number)" } }
                    if number % 5 == 0 { group.addTask { client.configure { $0.bodyLimit += 1 } } }
                }
                try await group.waitForAll()
            }
        }
        #expect(client.session.state.query.count == 20)
    }

    @Test func `a printed item, cache key or cache entry shows no secrets`() async throws {
        let url = "https://api.test/p?access_token=Zq7mK2vX&page=2"
        let (item, key) = (SessionState.QueryItem("access_token", "Zq7mK2vX"), CacheKey(partition: "p1", url: url))
        #expect(item.description == "access_token=<masked>" && SessionState.QueryItem("page", "2").description == "page=2")
        #expect(SessionState.QueryItem("flag", nil).description == "flag")
        #expect(key.description == "https://api.test/p?access_token=<masked>&page=2")
        let stub = StubTransport()
        stub.fallback(.json("1", headers: ["Cache-Control": "max-age=60"]))
        let cache = ResponseCache()
        let client = WebServiceClient(serviceRoot: "https://api.test") {
            $0.transport = stub
            $0.cache = cache
        }
        #expect(try await client.http.get("/p?access_token=Zq7mK2vX&page=2").value(Int.self) == 1)
        let entry = try #require(await cache.entries().first)
        #expect(entry.url == url)
        for value in [item, key, entry] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", "\([value])", String(reflecting: value), dumped] {
                #expect(!text.contains("Zq7mK2") && text.contains("<masked>"), "\(text)")
            }
        }
    }
}
