import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// An item that counts the live ones.
private final class Counted: Decodable, Sendable {
    static let live = Locked((now: 0, most: 0))

    let id: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        id = try (try? container.decode(Int.self)) ?? container.decode([String: Int].self)["id"] ?? -1
        Self.live.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
    }

    deinit { Self.live.withLock { $0.now -= 1 } }
}

private struct Named: Codable, Sendable, Equatable {
    var id: String
}

private struct Envelope: Decodable, Sendable {
    var data: [Named]
}

private struct Team: EndpointAttribute, Equatable {
    var name: String
}

private final class Lists: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "links(owner:)": .get("/links/%%owner%%").header("X-Owner", "%%owner%%").attribute(Team(name: "core"))
                .decoding(at: "items").paged(by: .linkHeader),
            "ahead()": .get("/ahead").paged(by: .linkHeader.prefetching()),
            "few()": .get("/links/x").decoding(at: "items").paged(by: .linkHeader.limited(pages: 3)),
            "next()": .get("/next").decoding(at: "items").paged(by: .nextURL(at: "meta.next")),
            "cursor(query:)": .get("/cursor").query("q", .argument(0)).decoding(at: "items")
                .paged(by: .cursor(at: "meta.next_cursor", query: "cursor")),
            "search(_:)": .post("/search").decoding(at: "results").paged(by: .cursor(at: "next", body: "start_cursor", more: "has_more")),
            "customers()": .get("/customers").decoding(at: "data")
                .paged(by: .lastID(query: "starting_after", more: "has_more", limit: 2)),
            "envelopes()": .get("/customers").paged(by: .lastID(query: "starting_after", more: "has_more", limit: 2, items: "data")),
            "offset()": .get("/offset").paged(by: .offset(limit: 3)),
            "total()": .get("/total?offset=2").decoding(at: "items").paged(by: .offset(total: "total")),
            "pages(size:)": .get("/pages").query("per_page", .argument(0)).paged(by: .pageNumber(size: 3)),
            "counted()": .get("/counted").decoding(at: "items").paged(by: .pageNumber(query: "p", first: 0, pages: "pages")),
            "plain()": .get("/plain"),
        ]
    }

    func links(owner: String) async throws -> Items<Int> { try await call(owner) }
    func ahead() async throws -> Pages<[Int]> { try await call() }
    func few() async throws -> Pages<[Int]> { try await call() }
    func next() async throws -> [Int] { try await call() }
    func cursor(query: String) async throws -> Items<Int> { try await call(query) }
    func search(_ query: [String: String]) async throws -> Items<Int> { try await call(query) }
    func customers() async throws -> Items<Named> { try await call() }
    func envelopes() async throws -> Pages<Envelope> { try await call() }
    func offset() async throws -> Items<Int> { try await call() }
    func total() async throws -> Items<Int> { try await call() }
    func pages(size: Int?) async throws -> Items<Int> { try await call(size) }
    func counted() async throws -> Items<Int> { try await call() }
    func plain() async throws -> Pages<[Int]> { try await call() }
}

private func query(_ request: RecordedRequest) -> [String: String] {
    let items = URLEncoding.parseQuery(request.request.url.query(percentEncoded: true) ?? "") ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
}

private func json(_ value: some Encodable, headers: HTTPFields = [:]) throws -> TransportResponse {
    var fields = headers
    fields[.contentType] = "application/json"
    return TransportResponse(
        status: 200, headers: fields, url: URL(string: "https://api.test/v1/x") ?? URL(filePath: "/"),
        body: ResponseBody(try JSONEncoder().encode(value)))
}

extension AsyncSequence {
    fileprivate func collected() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}

@Suite struct PagesTests {
    private func client(
        configure: (inout WebServiceClient.Configuration) -> Void = { _ in },
        _ respond: @escaping @Sendable (RecordedRequest) async throws -> TransportResponse
    ) -> (Lists, StubTransport) {
        let stub = StubTransport()
        stub.fallback(StubAnswer(respond))
        let client = Lists(serviceRoot: "https://api.test/v1") {
            $0.transport = stub
            $0.authenticationProvider = BearerTokenProvider(token: "s3cret")
            configure(&$0)
        }
        return (client, stub)
    }

