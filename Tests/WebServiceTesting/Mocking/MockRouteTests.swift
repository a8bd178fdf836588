import Foundation
import Testing
import WebServiceClient

@testable import WebServiceTesting

@Suite struct MockRouteTests {
    private final class Routes: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "book(id:)": .get("/books/%%0%%"), "text(id:number:)": .get("/books/%%id%%/chapters/%%number%%.txt"),
                "search(text:)": .get(uriTemplate: "/search{?text}"), "shelf(path:)": .get(uriTemplate: "/shelves{/path*}"),
                "any(path:)": .get("%%0%%"), "root()": .get("/"), "closed()": .get("/loans?state=closed"), "odd()": .get("/a:b@c/{id}"),
                "newest()": .get("/books/newest"), "file(name:ending:)": .get(uriTemplate: "/files/{name}{.ending}"),
            ]
        }
    }

    private func route(_ key: String) throws -> MockRoute {
        MockRoute(try #require(Routes.endpoints.routes.first { $0.key == key }), prefix: "/v2")
    }

    private func fits(_ route: MockRoute, _ target: String) -> Bool {
        let target = RequestTarget(Array(target.utf8))
        let items = RequestTarget.pairs(of: target.query ?? [], plusIsBlank: false)
        return route.fits(path: MockRoute.normal(Array(target.path)), query: items)
    }

    @Test(arguments: [
        ("book(id:)", ["/v2/books/1", "/v2/books/a%2Fb?x=1"], ["/v2/books/", "/v2/books/1/2", "/books/1", "/v2/books", ""]),
        ("text(id:number:)", ["/v2/books/1/chapters/a.b.txt"], ["/v2/books/1/chapters/.txt", "/v2/books/1/chapters/a"]),
        ("search(text:)", ["/v2/search?text=a", "/v2/search"], ["/v2/searchx", "/v2/search/"]),
        ("shelf(path:)", ["/v2/shelves", "/v2/shelves/a/b%2Fc"], ["/v2/shelvesa"]), ("any(path:)", ["/v2/a/b/c"], ["/v3/a"]),
        ("closed()", ["/v2/loans?state=closed&x=1"], ["/v2/loans?state=open", "/v2/loans"]),
        ("odd()", ["/v2/a:b@c/%7Bid%7D", "/v2/a%3Ab%40c/{id}"], ["/v2/a:b@c/1"]),
        ("file(name:ending:)", ["/v2/files/a", "/v2/files/a.txt"], ["/v2/files/", "/v2/files/a/b"]),
    ]) func `a route recognizes its requests`(key: String, fitting: [String], others: [String]) throws {
        let route = try route(key)
        for target in fitting { #expect(fits(route, target), "\(target)") }
        for target in others { #expect(!fits(route, target), "\(target)") }
    }

    @Test func `fixed parts count more than arguments`() throws {
        #expect(try route("newest()").weight > route("book(id:)").weight)
        #expect(try route("closed()").weight > route("newest()").weight)
        // The fixed parts are equal, and "/" is narrower than a whole path.
        #expect(try route("root()").weight > route("any(path:)").weight)
    }

    @Test(arguments: ["{", "{}", "a{", "%%", "%%0", "{/", "/{+a}{b}{.c}{;d}{#e}"]) func `a broken route doesn't trap`(text: String)
        throws
    {
        for table: EndpointTable in [["a(_:)": .get(text)], ["a(_:)": .get(uriTemplate: text)]] {
            let route = MockRoute(try #require(table.routes.first), prefix: "")
            _ = fits(route, "/x/y")
            _ = route.distance(method: "GET", segments: ["x", "y"])
        }
    }

    @Test func `long paths take little time`() throws {
        let route = MockRoute(
            try #require(EndpointTable(dictionaryLiteral: ("a(_:)", .get(uriTemplate: "/{+a}x{+b}x{+c}x{+d}y"))).routes.first), prefix: "")
        #expect(!fits(route, "/" + String(repeating: "x", count: 20_000)))
    }
}
