import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the README and of this module's articles. If one doesn't compile here, the documentation must change.

struct Repository: Codable, Hashable, Sendable {
    var name: String
}

struct IssueFilter: Codable, Sendable {
    var state: String
    var labels: [String]
}

final class GitHub: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "repository(owner:name:)": .get("/repos/%%0%%/%%1%%"),
            "issues(owner:name:filter:)": .get("/repos/%%owner%%/%%name%%/issues").query(.argument(2)),
            "createIssue(owner:name:issue:)": .post("/repos/%%0%%/%%1%%/issues").body(.argument(2)).accepting(.created),
            "search(q:page:)": .get(uriTemplate: "/search/repositories{?q,page}").decoding(at: "items"),
        ]
    }

    func repository(owner: String, name: String) async throws -> Repository { try await call(owner, name) }
    func search(q: String, page: Int?) async throws -> [Repository] { try await call(q, page) }
}

struct Product: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

struct ProductFilter: Codable, Sendable {
    var name: String?
    var inStock: Bool
}

struct Order: Codable, Sendable {
    var product: Int
    var count: Int
}

final class Shop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "product(id:)": .get("/products/%%id%%"),
            "products(filter:)": .get("/products").query(.argument(0)),
            "search(text:page:)": .get(uriTemplate: "/search{?text,page}").decoding(at: "items"),
            "order(_:)": .post("/orders").accepting(.created),
            "file(path:)": .get("%%0%%").raw(),
        ]
    }

    func product(id: Int) async throws -> Product { try await call(id) }
    func products(filter: ProductFilter) async throws -> [Product] { try await call(filter) }
    func order(_ order: Order) async throws { try await call(order) }
}

@Suite struct DocumentationSampleTests {
    let stub = StubTransport()

    @Test func `The tables of the samples have no fault`() {
        #expect(GitHub.verify().isEmpty, "\(GitHub.verify())")
        #expect(Shop.verify().isEmpty, "\(Shop.verify())")
    }

    @Test func `The README's client calls with a method and without one`() async throws {
        stub["repository(owner:name:)"] = .json(#"{"name":"swift"}"#)
        let github = GitHub(serviceRoot: "https://api.github.com") {
            $0.authenticationProvider = BearerTokenProvider(token: "secret")
            $0.transport = stub
        }
        let swift = try await github.repository(owner: "swiftlang", name: "swift")
        let same: Repository = try await github.dynamic.repository(owner: "swiftlang", name: "swift")
        #expect(swift == same)
        let requests = stub.requests(for: "repository(owner:name:)")
        try requests[0].expectURL("https://api.github.com/repos/swiftlang/swift")
        #expect(requests.allSatisfy { $0.request.headers[.authorization] == "Bearer secret" })
    }

    @Test func `A token is a header, renewed by a preparer, and a failed call tells its status`() async throws {
        let token = "one"
        let renewed = { @Sendable () async throws -> String in "two" }
        stub["product(id:)"] = .status(404)
        let shop = Shop(serviceRoot: "https://shop.example.com/v1") {
            $0.transport = stub
            $0.headers[.authorization] = "Bearer " + token
            $0.timeouts.total = .seconds(30)
            $0.retry = RetryPolicy(attempts: 3)
            $0.interceptors = [RequestPreparer { $0.headers[.authorization] = "Bearer " + (try await renewed()) }]
        }
        do {
            _ = try await shop.product(id: 7)
            Issue.record("There is no such product.")
        } catch let error as ServiceError where error.status == 404 {
            #expect(error.kind == .status && error.response != nil && error.errorBody == nil && !error.message.isEmpty)
        }
        #expect(stub.requests[0].request.headers[.authorization] == "Bearer two")
    }

    @Test func `The search template leaves a missing page out and reads inside the payload`() async throws {
        stub["search(q:page:)"] = .json(#"{"items":[{"name":"a"},{"name":"b"}]}"#)
        let github = GitHub(serviceRoot: "https://api.github.com") { $0.transport = stub }
        #expect(try await github.search(q: "x y&z", page: nil).map(\.name) == ["a", "b"])
        try stub.requests[0].expectURL("https://api.github.com/search/repositories?q=x%20y%26z")
    }

    @Test func `The shop's filter becomes query items and its order the body`() async throws {
        stub["products(filter:)"] = .json("[]")
        stub["order(_:)"] = .status(201)
        let shop = Shop(serviceRoot: "https://shop.example.com/v1") { $0.transport = stub }
        #expect(try await shop.products(filter: ProductFilter(name: nil, inStock: true)) == [])
        try await shop.order(Order(product: 7, count: 2))
        try stub.requests[0].expectURL("https://shop.example.com/v1/products?inStock=true")
        try stub.requests[1].expectBody(json: #"{"product":7,"count":2}"#)
    }

    @Test func `A dry run gives the request and sends nothing`() async throws {
        let shop = Shop(serviceRoot: "https://shop.example.com/v1") { $0.transport = stub }
        let request = try await shop.dryRun { try await $0.product(id: 7) }
        #expect(request.curlCommand.hasSuffix("'https://shop.example.com/v1/products/7'"))
        #expect(stub.requests.isEmpty)
    }

    @Test func `Files go up and come down, and both are told of`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "films-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (film, copy) = (folder.appending(path: "film.mp4"), folder.appending(path: "copy.mp4"))
        try Data(repeating: 7, count: 300_000).write(to: film)
        let server = try LoopbackServer {
            $0.on("PUT", "/films/7") { .json("\($0.body.count)") }
            $0.on("GET", "/films/7") { _ in .text(String(repeating: "x", count: 200_000)) }
        }
        // Without deadlines, the load of the machine doesn't matter.
        let shop = Shop(serviceRoot: server.url.absoluteString) { $0.timeouts = ServiceTimeouts(firstByte: nil, idle: nil) }
        let (sent, received) = (Locked<[TransferProgress]>([]), Locked<[TransferProgress]>([]))
        let count: Int = try await shop.http.put("/films/7").body(RequestBody(file: film, contentType: "video/mp4"))
            .prepare { $0.uploadProgress = { progress in sent.withLock { $0.append(progress) } } }
            .value()
        #expect(count == 300_000)
        #expect(sent.withLock { $0.last } == TransferProgress(completed: 300_000, total: 300_000))
        let answer = try await shop.http.get("/films/7").stream()
        try await answer.value.write(to: copy) { progress in received.withLock { $0.append(progress) } }
        #expect(received.withLock { $0.last?.fraction } == 1)
        #expect(try Data(contentsOf: copy).count == 200_000)
    }

    @Test func `Calls need no table entry`() async throws {
        stub.fallback(.json(#"[{"id":1,"name":"tea"}]"#))
        let shop = Shop(serviceRoot: "https://shop.example.com/v1") { $0.transport = stub }
        let found: [Product] = try await shop.http.get("/products").query("name", "tea").value()
        #expect(found == [Product(id: 1, name: "tea")])
        try stub.requests[0].expectURL("https://shop.example.com/v1/products?name=tea")
    }
}
