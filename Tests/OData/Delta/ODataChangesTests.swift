import Foundation
import Testing
import WebServiceTesting

@testable import OData
@testable import WebServiceClient

/// Tracking changes over pages, links, expired states and hostile answers.
@Suite struct ODataChangesTests {
    struct Item: Codable, Sendable, Equatable {
        let id: Int
        var name: String?
    }

    private let stub = StubTransport()
    private let items = FetchRequest<Item>(from: "Items").selectAll()

    /// Reads all events as short texts.
    private func read(
        _ changes: ODataChanges<Item>
    ) async -> (events: [String], cursors: [DeltaCursor], error: ServiceError?) {
        var events: [String] = []
        var cursors: [DeltaCursor] = []
        do {
            for try await change in changes {
                switch change {
                case .restarted(let error): events.append(error == nil ? "begin" : "again")
                case .changed(let item): events.append("\(item.isWhole ? "" : "~")\(try item.value().id)")
                case .removed(let item): events.append("-\(item.key["id"]?.integer.map { String($0) } ?? item.id ?? "?")")
                case .linked: events.append("link")
                case .unlinked: events.append("unlink")
                case .checkpoint(let cursor):
                    events.append(cursor.isComplete ? "." : ",")
                    cursors.append(cursor)
                }
            }
            return (events, cursors, nil)
        } catch {
            return (events, cursors, error as? ServiceError)
        }
    }

