import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct ChainTests {
    /// Notes each pass of a request and what came back.
    private struct Probe: Interceptor {
        let name: String
        let events: Locked<[String]>

        func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
            events.withLock { $0.append("\(name) \(request.url.path) \(context.hop)/\(context.attempt)") }
            do {
                let response = try await next(request, context)
                events.withLock { $0.append("\(name) \(response.status)") }
                return response
            } catch {
                events.withLock { $0.append("\(name) failed") }
                throw error
            }
        }
    }

    private static let retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .zero, cap: .zero))

    @Test func `the stages have the order of the design`() {
        #expect(
            Chain.stages.map(\.name) == [
                "identifier", "interceptors", "preparation", "idempotency key", "redirects", "session", "hop interceptors", "bodies",
                "cache", "coalescing", "retry", "network", "hedging", "circuit breaker", "attempt interceptors", "tracing", "rate limit",
                "queue", "digests", "record", "authentication", "cookies",
            ])
        #expect(Set(Chain.stages.map(\.name)).count == Chain.stages.count)
    }

    @Test func `the article prints the list`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(path: "Sources/WebServiceClient/Documentation.docc/WritingInterceptors.md"), encoding: .utf8)
        #expect(article.contains(Chain.documentation), "write this list into the article:\n\(Chain.documentation)")
    }

    @Test func `interceptors run in their places, the first of each is the outermost`() async throws {
        let events = Locked<[String]>([])
        func probe(_ name: String) -> Probe { Probe(name: name, events: events) }
        let (client, _) = Store.stubbed(
            .inTurn(.redirect(to: "/v1/next"), .status(503), .status(200)),
            configure: {
                $0.retry = Self.retry
                $0.interceptors = [
                    .perAttempt(probe("attempt")), probe("call"), .perHop(probe("hop")), .perHop(probe("inner")),
                ]
            })
        try await client.http.get("/a").send()
        #expect(
            events.withLock { $0 } == [
                "call /v1/a 0/1", "hop /v1/a 0/1", "inner /v1/a 0/1", "attempt /v1/a 0/1", "attempt 302", "inner 302", "hop 302",
                "hop /v1/next 1/1", "inner /v1/next 1/1", "attempt /v1/next 1/1", "attempt 503", "attempt /v1/next 1/2", "attempt 200",
                "inner 200", "hop 200", "call 200",
            ])
    }

    @Test func `a hop interceptor keeps the cookie of a login that redirects`() async throws {
        struct SessionCookie: Interceptor {
            let cookie = Locked<String?>(nil)

            func intercept(
                _ request: ServiceRequest, context: CallContext, next: NextInterceptor
            ) async throws -> TransportResponse {
                var request = request
                if let cookie = cookie.withLock({ $0 }) { request.headers["Cookie"] = cookie }
                let response = try await next(request, context)
                if let set = response.headers["Set-Cookie"] { cookie.withLock { $0 = String(set.prefix { $0 != ";" }) } }
                return response
            }
        }
        let (client, stub) = Store.stubbed(
            .inTurn(.status(302, headers: ["Location": "/v1/home", "Set-Cookie": "sid=7; Path=/"]), .status(200)),
            configure: { $0.interceptors = [.perHop(SessionCookie())] })
        try await client.http.get("/login").send()
        #expect(stub.requests.map { $0.request.headers["Cookie"] } == [nil, "sid=7"])
    }

    @Test func `an attempt interceptor sees errors before they are repeated, and no credentials`() async throws {
        let events = Locked<[String]>([])
        let (client, stub) = Store.stubbed(
            .inTurn(.failure(TransportError(.connectionLost, "gone")), .status(200)),
            configure: {
                $0.retry = Self.retry
                $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret")
                $0.interceptors = [
                    .perAttempt(Probe(name: "attempt", events: events)),
                    .perAttempt(RequestPreparer { #expect($0.headers["Authorization"] == nil) }),
                ]
            })
        try await client.http.get("/a").send()
        #expect(events.withLock { $0 } == ["attempt /v1/a 0/1", "attempt failed", "attempt /v1/a 0/2", "attempt 200"])
        #expect(stub.requests.allSatisfy { $0.request.headers["Authorization"] != nil })
    }

    @Test(arguments: [InterceptorPlace.hop, .attempt])
    func `fields that an interceptor adds inside redirects stay with the service`(place: InterceptorPlace) async throws {
        let preparer = RequestPreparer {
            $0.headers["X-API-Key"] = "k-123456"
            $0.headers["Accept-Language"] = "de"
        }
        func keys(_ location: String, allowed: [String] = []) async throws -> [String?] {
            let (client, stub) = Store.stubbed(
                .inTurn(.redirect(to: location), .status(200)),
                configure: {
                    $0.allowedOrigins = allowed
                    $0.interceptors = [place == .hop ? .perHop(preparer) : .perAttempt(preparer)]
                })
            try await client.http.get("/a").send()
            #expect(stub.requests.allSatisfy { $0.request.headers["Accept-Language"] == "de" })
            return stub.requests.map { $0.request.headers["X-API-Key"] }
        }
        #expect(try await keys("/v1/next") == ["k-123456", "k-123456"])
        #expect(try await keys("https://other.test/next") == ["k-123456", nil])
        #expect(try await keys("https://eu.api.test/next", allowed: ["https://eu.api.test"]) == ["k-123456", "k-123456"])
    }

    @Test func `an interceptor inside redirects can't take credentials to another origin`() async throws {
        let (client, stub) = Store.stubbed(
            .status(200),
            configure: {
                $0.headers["X-Team-Key"] = "secret"
                $0.interceptors = [
                    .perAttempt(
                        RequestPreparer { request in
                            if let url = URL(string: "https://other.test/x") { request.url = url }
                        })
                ]
            })
        try await client.http.get("/a").send()
        let sent = try #require(stub.requests.first?.request)
        #expect(sent.url.host() == "other.test" && sent.headers["X-Team-Key"] == nil)
        // The fields of a call to another server are its own, and an interceptor's aren't for that server.
        let (other, otherStub) = Store.stubbed(
            .status(200), configure: { $0.interceptors = [.perHop(RequestPreparer { $0.headers["X-API-Key"] = "k-123456" })] })
        try await other.http.request(outside: try #require(URL(string: "https://files.test/x"))).header("X-Own", "1").send()
        let outside = try #require(otherStub.requests.first?.request)
        #expect(outside.headers["X-API-Key"] == nil && outside.headers["X-Own"] == "1")
    }

    @Test func `the outermost place of an interceptor counts`() async throws {
        let events = Locked<[String]>([])
        let placed: PlacedInterceptor = .perHop(PlacedInterceptor.perAttempt(Probe(name: "probe", events: events)))
        #expect(placed.place == .hop)
        let (client, _) = Store.stubbed(
            .inTurn(.status(503), .status(200)),
            configure: {
                $0.retry = Self.retry
                $0.interceptors = [placed]
            })
        try await client.http.get("/a").send()
        #expect(events.withLock { $0 } == ["probe /v1/a 0/1", "probe 200"])
    }

    @Test func `each stage runs alone with a stub`() async throws {
        let request = ServiceRequest(url: try #require(URL(string: "https://api.test/a")))
        let setup = Chain.Setup(WebServiceClient.Configuration(), allowedOrigins: [], runtime: ClientRuntime())
        for stage in Chain.stages {
            let chain = stage.add(setup) { request, _ in TransportResponse(status: 200, url: request.url) }
            #expect(try await chain(request, CallContext()).status == 200, "\(stage.name)")
        }
    }
}
