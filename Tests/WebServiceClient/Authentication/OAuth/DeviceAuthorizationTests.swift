import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

/// The device flow (RFC 8628), on a clock that jumps.
@Suite struct DeviceAuthorizationTests {
    private let clock = HandClock(jumps: true)
    private static let codes =
        #"{"device_code":"d3vice","user_code":"WDJB-MJHT","verification_uri":"https://login.test/device","expires_in":1800}"#
    private static let token = #"{"access_token":"a1","token_type":"Bearer","refresh_token":"r1"}"#

    private typealias Answer = @Sendable () throws -> TransportResponse

    private func client(codes: String = codes, _ answers: [Answer]) -> (OAuthClient, AuthorizationServerStub) {
        let server = AuthorizationServerStub { _, number in
            number == 0 ? .json(200, codes) : answers.isEmpty ? .stub(500) : try answers[min(number, answers.count) - 1]()
        }
        return (.stub(server, clock: clock), server)
    }

    private func token(_ client: OAuthClient, _ prompt: @escaping @Sendable (DevicePrompt) -> Void = { _ in }) async throws -> BearerToken {
        try await OAuthGrant.device(of: client, scopes: ["a", "b"], prompt: { prompt($0) }).token(replacing: nil)
    }

    @Test func `pending is waited for, and slow_down lengthens the interval for good`() async throws {
        let (client, server) = client([
            { .error("authorization_pending") }, { .error("slow_down") }, { .error("authorization_pending", 200) },
            { .json(200, Self.token) },
        ])
        let prompts = Locked<[DevicePrompt]>([])
        let token = try await token(client) { prompt in prompts.withLock { $0.append(prompt) } }
        #expect(token.value == "a1" && token.refreshToken == "r1")
        #expect(clock.waits == [.seconds(5), .seconds(5), .seconds(10), .seconds(10)])
        let prompt = try #require(prompts.withLock { $0 }.first)
        #expect(prompt.userCode == "WDJB-MJHT" && prompt.verificationURL.absoluteString == "https://login.test/device")
        #expect(prompt.completeURL == nil && prompt.lifetime == .seconds(1800))
        #expect(server.forms[0] == ["client_id": "shop", "scope": "a b"])
        #expect(server.requests[0].request.url.path() == "/device")
        #expect(
            server.forms[1] == [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "d3vice", "client_id": "shop",
            ])
    }

    @Test func `failures of the network and the server double the interval`() async throws {
        let (client, _) = client([
            { throw TransportError(.timedOutWaiting, "late") }, { .stub(503) }, { .error("temporarily_unavailable", 503) },
            { .json(200, Self.token) },
        ])
        _ = try await token(client)
        #expect(clock.waits == [5, 10, 20, 40].map { Duration.seconds($0) })
    }

    @Test func `a server that asks to wait isn't polled before`() async throws {
        let (client, _) = client([
            { .stub(429, ["Retry-After": "30"]) }, { .stub(503, ["Retry-After": "1"]) }, { .json(200, Self.token) },
        ])
        _ = try await token(client)
        #expect(clock.waits == [5, 30, 60].map { Duration.seconds($0) })
    }

    @Test func `polling ends when the codes expire`() async throws {
        let (client, server) = client([{ .error("authorization_pending") }])
        let error = await #expect(throws: OAuthError.self) { try await token(client) }
        #expect(error?.code == .expiredToken)
        #expect(server.requests.count == 360)
    }

    @Test(arguments: ["access_denied", "expired_token", "invalid_grant", "invalid_client"])
    func `any other error ends it`(code: String) async throws {
        let (client, server) = client([{ .error("authorization_pending") }, { .error(code) }])
        let error = await #expect(throws: OAuthError.self) { try await token(client) }
        #expect(error?.code.rawValue == code && server.requests.count == 3)
    }

    @Test(arguments: [
        (#","interval":2"#, 2), (#","interval":"7""#, 7), (#","interval":0"#, 5), (#","interval":-3"#, 5), (#","interval":0.01"#, 1),
        (#","interval":1e300"#, 300), (#","interval":null"#, 5),
    ]) func `the interval is what the server asks for, within bounds`(member: String, seconds: Int) async throws {
        let (client, _) = client(codes: String(Self.codes.dropLast()) + member + "}", [{ .json(200, Self.token) }])
        _ = try await token(client)
        #expect(clock.waits == [.seconds(seconds)])
    }

    @Test(arguments: [
        "{}", #"{"device_code":"d","user_code":"u"}"#, #"{"device_code":"d","user_code":"u","verification_uri":"javascript:alert(1)"}"#,
        #"{"device_code":"d","user_code":"u","verification_uri":"file:///etc/passwd"}"#,
        #"{"user_code":"u","verification_uri":"https://login.test"}"#,
    ]) func `an answer without codes, or with another address than a web page's, is refused`(answer: String) async throws {
        let (client, _) = client(codes: answer, [])
        let error = await #expect(throws: OAuthError.self) { try await token(client) }
        #expect(error?.code == .unreadableAnswer)
    }

    @Test func `a complete address of another scheme is left out, and the draft's name is read`() async throws {
        let (client, _) = client(
            codes: #"{"device_code":"d","user_code":"u","verification_url":"https://a.test","verification_uri_complete":"tel:1"}"#,
            [{ .json(200, Self.token) }])
        let prompts = Locked<[DevicePrompt]>([])
        _ = try await token(client) { prompt in prompts.withLock { $0.append(prompt) } }
        #expect(prompts.withLock { $0.first?.completeURL } == nil)
        #expect(prompts.withLock { $0.first?.lifetime } == .seconds(300))
    }

    @Test func `with a refresh token the user isn't asked, until it isn't valid any more`() async throws {
        let server = AuthorizationServerStub { form, _ in
            if form["grant_type"] == "refresh_token" {
                return form["refresh_token"] == "good" ? .json(200, #"{"access_token":"fresh"}"#) : .error("invalid_grant")
            }
            return .json(200, form["device_code"] == nil ? Self.codes : Self.token)
        }
        let asked = Locked(0)
        let grant = OAuthGrant.device(of: .stub(server, clock: clock)) { _ in asked.withLock { $0 += 1 } }
        #expect(try await grant.token(replacing: BearerToken("x", refreshToken: "good")).value == "fresh")
        #expect(asked.withLock { $0 } == 0)
        #expect(try await grant.token(replacing: BearerToken("x", refreshToken: "bad")).value == "a1")
        #expect(asked.withLock { $0 } == 1)
    }

    @Test func `a missing endpoint is an error with its fix, and cancelling ends the wait`() async throws {
        var client = OAuthClient(id: "a", tokenEndpoint: "https://login.test/token")
        let incomplete = client
        let error = await #expect(throws: OAuthError.self) { try await token(incomplete) }
        #expect(error?.description.contains("deviceAuthorizationEndpoint") == true)
        // The first poll is 20 minutes away, so that the wait doesn't end by itself on a busy machine.
        let server = AuthorizationServerStub { _, _ in .json(200, Self.codes.dropLast() + #","interval":1200}"#) }
        client.deviceAuthorizationEndpoint = "https://login.test/device"
        client.transport = server
        let asked = Door()
        let waiting = Task { [client] in
            try await OAuthGrant.device(of: client, prompt: { _ in Task { await asked.pass() } }).token(replacing: nil)
        }
        await asked.wait(for: 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        asked.open()
    }
}