    private func page(_ entries: String, next: String? = nil, delta: String? = nil) -> StubAnswer {
        let links = [next.map { #","@odata.nextLink":"\#($0)""# }, delta.map { #","@odata.deltaLink":"\#($0)""# }]
        return .json(#"{"@odata.context":"$metadata#Items","value":[\#(entries)]\#(links.compactMap(\.self).joined())}"#)
    }

    private var sent: [(url: String, prefer: [String])] {
        stub.requests.map { ($0.request.url.absoluteString, $0.request.headers[values: "Prefer"]) }
    }

    @Test func `the first read ends with a delta link, which is followed unchanged`() async throws {
        let client = stub.client()
        stub["Items"] = .inTurn(
            page(#"{"id":1},{"id":2}"#, next: "Items?$skiptoken=1"), page("", next: "Items?$skiptoken=2"),
            page(#"{"id":3}"#, delta: "https://h.example/svc/Items?$deltatoken=a%2Fb"),
            page(#"{"id":2,"name":"x"},{"id":1,"@removed":{"reason":"deleted"}}"#, delta: "Items?$deltatoken=c"))
        let first = await read(client.changes(of: items))
        #expect(first.events == ["begin", "1", "2", ",", ",", "3", "."] && first.error == nil)
        #expect(first.cursors.map(\.isInFullRead) == [true, true, false])
        #expect(sent[0].prefer == ["odata.track-changes"] && sent[1].prefer == [] && sent[2].prefer == [])
        let kept = try JSONDecoder().decode(DeltaCursor.self, from: JSONEncoder().encode(first.cursors.last))
        let second = await read(client.changes(of: items, since: kept))
        #expect(second.events == ["~2", "-1", "."] && second.error == nil)
        #expect(sent[3].url == "https://h.example/svc/Items?$deltatoken=a%2Fb" && sent[3].prefer == [])
    }

    @Test func `each version has its own preference, and pages keep the preferred size`() async throws {
        for (version, preference) in [(ODataVersion.v4, "odata.track-changes"), (.v401, "track-changes")] {
            let client = stub.client(version)
            client.maxPageSize = 7
            stub.forgetRequests()
            stub["Items"] = page("", delta: "Items?$deltatoken=1")
            #expect(await read(client.changes(of: items.preferring("x=1"))).error == nil)
            let fields = stub.requests[0].request.headers[values: "Prefer"].joined(separator: ", ")
            #expect(fields == "x=1, \(preference), " + (version == .v4 ? "odata.maxpagesize=7" : "maxpagesize=7"))
        }
        let old = stub.client(.v2)
        stub.forgetRequests()
        stub["Items"] = .json(#"{"d":{"results":[{"id":1}],"__delta":"https://h.example/svc/Items?!deltatoken='D1'"}}"#)
        let (events, cursors, _) = await read(old.changes(of: items))
        #expect(events == ["begin", "1", "."] && sent[0].prefer == [])
        #expect(await read(old.changes(of: items, since: cursors[0])).events == ["~1", "."])
        #expect(sent[1].url == "https://h.example/svc/Items?!deltatoken='D1'")
    }

    @Test func `tracking can begin now or at a token`() async throws {
        let client = stub.client()
        stub["Items"] = .inTurn(page(#"{"id":1}"#, next: "Items?$skiptoken=1"), page(#"{"id":2}"#, delta: "Items?$deltatoken=1"))
        #expect(await read(client.changes(of: items, from: .now)).events == ["."])
        stub["Items"] = page("", delta: "Items?$deltatoken=1")
        #expect(await read(client.changes(of: items, from: .latest)).events == ["."])
        #expect(sent.last?.url == "https://h.example/svc/Items?$deltatoken=latest")
        #expect(await read(client.changes(of: items, from: .token("'a b'", option: "!deltatoken"))).events == ["."])
        #expect(sent.last?.url == "https://h.example/svc/Items?!deltatoken=%27a%20b%27")
        #expect(await read(client.changes(of: items, from: .token("x", option: "a&b"))).error?.kind == .query)
        // A first read that the service forgets halfway begins again, still without events.
        stub["Items"] = .inTurn(
            page(#"{"id":1}"#, next: "Items?$skiptoken=1"), .status(410), page(#"{"id":1}"#, delta: "Items?$deltatoken=2"))
        #expect(await read(client.changes(of: items, from: .now)).events == ["."])
    }

    @Test func `a forgotten state leads to a full read, or to an error`() async throws {
        let client = stub.client()
        let code = #"{"error":{"code":"syncStateNotFound","message":"m"}}"#
        let inner = #"{"error":{"code":"badRequest","message":"m","innererror":{"code":"resyncRequired"}}}"#
        let stamp = #"{"error":{"code":"0x80044352","message":"Version stamp associated with the client has expired."}}"#
        stub["Items"] = page("", delta: "Items?$deltatoken=1")
        let cursor = try #require(await read(client.changes(of: items)).cursors.last)
        for answer in [
            .status(410, headers: ["Location": "https://other.example/Items"]), .json(code, status: 400), .json(code, status: 410),
            .json(inner, status: 400), .json(stamp, status: 400),
        ] as [StubAnswer] {
            stub["Items"] = .inTurn(
                answer, page(#"{"id":1}"#, next: "Items?$skiptoken=1"), page(#"{"id":2}"#, delta: "Items?$deltatoken=2"))
            let again = await read(client.changes(of: items, since: cursor))
            #expect(again.events == ["again", "1", ",", "2", "."] && again.error == nil)
            stub["Items"] = answer
            let failed = await read(client.changes(of: items, since: cursor, onExpiry: .fail))
            #expect(failed.events == [] && [400, 410].contains(failed.error?.status))
        }
        stub["Items"] = .json(#"{"error":{"code":"badRequest","message":"m"}}"#, status: 400)
        #expect(await read(client.changes(of: items, since: cursor)).error?.status == 400)
        // A service that rejects each of its links isn't asked forever.
        stub["Items"] = .answering { request in
            guard request.request.url.query()?.contains("token") == true else { return page("", next: "Items?$skiptoken=1") }
            return .status(410)
        }
        let endless = await read(client.changes(of: items, since: cursor))
        #expect(endless.error?.status == 410 && endless.events == ["again", ",", "again", ",", "again", ","])
    }

    @Test func `a cursor of another service or query is refused, and shows nothing`() async throws {
        let client = stub.client()
        stub["Items"] = page("", delta: "Items?$deltatoken=s3cret")
        let cursor = try #require(await read(client.changes(of: items)).cursors.last)
        let other = await read(stub.client(root: "https://other.example/svc").changes(of: items, since: cursor)).error
        guard case .otherService? = other?.cause as? DeltaError else { throw Missing(text: "\(String(describing: other))") }
        let query = await read(client.changes(of: items.filter { $0.id > 1 }, since: cursor)).error
        #expect(query?.cause as? DeltaError == .otherQuery && query?.kind == .delta)
        var dumped = ""
        dump(cursor, to: &dumped)
        #expect(!"\(cursor)\(String(reflecting: cursor))\(dumped)".contains("s3cret"))
        let forged = DeltaCursor(
            link: "https://evil.example/", origin: cursor.origin, fingerprint: cursor.fingerprint, isComplete: true, isInFullRead: false,
            issuedAt: cursor.issuedAt)
        #expect(await read(client.changes(of: items, since: forged)).error?.kind == .delta)
    }

    private struct Missing: Error { let text: String }

    @Test func `hostile and broken answers are errors after the events before them`() async throws {
        let client = stub.client()
        client.foreignLinks = .followWithoutCredentials
        let answers: [(StubAnswer, [String], ServiceError.Kind)] = [
            (page(#"{"id":1}"#, next: "https://evil.example/Items"), ["begin", "1"], .link),
            (page(#"{"id":1}"#, delta: "https://evil.example/Items"), ["begin", "1"], .link),
            (page("", delta: "ftp://h.example/Items"), ["begin"], .link), (page(#"{"id":1},{"id":2}"#), ["begin", "1", "2"], .delta),
            (page("1", delta: "Items?1"), [], .decoding),
            (
                page(#"{"id":1},{"@odata.context":"$metadata#Items/$link","source":"Items(1)"},{"id":2}"#, delta: "Items?1"),
                ["begin", "1"], .decoding
            ),
            (.json(#"{"value":[{"id":1}"#), [], .decoding), (.status(204), [], .emptyBody), (.status(503), [], .status),
            (.data(Data("<html></html>".utf8), type: "text/html"), [], .format),
        ]
        for (answer, expected, kind) in answers {
            stub["Items"] = answer
            let (events, cursors, error) = await read(client.changes(of: items))
            #expect(events == expected && cursors.isEmpty && error?.kind == kind, "\(kind): \(String(describing: error))")
            // Tracking that begins now reads no entries and delivers none.
            let silent = await read(client.changes(of: items, from: .now))
            let isComplete = kind == .decoding && !expected.isEmpty
            #expect(silent.events == (isComplete ? ["."] : []) && silent.error?.kind == (isComplete ? nil : kind), "\(kind)")
        }
        // The sequence has ended after the error.
        stub["Items"] = page(#"{"id":1}"#)
        var iterator = client.changes(of: items).makeAsyncIterator()
        for _ in 0..<2 { #expect(try await iterator.next() != nil) }
        let missing = await #expect(throws: ServiceError.self) { _ = try await iterator.next() }
        #expect(missing?.kind == .delta)
        #expect(try await iterator.next() == nil)
        // The same after a cursor.
        stub["Items"] = .inTurn(page("", delta: "Items?1"), page(#"{"id":2}"#))
        let cursor = try #require(await read(client.changes(of: items)).cursors.last)
        let later = await read(client.changes(of: items, since: cursor))
        #expect(later.events == ["~2"] && later.error?.cause as? DeltaError == .notTracked(isConfirmed: false))
        #expect(!stub.requests.contains { $0.request.url.host() == "evil.example" })
        stub["Items"] = page(#"{"id":1}"#, next: "Items?$skiptoken=1")
        let (events, _, error) = await read(client.changes(of: items))
        #expect(events == ["begin", "1", ",", "1"] && error?.cause as? ODataLinkError == .loop("https://h.example/svc/Items"))
        // A delta link on a page with a next link is ignored, since there are more pages.
        stub["Items"] = .inTurn(page("", next: "Items?2", delta: "Items?9"), page(#"{"id":1}"#, delta: "Items?3"))
        #expect(await read(client.changes(of: items)).events == ["begin", ",", "1", "."])
        #expect(await read(client.changes(of: items.top(3))).error?.kind == .query)
    }

    @Test func `without a delta link the error tells whether the service confirmed the preference`() async throws {
        let client = stub.client()
        for (field, isConfirmed) in [(nil, false), ("odata.track-changes", true), ("odata.maxpagesize=5, track-changes", true)] {
            var headers: HTTPFields = [:]
            headers["Preference-Applied"] = field
            stub["Items"] = .json(#"{"value":[]}"#, headers: headers)
            let error = await read(client.changes(of: items)).error
            #expect(error?.cause as? DeltaError == .notTracked(isConfirmed: isConfirmed))
        }
    }

    @Test func `a repeated sequence requests changes by the client's clock`() async throws {
        let waits = Locked([Duration]())
        let clock = CallClock(
            now: { .now }, date: { Date() },
            schedule: { delay, action in
                waits.withLock { $0.append(delay) }
                action()
                return {}
            })
        let client = CallClock.$current.withValue(clock) { stub.client() }
        stub["Items"] = .inTurn(page(#"{"id":1}"#, delta: "Items?1"), page("", delta: "Items?1"), page(#"{"id":2}"#, delta: "Items?2"))
        var events = client.changes(of: items, repeating: .seconds(60)).makeAsyncIterator()
        var found: [Int] = []
        while found.count < 2 {
            if case .changed(let item)? = try await events.next() { found.append(try item.value().id) }
        }
        #expect(found == [1, 2] && waits.withLock { $0 } == [.seconds(60), .seconds(60)])
    }
}
