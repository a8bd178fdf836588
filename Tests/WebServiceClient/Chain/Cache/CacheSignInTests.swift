import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// Stored responses belong to the sign-in of an OAuth grant, whichever of its tokens they came with.
@Suite struct CacheSignInTests {
    private let login: AuthorizationServerStub
    private let isDown = Locked(false)
    private let shop = StubTransport()
    private let clock = HandClock()
    private let cache = ResponseCache()

    init() {
        login = AuthorizationServerStub { [isDown] _, number in
            if isDown.withLock({ $0 }) { throw TransportError(.cannotConnect, "no network") }
            return .json(200, #"{"access_token":"a\#(number)","refresh_token":"r\#(number)","expires_in":60}"#)
        }
        shop.fallback(
            .answering { [isDown] request in
                if isDown.withLock({ $0 }) { return .failure(TransportError(.cannotConnect, "no network")) }
                return .text(request.request.headers[.authorization] ?? "-", headers: ["Cache-Control": "max-age=300"])
            })
    }

    private func provider(_ grant: (OAuthClient) -> OAuthGrant, _ store: any TokenStore = MemoryTokenStore()) -> BearerTokenProvider {
        clock.provide { BearerTokenProvider(grant(.stub(login)), store: store) }
    }

    private func client(_ provider: BearerTokenProvider) -> WebServiceClient {
        clock.provide {
            WebServiceClient(serviceRoot: "https://shop.test") {
                $0.transport = shop
                $0.cache = cache
                $0.authenticationProvider = provider
                $0.attributes[OfflineCaching.self] = OfflineCaching(upTo: .seconds(86_400))
            }
        }
    }

    private func get(_ client: WebServiceClient) async throws -> ServiceResponse<String> {
        try await client.http.get("/a").response(String.self)
    }

    /// A user's grant whose sign-in needs no browser.
    private static func user(_ client: OAuthClient) -> OAuthGrant {
        .authorizationCode(of: client, redirect: "app:/done") { url in
            let state = URLEncoding.parseQuery(url.query(percentEncoded: true) ?? "")?.first { $0.name == "state" }?.value ?? ""
            return URL(string: "app:/done?code=c&state=\(state)") ?? url
        }
    }

    @Test func `refreshed tokens share the responses of their sign-in`() async throws {
        let store = MemoryTokenStore()
        let client = client(provider(Self.user, store))
        #expect(try await get(client).value == "Bearer a0")
        clock.advance(by: .seconds(120))
        // A response from the cache needs no token.
        let second = try await get(client)
        #expect(second.value == "Bearer a0" && second.source == .cache && login.requests.count == 1)
        clock.advance(by: .seconds(300))
        let third = try await get(client)
        #expect(third.value == "Bearer a1" && third.source == .network && login.forms.last?["refresh_token"] == "r0")
        // Another run of the program, with the stored token.
        let next = self.client(provider(Self.user, store))
        #expect(try await get(next).source == .cache)
        // Without a network, and with an expired token.
        clock.advance(by: .seconds(1_000))
        isDown.withLock { $0 = true }
        let offline = try await get(next)
        #expect(offline.value == "Bearer a1" && offline.source == .stale)
    }

    @Test func `another sign-in gets no response of the one before`() async throws {
        let provider = provider(Self.user)
        let client = client(provider)
        #expect(try await get(client).value == "Bearer a0")
        await provider.invalidate()
        let second = try await get(client)
        #expect(second.value == "Bearer a1" && second.source == .network)
        #expect(try await get(client).source == .cache)
        await provider.invalidate()
        isDown.withLock { $0 = true }
        #expect(await serviceError { _ = try await get(client) } != nil, "Nobody has signed in.")
    }

    @Test func `a sign-in during a call doesn't get its response stored for the one before`() async throws {
        let provider = provider(Self.user)
        let client = client(provider)
        shop.on(
            .get, "/a",
            .answering { request in
                // The user signs out, and another one signs in, while the response is on its way.
                await provider.invalidate()
                _ = try? await provider.token()
                return .text(request.request.headers[.authorization] ?? "-", headers: ["Cache-Control": "max-age=300"])
            })
        #expect(try await get(client).value == "Bearer a0")
        #expect(await cache.entries().isEmpty)
    }

    @Test func `a client's own tokens are one identity, and other scopes are another`() async throws {
        let first = client(provider { .clientCredentials(of: $0, scopes: ["a"]) })
        #expect(try await get(first).value == "Bearer a0")
        let same = client(provider { .clientCredentials(of: $0, scopes: ["a"]) })
        #expect(try await get(same).source == .cache && login.requests.count == 1)
        let other = client(provider { .clientCredentials(of: $0, scopes: ["a", "b"]) })
        #expect(try await get(other).value == "Bearer a1")
    }

    @Test func `tokens of a closure are identities of their own`() async throws {
        let count = Locked(0)
        let provider = clock.provide {
            BearerTokenProvider { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return BearerToken("t\(number)", lifetime: .seconds(60))
            }
        }
        let client = client(provider)
        #expect(try await get(client).value == "Bearer t1")
        clock.advance(by: .seconds(120))
        #expect(try await get(client).value == "Bearer t2")
    }
}
