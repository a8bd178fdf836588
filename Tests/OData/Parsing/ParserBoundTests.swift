import Foundation
import Testing

@testable import OData
@testable import ODataQueryParsing

/// Tests that the parser accepts what the printer prints, and that its limits apply to a whole query.
@Suite struct ParserBoundTests {
    private let parser = QueryParser()
    private let printer = QueryPrinter(version: .v401)

    /// Steps that nest one level deeper, as text before and after the inner expression.
    private static let steps: [(String, String)] = [
        ("not%20", ""), ("(", " eq 1 and B)"), ("(", " mul 1 add 1 eq 1 and 1 or 1)"), ("", " eq 1"), ("", " in (1)"), ("-", ""),
        ("length(", ")"), ("cast(", ",Edm.String)"), ("A/any(x:", ")"), ("A/$filter(", ")/$count eq 1"), ("[", "]"), ("{\"a\":", "}"),
        ("f.g(a=", ")"), ("case(A:", ")"), ("A/$count($filter=", ") eq 1"),
    ]

    @Test(arguments: steps) func `every parsed filter can be printed`(before: String, behind: String) throws {
        var deepest = 0
        for depth in [20, 30, 60, 100, 126, 127, 128, 129, 150, 199, 255] {
            let text = String(repeating: before, count: depth) + "A" + String(repeating: behind, count: depth)
            guard let query = try? parser.query("People?$filter=" + text) else { continue }
            deepest = depth
            #expect(throws: Never.self, "\(depth)") { try printer.text(of: query) }
        }
        #expect(deepest >= 20)
    }

    @Test(arguments: [
        ("$search=", "NOT (", "a", ")"), ("$search=", "(", "a", " b OR c)"), ("$expand=", "A($expand=", "B", ")"),
        ("$select=", "A($select=", "B", ")"),
        ("$apply=", "groupby((A),", "identity", ")"), ("$apply=", "concat(identity,", "identity", ")"),
    ])
    func `every parsed option can be printed`(name: String, before: String, inner: String, behind: String) throws {
        for depth in [1, 20, 60, 64, 65, 100, 126, 127, 128, 129, 150, 199] {
            let text = name + String(repeating: before, count: depth) + inner + String(repeating: behind, count: depth)
            guard let query = try? parser.query("People?" + text) else {
                #expect(depth > 20)
                continue
            }
            #expect(throws: Never.self, "\(depth)") { try printer.text(of: query) }
        }
    }

    @Test func `long queries, and queries up to the last level, are parsed as they were printed`() throws {
        let list = "ID in (" + (0..<9_000).map(String.init).joined(separator: ",") + ")"
        let array = "@a=[" + Array(repeating: "1", count: 9_000).joined(separator: ",") + "]"
        for text in ["$filter=\(list)", "$filter=\(list)&$expand=A($filter=\(list))", "\(array)&@b=[1]&$filter=\(list)"] {
            let query = try parser.query("People?" + text)
            #expect(try parser.query(printer.text(of: query)) == query)
        }
        let chain = (0..<5_000).map { "ID eq \($0)" }.joined(separator: " or ")
        #expect(throws: Never.self) { try parser.query("People?$filter=" + chain) }
        for depth in [1, 50, 98] {
            let text = String(repeating: "A or (", count: depth) + "B and C" + String(repeating: ")", count: depth)
            let query = try parser.query("People?$filter=" + text)
            #expect(try parser.query(printer.text(of: query)) == query)
        }
    }

    @Test func `aliases keep their order, and count towards the bound`() throws {
        let names = (0..<4_000).map { "a\($0)" }
        let many = try parser.options(names.map { "@\($0)=1" }.joined(separator: "&"))
        #expect(many.aliases.map(\.name) == names)
        let nested = try parser.options("$expand=A(" + names.map { "@\($0)=1" }.joined(separator: ";") + ")")
        #expect(nested.expansions.first?.options.aliases.map(\.name) == names)
        for text in ["@a=1&@a=2", "$expand=A(@a=1;@a=2)"] { #expect(throws: QueryParsingError.self) { try parser.options(text) } }
        for part in ["@a#=1", "@a#=1 add 1", "x#=1"] {
            let text = (0..<10_001).map { part.replacing("#", with: "\($0)") }.joined(separator: "&")
            #expect(throws: QueryParsingError.self) { try parser.options(text) }
        }
    }
}
