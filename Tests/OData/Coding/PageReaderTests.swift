import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import OData

/// Tests that pages read from text are the same as pages read from a tree of the whole payload.
@Suite struct PageReaderTests {
    struct Line: Codable, Sendable, Equatable {
        let Id: Int64
        let Note: String?
    }

    struct Order: Decodable, Sendable, Equatable {
        let Id: Int64
        let Name: String?
        let Price: Decimal?
        let Exact: EdmDecimal?
        let Weight: Double?
        let At: Date?
        let Day: EdmDate?
        let Bytes: Data?
        let Tags: [String]?
        let Counts: [Int32?]?
        let Scores: [String: Double]?
        let Nick: Presence<String>
        let Lines: ToMany<Line>
        let Boss: ToOne<Line>
        let Photo: EdmStream
        let More: ODataValue?
        let Nested: Line?
    }

    /// A page's entities and metadata, or a failure.
    private enum Outcome<Entity: Decodable & Sendable & Equatable>: Equatable {
        case page([Entity], Int64?, String?, String?, String?, DynamicEntity)
        case failure

        init(_ read: () throws -> ODataPage<Entity>) {
            do {
                let page = try read()
                self = .page(page.entities, page.count, page.nextLink, page.deltaLink, page.context, page.annotations)
            } catch {
                self = .failure
            }
        }
    }

    private func byTree<Entity>(_ data: Data, _ types: TypeRegistry = TypeRegistry()) -> Outcome<Entity> {
        Outcome { try ODataDecoder(types: types).decodeTree(ODataPage<Entity>.self, from: data, at: []) }
    }

    /// Reads a page in pieces of given sizes.
    private func inPieces<Entity>(_ data: Data, cut: [Int], _ types: TypeRegistry = TypeRegistry()) -> Outcome<Entity> {
        Outcome {
            let reader = PageReader<Entity>(types: types, bound: 1 << 20)
            var entities: [Entity] = []
            var start = 0
            for end in cut + [data.count] {
                try reader.feed(data.subdata(in: start..<end))
                start = end
                while let entity = try reader.next() { entities.append(entity) }
            }
            while !reader.isAtEnd {
                try reader.finish()
                while let entity = try reader.next() { entities.append(entity) }
            }
            var page = try reader.page()
            page.entities = entities
            return page
        }
    }

