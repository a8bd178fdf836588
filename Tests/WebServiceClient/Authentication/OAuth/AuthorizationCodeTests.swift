import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// The authorization code with PKCE (RFC 7636) and its loopback receiver (RFC 8252).
@Suite struct AuthorizationCodeTests {
    private static let token = #"{"access_token":"a1","token_type":"Bearer"}"#

    private func server() -> AuthorizationServerStub { AuthorizationServerStub { _, _ in .json(200, Self.token) } }

    private static func query(_ url: URL) -> [String: String] {
        Dictionary((URLEncoding.parseQuery(url.query(percentEncoded: true) ?? "") ?? []).map { ($0.name, $0.value ?? "") }) { $1 }
    }

    /// Opens an address as a browser does.
    private static func visit(_ address: String) async throws -> (status: Int, text: String) {
        let url = try #require(URL(string: address))
        let response = try await DefaultTransport.shared.send(ServiceRequest(url: url))
        return (response.status, String(decoding: try await response.body.collect(upTo: 1 << 16), as: UTF8.self))
    }

    @Test func `the challenge of RFC 7636, Appendix B`() {
        let octets: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240, 91, 88, 5, 88,
            83, 132, 141, 121,
        ]
        let key = ProofKey(verifier: ProofKey.base64URL(octets))
        #expect(key.verifier == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(key.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        let random = Set((0..<100).map { _ in ProofKey.random().verifier })
        #expect(random.count == 100)
        #expect(random.allSatisfy { $0.utf8.count == 43 && URLEncoding.isEncoded($0, allowing: .unreserved) && !$0.contains("%") })
    }

    @Test func `the code comes to the loopback address and is exchanged with its verifier`() async throws {
        let server = server()
        var client = OAuthClient.stub(server)
        client.authorizationEndpoint = "https://login.test/authorize?tenant=1"
        client.issuer = "https://login.test"
        let challenge = Locked("")
        let visits = Locked<[Int]>([])
        let grant = OAuthGrant.authorizationCode(of: client, scopes: ["openid", "a"], path: "/signed-in") { url in
            let query = Self.query(url)
            #expect(url.absoluteString.hasPrefix("https://login.test/authorize?tenant=1&response_type=code&client_id=shop&"))
            #expect(query["code_challenge_method"] == "S256" && query["scope"] == "openid a")
            challenge.withLock { $0 = query["code_challenge"] ?? "" }
            let redirect = try #require(query["redirect_uri"])
            let state = try #require(query["state"])
            #expect(redirect.hasPrefix("http://127.0.0.1:") && redirect.hasSuffix("/signed-in"))
            Task {
                let addresses = [
                    redirect.replacing("/signed-in", with: "/favicon.ico"), redirect + "?code=evil&state=other", redirect + "?code=evil",
                    redirect + "?code=c0de&code=evil&state=\(state)", redirect + "?code=c%2B0de&state=\(state)&iss=https://login.test",
                ]
                for address in addresses {
                    let status = try await Self.visit(address).status
                    visits.withLock { $0.append(status) }
                }
            }
        }
        let token = try await watched { try await grant.token(replacing: nil) }
        #expect(token.value == "a1")
        let form = try #require(server.forms.first)
        #expect(form["grant_type"] == "authorization_code" && form["code"] == "c+0de" && form["client_id"] == "shop")
        #expect(form["redirect_uri"]?.hasSuffix("/signed-in") == true)
        #expect(ProofKey(verifier: form["code_verifier"] ?? "").challenge == challenge.withLock { $0 })
        while visits.withLock({ $0.count }) < 5 { await Task.yield() }
        #expect(visits.withLock { $0 } == [404, 400, 400, 400, 200])
    }

    @Test func `the receiver takes one answer, and refuses other methods by closing the connection`() async throws {
        let receiver = try LoopbackReceiver(path: "/")
        let answer = Task { try await receiver.answer { $0.contains("state=1") } }
        let url = try #require(URL(string: receiver.redirectURI + "?state=1"))
        await #expect(throws: TransportError.self) {
            try await DefaultTransport.shared.send(ServiceRequest(method: .post, url: url, body: RequestBody(Data("state=1".utf8))))
        }
        #expect(try await Self.visit(receiver.redirectURI + "?state=1&code=a").status == 200)
        #expect(try await watched { try await answer.value } == "/?state=1&code=a")
        receiver.close()
    }

    @Test(arguments: [("code=a", "The program has received your sign-in."), ("error=access_denied", "The sign-in was refused.")])
    func `the page tells a sign-in from a refusal`(answer: String, text: String) async throws {
        let receiver = try LoopbackReceiver(path: "/")
        let waiting = Task { try await receiver.answer { _ in true } }
        let page = try await Self.visit(receiver.redirectURI + "?state=1&" + answer)
        #expect(page.status == 200 && page.text == text + " You can close this page.")
        _ = try await watched { try await waiting.value }
        receiver.close()
    }

    @Test(
        arguments: [
            ("", .incomplete), ("GET / HTTP/1.1\r\n", .incomplete), ("GET /?a HTTP/1.1\r\nHost: x\r\n\r\n", .get("/?a")),
            ("GET / HTTP/1.0\n\n", .get("/")), ("POST / HTTP/1.1\r\n\r\nstate=1", .invalid), ("GET /a HTTP/1.1\r\n\r\nx", .get("/a")),
            ("POST / HTTP/1.1\r\n\r\n", .invalid), ("GET ?a HTTP/1.1\r\n\r\n", .invalid),
            ("GET http://a/ HTTP/1.1\r\n\r\n", .invalid), ("\0\u{1}\r\n\r\n", .invalid), ("\r\n\r\n", .invalid),
            ("GET / x HTTP/1.1\r\n\r\n", .invalid), ("GET / HTTP/2\r\n\r\n", .invalid),
        ] as [(String, LoopbackReceiver.Request)]) func `heads of requests`(head: String, request: LoopbackReceiver.Request)
    {
        #expect(LoopbackReceiver.request(in: Array(head.utf8)) == request)
    }

    @Test func `closing the receiver and cancelling its task end the wait`() async throws {
        let receiver = try LoopbackReceiver(path: "/")
        let waiting = Task { try await receiver.answer { _ in true } }
        receiver.close()
        receiver.close()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let opened = Door()
        let client = OAuthClient.stub(server())
        let signIn = Task {
            try await OAuthGrant.authorizationCode(of: client, open: { _ in Task { await opened.pass() } }).token(replacing: nil)
        }
        await opened.wait(for: 1)
        signIn.cancel()
        await #expect(throws: CancellationError.self) { try await signIn.value }
        opened.open()
    }

    @Test(arguments: ["", "a", "/a b", "/?x", "/#", "/ä"]) func `a path that is none is an error`(path: String) {
        #expect(throws: OAuthError.self) { try LoopbackReceiver(path: path) }
    }

    // MARK: Answers

    private func signIn(
        _ server: AuthorizationServerStub, answer: @escaping @Sendable (_ state: String) -> String
    ) async throws -> BearerToken {
        var client = OAuthClient.stub(server)
        client.issuer = "https://login.test"
        return try await OAuthGrant.authorizationCode(of: client, redirect: "app:/done") { url in
            try #require(URL(string: answer(Self.query(url)["state"] ?? "")))
        }.token(replacing: nil)
    }

    @Test func `an app's own redirect is accepted with the right state and issuer only`() async throws {
        let server = server()
        #expect(try await signIn(server) { "app:/done?code=c&state=\($0)" }.value == "a1")
        #expect(server.forms.first?["redirect_uri"] == "app:/done")
        let refused: [(OAuthError.Code, @Sendable (String) -> String)] = [
            (.foreignAnswer, { _ in "app:/done?code=c&state=forged" }), (.foreignAnswer, { _ in "app:/done?code=c" }),
            (.foreignAnswer, { "app:/done?code=c&state=\($0)x" }),
            (.foreignAnswer, { "app:/done?code=c&state=\($0)&iss=https://evil.test" }),
            (.accessDenied, { "app:/done?error=access_denied&state=\($0)&error_description=The+user+refused" }),
            (.unreadableAnswer, { "app:/done?state=\($0)" }), (.unreadableAnswer, { "app:/done?code=&state=\($0)" }),
            (.unreadableAnswer, { "app:/done?code=a&code=b&state=\($0)" }), (.unreadableAnswer, { "app:/done?code=%FF&state=\($0)" }),
        ]
        for (code, answer) in refused {
            let error = await #expect(throws: OAuthError.self) { try await signIn(server, answer: answer) }
            #expect(error?.code == code, "\(String(describing: error))")
        }
        #expect(server.requests.count == 1)
    }

    @Test func `an authorization endpoint that is missing or unprotected is an error`() async throws {
        for endpoint in [nil, "http://login.test/authorize", "login"] as [String?] {
            var client = OAuthClient.stub(server())
            client.authorizationEndpoint = endpoint
            let grant = OAuthGrant.authorizationCode(of: client, open: { _ in Issue.record("it must not be opened") })
            let error = await #expect(throws: OAuthError.self) { try await grant.token(replacing: nil) }
            #expect(error?.code == .badEndpoint)
            // The mask takes text after "endpoint: " for a secret if the name has a word such as "authorization".
            #expect(error?.detail?.contains(SecretMask.mask) == false, "\(String(describing: error))")
        }
    }
}
