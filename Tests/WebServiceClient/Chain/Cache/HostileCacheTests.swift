import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Servers, and headers, that try to make the cache answer wrong.
@Suite struct HostileCacheTests {
    private typealias Setup = CachingTests.Setup

    // MARK: Identities

    @Test func `answers to one identity never serve another`() async throws {
        let (cache, clock) = (ResponseCache(), ManualCallClock())
        let echo = StubAnswer.answering { request in
            .text(request.request.headers["Authorization"] ?? "nobody", headers: ["Cache-Control": "max-age=60"])
        }
        func setup(_ provider: (any AuthenticationProvider)?) -> Setup {
            Setup(cache: cache, clock: clock, echo) { $0.authenticationProvider = provider }
        }
        let clients = [
            setup(BasicAuthenticationProvider(user: "ada", password: "1")), setup(BasicAuthenticationProvider(user: "ada", password: "2")),
            setup(BasicAuthenticationProvider(user: "bob", password: "1")), setup(BearerTokenProvider(token: "t1")),
            setup(BearerTokenProvider(token: "t2")), setup(nil),
        ]
        var values: Set<String> = []
        for client in clients { values.insert(try await client.get().value) }
        #expect(values.count == clients.count)
        for client in clients {
            let again = try await client.get()
            #expect(again.source == .cache && client.sent == 1 && values.contains(again.value))
        }
        // The same identity in another client, as after a restart.
        #expect(try await setup(BasicAuthenticationProvider(user: "ada", password: "1")).get().source == .cache)
        // An unsafe call invalidates what every identity has stored.
        _ = try await clients[0].client.http.post("/a").response(String.self)
        for client in clients { #expect(try await client.get().source == .network) }
    }

    @Test func `a token that changes while the call is sent isn't stored for the old one`() async throws {
        // It keeps the time by the system's clock: the cache's is moved by hand.
        let provider = BearerTokenProvider { old in BearerToken(old == nil ? "t1" : "t2") }
        let setup = Setup(
            .answering { request in
                let value = request.request.headers["Authorization"] ?? ""
                return value == "Bearer t1"
                    ? .status(401, headers: ["WWW-Authenticate": "Bearer"]) : .text(value, headers: ["Cache-Control": "max-age=60"])
            }
        ) {
            $0.authenticationProvider = provider
        }
        #expect(try await setup.get().value == "Bearer t2")
        #expect(await setup.cache.entries().isEmpty)
        _ = try await setup.get()
        #expect(try await setup.get().source == .cache)
    }

    @Test(arguments: ["Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "Host", "X-Forwarded-Host", "X-Original-URL"])
    func `a field of the request that names an identity or leads elsewhere is part of the key`(name: String) async throws {
        let field = HTTPFields.Name(name)
        let setup = Setup(
            .answering { .text($0.request.headers[field] ?? "none", headers: ["Cache-Control": "max-age=60"]) })
        func get(_ value: String?) async throws -> String {
            try await setup.client.http.get("/a").header(field, value).value(String.self)
        }
        for value in ["evil.test", nil, "good.test"] { #expect(try await get(value) == value ?? "none") }
        for value in ["evil.test", nil, "good.test"] { #expect(try await get(value) == value ?? "none") }
        #expect(setup.sent == 3)
    }

    @Test func `Vary on fields that later stages add`() async throws {
        let answer = StubAnswer.answering { request in
            .text(
                request.request.headers["Authorization"] ?? "",
                headers: ["Cache-Control": "max-age=60", "Vary": "Authorization, Accept-Encoding"])
        }
        let setup = Setup(answer) { $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "1") }
        _ = try await setup.get()
        #expect(try await setup.get().source == .cache)
        // A value that an interceptor of single attempts sets can't be known in advance.
        let signed = Setup(.text("x", headers: ["Cache-Control": "max-age=60", "Vary": "X-Signature"])) {
            $0.interceptors = [.perAttempt(RequestPreparer { $0.headers["X-Signature"] = UUID().uuidString })]
        }
        for _ in 0..<2 { #expect(try await signed.get().source == .network) }
        #expect(await signed.cache.entries().isEmpty)
    }

    // MARK: Fields of responses

    @Test func `Vary with a star is never stored`() async throws {
        for value in ["*", "*, Accept", "Accept, *", ", *", " * "] {
            let setup = Setup(CachingTests.counting(["Cache-Control": "max-age=60", "Vary": value]))
            for number in 1...2 { #expect(try await setup.get().value == "\(number)", "\(value)") }
        }
    }

    @Test func `a 304 that adds Vary makes the whole response be fetched`() async throws {
        let setup = Setup(
            .answering { request in
                request.request.headers["If-None-Match"] == nil
                    ? .text("whole", headers: ["ETag": "\"1\"", "Cache-Control": "max-age=1"])
                    : .status(304, headers: ["ETag": "\"1\"", "Vary": "Accept"])
            })
        _ = try await setup.get()
        setup.clock.advance(by: .seconds(5))
        let answer = try await setup.get()
        #expect(answer.value == "whole" && answer.source == .network && setup.sent == 3)
    }

    @Test func `a 304 nobody asked for reaches the caller`() async throws {
        let setup = Setup(.status(304))
        #expect(await serviceError { _ = try await setup.get() }?.status == 304)
    }

    @Test(arguments: ["99999999999999999999999999999", "9223372036854775807", "-9223372036854775808"])
    func `huge numbers neither trap nor last`(number: String) async throws {
        let headers: HTTPFields = [
            "Cache-Control": "max-age=\(number), stale-while-revalidate=\(number), stale-if-error=\(number)", "Age": number,
        ]
        let setup = Setup(CachingTests.counting(headers))
        _ = try await setup.get()
        setup.clock.advance(by: .seconds(4_000_000_000))
        let request = setup.client.http.get("/a").header("Cache-Control", "max-stale=\(number), min-fresh=\(number), max-age=\(number)")
        _ = try await request.describing { $0.accepting(.any) }.response(String.self)
        #expect(await setup.cache.entries().count <= 1)
    }

    @Test func `a redirect can't put a response under another URL`() async throws {
        let setup = Setup(
            .answering { request in
                switch request.request.url.path {
                case "/a":
                    .status(
                        301, headers: ["Location": "https://evil.test/x", "Cache-Control": "max-age=60", "Content-Location": "/b"])
                default: .text("evil", headers: ["Cache-Control": "max-age=60", "Content-Location": "https://shop.test/b"])
                }
            })
        #expect(try await setup.get("/a").value == "evil")
        #expect(
            await Set(setup.cache.entries().map(\.url)) == ["https://shop.test/a", "https://evil.test/x"], "each hop under its own URL")
        // A foreign answer invalidates nothing here.
        _ = try await setup.client.http.request(.get, outside: try #require(URL(string: "https://evil.test/x"))).response(String.self)
        #expect(await setup.cache.entries().count == 2)
        let again = try await setup.get("/a")
        #expect(again.value == "evil" && again.url.host() == "evil.test" && setup.sent == 2)
    }

    @Test func `many variants of a URL stay within the bound`() async throws {
        let folder = TemporaryFolder()
        for store in [
            MemoryCacheStore(limit: 100_000) as any CacheStore, DiskCacheStore(directory: folder.url.appending(path: "c"), limit: 100_000),
        ] {
            let setup = Setup(
                cache: ResponseCache(store: store),
                .answering { .text($0.request.headers["Accept"] ?? "", headers: ["Cache-Control": "max-age=60", "Vary": "Accept"]) })
            for number in 0..<300 {
                let value = try await setup.client.http.get("/a").header("Accept", "text/x\(number)").value(String.self)
                #expect(value == "text/x\(number)")
            }
            _ = await store.heads()
            #expect(store.byteCount <= 100_000)
        }
    }
}
