import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the articles on pages, errors and forms.

private struct Issue: Decodable, Sendable {
    let id: Int
}

private struct EventFilter: Encodable, Sendable {
    var perPage = 10
    var since: Date?
}

private final class SampleHub: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "issues(owner:name:)": .get("/repos/%%owner%%/%%name%%/issues").paged(by: .linkHeader),
            "open(owner:name:)": .get("/repos/%%owner%%/%%name%%/open").paged(by: .linkHeader),
            "customers()": .get("/customers").decoding(at: "data").paged(by: .lastID(query: "starting_after", more: "has_more")),
            "twilio()": .get("/a").decoding(at: "calls").paged(by: .nextURL(at: "next_page_uri")),
            "google()": .get("/a").decoding(at: "items").paged(by: .cursor(at: "nextPageToken", query: "pageToken")),
            "notion(_:)": .post("/a").decoding(at: "results")
                .paged(by: .cursor(at: "next_cursor", body: "start_cursor", more: "has_more")),
            "jira()": .get("/a").paged(by: .offset(query: "startAt", total: "total", items: "issues")),
            "numbered()": .get("/a").paged(by: .pageNumber(size: 100)),
            "events(filter:)": .get("/events").query(.argument(0)).fields(keys: .snakeCase, dates: .seconds, missing: .nameOnly),
        ]
    }

    override class var defaults: EndpointDefaults {
        EndpointDefaults().attribute(FieldReflection.KeyStrategy.snakeCase)
    }

    func issues(owner: String, name: String) async throws -> Items<Issue> { try await call(owner, name) }
    func open(owner: String, name: String) async throws -> [Issue] { try await call(owner, name) }
    func events(filter: EventFilter) async throws { try await call(filter) }
}

@Suite struct PagingSampleTests {
    private let stub = StubTransport()

    private func hub() -> SampleHub {
        stub.fallback(
            StubAnswer { request in
                let isLast = request.request.url.query() != nil
                return TransportResponse(
                    status: 200,
                    headers: isLast
                        ? ["Content-Type": "application/json"] : ["Content-Type": "application/json", "Link": "<?page=2>; rel=next"],
                    url: request.request.url, body: ResponseBody(Data(#"[{"id": 1}, {"id": 2}]"#.utf8)))
            })
        return SampleHub(serviceRoot: "https://api.test") { $0.transport = stub }
    }

    @Test func `items of all pages`() async throws {
        #expect(SampleHub.verify().isEmpty, "\(SampleHub.verify())")
        let github = hub()
        var shown: [Int] = []
        for try await issue in try await github.issues(owner: "swiftlang", name: "swift") { shown.append(issue.id) }
        for try await issue in github.items(of: { try await $0.open(owner: "swiftlang", name: "swift") }) { shown.append(issue.id) }
        for try await user in github.http.get("/users").paged(by: .linkHeader).items(Issue.self) { shown.append(user.id) }
        #expect(shown.count == 12)
        let items = try await github.issues(owner: "swiftlang", name: "swift").prefetching().limited(items: 50_000)
        for try await issue in items { shown.append(issue.id) }
        #expect(shown.count == 16)
    }

    @Test func `going on later`() async throws {
        let github = hub()
        var stored: PageReference?
        for try await page in try await github.issues(owner: "swiftlang", name: "swift").pages where page.number == 1 { stored = page.next }
        let rest = try await github.issues(owner: "swiftlang", name: "swift").starting(at: stored)
        var count = 0
        for try await _ in rest { count += 1 }
        #expect(count == 2)
    }

    @Test func `names and dates of query items`() async throws {
        let request = try await hub().dryRun { try await $0.events(filter: EventFilter(since: Date(timeIntervalSince1970: 60))) }
        #expect(request.url.query() == "per_page=10&since=60")
        let bare = try await hub().dryRun { try await $0.events(filter: EventFilter()) }
        #expect(bare.url.query() == "per_page=10&since")
    }

    @Test func `problem details and bodies of errors`() async throws {
        struct ShopError: Decodable { let message: String }
        let shop = hub()
        stub.fallback(
            .data(
                Data(#"{"type": "https://shop.example.com/probs/out-of-credit", "message": "no", "balance": 30}"#.utf8),
                type: "application/problem+json", status: 403))
        let error = try await #require(throws: ServiceError.self) { try await shop.http.get("/x").send() }
        let problem = try #require(error.problem)
        #expect(problem.type == "https://shop.example.com/probs/out-of-credit" && problem.member("balance", as: Int.self) == 30)
        #expect(error.body(as: ShopError.self)?.message == "no")
        stub.fallback(.json("7", headers: ["ETag": "\"v1\""]))
        let product: ServiceResponse<Int> = try await shop.http.get("/products/7").response()
        try await shop.http.put("/products/7").body(8).ifMatch(product.entityTag).send()
        #expect(stub.requests.last?.request.headers["If-Match"] == "\"v1\"")
    }
}
