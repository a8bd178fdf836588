import Foundation
import TestSupport
import Testing

@testable import OData
@testable import ODataQueryParsing

/// Tests that each version reads what it writes.
@Suite struct DialectParsingTests {
    private static let bare = [
        "filter", "search", "select", "expand", "orderby", "top", "skip", "count", "compute", "apply", "index", "format", "schemaversion",
        "id", "Count", "TOP",
    ]

    @Test(arguments: bare) func `before 4_01 an option without a dollar sign is a custom option`(name: String) throws {
        for version in [ODataVersion.v2, .v4] {
            let query = try QueryParser(version: version).query("F?\(name)=3")
            #expect(query.options.custom == [.init(name: name, value: "3")], "\(version)")
            #expect(try QueryPrinter(version: version).text(of: query) == "F?\(name)=3")
        }
    }

    @Test func `in 4_01 an option without a dollar sign is a system query option`() throws {
        let parser = QueryParser(version: .v401)
        #expect(try parser.query("F?top=3&COUNT=true&filter=A eq 1").options.custom.isEmpty)
        #expect(try parser.query("F?top=3").options.top == 3)
        #expect(try parser.query("F?$expand=A(top=3)") == parser.query("F?$expand=A($top=3)"))
        #expect(throws: QueryParsingError.self) { try parser.query("F?count=3") }
        #expect(throws: QueryParsingError.self) { try parser.query("F?top=3&$top=3") }
    }

    @Test(arguments: ["top=3", "filter=A eq 1", "count=true", "levels=2", "select=A", "Top=3"])
    func `nested options need their dollar sign before 4_01`(option: String) throws {
        #expect(throws: Never.self) { try QueryParser(version: .v401).query("F?$expand=A(\(option))") }
        let error = #expect(throws: QueryParsingError.self) { try QueryParser(version: .v4).query("F?$expand=A(\(option))") }
        #expect(error?.expected == "'$' and the name of an option" && error?.position == 12)
    }

    @Test(arguments: [
        "top", "count", "filter", "id", "format", "select", "search", "skip", "orderby", "expand", "apply", "levels", "name", "Größe",
    ])
    func `parameters of a V2 function import are parsed as they were printed`(name: String) throws {
        let printer = QueryPrinter(version: .v2)
        let values: [any QueryOperand] = [3, "it's & <more> + %27", 1.5, true, Int64(5), "", "$top=1", EdmValue.binary(Data([1, 255]))]
        for value in values {
            let query = ODataQuery(ResourcePath(function: "F", [name: value, "b": "''"]))
            for query in [query, query.top(3).filter(.property("A") == 1), query.option("sap-client", "it's")] {
                let text = try printer.text(of: query)
                #expect(try printer.text(of: QueryParser(version: .v2).query(text)) == text)
            }
        }
    }

    @Test(arguments: ["X'00FF'", "binary'00FF'", "binary'00ff'", "x'00fF'", "X''", "binary''"]) func `bytes of V2 are hexadecimal`(
        literal: String
    ) throws {
        let bytes = literal.contains("''") ? Data() : Data([0, 255])
        let parser = QueryParser(version: .v2)
        #expect(try parser.literal(literal) == .binary(bytes))
        let printer = QueryPrinter(version: .v2)
        let printed = bytes.isEmpty ? "X''" : "X'00FF'"
        #expect(try printer.text(of: parser.resource("E(\(literal))")) == "E(\(printed))")
        #expect(try printer.text(of: parser.query("E?$filter=A%20eq%20\(literal)")) == "E?$filter=A%20eq%20\(printed)")
    }

    @Test(arguments: ["binary'0'", "X'0G'", "binary'AA=='", "binary'-_8'", "X'00 FF'"]) func `other bytes of V2 are refused`(
        literal: String
    ) {
        #expect(throws: QueryParsingError.self) { try QueryParser(version: .v2).literal(literal) }
    }

    @Test(arguments: [
        "replace(A,'x','y') eq 'z'", "replace(replace(A,'x','y'),'y','z') eq 'z'", "A eq 1e5", "A eq 1E-5", "A eq -2.5e10", "A eq 1e400",
        "not(A eq 1)", "not(substringof('x',A))", "A eq 5l", "A eq 1.5", "A eq time'PT13H20M00.5S'",
    ]) func `an expression of V2 is printed as it was parsed`(filter: String) throws {
        let parser = QueryParser(version: .v2)
        let printer = QueryPrinter(version: .v2)
        let query = try parser.query("E?$filter=" + filter.replacing(" ", with: "%20"))
        let text = try printer.text(of: query)
        #expect(try parser.query(text) == query, "\(text)")
    }

