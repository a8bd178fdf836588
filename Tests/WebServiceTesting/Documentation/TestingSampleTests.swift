import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the articles "Recording and replaying calls" and "Mocking services".

private struct Issue: Codable, Sendable, Equatable {
    let id: Int
    let title: String
}

private final class Tracker: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "issue(id:)": .get("/issues/%%0%%"), "issues(project:page:)": .get("/projects/%%0%%/issues").query("page", .argument(1)),
            "create(project:issue:)": .post("/projects/%%0%%/issues").body(.argument(1)).accepting(.created),
        ]
    }

    func issue(id: Int) async throws -> Issue { try await call(id) }
    func issues(project: String, page: Int) async throws -> [Issue] { try await call(project, page) }
    func create(project: String, issue: Issue) async throws { try await call(project, issue) }
}

@Suite struct TestingSampleTests {
    @Test func `Calls are recorded from a server and replayed without one`() async throws {
        let folder = TemporaryFolder()
        let path = folder.url.appending(path: "Recordings/issues.har").path(percentEncoded: false)
        let server = try LoopbackServer { routes in
            routes.get("/projects/:name/issues") { request in
                let page = request.queryValue("page") ?? "0"
                return .json("[{\"id\": \(page)1, \"title\": \"Ü\"}, {\"id\": \(page)2, \"title\": \"b\"}]").with("ETag", "\"\(page)\"")
            }
            routes.on("POST", "/projects/:name/issues") { .text($0.text, status: 201) }
            routes.get("/issues/:id") { _ in .drop }
        }
        func calls(_ root: String, _ cassette: Cassette) async throws -> [String] {
            let tracker = Tracker(serviceRoot: root) { $0.transport = cassette.transport() }
            let first = try await tracker.issues(project: "tea", page: 1)
            let second = try await tracker.issues(project: "tea", page: 2)
            try await tracker.create(project: "tea", issue: Issue(id: 1, title: "x"))
            let failure = await serviceError { _ = try await tracker.issue(id: 1) }
            return ["\(first)", "\(second)", "\((failure?.cause as? TransportError)?.code.rawValue ?? "none")"]
        }
        let recorder = try Cassette(path)
        let live = try await calls(server.url.absoluteString, recorder)
        try recorder.save()
        server.stop()

        let cassette = try Cassette(path)
        #expect(try await calls("https://tracker.example.com", cassette) == live)
        #expect(live[0].contains("Ü") && live[2] != "none")
        try cassette.expectAllCalled()
        #expect(cassette.uncalledKeys.isEmpty)
    }

    @Test func `Cassettes have settings for comparing and expiry`() throws {
        let folder = TemporaryFolder()
        let source = folder.url.appending(path: "Tests.swift").path(percentEncoded: false)
        let events = try Cassette("Recordings/events.har", matching: [.key, .path, .body], ignoring: ["sentAt"], source: source)
        let users = try Cassette(
            "Recordings/users.har", headerRules: HeaderRules(harmless: ["X-Next-Page"]), source: source,
            redact: { $0.url = $0.url.replacingOccurrences(of: "ada@example.com", with: "someone@example.com") })
        let prices = try Cassette("Recordings/prices.har", expiry: .days(30, then: .recordAgain), source: source)
        #expect([events, users, prices].allSatisfy { $0.mode == .once && $0.exchanges.isEmpty })
        // Nothing was recorded, so nothing is written.
        #expect(folder.names.isEmpty)
    }

    @Test func `A mock server answers by key and by method`() async throws {
        let server = try MockServer(Tracker.self)
            .answering("issues(project:page:)", with: .samples(of: [Issue].self, count: 3))
            .answering("create(project:issue:)", with: .status(201))
        let tracker = Tracker(serviceRoot: server.serviceRoot)

        let issues = try await tracker.issues(project: "tea", page: 1)
        #expect(issues.count == 3)
        try await tracker.create(project: "tea", issue: Issue(id: 1, title: "x"))
        try server.expectNoMisses()

        try await server.answer(Tracker.issue(id:), on: tracker, with: .value(Issue(id: 7, title: "Spout drips")))
        try await server.answer(Tracker.issues(project:page:), on: tracker, with: .samples(count: 2))
        #expect(try await tracker.issue(id: 7).title == "Spout drips")
        #expect(try await tracker.issues(project: "tea", page: 1).count == 2)

        let sample = try Sample(of: Issue.self, seed: 1)
        #expect(sample.json["title"]?.string == sample.value.title)
    }

    @Test func `Faults on a server and in a client`() async throws {
        let server = try MockServer(Tracker.self).answering("issue(id:)", with: .sample(of: Issue.self))
        try server.failing("create(project:issue:)", .times(2, .status(503, retryAfter: 1)), then: .reset(afterBytes: 10))
            .failing("issue(id:)", share: 0.1, of: .connectionLost)
            .latency("issues(project:page:)", .logNormal(median: .milliseconds(80), p99: .milliseconds(900)))
        let spy = try MockServer(Tracker.self, forwardingTo: server.serviceRoot).failing("issue(id:)", .times(1, .status(500)))
        let failure = await serviceError { _ = try await Tracker(serviceRoot: spy.serviceRoot).issue(id: 1) }
        #expect(failure?.status == 500 && server.requestCount(for: "issue(id:)") == 0)

        let quiet = try MockServer(Tracker.self).answering("issue(id:)", with: .sample(of: Issue.self))
        let faults = FaultInjection(
            seed: 7, plans: ["issue(id:)": FaultPlan(.times(1, .connectionLost), latency: .fixed(.milliseconds(5)))])
        let tracker = Tracker(serviceRoot: quiet.serviceRoot) {
            $0.faults = faults
            $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .milliseconds(1)))
        }
        #expect(try await tracker.issue(id: 1).id > 0)
        #expect(faults.faultCount(for: "issue(id:)") == 1 && quiet.requestCount(for: "issue(id:)") == 1)
    }
}
