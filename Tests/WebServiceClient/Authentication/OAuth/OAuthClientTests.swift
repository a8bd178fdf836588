import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// Token requests and their answers (RFC 6749, RFC 7009).
@Suite struct OAuthClientTests {
    private static let token = #"{"access_token":"a1","token_type":"Bearer","expires_in":3600}"#

    private func server(_ answer: TransportResponse = .json(200, token)) -> AuthorizationServerStub {
        AuthorizationServerStub { _, _ in answer }
    }

    private func obtained(_ answer: TransportResponse) async throws -> BearerToken {
        try await OAuthGrant.clientCredentials(of: .stub(server(answer), .basic(secret: "hunter22"))).token(replacing: nil)
    }

    // MARK: Requests

    @Test func `client credentials: the form and the fields`() async throws {
        let server = server()
        var client = OAuthClient.stub(server, .body(secret: "s&="))
        client.parameters = ["audience": "https://api.test/"]
        let grant = OAuthGrant.clientCredentials(of: client, scopes: ["a", "b"])
        let token = try await grant.token(replacing: BearerToken("old", refreshToken: "r"))
        #expect(token.value == "a1" && token.lifetime == .seconds(3600) && token.refreshToken == nil)
        let request = try #require(server.requests.first)
        #expect(request.request.method == .post && request.request.url.absoluteString == "https://login.test/token")
        #expect(request.request.headers[.accept] == "application/json" && request.request.headers[.authorization] == nil)
        #expect(request.request.body?.contentType == "application/x-www-form-urlencoded")
        #expect(
            request.form == [
                "grant_type": "client_credentials", "scope": "a b", "audience": "https://api.test/", "client_id": "shop",
                "client_secret": "s&=",
            ])
    }

    /// RFC 6749 §2.3.1 requires form encoding before Basic.
    @Test func `Basic encodes identifier and secret first, or leaves them as they are`() async throws {
        for (authentication, pair) in [
            (OAuthClient.Authentication.basic(secret: "p%+ä &"), "a%2Bb%3Ac%20d:p%25%2B%C3%A4%20%26"),
            (.basicUnencoded(secret: "p%+ä &"), "a+b:c d:p%+ä &"),
        ] {
            let server = server()
            _ = try await OAuthGrant.clientCredentials(of: .stub(server, id: "a+b:c d", authentication)).token(replacing: nil)
            let value = try #require(server.requests.first?.request.headers[.authorization])
            #expect(value == "Basic " + Data(pair.utf8).base64EncodedString())
            #expect(server.forms.first?["client_id"] == nil && server.forms.first?["client_secret"] == nil)
        }
    }

    @Test func `mutual TLS presents the certificate, and a transport without it sends nothing`() async throws {
        let identity = try ClientIdentity.pem(chain: Data(SampleCertificate.pem.utf8), key: Data(SampleCertificate.key.utf8))
        let server = server()
        var client = OAuthClient.stub(server, .mutualTLS(identity))
        _ = try await OAuthGrant.clientCredentials(of: client).token(replacing: nil)
        #expect(server.requests.first?.request.trust?.identity == identity)
        #expect(server.forms.first?["client_id"] == "shop")
        let plain = AuthorizationServerStub(capabilities: []) { _, _ in .json(200, Self.token) }
        client.transport = plain
        let grant = OAuthGrant.clientCredentials(of: client)
        let error = await #expect(throws: TransportError.self) {
            try await grant.token(replacing: nil)
        }
        #expect(error?.code == .unsupported && plain.requests.isEmpty)
    }

    @Test func `an assertion is made for each request`() async throws {
        let server = server()
        let count = Locked(0)
        let client = OAuthClient.stub(
            server,
            .assertion { audience in
                #expect(audience == "https://login.test/token")
                return "jwt\(count.withLock { $0 += 1; return $0 })"
            })
        for _ in 0..<2 { _ = try await OAuthGrant.clientCredentials(of: client).token(replacing: nil) }
        #expect(server.forms.map { $0["client_assertion"] } == ["jwt1", "jwt2"])
        #expect(server.forms.first?["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
    }

    // MARK: Answers

    @Test(
        arguments: [
            (#"{"access_token":"a","token_type":"bearer"}"#, nil), (#"{"access_token":"a","token_type":"BEARER","expires_in":"60"}"#, 60),
            (#"{"access_token":"a","expires_in":0.5}"#, 0.5), (#"{"access_token":"a","expires_in":0}"#, nil),
            (#"{"access_token":"a","expires_in":-5}"#, nil), (#"{"access_token":"a","expires_in":"soon"}"#, nil),
            (#"{"access_token":"a","expires_in":"nan"}"#, nil), (#"{"access_token":"a","expires_in":"inf"}"#, 100 * 366 * 86_400),
            (#"{"access_token":"a","expires_in":1e300}"#, 100 * 366 * 86_400), (#"{"access_token":"a","expires_in":null}"#, nil),
            (#"{"access_token":"a","expires_in":[1]}"#, nil), (#"{"access_token":"a","token_type":"","expires_in":"5"}"#, 5),
        ] as [(String, Double?)]) func `lifetimes of any kind are read`(answer: String, seconds: Double?) async throws
    {
        #expect(try await obtained(.json(200, answer)).lifetime.map { $0 / .seconds(1) } == seconds)
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"access_token":""}"#, #"{"access_token":1}"#, #"{"access_token":"a","token_type":"DPoP"}"#,
        "<html>hunter22</html>", #"{"access_token":"a""#,
    ]) func `what is no token is an error`(answer: String) async throws {
        let error = await #expect(throws: OAuthError.self) { try await obtained(.json(200, answer)) }
        #expect(error?.code == .unreadableAnswer, "\(String(describing: error))")
    }

    @Test func `an error is read whatever its status, and an empty refusal is one too`() async throws {
        let told = #"{"error":"invalid_client","error_description":"Unknown client","error_uri":"https://login.test/help"}"#
        for status in [200, 400, 401] {
            let error = await #expect(throws: OAuthError.self) { try await obtained(.json(status, told)) }
            #expect(error?.code == .invalidClient && error?.status == status && error?.detail == "Unknown client")
            #expect(error?.uri == "https://login.test/help")
        }
        for (nested, code) in [
            (#"{"error":{"message":"Unknown code","type":"OAuthException","code":190}}"#, "OAuthException"),
            (#"{"error":{"message":"Unknown code","status":"INVALID_ARGUMENT","code":400}}"#, "INVALID_ARGUMENT"),
            (#"{"error":{"message":"Unknown code","code":400}}"#, "refused"),
        ] {
            let error = await #expect(throws: OAuthError.self) { try await obtained(.json(400, nested)) }
            #expect(error?.code.rawValue == code && error?.detail == "Unknown code")
        }
        for status in [400, 403, 500, 503] {
            let error = await #expect(throws: OAuthError.self) { try await obtained(.stub(status)) }
            #expect(error?.code == .refused && error?.status == status)
        }
    }

    @Test func `older servers answer with a form`() async throws {
        func form(_ status: Int, _ text: String) -> TransportResponse {
            .stub(status, ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"], ResponseBody(Data(text.utf8)))
        }
        let token = try await obtained(form(200, "access_token=a%2B1&token_type=bearer&expires_in=60&scope=x+y"))
        #expect(token.value == "a+1" && token.lifetime == .seconds(60) && token.scopes == ["x", "y"])
        for status in [200, 400] {
            let error = await #expect(throws: OAuthError.self) {
                try await obtained(form(status, "error=invalid_grant&error_description=No+hunter22"))
            }
            #expect(error?.code == .invalidGrant && error?.detail?.hasPrefix("No ") == true && error?.detail?.contains("hunter22") == false)
        }
        let empty = await #expect(throws: OAuthError.self) { try await obtained(form(200, "")) }
        #expect(empty?.code == .unreadableAnswer)
    }

    @Test func `a page in place of an answer is a refusal, and a fault of the server is told as one`() async throws {
        for (status, advice) in [(400, "check the client's identifier"), (502, "try again later"), (429, "try again later")] {
            let page = TransportResponse.stub(status, ["Content-Type": "text/html"], ResponseBody(Data("<p>error=invalid_grant</p>".utf8)))
            let error = await #expect(throws: OAuthError.self) { try await obtained(page) }
            #expect(error?.code == .refused && error?.status == status && error?.detail?.contains(advice) == true)
        }
    }

    @Test func `a server that repeats secrets doesn't get them into errors, and long texts are cut`() async throws {
        let basic = Data("shop:hunter22".utf8).base64EncodedString()
        let long = String(repeating: "x", count: 90_000)
        let text =
            #"{"error":"invalid_hunter22","error_description":"hunter22 \#(basic) \n\#(long)","#
            + #""error_uri":"https://login.test/?secret=hunter22"}"#
        let error = await #expect(throws: OAuthError.self) { try await obtained(.json(400, text)) }
        let shown = "\(String(describing: error)) \(error?.code.rawValue ?? "") \(error?.uri ?? "")"
        #expect(!shown.contains("hunter22") && !shown.contains(basic) && shown.utf8.count < 4_000, "\(shown)")
    }

    /// Cut before it is masked, the beginning of a long secret would be shown.
    @Test func `a server that repeats long secrets doesn't get parts of them into errors`() async throws {
        for length in [70, 1_500, 6_000] {
            let secret = (0..<length / 5).map { String($0 + 20_000) }.joined()
            let text = Array(repeating: secret, count: 8_000 / length + 1).joined(separator: " ")
            let answer = TransportResponse.json(
                400,
                #"{"error":"\#(text)","error_description":"\#(text)","error_uri":"https://login.test/\#(text.replacing(" ", with: "/"))"}"#)
            let error = await #expect(throws: OAuthError.self) {
                try await OAuthGrant.refreshToken(secret, of: .stub(server(answer))).token(replacing: nil)
            }
            let shown = "\(String(describing: error)) \(error?.code.rawValue ?? "") \(error?.uri ?? "")"
            #expect(!shown.contains(secret.prefix(10)), "\(length): \(shown)")
        }
    }

    @Test(
        arguments: [
            (429, "17", 17), (503, "3", 3), (503, "Wed, 21 Oct 2099 07:28:00 GMT", 3_600), (429, "soon", nil), (400, "17", nil),
        ] as [(Int, String, Int?)]) func `an error has the wait that the server asks for`(status: Int, field: String, seconds: Int?)
        async throws
    {
        for body in ["", #"{"error":"temporarily_unavailable"}"#] {
            let answer = TransportResponse.stub(status, ["Retry-After": field], ResponseBody(Data(body.utf8)))
            let error = await #expect(throws: OAuthError.self) { try await obtained(answer) }
            #expect(error?.retryAfter == seconds.map { .seconds($0) })
            if let seconds, seconds < 60, body.isEmpty {
                #expect(error?.detail?.contains("wait for \(seconds) s") == true, "\(error?.detail ?? "")")
            }
        }
    }

    @Test func `a server that repeats secrets in other encodings or places doesn't get them into errors`() async throws {
        for (status, answer) in [
            (400, #"{"error":"x","error_description":"hunter%7E22+%2Fx, hunter%7E22%20%2Fx, hunter~22%20%2Fx, hunter~22 \/x"}"#),
            (200, #"{"access_token":"opaque-1","token_type":"hunter~22 \/x"}"#),
            (200, #"{"access_token":"opaque-1","token_type":"opaque-1"}"#),
        ] {
            let error = await #expect(throws: OAuthError.self) {
                try await OAuthGrant.clientCredentials(of: .stub(server(.json(status, answer)), .body(secret: "hunter~22 /x")))
                    .token(replacing: nil)
            }
            let shown = String(describing: error)
            #expect(["hunter", "opaque"].allSatisfy { !shown.contains($0) } && shown.contains("<masked>"), "\(shown)")
        }
    }

    @Test func `an answer that is too large is refused`() async throws {
        let body = ResponseBody(Data(repeating: 0x20, count: 300 * 1024))
        let error = await #expect(throws: OAuthError.self) { try await obtained(.stub(200, [:], body)) }
        #expect(error?.code == .unreadableAnswer)
    }

    // MARK: Hostile endpoints

    @Test(arguments: [301, 302, 303, 307, 308]) func `a token endpoint that redirects elsewhere gets nothing more`(status: Int) async throws
    {
        for location in ["https://evil.test/token", "/other", "http://login.test/token", ":::", ""] {
            let server = server(.stub(status, ["Location": location]))
            let error = await #expect(throws: OAuthError.self) {
                try await OAuthGrant.clientCredentials(of: .stub(server, .body(secret: "hunter22"))).token(replacing: nil)
            }
            #expect(error?.code == .redirected && server.requests.count == 1)
        }
    }

    @Test(arguments: [
        ("http://login.test/token", false), ("http://127.0.0.1:8080/token", true), ("http://[::1]/token", true),
        ("http://localhost/token", true), ("https://login.test/token", true), ("ftp://login.test/token", false), ("/token", false),
        ("", false), ("https://a:b@login.test/token", false), ("https://login.test/token#x", false), ("http://127.0.0.1.evil.test/", false),
        ("http://localhost.evil.test/", false),
    ]) func `endpoints are protected, or on this machine`(endpoint: String, isAccepted: Bool) async throws {
        let server = server()
        var client = OAuthClient.stub(server, .body(secret: "hunter22"))
        client.tokenEndpoint = endpoint
        let grant = OAuthGrant.clientCredentials(of: client)
        if isAccepted {
            _ = try await grant.token(replacing: nil)
        } else {
            let error = await #expect(throws: OAuthError.self) { try await grant.token(replacing: nil) }
            #expect(error?.code == .badEndpoint && server.requests.isEmpty)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-9), .seconds(Int64.max), .seconds(Int64.min)]) func `no time limit traps`(limit: Duration)
        async
    {
        var client = OAuthClient.stub(server())
        client.timeout = limit
        _ = try? await OAuthGrant.clientCredentials(of: client).token(replacing: nil)
        #expect(OAuthGrant.clientCredentials(of: client).timeLimit > .zero)
    }

    // MARK: Refreshing

    @Test func `refreshing keeps the refresh token and the scopes, unless the answer has others`() async throws {
        let server = AuthorizationServerStub { _, number in
            number == 0
                ? .json(200, #"{"access_token":"a2"}"#) : .json(200, #"{"access_token":"a3","refresh_token":"r2","scope":"x y"}"#)
        }
        let grant = OAuthGrant.refreshToken(of: .stub(server))
        let first = try await grant.token(replacing: BearerToken("a1", refreshToken: "r1", scopes: ["s"]))
        #expect(first.refreshToken == "r1" && first.scopes == ["s"])
        let second = try await grant.token(replacing: first)
        #expect(second.refreshToken == "r2" && second.scopes == ["x", "y"])
        #expect(server.forms.first == ["grant_type": "refresh_token", "refresh_token": "r1", "client_id": "shop"])
    }

    @Test func `a saved refresh token is used once, and then those that the server sent`() async throws {
        let server = AuthorizationServerStub { form, number in
            number == 0 ? .json(200, #"{"access_token":"a1","refresh_token":"r1"}"#) : .error("invalid_grant")
        }
        let provider = BearerTokenProvider(.refreshToken("r0", of: .stub(server)))
        #expect(try await provider.token().value == "a1")
        let api = StubServer { _, _ in .stub(401) }
        await #expect(throws: OAuthError.self) { try await api.send(provider) }
        #expect(server.forms.map { $0["refresh_token"] } == ["r0", "r1"])
        let none = OAuthGrant.refreshToken(of: .stub(server))
        let error = await #expect(throws: OAuthError.self) { try await none.token(replacing: nil) }
        #expect(error?.code == .signInRequired && server.requests.count == 2)
        #expect(error?.detail == "There is no refresh token, so the user must sign in.")
    }

    @Test func `a saved refresh token is tried after a stored one was refused`() async throws {
        let server = AuthorizationServerStub { form, _ in
            form["refresh_token"] == "new" ? .json(200, #"{"access_token":"a1"}"#) : .error("invalid_grant")
        }
        let grant = OAuthGrant.refreshToken("new", of: .stub(server))
        await #expect(throws: OAuthError.self) { try await grant.token(replacing: BearerToken("a0", refreshToken: "stored")) }
        #expect(try await grant.token(replacing: nil).value == "a1")
        #expect(server.forms.map { $0["refresh_token"] } == ["stored", "new"])
    }

    @Test func `a saved refresh token outlives failures of the network and of the server`() async throws {
        let server = AuthorizationServerStub { _, number in
            switch number {
            case 0: throw TransportError(.cannotConnect, "no network")
            case 1: return .stub(503)
            case 2: return .json(200, #"{"access_token":"a1","refresh_token":"r1"}"#)
            default: return .error("invalid_grant")
            }
        }
        let grant = OAuthGrant.refreshToken("r0", of: .stub(server))
        await #expect(throws: TransportError.self) { try await grant.token(replacing: nil) }
        let busy = await #expect(throws: OAuthError.self) { try await grant.token(replacing: nil) }
        #expect(busy?.code == .refused)
        #expect(try await grant.token(replacing: nil).refreshToken == "r1")
        #expect(server.forms.map { $0["refresh_token"] } == ["r0", "r0", "r0"])
        // Now it is used up: the server has replaced it.
        let over = await #expect(throws: OAuthError.self) { try await grant.token(replacing: nil) }
        #expect(over?.code == .signInRequired && server.requests.count == 3)
        // A token that the server refuses isn't sent again.
        let refused = OAuthGrant.refreshToken("r9", of: .stub(server))
        let error = await #expect(throws: OAuthError.self) { try await refused.token(replacing: nil) }
        #expect(error?.code == .invalidGrant)
        let again = await #expect(throws: OAuthError.self) { try await refused.token(replacing: nil) }
        #expect(again?.code == .signInRequired && server.requests.count == 4)
    }

    @Test func `a stored session outlives a failed first refresh`() async throws {
        let stored = BearerToken("a1", lifetime: .seconds(1), issuedAt: .distantPast, refreshToken: "r1")
        let grants: [@Sendable (OAuthClient) -> OAuthGrant] = [
            { .refreshToken(of: $0) }, { .device(of: $0) { _ in Issue.record("The user must not sign in again.") } },
        ]
        for grant in grants {
            let server = AuthorizationServerStub { _, number in
                guard number > 0 else { throw TransportError(.cannotConnect, "no network") }
                return .json(200, #"{"access_token":"a2","refresh_token":"r2"}"#)
            }
            let clock = HandClock()
            let provider = clock.provide {
                BearerTokenProvider(grant(.stub(server, clock: clock)), store: MemoryTokenStore(stored))
            }
            await #expect(throws: TransportError.self) { try await provider.token() }
            // Within a second, calls get the last failure.
            clock.advance(by: .seconds(2))
            #expect(try await provider.token().value == "a2")
            #expect(server.forms.map { $0["refresh_token"] } == ["r1", "r1"])
        }
    }

    @Test func `cancelling a refresh doesn't lose its answer`() async throws {
        let door = Door()
        let server = AuthorizationServerStub { _, _ in
            await door.pass()
            try Task.checkCancellation()
            return .json(200, #"{"access_token":"a2","refresh_token":"r2"}"#)
        }
        let store = MemoryTokenStore(BearerToken("a1", lifetime: .seconds(1), issuedAt: .distantPast, refreshToken: "r1"))
        let provider = BearerTokenProvider(.refreshToken(of: .stub(server)), store: store)
        let call = Task { try await provider.token() }
        await door.wait(for: 1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        door.open()
        #expect(try await watched { try await provider.token().value } == "a2")
        #expect(await store.load()?.refreshToken == "r2")
        #expect(server.requests.count == 1)
    }

    @Test func `a request that the server hasn't processed is sent once more, any other isn't`() async throws {
        for (isUnprocessed, count) in [(true, 2), (false, 1)] {
            let server = AuthorizationServerStub { _, _ in
                var error = TransportError(.connectionLost, "lost")
                error.isUnprocessed = isUnprocessed
                error.isConnectionStale = true
                throw error
            }
            await #expect(throws: TransportError.self) {
                try await OAuthGrant.refreshToken("r", of: .stub(server)).token(replacing: nil)
            }
            #expect(server.requests.count == count)
        }
    }

    // MARK: Revocation

    @Test func `revoking names the refresh token, or the access token`() async throws {
        let server = server(.stub(200))
        let client = OAuthClient.stub(server, .body(secret: "s"))
        try await client.revoke(BearerToken("a", refreshToken: "r"))
        try await client.revoke(BearerToken("a"))
        #expect(server.forms.map { $0["token"] } == ["r", "a"])
        #expect(server.forms.map { $0["token_type_hint"] } == ["refresh_token", "access_token"])
        #expect(server.requests.first?.request.url.absoluteString == "https://login.test/revoke")
        let busy = self.server(.stub(503))
        await #expect(throws: OAuthError.self) { try await OAuthClient.stub(busy).revoke(BearerToken("a")) }
        var without = OAuthClient.stub(busy)
        without.revocationEndpoint = nil
        try await without.revoke(BearerToken("a"))
        #expect(busy.requests.count == 1)
    }
}