    @Test func `replace is a function of V2 only`() throws {
        let query = try QueryParser(version: .v2).query("E?$filter=replace(A,'x','y')%20eq%20'z'")
        for version in [ODataVersion.v4, .v401] {
            let error = #expect(throws: ODataQueryError.self) { try QueryPrinter(version: version).text(of: query) }
            #expect(error?.description.contains("replace") == true)
            #expect(throws: QueryParsingError.self) { try QueryParser(version: version).expression("replace(A,'x','y')") }
        }
        #expect(throws: QueryParsingError.self) { try QueryParser(version: .v2).expression("replace(A,'x')") }
    }

    @Test func `a path can continue after a V2 function import`() throws {
        let names = ServiceNames([
            "Top": .functionImport(giving: .entityCollection), "Best": .functionImport(giving: .entity), "Items": .entityCollection,
            "Name": .primitive,
        ])
        for parser in [QueryParser(version: .v2), QueryParser(version: .v2, names: names)] {
            for url in ["Top?count=3", "Top/$count?count=3", "Top(5)?n=1", "Top(5)/Name", "Best/Items?a='x'", "Best/Name/$value"] {
                #expect(try QueryPrinter(version: .v2).text(of: parser.query(url)) == url)
            }
            #expect(try QueryPrinter(version: .v2).text(of: parser.query("Top()?n=1")) == "Top?n=1")
        }
    }

    @Test(arguments: [
        "P?$select=Name,Category/Name&$expand=Category", "P?$select=Name&$expand=Category", "P?$expand=Category",
        "P?$select=Category&$expand=Category", "P?$select=Category/Name&$expand=Category/Supplier",
        "P?$select=Name,Category/Products&$expand=Category/Products", "P?$select=Name&$expand=Category/Products,Supplier",
        "P?$select=*,Category/Name&$expand=Category", "P?$select=*&$expand=Category", "P?$select=Category/*&$expand=Category",
        "P(1)?$select=Supplier/Address/City&$expand=Supplier,Category", "P?$expand=A/B/C,A/D&$select=A/B/Name",
        "P?$select=A/B/C/Name,A/D&$expand=A/B/C,A/D,E",
    ])
    func `a V2 selection is printed as it was parsed`(url: String) throws {
        let printer = QueryPrinter(version: .v2)
        let text = try printer.text(of: QueryParser(version: .v2).query(url))
        let options = Set(text.split(separator: "?")[1].split(separator: "&"))
        #expect(options == Set(url.split(separator: "?")[1].split(separator: "&")))
        #expect(try printer.text(of: QueryParser(version: .v2).query(text)) == text)
    }

    @Test func `a V2 selection contains only the requested properties`() throws {
        struct Kind: Decodable, Sendable { let ID: Int; let Name: String }
        struct Product: Decodable, Sendable { let ID: Int; let Name: String; let Category: Kind? }
        func expect(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation, _ request: FetchRequest<Product>) throws {
            let printer = QueryPrinter(version: .v2)
            let text = try request.relativeURL(using: printer)
            #expect(text == "P?" + expected, sourceLocation: sourceLocation)
            #expect(try printer.text(of: QueryParser(version: .v2).query(text)) == text, sourceLocation: sourceLocation)
        }
        let products = FetchRequest<Product>(from: "P")
        try expect("$select=Name,Category/Name&$expand=Category", products.select("Name", "Category/Name").expand(\.Category))
        try expect("$select=Category/Name&$expand=Category", products.select("Category/Name").expand(\.Category))
        try expect("$select=Category/Name&$expand=Category", products.select("Category/Name").expand("Category"))
        try expect("$select=Name,Category&$expand=Category", products.select("Name", "Category").expand(\.Category))
        try expect(
            "$select=Category/Name,Category/ID&$expand=Category", products.select("Category/Name").expand(\.Category) { $0.select(\.ID) })
        // All properties of an expanded relation are selected unless some are.
        try expect("$select=Name,Category/ID,Category/Name&$expand=Category", products.select(\.Name).expand(\.Category))
        try expect("$select=Name,Category&$expand=Category", products.select(\.Name).expand("Category"))
        try expect("$select=ID,Name,Category/ID,Category/Name&$expand=Category", products.expand(\.Category))
        try expect("$select=Name,A,A/B&$expand=A,A/B", products.select(\.Name).expand("A").expand("A/B"))
        try expect("$select=Name,A/B,A&$expand=A/B,A", products.select(\.Name).expand("A/B").expand("A"))
        // The relation's name alone would select everything expanded inside it.
        try expect(
            "$select=Name,A/*,A/B/City&$expand=A,A/B", products.select(\.Name).expand("A") { $0.expand("B") { $0.select("City") } })
        try expect("$select=*,A/*,A/B/City&$expand=A,A/B", products.selectAll().expand("A") { $0.expand("B") { $0.select("City") } })
        try expect("$expand=A,A/B", products.selectAll().expand("A") { $0.expand("B") })
        try expect("$select=Name,A,A/B&$expand=A,A/B", products.select(\.Name).expand("A") { $0.expand("B") })
    }