    private static let pages = [
        #"""
        {"@odata.context":"$metadata#Orders","@odata.count":"2","@Core.Note":["x"],"value":[{"@odata.etag":"W/\"1\"","Id":"9007199254740993",
        "Name":"é \"q\" 😀","Name@odata.type":"#String","Price":12345678901234567890.123456789,"Exact":"1E400","Weight":"-INF",
        "At":"2012-12-03T07:16:23.5+02:00","Day":"2012-12-03","Bytes":"-_8BAg","Tags@odata.type":"#Collection(String)","Tags":["a","]}"],
        "Counts":[1,null,"3"],"Scores":{"a":1,"b":"NaN1"},"Nick":null},{"Id":2}],"@odata.nextLink":"Orders?$skiptoken=2"}
        """#,
        #"""
        {"@context":"c","value":[{"Id":1,"Price":"34.95","Exact":1.50,"Weight":1e-400,"Scores":{"a":"INF"},"Lines":[{"Id":1,"Note":"n"}],
        "Lines@nextLink":"l","Lines@count":7,"Boss":{"Id":5},"Photo@mediaReadLink":"p","Photo@mediaContentType":"image/png",
        "More":{"a":[1,-0,1.0,9223372036854775808,{"b":null}]},"Nested":{"Id":1.0e2,"Note":null}},
        {"Id":2,"Lines@navigationLink":"nl","Boss@navigationLink":"bl","Nick":"x","Tags":[]}],"@count":2,"@deltaLink":"d"}
        """#,
        #"""
        {"d":{"__count":"2","results":[{"__metadata":{"uri":"u","type":"N.Order"},"Id":"1","At":"/Date(1354511783500)/","Price":"1.25",
        "Weight":"2.5","Lines":{"__deferred":{"uri":"x"}},"Boss":{"__deferred":{"uri":"y"}},"Tags":{"results":["a"]},
        "Nested":{"__deferred":{"uri":"z"}},"Photo":{"__mediaresource":{"media_src":"m","content_type":"t"}}},
        {"Id":"2","Lines":{"results":[{"Id":"3"}],"__next":"n","__count":"9"},"Boss":{"Id":"4"},"Tags":null}],"__next":{"uri":"next"}}}
        """#,
        #"{"d":[{"Id":1},{"Id":"2"}]}"#, #"{"results":[{"Id":1}],"__next":"n"}"#, #"[{"Id":1}]"#, #"{"value":[]}"#, #" {"value" : [ ] } "#,
        #"{"odata.metadata":"http://h/$metadata#A","odata.count":"7","value":[{"odata.type":"N.A","Id":1}],"odata.nextLink":"n"}"#,
        // Errors.
        "{}", "[", "null", "5", "", #"{"value":5}"#, #"{"value":null}"#, #"{"d":{"Id":1}}"#, #"{"value":[{"Id":"x"}]}"#,
        #"{"value":[{"Id":null}]}"#,
        #"{"error":{"code":"E1","message":"no"}}"#, #"{"value":[{"Id":1}],"error":{"code":"E1","message":"no"}}"#,
        #"{"value":[{"Id":1},{"error":{"code":"E1","message":"no"}}]}"#, #"{"value":[{"Id":1,"Tags":["a"],"Tags@odata.nextLink":"x"}]}"#,
        #"{"value":[{"Id":1,"Tags":{"results":["a"],"__next":"x"}}]}"#, #"{"value":[{"Id":1}],"@odata.count":"x"}"#,
        #"{"value":[{"Id":1}],"@odata.nextLink":5}"#, #"{"value":[{"Id":1,"Id":2}]}"#, #"{"value":[{"Id":1,}]}"#, #"{"value":[{"Id":1}]}x"#,
        #"{"value":[{"Id":1,"Nested":{"__deferred":{"uri":"z"}},"Lines":5}]}"#, #"{"value":[{"Id":1.5}]}"#, #"{"value":[{"Id":"1 "}]}"#,
        #"{"value":[{"Id":1,"At":"2012-12-03T07:16:23"}]}"#, #"{"value":[{"Id":1,"Price":1e500}]}"#, #"{"value":[{"Id":true}]}"#,
        #"{"value":[{"Id":9223372036854775808}]}"#, #"{"value":[1,{"Id":1}]}"#, #"{"value":[null]}"#,
    ]

    @Test(arguments: pages) func `a page read in any pieces equals the page decoded from a tree`(text: String) throws {
        let data = Data(text.utf8)
        let tree: Outcome<Order> = byTree(data)
        #expect(inPieces(data, cut: []) == tree)
        for place in 0...data.count { #expect(inPieces(data, cut: [place]) == tree, "cut at \(place)") }
        for size in [1, 2, 3, 7, 64] {
            #expect(inPieces(data, cut: Array(stride(from: size, to: data.count, by: size))) == tree, "pieces of \(size)")
        }
        #expect(Outcome { try ODataDecoder().decode(ODataPage<Order>.self, from: data) } == tree)
    }

    @Test(arguments: pages) func `entities with metadata read in pieces equal those decoded from a tree`(text: String) throws {
        let data = Data(text.utf8)
        let dynamic: Outcome<DynamicEntity> = byTree(data)
        #expect(inPieces(data, cut: [data.count / 2]) == dynamic)
        let whole: Outcome<ODataEntity<Order>> = byTree(data)
        #expect(inPieces(data, cut: [data.count / 3]) == whole)
    }

    @Test func `a page cut short at any byte is an error in its stream as well`() {
        for text in Self.pages.prefix(9) {
            let data = Data(text.utf8)
            guard case .page = byTree(data) as Outcome<Order> else { continue }
            let end = (text.lastIndex { !$0.isWhitespace }).map { text.utf8.distance(from: text.startIndex, to: $0) } ?? 0
            for length in 0..<end {
                let cut = data.prefix(length)
                #expect(inPieces(Data(cut), cut: [length / 2]) as Outcome<Order> == .failure, "\(length) bytes of \(text)")
            }
        }
    }

    @Test func `random pages read in pieces equal those decoded from a tree`() throws {
        var generator = SeededGenerator(seed: 31)
        var successes = 0
        for _ in 0..<3_000 {
            let text = Self.randomPage(&generator)
            let data = Data(text.utf8)
            let cuts = (0..<Int.random(in: 0...3, using: &generator)).map { _ in Int.random(in: 0...data.count, using: &generator) }
                .sorted()
            let tree: Outcome<Order> = byTree(data)
            #expect(inPieces(data, cut: cuts) == tree, "\(text)")
            let full: Outcome<ODataEntity<Order>> = byTree(data)
            #expect(inPieces(data, cut: cuts) == full, "\(text)")
            if tree != .failure { successes += 1 }
        }
        #expect(successes > 300)
    }

    private static func randomPage(_ generator: inout SeededGenerator) -> String {
        func pick(_ texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }
        let values: [(String, [String])] = [
            ("Id", ["1", "\"2\"", "3.0", "4e0", "-0", "\"x\"", "9223372036854775807"]), ("Name", ["\"a\"", "null", "\"\\u00e9\\n\"", "1"]),
            ("Price", ["1.10", "\"2.50\"", "null", "1e40", "\"-3\"", "123456789012345678901234567890123456789012"]),
            ("Exact", ["1.10", "\"INF\"", "7e400", "\"+5\""]), ("Weight", ["1", "\"NaN \"", "\"INF\"", "1e5", "1e999", "\"0x1\""]),
            ("At", ["\"2020-01-01T00:00:00Z\"", "\"/Date(0)/\"", "5"]), ("Tags", ["[]", "[\"a\"]", "{\"results\":[]}", "null", "[1]"]),
            ("Tags@odata.nextLink", ["\"x\"", "null"]), ("Counts", ["[1,\"2\",null]", "[]"]), ("Nick", ["null", "\"n\""]),
            ("Lines", ["[]", "[{\"Id\":1}]", "null", "{\"__deferred\":{\"uri\":\"u\"}}", "{\"results\":[],\"__count\":\"5\"}"]),
            ("Lines@odata.count", ["3", "\"4\""]), ("Lines@odata.navigationLink", ["\"nl\""]),
            ("Boss", ["null", "{\"Id\":1}", "{\"__deferred\":{}}", "{}"]), ("Boss@navigationLink", ["\"b\""]),
            ("Photo@odata.mediaEditLink", ["\"p\""]), ("Photo", ["{\"__mediaresource\":{\"edit_media\":\"e\"}}"]),
            ("More", ["[{\"a\":1.50}]", "{}", "1e3", "\"s\""]), ("Nested", ["{\"Id\":\"1\"}", "null", "{\"__deferred\":{\"uri\":\"u\"}}"]),
            ("__metadata", ["{\"uri\":\"u\"}"]), ("@odata.etag", ["\"W/1\""]), ("Extra", ["1", "[true,null]"]),
        ]
        let entities = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            let chosen = values.filter { $0.0 == "Id" || Int.random(in: 0...5, using: &generator) == 0 }.shuffled(using: &generator)
            // Most values are the first choice, so that many pages are valid.
            let members = chosen.map { name, texts in
                "\"\(name)\":" + (Int.random(in: 0...3, using: &generator) > 0 ? texts[0] : pick(texts))
            }
            return "{" + members.joined(separator: ",") + "}"
        }
        let list = "[" + entities.joined(separator: ", ") + "]"
        let around = ["\"@odata.context\":\"$metadata#A\"", "\"@odata.count\":3", "\"@odata.nextLink\":\"n\"", "\"@a.b\":{\"value\":[1]}"]
        switch Int.random(in: 0...4, using: &generator) {
        case 0: return "{\"d\":{\"results\":\(list),\"__next\":\"n\"}}"
        case 1: return "{\"d\":\(list)}"
        default:
            let members = (around.filter { _ in Bool.random(using: &generator) } + ["\"value\":\(list)"]).shuffled(using: &generator)
            return "{" + members.joined(separator: ", ") + "}"
        }
    }

    @Test func `derived types are found, with the registry`() throws {
        var types = TypeRegistry()
        types.register(Line.self, as: "N.Line")
        let data = Data(##"{"value":[{"@odata.type":"#N.Line","Id":1,"X":2},{"@odata.type":"#N.Line","Id":2}]}"##.utf8)
        let reader = PageReader<Polymorphic<any Sendable>>(types: types, bound: 100)
        try reader.feed(data)
        let first = try #require(try reader.next())
        #expect(first.value as? Line == Line(Id: 1, Note: nil) && first.undeclared == ["X": 2] && first.typeName == "N.Line")
    }

    @Test func `the context applies to relations also if it follows them`() throws {
        for text in [
            #"{"@odata.context":"c","value":[{"Id":1,"Lines@odata.navigationLink":"l"}]}"#,
            #"{"value":[{"Id":1,"Lines@odata.navigationLink":"l"}],"@odata.context":"c"}"#,
        ] {
            let page = try ODataDecoder().decode(ODataPage<Order>.self, from: Data(text.utf8))
            #expect(page.entities.first?.Lines.context == "c")
        }
    }

    @Test func `a relation keeps its link in an entity with an unrepresentable number`() throws {
        struct Item: Decodable, Sendable {
            let Id: Int
            let Lines: ToMany<Line>
        }
        let reader = PageReader<Item>(types: TypeRegistry(), bound: 1_000)
        try reader.feed(Data(#"{"value":[{"Id":1,"Extra":1e9999999999,"Lines@odata.navigationLink":"l"}]}"#.utf8))
        #expect(try reader.next()?.Lines.navigationLink == "l")
    }

    @Test func `an entity's hash doesn't change when the page's context arrives`() throws {
        struct Item: Decodable, Sendable, Hashable { let Lines: ToMany<Int> }
        let reader = PageReader<Item>(types: TypeRegistry(), bound: 1_000)
        try reader.feed(Data(#"{"value":[{"Lines":[]}],"@odata.context":"c"}"#.utf8))
        let item = try #require(try reader.next())
        let hash = item.hashValue
        #expect(try reader.next() == nil)
        try reader.finish()
        _ = try reader.page()
        #expect(item.Lines.context == "c" && item.hashValue == hash)
    }

    @Test func `errors contain the coding path`() throws {
        struct Item: Decodable, Sendable { let Lines: [Line] }
        let reader = PageReader<Item>(types: TypeRegistry(), bound: 1_000)
        try reader.feed(Data(#"{"value":[{"Lines":[]},{"Lines":[{"Id":1},{"Id":"x"}]}]}"#.utf8))
        _ = try reader.next()
        let error = #expect(throws: DecodingError.self) { try reader.next() }
        guard case .dataCorrupted(let context) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(context.codingPath.map(\.stringValue) == ["value", "Index 1", "Lines", "Index 1", "Id"])
    }

    @Test func `an entity beyond the bound is an error`() throws {
        let reader = PageReader<Line>(types: TypeRegistry(), bound: 100_000)
        #expect(throws: DecodingError.self) {
            try reader.feed(Data(#"{"value":[{"Id":1,"Note":""#.utf8))
            for _ in 0..<10 {
                _ = try reader.next()
                try reader.feed(Data(String(repeating: "x", count: 60_000).utf8))
            }
        }
    }
}
