import Foundation
import OData
import ODataQueryParsing
import Testing

@Suite struct QueryParserTests {
    private let parser = QueryParser()

    @Test func errorsContainThePositionAndTheExpectedText() throws {
        let wrong: [(String, Int, String)] = [
            ("People?$top=x", 12, "a number"),
            ("People?$filter=Age%20gt", 18, "the end of the option"),
            ("People?$filter=Age gt 5 and", 23, "the end of the option"),
            ("People?$filter=(Age gt 5", 24, "')'"),
            ("People?$filter=Name eq 'x", 25, "the string's closing quote"),
            ("People?$filter=Name eq 'x%zz'", 25, "'%' with two hexadecimal digits"),
            ("People?$filter=length(A,B) gt 1", 15, "1 arguments of length"),
            ("People?$top=1&$top=2", 14, "an option that isn't there yet"),
            ("People?$nope=1", 7, "a system query option"),
            ("People('a/b')", 9, "'%2F' in a path's string"),
            ("People//x", 7, "a segment"),
            ("People?$orderby=Name&&$top=1", 21, "an option"),
            ("People?$expand=Trips($top=1", 27, "')'"),
            ("People?$expand=Trips/$ref($levels=2)", 26, "an option that is allowed here"),
            ("People?$apply=aggregate(A with sum)", 34, "' as ' and a name"),
            ("People?$apply=frobnicate(A)", 14, "a transformation"),
        ]
        for (text, position, expected) in wrong {
            let error = #expect(throws: QueryParsingError.self, "\(text)") { try parser.query(text) }
            #expect(error?.position == position, "\(text): \(error?.description ?? "")")
            #expect(error?.expected == expected, "\(text)")
        }
        let error = #expect(throws: QueryParsingError.self) { try parser.query("People?$top=x") }
        #expect(error?.description == "At position 12 of the query a number was expected, not 'x'.")
    }

    @Test func operatorsBindAsTheSpecificationSays() throws {
        func same(_ left: String, _ right: String) throws {
            #expect(try parser.expression(left) == parser.expression(right), "\(left)")
        }
        try same("A or B and C", "A or (B and C)")
        try same("A eq B and C eq D", "(A eq B) and (C eq D)")
        try same("A add B mul C eq D", "(A add (B mul C)) eq D")
        try same("A sub B sub C", "(A sub B) sub C")
        try same("not A in ('x') and B", "(not (A in ('x'))) and B")
        try same("A lt B eq C", "(A lt B) eq C")
        try same("-A mul B", "(-A) mul B")
        try same("A EQ B OR C", "A eq B or C")
        try same("not(A eq B)", "not (A eq B)")
        try same("not(A) and B", "(not (A)) and B")
        try same("NOT(contains(A,'x')) or B", "(not contains(A,'x')) or B")
    }

    @Test(arguments: ["\" \"", "a \"  \""])
    func `blanks aren't a phrase of a search`(search: String) {
        #expect(throws: QueryParsingError.self) { try parser.options("$search=" + search) }
    }

    @Test(arguments: ["A in ((|))", "(A in (|))", "A in (|)", "A in [|]", "A in ((B in (|)))", "not (A in (|))"])
    func `nested lists are read once`(form: String) throws {
        let parts = form.split(separator: "|").map { String($0) }
        let text = String(repeating: parts[0], count: 20) + "1" + String(repeating: parts[1], count: 20)
        let expression = try parser.expression(text)
        let printed = try QueryPrinter(version: .v401).text(of: expression)
        #expect(try QueryPrinter(version: .v401).text(of: parser.expression(printed)) == printed)
    }

    @Test func `words like operators are words`() throws {
        for search in ["and", "or", "not", "ORDER", "NOTE", "ANDREA OR NOTHING", "\"OR\"", "\"a OR b\""] {
            let query = ODataQuery(ResourcePath(entitySet: "E"), options: try parser.options("$search=" + search))
            #expect(try QueryPrinter(version: .v401).text(of: query).removingPercentEncoding == "E?$search=" + search)
        }
    }

    @Test(arguments: [
        "F(a=1)(2)", "F(a=1)(b=2)", "F(a=1)(2)/B", "F(a=1,b='x')('y')/C(3)", "F(a=@p)(2)", "F()(2)", "F(a=1)(2)/$ref", "E(1)/Ns.F(a=1)(2)",
    ]) func `a key can follow a function`(path: String) throws {
        for version in [ODataVersion.v4, .v401] {
            let resource = try QueryParser(version: version).resource(path)
            #expect(resource.segments.contains { if case .function = $0 { true } else { false } })
            #expect(try QueryPrinter(version: version).text(of: resource) == path)
        }
        #expect(try parser.resource("F(a=1)(2)") == ResourcePath(function: "F", ["a": 1]).key(2))
    }

    @Test func namesMayBeKeywords() throws {
        for name in ["time", "datetime", "guid", "duration", "eq", "and", "any", "contains", "geography", "case", "cast"] {
            let text = "\(name) eq 1 and x/\(name) eq 2"
            #expect(try QueryPrinter(version: .v401).text(of: parser.expression(text)).removingPercentEncoding == text)
        }
    }

    @Test func hostileTextIsRefusedWithinBounds() {
        for text in [
            String(repeating: "(", count: 20_000), String(repeating: "not ", count: 20_000) + "A",
            "A" + String(repeating: " or A", count: 20_000), String(repeating: "[", count: 20_000),
            "A" + String(repeating: "/A", count: 20_000),
            "A in (" + String(repeating: "1,", count: 20_000) + "1)", String(repeating: "-", count: 20_000) + "A",
            "geography'SRID=0;" + String(repeating: "GeometryCollection(", count: 20_000) + "'",
        ] {
            #expect(throws: QueryParsingError.self) { try parser.expression(text) }
        }
        for text in [
            "$search=" + String(repeating: "(", count: 20_000), "$search=" + String(repeating: "NOT ", count: 20_000) + "a",
            "$search=" + String(repeating: "a OR ", count: 20_000) + "a", "$expand=" + String(repeating: "A($expand=", count: 20_000),
            "$apply=" + String(repeating: "groupby((A),", count: 20_000), "$select=" + String(repeating: "A,", count: 20_000) + "A",
            "$apply=" + String(repeating: "identity/", count: 20_000) + "identity",
        ] {
            #expect(throws: QueryParsingError.self) { try parser.options(text) }
        }
    }

    @Test func aModelTellsFunctionsFromKeys() throws {
        let parser = QueryParser(
            names: ServiceNames([
                "Items": [.entitySet, .entityCollection], "Top": .functionImport(giving: .entityCollection), "Rate": .action,
                "Name": .primitive,
            ]))
        #expect(try parser.resource("Top(n=1)") == ResourcePath(function: "Top", ["n": 1]))
        #expect(try parser.resource("Items(n=1)") == ResourcePath(entitySet: "Items").key(["n": 1]))
        #expect(try parser.resource("Items/5/Ns.Rate") == ResourcePath(entitySet: "Items").keySegment(5).action("Ns.Rate"))
        #expect(try parser.resource("Items/a%2Fb") == ResourcePath(entitySet: "Items").keySegment("a/b"))
        for wrong in [
            "Nope", "Items(1)/Nope", "Items(1)/Name/$count", "Items/$value", "Items?$filter=Nope eq 1", "Items?$expand=Name/Items",
        ] {
            #expect(throws: QueryParsingError.self, "\(wrong)") { try parser.query(wrong) }
        }
    }
}
