import Foundation
import Testing

@testable import WebServiceClient

@Suite struct BasicAuthenticationProviderTests {
    private static let aladdin = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="

    /// Returns a server that accepts the credentials of RFC 7617's Aladdin.
    private func server(challenge: String = #"Basic realm="WallyWorld", charset="UTF-8""#) -> StubServer {
        StubServer { request, _ in
            request.headers[.authorization] == Self.aladdin ? .stub(200) : .stub(401, ["WWW-Authenticate": challenge])
        }
    }

    @Test func `by default every request carries the credentials`() async throws {
        let server = server()
        let provider = BasicAuthenticationProvider(user: "Aladdin", password: "open sesame")
        #expect(!provider.isSessionOpened)
        #expect(try await server.send(.stub(), provider).status == 200)
        #expect(try await server.send(.stub(), provider).status == 200)
        #expect(server.authorizations == [Self.aladdin, Self.aladdin])
        #expect(provider.isSessionOpened)
        await provider.invalidate()
        #expect(!provider.isSessionOpened)
        #expect(try await server.send(.stub(), provider).status == 200)
    }

    @Test func `on demand they are sent once the server has asked, and until it is told to forget`() async throws {
        let server = server(challenge: "Negotiate, bASIC realm=x")
        let provider = BasicAuthenticationProvider(user: "Aladdin", password: "open sesame", isPreemptive: false)
        for _ in 0..<2 {
            #expect(try await server.send(.stub(), provider).status == 200)
        }
        #expect(server.authorizations == ["-", Self.aladdin, Self.aladdin])
        await provider.invalidate()
        #expect(try await server.send(.stub(), provider).status == 200)
        #expect(server.authorizations.suffix(2) == ["-", Self.aladdin])
    }

    @Test(arguments: [true, false])
    func `refused credentials aren't sent again in the same call`(isPreemptive: Bool) async throws {
        let server = server()
        let provider = BasicAuthenticationProvider(user: "Aladdin", password: "wrong", isPreemptive: isPreemptive)
        for call in 1...2 {
            #expect(try await server.send(.stub(), provider).status == 401)
            #expect(server.requests.count == call * (isPreemptive ? 1 : 2))
        }
        #expect(!provider.isSessionOpened)
    }

    @Test func `a server that doesn't ask for Basic doesn't get it`() async throws {
        let server = server(challenge: "Digest realm=r, nonce=n, Bearer")
        let provider = BasicAuthenticationProvider(user: "Aladdin", password: "open sesame", isPreemptive: false)
        #expect(try await server.send(.stub(), provider).status == 401)
        #expect(server.authorizations == ["-"])
    }

    @Test func `other statuses than 401 leave the session open`() async throws {
        let server = StubServer { _, number in .stub(number == 0 ? 403 : 401) }
        let provider = BasicAuthenticationProvider(user: "Aladdin", password: "open sesame")
        #expect(try await server.send(.stub(), provider).status == 403)
        #expect(provider.isSessionOpened)
        #expect(try await server.send(.stub(), provider).status == 401)
        #expect(!provider.isSessionOpened)
    }

    @Test func `a proxy gets them in its own field`() async throws {
        let server = StubServer { request, _ in
            request.headers[.proxyAuthorization] == nil ? .stub(407, ["Proxy-Authenticate": "Basic realm=p"]) : .stub(200)
        }
        let provider = BasicAuthenticationProvider(user: "Aladdin", password: "open sesame", isPreemptive: false)
        #expect(try await server.send(.stub("http://other.test/"), nil, proxy: provider).status == 200)
        #expect(try await server.send(.stub("http://api.test/"), nil, proxy: provider).status == 200)
        #expect(server.requests.map { $0.headers[.proxyAuthorization] } == [nil, Self.aladdin, Self.aladdin])
        #expect(server.authorizations == ["-", "-", "-"])
    }

    @Test func `one server's acceptance isn't another's`() async throws {
        let server = server()
        let provider = BasicAuthenticationProvider(user: "Aladdin", password: "open sesame", isPreemptive: false)
        _ = try await server.send(.stub(), provider)
        _ = try await server.send(.stub("http://second.test/"), provider, context: .stub(origin: "http://second.test"))
        #expect(server.authorizations == ["-", Self.aladdin, "-", Self.aladdin])
    }

    @Test(arguments: [true, false])
    func `a name with a colon is an error of the call, before anything is sent`(isPreemptive: Bool) async throws {
        let server = server()
        let provider = BasicAuthenticationProvider(user: "ada:lovelace", password: "hunter2", isPreemptive: isPreemptive)
        let error = await #expect(throws: AuthenticationError.self) { try await server.send(.stub(), provider) }
        #expect(error?.kind == .unusableUserName)
        #expect(server.authorizations == (isPreemptive ? [] : ["-"]))
    }

    @Test func `descriptions and dumps hold no secrets`() {
        let provider = BasicAuthenticationProvider(user: "Aladdin", password: "open sesame")
        var text = "\(provider) \(String(reflecting: provider))"
        dump(provider, to: &text)
        for secret in ["Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ"] {
            #expect(!text.contains(secret))
        }
    }
}