    @Test func `pages with the same length and the same first bytes are different pages`() async throws {
        let (client, stub) = client { request in
            let offset = Int(query(request)["offset"] ?? "0") ?? 0
            // The serializer skips the blanks, which represent the envelope that all pages share.
            let items = offset < 6 ? "\(10 + offset),\(11 + offset)" : ""
            return TransportResponse(
                status: 200, headers: ["Content-Type": "application/json"], url: request.request.url,
                body: ResponseBody(Data((String(repeating: " ", count: 200) + "[\(items)]").utf8)))
        }
        let items: Items<Int> = client.http.get("/list").paged(by: .offset(query: "offset", limit: 2)).items()
        #expect(try await items.collected() == Array(10...15))
        #expect(stub.requests.count == 4)
    }

    /// A service with `Link` fields: the items of a page are its number twice.
    private func linked(_ count: Int) -> (Lists, StubTransport) {
        client { request in
            let page = Int(query(request)["page"] ?? "1") ?? 0
            let link: HTTPFields = page < count ? ["Link": "<?page=1>; rel=\"first\", <?page=\(page + 1)>; rel=\"next\""] : [:]
            let path = request.request.url.path(percentEncoded: true)
            var response = try path.hasSuffix("/ahead") ? json([page, page], headers: link) : json(["items": [page, page]], headers: link)
            response.url = request.request.url
            return response
        }
    }

    @Test func `A page tells where it came from`() async throws {
        let (client, stub) = client {
            $0.cache = ResponseCache()
        } _: { request in
            let isFirst = query(request)["page"] == nil
            var response = try json(
                [1], headers: isFirst ? ["Cache-Control": "max-age=600", "Link": "<?page=2>; rel=\"next\""] : ["Cache-Control": "no-store"])
            response.url = request.request.url
            return response
        }
        let expected: [[ResponseSource]] = [[.network, .network], [.cache, .network]]
        for sources in expected {
            let pages: Pages<[Int]> = client.http.get("/list").paged(by: .linkHeader).pages()
            #expect(try await pages.collected().map(\.source) == sources)
        }
        #expect(stub.requests.count == 3)
    }

    @Test func `Links are followed with the endpoint's settings`() async throws {
        let (client, stub) = linked(3)
        #expect(Lists.verify().isEmpty, "\(Lists.verify())")
        let items = try await client.links(owner: "ada")
        #expect(stub.requests.isEmpty)
        #expect(try await items.collected() == [1, 1, 2, 2, 3, 3])
        #expect(stub.requests.map(\.request.url.absoluteString) == ["", "?page=2", "?page=3"].map { "https://api.test/v1/links/ada\($0)" })
        for request in stub.requests {
            #expect(request.request.headers["X-Owner"] == "ada" && request.request.headers["Authorization"] == "Bearer s3cret")
            #expect(request.key == "links(owner:)")
        }
        #expect(try await items.prefix(3).collected() == [1, 1, 2])
    }

    @Test func `A thousand pages of each style need memory for one`() async throws {
        struct Body: Encodable {
            let items: [[String: Int]]
            let next: String?
            let cursor: Int?
            let more: Bool
        }
        let last = 1_000
        let styles: [(PagingStyle, parameter: String, step: Int)] = [
            (.linkHeader, "page", 1), (.nextURL(at: "next"), "page", 1), (.cursor(at: "cursor", query: "cursor"), "cursor", 1),
            (.lastID(at: "id", query: "after", more: "more", limit: 10), "after", 10), (.offset(query: "offset", limit: 10), "offset", 10),
            (.pageNumber(query: "page", first: 0, size: 10), "page", 1),
        ]
        for (style, parameter, step) in styles {
            let (client, stub) = client { request in
                let page = query(request)[parameter].flatMap { Int($0) }.map { ($0 + step - 1) / step } ?? 0
                // The last page is short, which ends styles that count.
                let items = (0..<(page == last - 1 ? 9 : 10)).map { ["id": page * 10 + $0 + 1] }
                let isLast = page == last - 1
                let next = "/v1/list?page=\(page + 1)"
                return try json(
                    Body(items: items, next: isLast ? nil : next, cursor: isLast ? nil : page + 1, more: !isLast),
                    headers: isLast ? [:] : ["Link": "<\(next)>; rel=next"])
            }
            Counted.live.withLock { $0 = (0, 0) }
            var count = 0
            for try await item in client.http.get("/list").describing({ $0.decoding(at: "items").paged(by: style) }).items(Counted.self) {
                count += 1
                guard item.id == count else { throw TestingFailure("\(style): \(item.id) came for \(count)") }
            }
            #expect(count == 9_999 && stub.requests.count == last, "\(style): \(count), \(stub.requests.count)")
            let (now, most) = Counted.live.withLock { $0 }
            #expect(now == 0 && most <= 21, "\(style): \(most)")
        }
    }

