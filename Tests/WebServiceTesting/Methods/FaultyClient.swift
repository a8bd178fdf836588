import Foundation
import WebServiceClient

/// The arguments and results of ``FaultyClient`` and ``SoundClient``. The types aren't private, since the runtime finds no private types
/// by name.
enum Goods {
    struct Article: Codable, Sendable { var id: Int }
    /// Not `Encodable`.
    struct Draft: Sendable { var title = "" }
    enum Order: String, Codable, Sendable, CaseIterable { case ascending, descending }
}

/// A client of 20 endpoints with one fault each. `verify()` finds none of them.
class FaultyClient: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            // Names: a misspelt one, other labels, fewer labels, no method, a method of another kind.
            "artcles(shop:)": .get("/articles/%%shop%%"),
            "article(number:)": .get("/article/%%number%%"),
            "createArticle(shop:article:)": .post("/articles/%%shop%%"),
            "vanished()": .get("/vanished"),
            "ratee": .get("/rate"),
            // Arguments: no text, no Encodable body, a list without a name, a function, bytes in the query.
            "tagged(tags:)": .get("/tagged/%%tags%%"),
            "upload(draft:)": .put("/draft"),
            "listed(ids:)": .get("/listed").query(.argument(0)),
            "watched(change:)": .get("/watched").query("change", .argument(0)),
            "found(data:)": .get("/found").query("data", .argument(0)),
            // Results: raw, decoding at a path, pages on both sides, statuses, streams, a WebSocket.
            "picture(id:)": .get("/pictures/%%id%%").raw(),
            "removed(id:)": .delete("/removed/%%id%%").decoding(at: "result"),
            "body(id:)": .get("/body/%%id%%").decoding(at: "result"),
            "unpaged()": .get("/unpaged"),
            "paged()": .get("/paged").paged(by: .linkHeader),
            "stored(id:)": .put("/stored/%%id%%").accepting([200, 204]).withoutBody(),
            "events()": .get("/events").endsStream(at: "[DONE]"),
            "socket()": .get("/socket").webSocket(),
        ]
    }

    func articles(shop: String) async throws -> [Goods.Article] { try await call(shop) }
    func article(id: Int) async throws -> Goods.Article { try await call(id) }
    func createArticle(shop: String, name: String, article: Goods.Article) async throws { try await call(shop, name, article) }
    var rate: Int { get async throws { try await call() } }

    func tagged(tags: [String]) async throws -> [Goods.Article] { try await call(tags) }
    func upload(draft: Goods.Draft) async throws { try await call(draft) }
    func listed(ids: [Int]) async throws -> [Goods.Article] { try await call(ids) }
    func watched(change: @escaping @Sendable (Int) -> Void) async throws { try await call(change) }
    func found(data: Data) async throws -> Goods.Article? { try await call(data) }

    func picture(id: Int) async throws -> Goods.Article { try await call(id) }
    func removed(id: Int) async throws { try await call(id) }
    func body(id: Int) async throws -> ServiceResponse<ResponseBody> { try await stream(id) }
    func unpaged() async throws -> Items<Goods.Article> { try await call() }
    func paged() async throws { try await call() }
    func stored(id: Int) async throws -> Goods.Article { try await call(id) }
    func events() async throws -> Goods.Article { try await call() }
    func socket() async throws -> Goods.Article { try await call() }

    // Methods without keys: one in the class, one in a closure. The base class has the third.
    func starred(id: Int) async throws { try await call(id) }

    func refreshed(id: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.call(id) }
            try await group.waitForAll()
        }
    }

    // No endpoint: it never passes its own name.
    func allArticles(shop: String) async throws -> [Goods.Article] { try await articles(shop: shop) }
}

/// A client without faults that uses what may look like one.
final class SoundClient: SoundBase, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        super.endpoints.overlaid(by: [
            "article(id:)": .get("/articles/%%id%%"),
            "articles(shop:order:after:)": .get("/articles/%%shop%%").query("order", .argument(1)).query("after", .argument(2)),
            "article(_:)": .post("/articles").accepting(.created),
            "replaced(_:prepare:)": .put("/articles/%%0%%").ignoring("prepare").withoutBody(),
            "posted(body:)": .post("/any"),
            "sent(_:)": .post("/some"),
            "file(path:)": .get("%%0%%").raw(),
            "download(id:)": .get("/files/%%id%%"),
            "pages()": .get("/pages").paged(by: .linkHeader),
            "events()": .get("/events").endsStream(at: "[DONE]"),
            "stored(id:)": .get("/stored/%%id%%").accepting([200, 204]),
            "rate": .get("/rate"),
            "hidden(id:)": .get("/hidden/%%id%%"),
            "status()": .get("/status"),
        ])
    }

    func article(id: Int) async throws -> Goods.Article { try await call(id) }
    func articles(shop: String, order: Goods.Order?, after: Date?) async throws -> [Goods.Article] { try await call(shop, order, after) }
    func article(_ article: Goods.Article) async throws { try await call(article) }
    func replaced(_ id: Int, prepare: (@Sendable (Int) -> Void)?) async throws { try await call(id) }
    func posted(body: any Encodable & Sendable) async throws { try await call(body) }
    func sent<Value: Encodable & Sendable>(_ value: Value) async throws { try await call(value) }
    func file(path: String) async throws -> Data { try await call(path) }
    func download(id: UUID) async throws -> ServiceResponse<ResponseBody> { try await stream(id) }
    func pages() async throws -> Pages<[Goods.Article]> { try await call() }
    func events() async throws -> EventStream<ServerEvent> { try await call() }
    func stored(id: Int) async throws -> Goods.Article? { try await call(id) }
    var rate: Int { get async throws { try await call() } }
    private func hidden(id: Int) async throws -> Int { try await call(id) }
    func reveal() async throws -> Int { try await hidden(id: 1) }
}

/// A class between: its endpoints belong to the subclass's table.
class SoundBase: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable { ["inherited(_:)": .get("/inherited/%%0%%")] }

    func inherited(_ name: String) async throws -> Goods.Article { try await call(name) }
}

extension SoundClient {
    func status() async throws -> String { try await call() }
}
