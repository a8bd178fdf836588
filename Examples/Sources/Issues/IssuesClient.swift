import Foundation
import WebServiceClient

/// A client of GitHub's kind: pages by the `Link` field, conditional requests, typed errors, and a rate limit.
final class GitHub: WebServiceClient, @unchecked Sendable {
    struct Issue: Decodable, Sendable {
        let number: Int
        let title: String
        let createdAt: Date
    }

    struct NewIssue: Encodable, Sendable {
        let title: String
        var labels: [String] = []
    }

    struct Filter: Encodable, Sendable {
        var state = "open"
        var labels: [String] = []
        var perPage = 100
    }

    /// The body of a failure.
    struct Failure: Decodable, Sendable {
        let message: String
        let errors: [Reason]?

        struct Reason: Decodable, Sendable {
            let field: String
            let code: String
        }
    }

    override class var endpoints: EndpointTable {
        [
            "issues(owner:name:filter:)": .get("/repos/%%owner%%/%%name%%/issues").query(.argument("filter")).arrays(.comma)
                .paged(by: .linkHeader),
            "createIssue(owner:name:issue:)": .post("/repos/%%owner%%/%%name%%/issues").accepting(.created),
        ]
    }

    override class var defaults: EndpointDefaults {
        EndpointDefaults(
            headers: ["Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"],
            errorHandler: .decoding(Failure.self))
    }

    convenience init(root: String = "https://api.github.com", token: String, cache: ResponseCache) {
        self.init(serviceRoot: root) {
            $0.authenticationProvider = BearerTokenProvider(token: token)
            $0.serializer = JSONSerializer(keys: .snakeCase)
            $0.cache = cache
            $0.retry = .standard
            $0.retry.limits = [.gitHub]
        }
    }

    func issues(owner: String, name: String, filter: Filter = Filter()) async throws -> Items<Issue> { try await call(owner, name, filter) }
    func createIssue(owner: String, name: String, issue: NewIssue) async throws -> Issue { try await call(owner, name, issue) }
}