    @Test func `The last page of XML may have no items`() async throws {
        let (client, stub) = client { request in
            let offset = Int(query(request)["offset"] ?? "0") ?? 0
            let items = offset < 4 ? "<item>\(offset)</item><item>\(offset + 1)</item>" : ""
            return TransportResponse(
                status: 200, headers: ["Content-Type": "application/xml"], url: request.request.url,
                body: ResponseBody(Data("<list><total>4</total>\(items)</list>".utf8)))
        }
        let call = client.http.get("/list").describing { $0.decoding(at: "item") }
        #expect(try await call.paged(by: .offset()).items(Int.self).collected() == [0, 1, 2, 3])
        #expect(stub.requests.count == 3)
    }

    @Test func `A URL in the payload is followed`() async throws {
        let (client, stub) = client { request in
            let page = Int(query(request)["page"] ?? "1") ?? 0
            struct Body: Encodable {
                var items: [Int]
                var meta: [String: String?]
            }
            return try json(Body(items: [page], meta: ["next": page < 3 ? "/v1/next?page=\(page + 1)&x=a b" : nil]))
        }
        #expect(try await client.items(of: { try await $0.next() }).collected() == [1, 2, 3])
        #expect(stub.requests.last?.request.url.absoluteString == "https://api.test/v1/next?page=3&x=a%20b")
    }

    @Test(arguments: [#""""#, "null", "false", "none"]) func `Cursors are sent until there is none`(end: String) async throws {
        let (client, stub) = client { request in
            let cursor = query(request)["cursor"]
            let next =
                switch cursor {
                case nil: "\"a/b c+\"";
                case "a/b c+": "7";
                default: end
                }
            let items = cursor == nil ? "[]" : "[1]"
            let meta = next == "none" ? "{}" : #"{"meta": {"next_cursor": \#(next)}, "items": \#(items)}"#
            let text = next == "none" ? #"{"items": [1]}"# : meta
            return TransportResponse(
                status: 200, headers: ["Content-Type": "application/json"], url: request.request.url, body: ResponseBody(Data(text.utf8)))
        }
        #expect(try await client.cursor(query: "x&y").collected() == [1, 1])
        #expect(
            stub.requests.map { $0.request.url.query(percentEncoded: true) } == [
                "q=x%26y", "q=x%26y&cursor=a%2Fb%20c%2B", "q=x%26y&cursor=7",
            ])
    }

