import Foundation
import WebServiceTesting

@testable import WebServiceClient

struct StoreItem: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

struct Refusal: Error, Equatable, Sendable {
    var reason = "refused"
}

/// A client whose table uses every setting.
class Store: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "item(id:)": .get("/items/%%id%%"),
            "items(page:)": .get("/items").query("page", .argument(0)),
            "create(_:)": .post("/items").accepting(.created),
            "replace(id:item:)": .put("/items/%%0%%").body(.argument("item")),
            "remove(id:)": .delete("/items/%%0%%"),
            "file(path:)": .get("%%0%%").raw(),
            "search(text:page:)": .get(uriTemplate: "/search{?text,page}").decoding(at: "found.items"),
            "watch(id:prepare:)": .get("/items/%%id%%").ignoring("prepare"),
            "count": .get("/count"),
            "ping()": .get("/ping"),
        ]
    }

    func item(id: Int) async throws -> StoreItem { try await call(id) }
    func items(page: Int?) async throws -> [StoreItem] { try await call(page) }
    func create(_ item: StoreItem) async throws { try await call(item) }
    func replace(id: Int, item: StoreItem) async throws -> ServiceResponse<StoreItem> { try await call(id, item) }
    func search(text: String, page: Int?) async throws -> [StoreItem] { try await call(text, page) }
    func watch(id: Int, prepare: @escaping @Sendable (inout ServiceRequest) async throws -> Void) async throws -> StoreItem {
        try await call(id, prepare: prepare)
    }
    func missing(id: Int) async throws -> StoreItem { try await call(id) }
    func item(identifier: Int) async throws -> StoreItem { try await call(identifier) }
    func ping() async throws { try await call(1) }
    var count: Int { get async throws { try await call() } }

    /// Returns a client with a stub that has the same answer for every request.
    static func stubbed(
        _ answer: StubAnswer = .json("{}"), root: String = "https://api.test/v1", configure: (inout Configuration) -> Void = { _ in }
    ) -> (client: Store, stub: StubTransport) {
        let stub = StubTransport()
        stub.fallback(answer)
        let client = Store(serviceRoot: root) {
            $0.transport = stub
            configure(&$0)
        }
        return (client, stub)
    }
}

/// Returns the request that a call would send.
func request(
    root: String = "https://api.test/v1", configure: (inout WebServiceClient.Configuration) -> Void = { _ in },
    _ call: @escaping @Sendable (Store) -> ServiceCall
) async throws -> ServiceRequest {
    try await Store(serviceRoot: root, configure: configure).dryRun { try await call($0).send() }
}

/// Returns the URL that a call would use.
func url(root: String = "https://api.test/v1", _ call: @escaping @Sendable (Store) -> ServiceCall) async throws -> String {
    try await request(root: root, call).url.absoluteString
}
