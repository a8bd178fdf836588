import Foundation
import Testing
import WebServiceClient

@testable import OData

@Suite struct ODataPagesTests {
    private struct Broken: Error {}

    /// A service of pages by URL, without a network.
    private func pages(
        _ service: [String: ODataPage<Int>], from first: String = "https://h/svc/A", limit: Int? = nil,
        foreign: ForeignLinkPolicy = .refuse
    ) -> ODataPages<Int> {
        ODataPages(foreignLinks: foreign, limit: limit, origin: URL(string: first).flatMap { Origin($0) }) { step in
            let url: URL? =
                switch step {
                case .first: URL(string: first)
                case .link(let url, _): url
                }
            guard let url, let page = service[url.absoluteString] else { throw Broken() }
            return (page, url)
        }
    }

    private func read(_ pages: ODataPages<Int>) async throws -> [Int] {
        var result: [Int] = []
        for try await entity in ODataEntities(pages: pages) { result.append(entity) }
        return result
    }

    @Test func linksAreFollowedToTheEnd() async throws {
        let service = [
            "https://h/svc/A": ODataPage(entities: [1, 2], nextLink: "A?$skiptoken=a%2Fb%7c"),
            "https://h/svc/A?$skiptoken=a%2Fb%7c": ODataPage(entities: [], nextLink: "https://h/svc/A?2", context: "$metadata#A"),
            "https://h/svc/A?2": ODataPage(entities: [3], nextLink: "/svc/A?3"),
            "https://h/svc/A?3": ODataPage(entities: [4]),
        ]
        #expect(try await read(pages(service)) == [1, 2, 3, 4])
    }

    @Test func relativeLinksStartAtTheContextOrThePage() throws {
        let page = try #require(URL(string: "https://h/svc/People('x')/Trips?$top=1"))
        func next(_ link: String, _ context: String?) throws -> String {
            try NextLink.url(link, context: context, page: page).absoluteString
        }
        #expect(try next("Trips?2", nil) == "https://h/svc/People('x')/Trips?2")
        #expect(try next("People('x')/Trips?2", "https://h/svc/$metadata#People") == "https://h/svc/People('x')/Trips?2")
        #expect(try next("Trips?2", "http://inside:8080/svc/$metadata#People") == "https://h/svc/People('x')/Trips?2")
        #expect(try next("https://h/svc/x?%24expand=a%2cb", nil) == "https://h/svc/x?%24expand=a%2cb")
        // Unencoded characters are encoded, and encoded ones are unchanged.
        #expect(
            try next("Trips?$filter=Tags eq ['a%20b']&$skiptoken=%C3%BC", nil)
                == "https://h/svc/People('x')/Trips?$filter=Tags%20eq%20%5B'a%20b'%5D&$skiptoken=%C3%BC")
        for wrong in ["", "javascript:alert(1)", "file:///etc/passwd", "http://", "//"] {
            #expect(throws: ODataLinkError.self) { try next(wrong, nil) }
        }
    }

    @Test func theQuerysTopHoldsOverAllPages() async throws {
        let service = [
            "https://h/svc/A": ODataPage(entities: [1, 2], nextLink: "A?2"),
            "https://h/svc/A?2": ODataPage(entities: [3, 4], nextLink: "A?broken"),
        ]
        #expect(try await read(pages(service, limit: 3)) == [1, 2, 3])
        #expect(try await read(pages(service, limit: 2)) == [1, 2])
        #expect(try await read(pages(service, limit: 4)) == [1, 2, 3, 4])
        await #expect(throws: Broken.self) { try await read(pages(service, limit: 5)) }
    }

    @Test func aFailedPageThrowsAndNothingComesAfter() async throws {
        let service = ["https://h/svc/A": ODataPage(entities: [1], nextLink: "A?gone")]
        var iterator = pages(service).makeAsyncIterator()
        #expect(try await iterator.next()?.entities == [1])
        await #expect(throws: Broken.self) { try await iterator.next() }
        #expect(try await iterator.next()?.entities == nil)
    }

    @Test func loopsAreDetectedAfterTheirPagesWereGiven() async throws {
        let service = [
            "https://h/svc/A": ODataPage(entities: [1], nextLink: "A?2"),
            "https://h/svc/A?2": ODataPage(entities: [2], nextLink: "A"),
        ]
        var iterator = pages(service).makeAsyncIterator()
        #expect(try await iterator.next()?.entities == [1])
        #expect(try await iterator.next()?.entities == [2])
        await #expect(throws: ODataLinkError.loop("https://h/svc/A")) { try await iterator.next() }
        #expect(try await iterator.next()?.entities == nil)
    }

    @Test(arguments: ["https://evil.example/A?2", "http://h/svc/A?2", "https://h:444/svc/A?2", "//evil.example/A?2", "https://h.evil/A?2"])
    func linksToAnotherOriginAreRefused(link: String) async throws {
        let service = ["https://h/svc/A": ODataPage(entities: [1], nextLink: link)]
        var iterator = pages(service).makeAsyncIterator()
        _ = try await iterator.next()
        let error = await #expect(throws: ODataLinkError.self) { try await iterator.next() }
        #expect(error?.description.contains("https://h:443") == false)
        #expect(error?.description.contains("isn't followed") == true)
    }

    @Test func foreignLinksMayBeAllowed() async throws {
        let service = [
            "https://h/svc/A": ODataPage(entities: [1], nextLink: "https://other.example/A?2"),
            "https://other.example/A?2": ODataPage(entities: [2]),
        ]
        #expect(try await read(pages(service, foreign: .followWithoutCredentials)) == [1, 2])
    }
}
