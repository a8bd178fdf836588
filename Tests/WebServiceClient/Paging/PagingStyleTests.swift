import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct PagingStyleTests {
    private static let styles: [PagingStyle] = [
        .linkHeader, .linkHeader(relation: "following"), .nextURL(at: "meta.next"), .cursor(at: "next", query: "cursor"),
        .cursor(at: "next", query: "cursor", more: "more", emptyEnds: false), .cursor(at: "next", body: "start"),
        .lastID(query: "after", more: "has_more", limit: 10), .offset(limit: 50, total: "count", items: "rows"),
        .pageNumber(first: 0, size: 20, pages: "pages"), .linkHeader.prefetching().limited(pages: 3, items: 4),
    ]

    @Test func `Styles are data`() throws {
        for style in Self.styles {
            #expect(try JSONDecoder().decode(PagingStyle.self, from: JSONEncoder().encode(style)) == style)
        }
        #expect(Set(Self.styles).count == Self.styles.count && Set(Self.styles.map(\.description)).count == Self.styles.count)
        #expect(PagingStyle.linkHeader.prefetching().description == "linkHeader.prefetching(1)")
        let limited = PagingStyle.linkHeader.prefetching().limited(pages: 3, items: 4)
        #expect(limited.description == "linkHeader.prefetching(1).limited(pages: 3, items: 4)")
        #expect(PagingStyle.linkHeader.limited(pages: 3, items: 4).description == "linkHeader.limited(pages: 3, items: 4)")
        for style in Self.styles { #expect(PagingStyle(described: style.description) == style, "\(style)") }
        for text in [
            "", "linkHeader(", "cursor(at: a, query: b", "nextURL", "offset(query: a, limit: b)", "linkHeader.limited()", "x(at: y)",
        ] {
            #expect(PagingStyle(described: text) == nil, "\(text)")
        }
        #expect(PagingStyle.lastID(query: "after", limit: 5).description == "lastID(at: id, query: after, limit: limit=5)")
    }

    @Test(arguments: [
        (PagingStyle.linkHeader(relation: ""), "empty name"), (.nextURL(at: ""), "empty name"), (.offset(query: ""), "empty name"),
        (.cursor(at: "a", query: "b", more: ""), "empty name"), (.offset(limit: 0), "0 items"), (.pageNumber(size: .min), "items"),
        (.linkHeader.prefetching(-1), "-1 pages ahead"), (.linkHeader.limited(pages: 0), "0 pages"),
        (.linkHeader.limited(items: -5), "-5 items"),
    ])
    func `Values that make no sense are faults on each level`(style: PagingStyle, problem: String) throws {
        let own = try #require(CompiledTable(["a()": .get("/a").paged(by: style)], root: nil).faults.first)
        #expect(own.kind == .badPaging && own.key == "a()" && own.problem.contains(problem) && !own.fix.isEmpty)
        let client = Store(serviceRoot: "https://api.test") { $0.attributes[PagingStyle.self] = style }
        #expect(client.verify().contains { $0.kind == .badPaging && $0.key == nil })
    }

    @Test func `A description of the table shows the style`() {
        let table: EndpointTable = ["a()": .get("/a").paged(by: .linkHeader)]
        #expect(ClientDescription(client: "C", table: table).endpoints[0].attributes.contains { $0.contains("linkHeader") })
    }

    @Test func `A cursor is added to any JSON object and to nothing else`() throws {
        func body(_ text: String) throws -> String? {
            try CursorBody.adding("x\"é", as: "c", to: RequestBody(Data(text.utf8), contentType: "application/json")).data
                .map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(try body("{}") == #"{"c":"x\"é"}"#)
        #expect(
            try body(#" {"a": 1.0000000000000000001, "b": {"c": "}"}} "#) == #" {"a": 1.0000000000000000001, "b": {"c": "}"},"c":"x\"é"}"#)
        #expect(try CursorBody.adding("x", as: "c", to: nil).data == Data(#"{"c":"x"}"#.utf8))
        for bad in ["[]", "", "{", "1", #"{"c": null}"#, "\u{FEFF}x"] {
            #expect(throws: PagingError.self, "\(bad)") { try body(bad) }
        }
        let stream = RequestBody(open: { AsyncThrowingStream { nil } })
        #expect(throws: PagingError.body("the body is a stream or a file")) { try CursorBody.adding("x", as: "c", to: stream) }
    }

    @Test func `Errors name what to correct, without secrets`() {
        let errors: [PagingError] = [
            .notPaged, .noCall, .loop("https://a.test/?token=s3cret"), .repeatedPage(query: "offset"),
            .foreignOrigin("https://evil.test", service: "https://a.test"), .malformedLink("x:?token=s3cret"),
            .payload(path: "meta.next", problem: "there is no value"), .otherStyle(.linkHeader), .body("it is a stream"),
            .tooManyPages(limit: 3), .tooManyItems(limit: 4),
        ]
        for error in errors { #expect(error.description.hasSuffix(".") && !error.description.contains("s3cret"), "\(error)") }
        #expect(Set(errors.map(\.description)).count == errors.count)
    }
}
