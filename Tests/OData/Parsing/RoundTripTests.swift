import Foundation
import OData
import ODataQueryParsing
import Testing

/// Tests that printed queries are parsed unchanged, and parsed queries are printed unchanged.
@Suite struct RoundTripTests {
    @Test func everyRandomQueryIsParsedAsItWasPrinted() throws {
        let count = ProcessInfo.processInfo.environment["ROUND_TRIPS"].flatMap { Int($0) } ?? 300
        var generator = QueryGenerator(seed: 41)
        let printer = QueryPrinter(version: .v401)
        let parser = QueryParser()
        for _ in 0..<count {
            let query = generator.query()
            let text = try printer.text(of: query)
            do {
                let read = try parser.query(text)
                guard read != query else { continue }
                Issue.record("\(text) is read as \(try printer.text(of: read))\n\(Self.difference(read, query))")
            } catch {
                Issue.record("\(text): \(error)")
            }
            return
        }
    }

    /// Dialects lose kinds of values and of operators, but no meaning: a printed query is the same after parsing and printing.
    @Test(arguments: [ODataVersion.v2, .v4, .v401])
    func everyDialectIsReadAndPrintedAsItWas(version: ODataVersion) throws {
        var generator = QueryGenerator(seed: 43)
        var printed = 0
        for _ in 0..<300 {
            let query = ODataQuery(generator.resource(), options: generator.options(version == .v2 ? 0 : 1, isTop: true))
            let printer = QueryPrinter(version: version)
            guard let text = try? printer.text(of: query) else { continue }
            printed += 1
            let parser = QueryParser(version: version)
            let again = try printer.text(of: parser.query(text))
            #expect(again == text)
        }
        #expect(printed > 3, "\(printed)")
    }

    /// Returns the descriptions from their first difference on.
    private static func difference(_ read: ODataQuery, _ written: ODataQuery) -> String {
        let (left, right) = (
            Array("\(read.resource.segments) \(read.options)".unicodeScalars),
            Array("\(written.resource.segments) \(written.options)".unicodeScalars)
        )
        let same = zip(left, right).prefix { $0 == $1 }.count
        func shown(_ text: [Unicode.Scalar]) -> String {
            String(String.UnicodeScalarView(text[max(0, same - 80)..<min(text.count, same + 200)])).debugDescription
        }
        return "read:    \(shown(left))\nwritten: \(shown(right))"
    }
}
