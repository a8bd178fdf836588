import Foundation
import Testing

@testable import WebServiceClient

@Suite struct LatestURLTests {
    private func parts(_ path: String, query: String = "", root: String = "https://example.com/v1") -> URLParts {
        URLParts(root: root, path: path, query: query, route: "/")
    }

    @Test func `the same parts make the same URL, and others another one`() throws {
        let latest = LatestURL()
        for _ in 0..<2 {
            for (parts, text) in [
                (parts("a"), "https://example.com/v1/a"), (parts("b"), "https://example.com/v1/b"),
                (parts("b", query: "c=1"), "https://example.com/v1/b?c=1"), (parts("b", root: "https://other/v1"), "https://other/v1/b"),
            ] {
                #expect(latest.known(parts) == nil)
                for _ in 0..<2 { #expect(try latest.url(of: parts).absoluteString == text) }
                #expect(latest.known(parts)?.absoluteString == text)
            }
        }
    }

    @Test func `parts that make no URL are refused each time, and forget nothing`() throws {
        let latest = LatestURL()
        #expect(try latest.url(of: parts("a")).path == "/v1/a")
        for _ in 0..<2 { #expect(throws: InvalidRequest.self) { try latest.url(of: parts("a", root: "https://[1")) } }
        #expect(latest.known(parts("a"))?.path == "/v1/a")
    }
}