    @Test(arguments: [#""""#, "null", "false"]) func `A page without a next URL is the last one`(end: String) async throws {
        let (client, stub) = client { request in
            let text = #"{"items": [1], "meta": {"next": \#(end)}}"#
            return TransportResponse(
                status: 200, headers: ["Content-Type": "application/json"], url: request.request.url, body: ResponseBody(Data(text.utf8)))
        }
        #expect(try await client.items(of: { try await $0.next() }).collected() == [1] && stub.requests.count == 1)
    }

    @Test func `Cursors go into the body`() async throws {
        let (client, stub) = client { request in
            let body = try JSONDecoder().decode([String: String].self, from: request.body ?? Data())
            let last = body["start_cursor"] == "c\"2"
            let text = #"{"results": [1], "next": "c\"2", "has_more": \#(!last)}"#
            return TransportResponse(
                status: 200, headers: ["Content-Type": "application/json"], url: request.request.url, body: ResponseBody(Data(text.utf8)))
        }
        #expect(try await client.search(["text": "x"]).collected() == [1, 1])
        let bodies = try stub.requests.map { try JSONDecoder().decode([String: String].self, from: $0.body ?? Data()) }
        #expect(bodies == [["text": "x"], ["text": "x", "start_cursor": "c\"2"]])
        #expect(stub.requests.allSatisfy { $0.request.headers[.contentType] == "application/json" })
        let taken = try await client.search(["start_cursor": "mine"])
        let error = try #require(await serviceError { _ = try await taken.collected() })
        #expect(error.kind == .paging && error.message.contains("omit the member"), "\(error)")
    }

    @Test func `The last identifier is sent, also if the whole page is decoded`() async throws {
        let all = ["a", "b", "c", "d", "e"]
        let (client, stub) = client { request in
            let start = query(request)["starting_after"].flatMap { all.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
            struct Body: Encodable {
                var data: [Named]
                var has_more: Bool
            }
            return try json(Body(data: all[start...].prefix(2).map { Named(id: $0) }, has_more: start + 2 < all.count))
        }
        #expect(try await client.customers().collected().map(\.id) == all)
        #expect(stub.requests.map { $0.request.url.query() } == ["limit=2", "limit=2&starting_after=b", "limit=2&starting_after=d"])
        #expect(try await client.envelopes().collected().map(\.value.data.count) == [2, 2, 1])
    }

    @Test func `Offsets and numbers count`() async throws {
        let all = Array(0..<8)
        let (client, stub) = client { request in
            let items = query(request)
            struct Body: Encodable {
                var items: [Int]
                var total = 8
                var pages = 2
            }
            switch request.request.url.lastPathComponent {
            case "offset": return try json(all.dropFirst(Int(items["offset"] ?? "0") ?? 0).prefix(3).map(\.self))
            case "total": return try json(Body(items: all.dropFirst(Int(items["offset"] ?? "") ?? -1).prefix(4).map(\.self)))
            case "pages":
                let (page, size) = (Int(items["page"] ?? "1") ?? 0, Int(items["per_page"] ?? "") ?? 0)
                return try json(all.dropFirst((page - 1) * size).prefix(size).map(\.self))
            default: return try json(Body(items: [Int(items["p"] ?? "0") ?? 9]))
            }
        }
        #expect(try await client.offset().collected() == all)
        #expect(stub.requests.map { $0.request.url.query() } == ["limit=3", "limit=3&offset=3", "limit=3&offset=6"])
        #expect(try await client.total().collected() == Array(2..<8))
        stub.forgetRequests()
        #expect(try await client.pages(size: 4).collected() == all)
        #expect(stub.requests.map { $0.request.url.query() } == ["per_page=4", "per_page=4&page=2", "per_page=4&page=3"])
        // A smaller size than the style's, by argument, doesn't make each page short.
        #expect(try await client.pages(size: 2).collected().count == 8)
        #expect(try await client.counted().collected() == [0, 1])
    }

    @Test func `A loop is an error after the last page that is new`() async throws {
        let (client, _) = client { request in
            let link = query(request)["page"] == nil ? "?page=2" : "https://api.test/v1/links/ada"
            var response = try json(["items": [1]], headers: ["Link": "<\(link)>; rel=next"])
            response.url = request.request.url
            return response
        }
        var pages = try await client.links(owner: "ada").pages.makeAsyncIterator()
        #expect(try await pages.next()?.next != nil)
        #expect(try await pages.next()?.next == nil)
        let error = try #require(await serviceError { _ = try await pages.next() })
        #expect(error.kind == .paging && error.errorCode == 21 && error.cause as? PagingError == .loop("https://api.test/v1/links/ada"))
        #expect(error.message.contains("https://api.test/v1/links/ada") && error.call.key == "links(owner:)")
        #expect(try await pages.next() == nil)
    }

    @Test func `The same cursor and the same page twice are errors`() async throws {
        let (client, stub) = client { request in
            request.request.url.lastPathComponent == "offset"
                ? try json([1, 2, 3])
                : TransportResponse(
                    status: 200, headers: ["Content-Type": "application/json"], url: request.request.url,
                    body: ResponseBody(Data(#"{"items": [1], "meta": {"next_cursor": "same"}}"#.utf8)))
        }
        let items = try await client.cursor(query: "q")
        let loop = try #require(await serviceError { _ = try await items.collected() })
        #expect(loop.cause as? PagingError == .loop("same") && stub.requests.count == 2)
        let offsets = try await client.offset()
        let repeated = try #require(await serviceError { _ = try await offsets.collected() })
        #expect(repeated.cause as? PagingError == .repeatedPage(query: "offset") && stub.requests.count == 4)
    }

    @Test(arguments: ["https://evil.test/v1/x", "http://api.test/v1/x", "//evil.test/x", "https://api.test:8443/x", "ftp://api.test/x"])
    func `Another origin isn't followed`(link: String) async throws {
        let (client, stub) = client { _ in try json(["items": [1]], headers: ["Link": "<\(link)?token=s3cret>; rel=next"]) }
        var iterator = try await client.links(owner: "ada").makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        let error = try #require(await serviceError { _ = try await iterator.next() })
        #expect(error.kind == .paging && !error.description.contains("s3cret"), "\(error)")
        #expect(stub.requests.count == 1)
        // A stored reference that was changed isn't followed either.
        let reference = PageReference(place: .url(link))
        let items = try await client.links(owner: "ada").starting(at: reference)
        let refused = try #require(await serviceError { _ = try await items.collected() })
        #expect(refused.kind == .paging && stub.requests.count == 1, "\(refused)")
    }

    @Test func `An allowed origin is followed`() async throws {
        let (client, stub) = client(configure: { $0.allowedOrigins = ["https://eu.api.test"] }) { request in
            let isFirst = request.request.url.host() == "api.test"
            return try json(["items": [1]], headers: isFirst ? ["Link": "<https://eu.api.test/x>; rel=next"] : [:])
        }
        #expect(try await client.links(owner: "ada").collected() == [1, 1])
        #expect(stub.requests.last?.request.headers["Authorization"] == "Bearer s3cret")
    }

    @Test func `A page cut short is an error`() async throws {
        let (client, _) = client { request in
            let isFirst = query(request)["page"] == nil
            let body = Data(#"{"items": [1, 2"#.utf8)
            let link: HTTPFields = ["Content-Type": "application/json", "Link": "<https://api.test/v1/links/a?page=2>; rel=next"]
            if isFirst { return try json(["items": [1]], headers: link) }
            return TransportResponse(status: 200, headers: link, url: request.request.url, body: ResponseBody(body))
        }
        var iterator = try await client.links(owner: "a").makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        let error = try #require(await serviceError { _ = try await iterator.next() })
        #expect([.format, .decoding].contains(error.kind))
        #expect(try await iterator.next() == nil)
    }

    @Test func `Iteration goes on from a stored reference`() async throws {
        let (client, stub) = linked(4)
        var stored: Data?
        for try await page in try await client.links(owner: "ada").pages where page.number == 2 {
            stored = try page.next.map { try JSONEncoder().encode($0) }
        }
        let reference = try JSONDecoder().decode(PageReference.self, from: #require(stored))
        stub.forgetRequests()
        #expect(try await client.links(owner: "ada").starting(at: reference).collected() == [3, 3, 4, 4])
        #expect(stub.requests.count == 2)
        for place in [PageReference.Place.cursor("a"), .position(7), .url("https://a.test/?token=s3cret")] {
            let reference = PageReference(place: place)
            #expect(try JSONDecoder().decode(PageReference.self, from: JSONEncoder().encode(reference)) == reference)
            #expect(!"\(reference)".contains("s3cret"))
        }
        let items = try await client.links(owner: "ada").starting(at: PageReference(place: .position(7)))
        #expect(await serviceError { _ = try await items.collected() }?.cause as? PagingError == .otherStyle(.linkHeader))
    }

    @Test func `More than the limit is an error`() async throws {
        let (client, stub) = linked(9)
        let pages = try await client.few()
        let error = try #require(await serviceError { _ = try await pages.collected() })
        #expect(error.cause as? PagingError == .tooManyPages(limit: 3) && stub.requests.count == 3)
        #expect(try await pages.limited().collected().count == 9)
        let items = try await client.links(owner: "ada").limited(items: 5)
        #expect(await serviceError { _ = try await items.collected() }?.cause as? PagingError == .tooManyItems(limit: 5))
        #expect(try await client.links(owner: "ada").limited(pages: 9, items: 18).collected().count == 18)
    }

    @Test func `An endpoint that isn't paged is an error, and so is a closure without a call`() async throws {
        let (client, stub) = client { _ in try json([1]) }
        let plain = try #require(await serviceError { _ = try await client.plain() })
        #expect(plain.message.contains(".paged(by:"), "\(plain)")
        stub.forgetRequests()
        let items = client.items(of: { try await $0.http.get("/x").value([Int].self) })
        #expect(await serviceError { _ = try await items.collected() }?.cause as? PagingError == .notPaged)
        #expect(stub.requests.isEmpty)
        #expect(await serviceError { _ = try await client.items(of: { _ in [1] }).collected() }?.cause as? PagingError == .noCall)
    }

    @Test func `The style of a call takes precedence, and the closure's attributes hold for each page`() async throws {
        let (client, stub) = linked(2)
        let styled = client.http.get("/ahead").paged(by: .offset())
        let pages = await client.with(PagingStyle.linkHeader, Team(name: "web")) { _ in styled.pages([Int].self) }
        #expect(try await pages.collected().count == 2)
        #expect(stub.requests.count == 2)
        let dynamic: Items<Int> = try await client.dynamic.links(owner: "ada")
        #expect(try await dynamic.collected().count == 4)
        let request = try await client.dryRun { for try await _ in try await $0.links(owner: "ada") {} }
        #expect(request.url.absoluteString == "https://api.test/v1/links/ada" && stub.requests.count == 4)
    }

    @Test(.timeLimit(.minutes(10))) func `One page is fetched ahead, and cancelled when nobody wants it`() async throws {
        let transport = HeldTransport { request in
            var response = try json([1], headers: ["Link": "<?page=\(request.url.query()?.count ?? 0)\(UUID())>; rel=next"])
            response.url = request.url
            return response
        }
        let client = Lists(serviceRoot: "https://api.test/v1") { $0.transport = transport }
        let pages = try await client.ahead()
        let task = Task {
            var iterator = pages.makeAsyncIterator()
            let first = try await iterator.next()
            while transport.sent.count < 2 { await Task.yield() }
            return first?.value
        }
        while transport.held.isEmpty { await Task.yield() }
        transport.answer()
        #expect(try await task.value == [1])
        // The iterator is gone, and with it the page ahead.
        while !client.calls.isEmpty { await Task.yield() }
        #expect(transport.sent.count == 2)
    }

    @Test(.timeLimit(.minutes(10))) func `A cancelled task ends the sequence`() async throws {
        let transport = HeldTransport { try json([1], headers: ["Link": "<\($0.url.absoluteString)1>; rel=next"]) }
        let client = Lists(serviceRoot: "https://api.test/v1") { $0.transport = transport }
        let task = Task { try await client.http.get("/x").paged(by: .linkHeader).items(Int.self).collected() }
        while transport.held.isEmpty { await Task.yield() }
        transport.answer()
        while transport.sent.count < 2 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(client.calls.isEmpty)
    }

    @Test func `A link keeps the endpoint's settings`() async throws {
        let (client, stub) = linked(5)
        let url = try #require(URL(string: "https://api.test/v1/links/x?page=4"))
        let items = try await client.request(link: url) { client in
            try await client.with(Team(name: "web")) { try await $0.next() }
        }
        #expect(items == [4, 4] && stub.requests.map(\.request.url) == [url] && stub.requests[0].key == "next()")
        let foreign = try #require(URL(string: "https://evil.test/"))
        let error = try #require(await serviceError { _ = try await client.request(link: foreign) { try await $0.next() } })
        #expect(error.kind == .paging && error.message.contains("evil.test") && stub.requests.count == 1)
    }
}
