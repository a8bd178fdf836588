import Testing

@testable import OData
@testable import ODataQueryParsing

@Suite struct SearchTermTests {
    private func text(_ term: SearchTerm) throws -> String {
        var text = QueryText()
        try QueryPrinter(version: .v401).write(term, to: &text)
        return text.text
    }

    @Test func `unbounded nesting can be built, compared, hashed and released, and is refused when printed`() {
        let steps: [(SearchTerm) -> SearchTerm] = [{ !$0 }, { "a" && $0 }, { "a" || $0 }, { ("a" && $0) || "b" }]
        for step in steps {
            func build() -> SearchTerm {
                var term: SearchTerm = "a"
                for _ in 0..<20_000 { term = step(term) }
                return term
            }
            let (one, other) = (build(), build())
            #expect(one == other && one.hashValue == other.hashValue && one != "a")
            #expect(throws: ODataQueryError.tooDeep(limit: 128)) { try text(one) }
        }
    }

    @Test func `an empty search is an error, and a list of one term is that term`() throws {
        for term in [SearchTerm(.and([])), SearchTerm(.or([])), !SearchTerm(.or([])), "a" && SearchTerm(.and([])), "", .phrase(" ")] {
            #expect(throws: ODataQueryError.self) { try text(term) }
        }
        #expect(try text(SearchTerm(.and(["a"]))) == "a" && text(SearchTerm(.or(["a"])) && "b") == "(a)%20AND%20b")
    }

    @Test(arguments: [("", ""), ("\u{301}", "%CC%81"), ("\u{308}", "%CC%88"), ("\u{200D}", "%E2%80%8D"), ("\u{E31}", "%E0%B8%B1")])
    func `quotes and backslashes are escaped under combining marks`(mark: String, encoded: String) throws {
        #expect(try text(SearchTerm(.text("it'\(mark) or '\(mark)"))) == "'it''\(encoded)%20or%20''\(encoded)'")
        let phrase = SearchTerm.phrase("a\\\(mark) b\\\(mark)")
        #expect(try text(phrase) == "%22a%5C%5C\(encoded)%20b%5C%5C\(encoded)%22")
        #expect(try QueryParser().query("A?$search=" + text(phrase)).options.search == phrase)
    }

    @Test func `chains of one operator are one level`() throws {
        var chain: SearchTerm = "a"
        for _ in 0..<2_000 { chain = chain || !("b" && "c") }
        #expect(try text(chain) == "a" + String(repeating: "%20OR%20NOT%20(b%20AND%20c)", count: 2_000))
        let query = try QueryParser().query("A?$search=" + text(chain))
        #expect(query.options.search == chain)
    }
}
