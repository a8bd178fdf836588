import Foundation
import OData
import ODataQueryParsing
import Testing

/// Tests the official grammar's cases: accepted ones are parsed, and parsed again the same after printing; rejected ones are refused.
///
/// The cases aren't part of this project: they are in the folder that `SHARED_DIRECTORY` names. Without it, these tests are skipped.
@Suite(.enabled(if: GrammarCases.folder != nil, "SHARED_DIRECTORY names no folder with the official grammar's cases"))
struct GrammarCasesTests {
    /// Rules for texts other than URLs.
    private static let others: Set<String> = [
        "context", "preference", "header", "prefer", "includeannotationspreference", "maxpagesizepreference", "iri-in-header",
        // Values in payloads and metadata, which aren't percent-encoded.
        "datetimeoffsetvalue", "decimalvalue", "doublevalue", "durationvalue", "sbytevalue", "int16value", "int64value", "primitivevalue",
        "timeofdayvalue", "enumvalue",
    ]
    /// Cases that aren't queries or that the parser reads differently, with the reason.
    private static let exceptions: [String: String] = [
        "http://127.0.0.1:8080/MyService/": "a service root, no query",
        "http://services.odata.org/OData/OData.svc/": "a service root, no query",
        "http://My.Org:80/": "a service root, no query",
        "$skiptoken=Not&this": "two options to everyone who reads a URL, the second of the service's own",
        "lambda/Name eq $it/Name": "a lambda variable outside of its lambda",
        "$metadata#Sales(Total)": "the fragment of a context URL, which no request has",
        "$metadata#Products(ID,Self.DigitalProduct/Region)": "the fragment of a context URL, which no request has",
    ]

    /// Returns the parsed case, printed again.
    private func reprinted(_ item: GrammarCases.Case, _ parser: QueryParser) throws -> String? {
        let printer = QueryPrinter(version: .v401)
        switch item.rule.lowercased() {
        case "odataurl", "odatauri":
            let roots = ["http://host/service/", "http://services.odata.org/OData/OData.svc/"]
            let root = roots.first { item.input.hasPrefix($0) } ?? ""
            return try printer.text(of: parser.query(String(item.input.dropFirst(root.count))))
        case "odatarelativeuri": return try printer.text(of: parser.query(item.input))
        case "resourcepath": return try printer.text(of: parser.resource(item.input))
        case "queryoptions", "filter", "orderby", "select", "expand", "search", "compute", "skiptoken", "customqueryoption",
            "systemqueryoption":
            return try printer.text(of: parser.options(item.input))
        case "anyexpr": return try printer.text(of: parser.expression("Products/" + item.input))
        case "stringinurl": return try printer.text(of: parser.expression("[" + item.input + "]"))
        case "boolcommonexpr", "commonexpr", "firstmemberexpr", "propertypathexpr", "isofexpr", "notexpr":
            return try printer.text(of: parser.expression(item.input))
        default:
            let value = try parser.literal(item.input)
            if item.rule == "boolean", !["true", "false"].contains(try printer.text(of: value)) { return nil }
            return try printer.text(of: value)
        }
    }

    @Test(arguments: ["odata-abnf-testcases.json", "odata-aggregation-testcases.json", "odata-temporal-testcases.json"])
    func casesAreReadOrRefused(file: String) throws {
        let cases = try GrammarCases(file: file)
        let constrained = cases.constraints.isEmpty ? QueryParser() : QueryParser(names: cases.names)
        var seen = 0
        for item in cases.testCases where !Self.others.contains(item.rule.lowercased()) && Self.exceptions[item.input] == nil {
            seen += 1
            do {
                let text = try reprinted(item, constrained)
                let accepted = text != nil
                #expect(accepted == (item.failAt == nil), "\(item.rule) '\(item.input)' was read as '\(text ?? "")'")
                guard var again = text else { continue }
                // The printed query is parsed the same, with and without the names.
                if item.rule.lowercased() == "anyexpr" { again = String(again.dropFirst("Products/".count)) }
                if item.rule.lowercased() == "stringinurl" { again = String(again.dropFirst(3).dropLast(3)) }
                let next = GrammarCases.Case(name: item.name, rule: item.rule, input: again, failAt: nil)
                let stable = try reprinted(next, constrained)
                #expect(stable == text, "\(item.rule) '\(item.input)'")
            } catch {
                #expect(item.failAt != nil, "\(item.rule) '\(item.input)': \(error)")
            }
        }
        #expect(seen > 5)
    }
}
