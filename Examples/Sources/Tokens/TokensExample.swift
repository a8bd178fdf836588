import WebServiceClient
import WebServiceTesting

enum TokensExample: Example {
    static let name = "tokens"
    static let summary = "OAuth client credentials: 200 concurrent calls share one token request"

    static func run() async throws {
        let service = TokenService()
        let server = try service.start()
        let root = server.url.absoluteString
        let inventory = Inventory(root: root + "/v1", tokenEndpoint: root + "/token", id: "shop", secret: "s3cret")

        // No call has a token at first.
        try await expectArticles(of: inventory)
        ExampleRun.show("200 calls, \(service.tokens) token")
        try ExampleRun.expect(service.tokens == 1 && service.refused == 0, "one token for 200 calls, found \(service.tokens)")

        // The server forgets the token. Calls that it refuses wait for one new token, and are sent again.
        service.revoke()
        try await expectArticles(of: inventory)
        ExampleRun.show("200 calls after the token was revoked: \(service.refused) refused and repeated, \(service.tokens - 1) new token")
        try ExampleRun.expect(service.tokens == 2 && service.refused > 0, "one new token, found \(service.tokens - 1)")

        // Wrong credentials are the authorization server's error.
        let stranger = Inventory(root: root + "/v1", tokenEndpoint: root + "/token", id: "shop", secret: "guessed")
        let error = try await ExampleRun.failure(ServiceError.self) { _ = try await stranger.article(id: 1) }
        ExampleRun.show(error.message)
        try ExampleRun.expect((error.cause as? OAuthError)?.code == .invalidClient, "invalid_client, found \(error)")
    }

    private static func expectArticles(of inventory: Inventory) async throws {
        let pieces = try await withThrowingTaskGroup(of: Int.self) { group in
            for id in 1...200 { group.addTask { try await inventory.article(id: id).pieces } }
            return try await group.reduce(0, +)
        }
        try ExampleRun.expect(pieces == 20_100, "the sum of all articles, found \(pieces)")
    }
}

/// A service with its authorization server. Only the newest token is valid.
private final class TokenService: Sendable {
    private struct State {
        var tokens = 0
        var valid = ""
        var refused = 0
    }

    private let state = Guarded(State())

    var tokens: Int { state.withLock { $0.tokens } }
    var refused: Int { state.withLock { $0.refused } }

    func revoke() {
        state.withLock { $0.valid = "" }
    }

    func start() throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.on("POST", "/token") { self.token(for: $0).delayed(by: .milliseconds(50)) }
            routes.guarded(by: LoopbackGuard { self.refusal(of: $0) }) { routes in
                routes.get("/v1/articles/:id") { request in
                    let id = request.parameters["id"] ?? ""
                    return .json(#"{"id": \#(id), "pieces": \#(id)}"#)
                }
            }
        }
    }

    private func token(for request: LoopbackRequest) -> LoopbackResponse {
        guard let (id, secret) = request.basicCredentials, (id, secret) == ("shop", "s3cret") else {
            return .json(#"{"error": "invalid_client", "error_description": "The secret is wrong."}"#, status: 401)
        }
        let token = state.withLock { state in
            state.tokens += 1
            state.valid = "token-\(state.tokens)"
            return state.valid
        }
        return .json(#"{"access_token": "\#(token)", "token_type": "Bearer", "expires_in": 3600, "scope": "inventory.read"}"#)
    }

    private func refusal(of request: LoopbackRequest) -> LoopbackResponse? {
        state.withLock { state in
            if !state.valid.isEmpty, request.fields["Authorization"] == "Bearer \(state.valid)" { return nil }
            state.refused += 1
            return .unauthorized(#"Bearer error="invalid_token""#).delayed(by: .milliseconds(20))
        }
    }
}
