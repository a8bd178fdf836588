import WebServiceClient

/// A client whose service wants access tokens of OAuth 2.0: it obtains one with its own credentials, and renews it.
final class Inventory: WebServiceClient, @unchecked Sendable {
    struct Article: Decodable, Sendable {
        let id: Int
        let pieces: Int
    }

    override class var endpoints: EndpointTable {
        ["article(id:)": .get("/articles/%%id%%")]
    }

    convenience init(root: String, tokenEndpoint: String, id: String, secret: String) {
        let identity = OAuthClient(id: id, .basic(secret: secret), tokenEndpoint: tokenEndpoint)
        self.init(serviceRoot: root) {
            $0.authenticationProvider = BearerTokenProvider(.clientCredentials(of: identity, scopes: ["inventory.read"]))
            $0.queue = QueueLimits(active: 50)
        }
    }

    func article(id: Int) async throws -> Article { try await call(id) }
}
