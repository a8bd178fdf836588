import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on authentication. If one doesn't compile here, the article must change.

private struct Signer: AuthenticationProvider {
    let key: [UInt8]

    func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {
        guard let hash = try await attempt.bodySHA256() else {
            throw AuthenticationError(.bodyNotReplayable, message: "The body can be read only once: create it from Data or a file.")
        }
        let host = attempt.sentFields["Host"] ?? ""
        let text = "\(attempt.request.method) \(attempt.request.target) \(host) \(MessageDigest.hexadecimal(hash))"
        attempt.request.headers["X-Signature"] = MessageDigest.hexadecimal(MessageDigest.hmacSHA256(of: text.utf8, key: key))
    }

    func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool { false }
}

private protocol Mechanism: Sendable {
    func message(after challenge: String?, round: Int) async throws -> String?
}

private struct Negotiating: AuthenticationProvider {
    let mechanism: any Mechanism

    func authorize(_ attempt: inout AuthenticationAttempt, context: CallContext) async throws {}

    func respond(
        to challenges: [AuthenticationChallenge], response: TransportResponse, attempt: inout AuthenticationAttempt, context: CallContext
    ) async throws -> Bool {
        guard let challenge = challenges.first(where: { $0.isScheme("NTLM") }), attempt.canRepeat,
            let message = try await mechanism.message(after: challenge.token68, round: attempt.round)
        else { return false }
        attempt.request.headers[attempt.target.credentialsField] = "NTLM \(message)"
        return true
    }
}

private actor Sessions: TokenSource {
    func token(replacing old: BearerToken?) async throws -> BearerToken { BearerToken("session", lifetime: .seconds(1800)) }
}

@Suite struct AuthenticationSampleTests {
    private func client(_ stub: StubTransport, _ provider: any AuthenticationProvider) -> WebServiceClient {
        WebServiceClient(serviceRoot: "https://shop.example.com/v1") {
            $0.authenticationProvider = provider
            $0.transport = stub
        }
    }

    @Test func `keys, tokens and sessions are sent`() async throws {
        let stub = StubTransport()
        stub.fallback(.status(200))
        let providers: [any AuthenticationProvider] = [
            APIKeyProvider(header: "X-Api-Key", key: "k"), APIKeyProvider(query: "api_key", key: "k"),
            APIKeyProvider(header: "X-Tableau-Auth") { refused in refused ?? "k" }, BearerTokenProvider(token: "t"),
            BearerTokenProvider { old in BearerToken(old?.value ?? "t", lifetime: .seconds(3600)) }, BearerTokenProvider(Sessions()),
        ]
        for provider in providers { try await client(stub, provider).http.request(.get, "/a").send() }
        let requests = stub.requests.map(\.request)
        #expect(requests.map { $0.headers[.authorization] } == [nil, nil, nil, "Bearer t", "Bearer t", "Bearer session"])
        #expect(requests[0].headers["X-Api-Key"] == "k" && requests[2].headers["X-Tableau-Auth"] == "k")
        #expect(requests[1].url.absoluteString == "https://shop.example.com/v1/a?api_key=k")
    }

    @Test func `a client of OAuth 2.0 and its grants`() async throws {
        let login = StubTransport()
        login.on(.post, "/token", .json(#"{"access_token":"a1","refresh_token":"r1","expires_in":3600}"#))
        login.on(.post, "/revoke", .status(200))
        var identity = OAuthClient(id: "shop", .basic(secret: "s"), tokenEndpoint: "https://login.example.com/token")
        identity.deviceAuthorizationEndpoint = "https://login.example.com/device"
        identity.authorizationEndpoint = "https://login.example.com/authorize"
        identity.revocationEndpoint = "https://login.example.com/revoke"
        identity.transport = login
        _ = BearerTokenProvider(.device(of: identity) { prompt in print("Open \(prompt.verificationURL) and enter \(prompt.userCode)") })
        _ = BearerTokenProvider(.authorizationCode(of: identity) { url in _ = url })
        let folder = TemporaryFolder()
        let store = FileTokenStore(folder.url.appending(path: "session.json"))
        for provider in [
            BearerTokenProvider(.clientCredentials(of: identity, scopes: ["orders.read"])),
            BearerTokenProvider(.refreshToken("r0", of: identity), store: store),
        ] {
            #expect(try await provider.token().value == "a1")
            try await provider.signOut()
        }
        #expect(login.requests.map { $0.request.url.path() } == ["/token", "/revoke", "/token", "/revoke"])
    }

    @Test func `own schemes sign and negotiate`() async throws {
        struct Counting: Mechanism {
            func message(after challenge: String?, round: Int) async throws -> String? { round < 2 ? "message\(round)" : nil }
        }
        let stub = StubTransport()
        stub.fallback(.status(200))
        try await client(stub, Signer(key: [1])).http.request(.get, "/a").send()
        #expect(stub.requests.first?.request.headers["X-Signature"]?.utf8.count == 64)
        stub.forgetRequests()
        stub.fallback(
            .inTurn(
                .status(401, headers: ["WWW-Authenticate": "NTLM"]), .status(401, headers: ["WWW-Authenticate": "NTLM TlRM"]), .status(200))
        )
        try await client(stub, Negotiating(mechanism: Counting())).http.request(.get, "/a").send()
        #expect(stub.requests.map { $0.request.headers[.authorization] } == [nil, "NTLM message0", "NTLM message1"])
    }
}
