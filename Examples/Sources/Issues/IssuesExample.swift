import Foundation
import WebServiceClient
import WebServiceTesting

enum IssuesExample: Example {
    static let name = "issues"
    static let summary = "REST with pages and conditional requests, as GitHub has them"

    static func run() async throws {
        let service = IssueService()
        let server = try service.start()
        let cache = ResponseCache()
        let github = GitHub(root: server.url.absoluteString, token: "token", cache: cache)

        // Five pages as one sequence. The service's rate limit interrupts it once; the retry policy waits for its end.
        var titles: [String] = []
        for try await issue in try await github.issues(owner: "swiftlang", name: "swift", filter: .init(labels: ["bug", "good first"])) {
            titles.append(issue.title)
        }
        ExampleRun.show("\(titles.count) issues in \(service.pagesSent) pages, \(service.refusals) request refused by the rate limit")
        try ExampleRun.expect(titles.count == 450 && titles.last == "Issue 450", "450 issues in their order, found \(titles.count)")
        try ExampleRun.expect(service.pagesSent == 5 && service.refusals == 1, "five pages and one refusal")
        try ExampleRun.expect(
            server.requests[0].query == "state=open&labels=bug,good%20first&per_page=100", "not \(server.requests[0].query ?? "")")

        // The same again: the cache asks the service, which confirms all pages but the changed one with 304.
        service.change(page: 3)
        let again = try await github.issues(owner: "swiftlang", name: "swift", filter: .init(labels: ["bug", "good first"]))
            .reduce(into: []) { $0.append($1.title) }
        ExampleRun.show("again: \(cache.statistics.validations) pages unchanged, \(service.pagesSent - 5) sent")
        try ExampleRun.expect(again.count == 450 && again[200] == "Issue 201, changed", "the changed issue, found \(again[200])")
        try ExampleRun.expect(cache.statistics.validations == 4 && service.pagesSent == 6, "four pages confirmed: \(cache.statistics)")

        // A refused issue has the service's reasons.
        let issue = try await github.createIssue(owner: "swiftlang", name: "swift", issue: .init(title: "Crash", labels: ["bug"]))
        let refusal = try await ExampleRun.failure(ServiceError.self) {
            _ = try await github.createIssue(owner: "swiftlang", name: "swift", issue: .init(title: ""))
        }
        let reasons = refusal.body(as: GitHub.Failure.self)?.errors ?? []
        ExampleRun.show("created issue \(issue.number); \(refusal.message)")
        try ExampleRun.expect(refusal.status == 422 && reasons.first?.field == "title", "the refused field")
        try ExampleRun.expect(refusal.message.contains("Validation Failed"), "the service's message")
    }
}

/// 450 issues in pages of up to 100, each page with an entity tag.
private final class IssueService: Sendable {
    private struct State {
        var pagesSent = 0
        var refusals = 0
        var versions: [Int: Int] = [:]
    }

    private let state = Guarded(State())

    var pagesSent: Int { state.withLock { $0.pagesSent } }
    var refusals: Int { state.withLock { $0.refusals } }

    func change(page: Int) {
        state.withLock { $0.versions[page, default: 1] += 1 }
    }

    func start() throws -> LoopbackServer {
        try LoopbackServer { routes in
            routes.guarded(by: LoopbackGuard { $0.fields["Authorization"] == "Bearer token" ? nil : .status(401) }) { routes in
                routes.get("/repos/:owner/:name/issues") { self.page($0) }
                routes.on("POST", "/repos/:owner/:name/issues") { try self.create($0) }
            }
        }
    }

    private func page(_ request: LoopbackRequest) -> LoopbackResponse {
        let number = request.queryValue("page").flatMap { Int($0) } ?? 1
        let size = request.queryValue("per_page").flatMap { Int($0) } ?? 30
        let (version, isRefused) = state.withLock { state in
            let isRefused = number == 3 && state.refusals == 0
            if isRefused { state.refusals += 1 }
            return (state.versions[number] ?? 1, isRefused)
        }
        if isRefused {
            return .json(#"{"message": "API rate limit exceeded"}"#, status: 403).with("X-RateLimit-Remaining", "0")
                .with("X-RateLimit-Reset", "\(Int(Date().timeIntervalSince1970))")
        }
        let tag = "W/\"\(number)-\(version)\""
        var fields: LoopbackFields = ["ETag": tag, "Cache-Control": "private, max-age=0"]
        if number * size < 450 {
            let rest = request.target.replacing("&page=\(number)", with: "")
            fields.append("Link", "<\(rest)&page=\(number + 1)>; rel=\"next\", <\(rest)&page=5>; rel=\"last\"")
        }
        if request.fields["If-None-Match"] == tag { return LoopbackResponse(status: 304, fields: fields) }
        state.withLock { $0.pagesSent += 1 }
        let issues = ((number - 1) * size + 1...min(number * size, 450)).map { number in
            #"{"number": \#(number), "title": "Issue \#(number)\#(version == 1 ? "" : ", changed")", "created_at": "2026-11-26T12:00:00Z"}"#
        }
        fields.append("Content-Type", "application/json")
        return LoopbackResponse(fields: fields, body: .data(Data("[\(issues.joined(separator: ","))]".utf8)))
    }

    private func create(_ request: LoopbackRequest) throws -> LoopbackResponse {
        struct Issue: Decodable { let title: String }
        let issue = try request.decoded(as: Issue.self)
        if issue.title.isEmpty {
            return .json(#"{"message": "Validation Failed", "errors": [{"field": "title", "code": "missing_field"}]}"#, status: 422)
        }
        return .json(#"{"number": 451, "title": "\#(issue.title)", "created_at": "2026-11-26T12:00:00Z"}"#, status: 201)
    }
}