    @Test(arguments: [
        "Top(a=-1.032530647707075e217)", "Top(a='x',b=-8.177476211172852e-290)", "People/-13", "People/-7/-13", "People/-13/Name",
    ])
    func `keys can't be floating-point numbers, and 4_0 has no indices`(url: String) throws {
        for version in [ODataVersion.v4, .v401] {
            let resource = try QueryParser(version: version).resource(url)
            #expect(try QueryPrinter(version: version).text(of: resource) == url, "\(version)")
        }
    }

    // MARK: All kinds of requests

    private static func segment(_ generator: inout QueryGenerator) -> EdmValue {
        let texts = [
            "ada", "ada-lovelace", "ada.lovelace", "O'Neil", "a/b", "a b", "-1", "-x", "007", "+7", "1e5", "1E5", "5", "1.50", "$count",
            "@x",
            "Größe", "50%", "a?b#c", "x=y", "a,b", "a;b", "~", "*", "ABCDEFAB-0000-0000-0000-000000000000", "2026-11-26", "12:30",
            "a.b.c", "a..b", ".a", "_", "-",
        ]
        switch generator.below(4) {
        case 0:
            let value = generator.value()
            switch value {
            case .null, .double, .single, .binary, .spatial, .string: return .integer(Int64(generator.below(200)) - 100)
            default: return value
            }
        default: return .string(generator.pick(texts))
        }
    }

    private static func query(_ generator: inout QueryGenerator) -> ODataQuery {
        var options = generator.options(1, isTop: true)
        let names = ["filter", "top", "count", "Count", "sap-client", "id", "x'y", "format"]
        for _ in 0..<generator.below(3) { options.custom.append(.init(name: generator.pick(names), value: generator.text())) }
        var path = ResourcePath(entitySet: "People")
        switch generator.below(14) {
        case 0: path = .entity
        case 1: path = ResourcePath(segments: [.metadata])
        case 2: path = ResourcePath(segments: [.batch])
        case 3: path = ResourcePath(segments: [.crossjoin(["A", "B"])])
        case 4: path = .all(of: generator.isOne(in: 2) ? "Ns.Type" : nil)
        case 5: path = ResourcePath(segments: [.raw("Ns.Container"), .allEntities])
        case 6:
            let parameters = ["a", "count", "top", "größe"].map { QueryPath.Parameter($0, .literal(generator.value())) }
            path = ResourcePath(segments: [.function("Top", Array(parameters.prefix(generator.below(5))))])
        case 7: path = path.key(5).action("Ns.Rate")
        case 8: path = ResourcePath(segments: [.name("People"), .key(generator.key()), .name("Trips"), .query])
        case 9:
            path.segments.append(.keySegment(segment(&generator)))
            if generator.isOne(in: 2) { path.segments.append(.keySegment(segment(&generator))) }
            if generator.isOne(in: 2) { path = path.property("Trips") } else if generator.isOne(in: 2) { path = path.cast(to: "Ns.Type") }
        case 10:
            path.segments += [.key(generator.key()), .name("Trips")]
            if generator.isOne(in: 2) { path.segments.append(.key(generator.key())) }
            path = path.ref()
            if generator.isOne(in: 2) { options.entityID = "http://host/a(" + generator.text() + ")" }
        default: path = generator.resource()
        }
        if path == .entity { options.entityID = "People(1)" + generator.text() }
        return ODataQuery(path, options: options)
    }

    /// Tests that a query of any kind and version is unchanged after printing, parsing and printing again.
    @Test(arguments: [ODataVersion.v2, .v4, .v401], [1 as UInt64, 2, 3])
    func `every printed request is parsed as the original request`(version: ODataVersion, seed: UInt64) throws {
        var generator = QueryGenerator(seed: seed * 7_919)
        let printer = QueryPrinter(version: version)
        let parser = QueryParser(version: version)
        var printed = 0
        for _ in 0..<500 {
            var query = Self.query(&generator)
            // Remove what the version doesn't support, step by step, until the query can be printed.
            for step in 0..<6 {
                if (try? printer.text(of: query)) != nil { break }
                switch step {
                case 0: query.options.filter = nil
                case 1: (query.options.search, query.options.rare) = (nil, [])
                case 2: query.options.expansions = []
                case 3: query.options.selection = .items([SelectItem(QueryPath("Name")), SelectItem(QueryPath("Trips/Name"))])
                case 4: query.options.order = []
                default: query.options.custom = []
                }
            }
            guard let text = try? printer.text(of: query) else { continue }
            printed += 1
            do {
                let again = try printer.text(of: parser.query(text))
                #expect(again == text)
                guard again == text else { return }
            } catch {
                Issue.record("\(text): \(error)")
                return
            }
        }
        #expect(printed > 40, "\(printed)")
    }
}
