import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Clients that share a cache get no response of another client's credentials: in fields, queries, cookies and certificates.
@Suite struct CacheIdentityTests {
    private let cache = ResponseCache()
    private let shop = StubTransport()

    init() {
        shop.fallback(
            .answering { request in
                let parts = [
                    request.request.url.query() ?? "", request.request.headers["X-Key"] ?? "", request.request.headers[.cookie] ?? "",
                ]
                return .text(parts.joined(separator: "|"), headers: ["Cache-Control": "max-age=300", "Set-Cookie": "theme=dark"])
            })
    }

    private func get(_ provider: (any AuthenticationProvider)?, cookies: CookieJar? = nil) async throws -> ServiceResponse<String> {
        let client = WebServiceClient(serviceRoot: "https://shop.test") {
            $0.transport = shop
            $0.cache = cache
            $0.authenticationProvider = provider
            $0.cookies = cookies
        }
        return try await client.http.get("/a").response(String.self)
    }

    private static let places: [@Sendable (String) -> APIKeyProvider] = [
        { APIKeyProvider(header: "X-Key", key: $0) }, { APIKeyProvider(query: "k", key: $0) }, { APIKeyProvider(cookie: "k", key: $0) },
    ]

    @Test(arguments: 0..<3) func `keys in fields, queries and cookies keep responses apart`(place: Int) async throws {
        let provider = Self.places[place]
        for (key, source) in [("one", ResponseSource.network), ("two", .network), ("one", .cache), ("two", .cache)] {
            let response = try await get(provider(key))
            #expect(response.value.contains(key) && response.source == source)
        }
        #expect(try await get(nil).source == .network)
    }

    @Test func `a key in a cookie and the jar's cookies share the field`() async throws {
        let jar = CookieJar()
        jar.set(try Cookie(name: "theme", value: "dark", domain: "shop.test"))
        #expect(try await get(Self.places[2]("one"), cookies: jar).value == "||k=one; theme=dark")
        #expect(try await get(Self.places[2]("one"), cookies: jar).source == .cache)
        #expect(try await get(Self.places[2]("two"), cookies: jar).value == "||k=two; theme=dark")
    }

    @Test(arguments: [1, 2]) func `a key that changes before the request is sent doesn't get its response stored`(place: Int) async throws {
        let count = Locked(0)
        let key: APIKeyProvider.Key = { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return "key\(number)"
        }
        let response = try await get(place == 1 ? APIKeyProvider(query: "k", key: key) : ChangingCookie(key: key))
        #expect(response.value.contains("key2"))
        #expect(await cache.entries().isEmpty)
    }

    /// Adds another cookie to each request.
    private struct ChangingCookie: AuthenticationProvider {
        let key: APIKeyProvider.Key

        func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
            attempt.request.headers.addCookie("k=\(try await key(nil))", replacing: "k")
        }

        func respond(
            to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt,
            context: CallContext
        ) async throws -> Bool { false }
    }

    @Test func `another session in the jar gets no response of the one before`() async throws {
        let jar = CookieJar()
        let users = Locked(["ada", "bob"])
        shop.on(
            .post, "/login",
            .answering { _ in
                let user = users.withLock { $0.removeFirst() }
                return .status(200, headers: ["Set-Cookie": "sid=\(user); HttpOnly"])
            })
        let client = WebServiceClient(serviceRoot: "https://shop.test") {
            $0.transport = shop
            $0.cache = cache
            $0.cookies = jar
        }
        func get(_ policy: CookiePolicy = .service) async throws -> ServiceResponse<String> {
            try await client.with(.cookies(policy)) { try await $0.http.get("/a").response(String.self) }
        }
        for user in ["ada", "bob"] {
            try await client.http.post("/login").send()
            let first = try await get()
            #expect(first.value.hasPrefix("||sid=\(user)") && first.source == .network)
            // The theme isn't part of the identity.
            #expect(try await get().source == .cache)
        }
        #expect(try await get(.off).value == "||")
        jar.clear()
        #expect(try await get().source == .network)
    }

    /// Adds the key of the current user.
    private struct UserKey: Interceptor {
        let user: Locked<String>

        func intercept(_ request: ServiceRequest, context: CallContext, next: NextInterceptor) async throws -> TransportResponse {
            var request = request
            request.headers["X-Key"] = user.withLock { $0 }
            return try await next(request, context)
        }
    }

    @Test func `credentials that an interceptor adds after the cache keep the response out of it`() async throws {
        let user = Locked("ada")
        for interceptor: any Interceptor in [UserKey(user: user), .perHop(UserKey(user: user)), .perAttempt(UserKey(user: user))] {
            let client = WebServiceClient(serviceRoot: "https://shop.test") {
                $0.transport = shop
                $0.cache = ResponseCache()
                $0.interceptors = [interceptor]
                $0.headerRules = HeaderRules(secret: ["X-Key"])
            }
            for name in ["ada", "bob"] {
                user.withLock { $0 = name }
                #expect(try await client.http.get("/a").response(String.self).value.contains(name))
            }
        }
    }

    @Test func `the client's certificate is an identity`() async throws {
        let identity = try ClientIdentity.pem(chain: Data(SampleCertificate.pem.utf8), key: Data(SampleCertificate.key.utf8))
        func source(_ identity: ClientIdentity?) async throws -> ResponseSource {
            let client = WebServiceClient(serviceRoot: "https://shop.test") {
                $0.transport = shop
                $0.cache = cache
                $0.trust = TrustPolicy(identity: identity)
            }
            return try await client.http.get("/a").response(String.self).source
        }
        #expect(try await source(identity) == .network)
        #expect(try await source(identity) == .cache)
        #expect(try await source(nil) == .network)
    }
}
