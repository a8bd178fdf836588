import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

private struct Line: Codable, Equatable {
    var sku: String
    var count: UInt64?
    var note: String
    enum CodingKeys: String, CodingKey { case sku = "@sku", count = "@s:count", note = "#text" }
}

private enum Payment: Codable, Equatable {
    case card(Card)
    case voucher(code: String, left: Decimal)
    case cash
    struct Card: Codable, Equatable { var number: String }
}

extension XMLEncoderTests {
    fileprivate struct Order: Codable, Equatable {
        var id: Int64
        var placed: Date
        var price: Decimal
        var isPaid: Bool
        var ratio: Double
        var lines: [Line]
        var tags: [String]
        var payment: Payment
        var history: [Payment]
        var attachment: Data
        var note: String?
        var grid: [[Int]]
        var amounts: [String: Float]
        var extra: XMLValue?

        enum CodingKeys: String, CodingKey {
            case id = "@id", placed, price, isPaid, ratio, lines = "lines/s:line", tags = "tag", payment, history = "history/*", attachment
            case note, grid, amounts, extra
        }
    }
}

extension XMLEncoderTests.Order {
    init(_ random: inout RandomText, _ rules: XMLRules) {
        func text(_ random: inout RandomText) -> String {
            String(String.UnicodeScalarView(random.text(upTo: 8).unicodeScalars.filter(XMLCharacters.isAllowed)))
        }
        func list<Value>(_ random: inout RandomText, _ make: (inout RandomText) -> Value) -> [Value] {
            (0..<Int.random(in: 0...3, using: &random)).map { _ in make(&random) }
        }
        func payment(_ random: inout RandomText) -> Payment {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: .cash
            case 1: .card(Payment.Card(number: text(&random)))
            default: .voucher(code: text(&random), left: Decimal(Int64.random(in: .min ... .max, using: &random)) / 1_000_000_000)
            }
        }
        id = .random(in: .min ... .max, using: &random)
        placed = Date(timeIntervalSince1970: Double(Int.random(in: -80_000_000_000...80_000_000_000, using: &random)) / 8)
        price = Decimal(UInt64.random(in: 0 ... .max, using: &random)) * Decimal(UInt32.random(in: 0 ... .max, using: &random))
        isPaid = Bool.random(using: &random)
        ratio =
            [Double(bitPattern: UInt64.random(in: 0 ... .max, using: &random)), .infinity, -.infinity, 0.1].randomElement(using: &random)
            ?? 0
        if ratio.isNaN { ratio = 1e300 }
        lines = list(&random) {
            Line(sku: text(&$0), count: Bool.random(using: &$0) ? .random(in: 0 ... .max, using: &$0) : nil, note: text(&$0))
        }
        tags = list(&random, text)
        self.payment = payment(&random)
        history = list(&random, payment)
        attachment = Data(text(&random).utf8)
        note = Bool.random(using: &random) ? text(&random) : nil
        // An empty element is nil by this rule.
        if rules.nils == .emptyElement, note == "" { note = nil }
        grid = list(&random) { list(&$0) { Int.random(in: -9...9, using: &$0) } }
        amounts = Dictionary(list(&random) { ("k\(Int.random(in: 0...99, using: &$0))", Float.random(in: -1...1, using: &$0)) }) { $1 }
        extra =
            Bool.random(using: &random)
            ? XMLValue(
                XMLName("extra", namespace: rules.namespaces[""]), attributes: [.init("{urn:x}a", text(&random))],
                children: [.text(text(&random)), .element(XMLValue("{urn:y}b")), .text(text(&random))]) : nil
    }
}

@Suite struct XMLEncoderTests {
    private func write(_ value: any Encodable, _ configure: (inout XMLEncoder) -> Void = { _ in }) throws -> String {
        var encoder = XMLEncoder()
        encoder.writesDeclaration = false
        configure(&encoder)
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test(arguments: 0..<5) func `Random values come back`(number: Int) throws {
        var rules = XMLRules()
        rules.namespaces = number == 1 ? ["": "urn:main", "s": "urn:shop"] : ["s": "urn:shop"]
        rules.nils = [.missing, .schemaNil, .emptyElement, .missing, .schemaNil][number]
        rules.keys = [.asDeclared, .capitalized, .snakeCase, .kebabCase, .asDeclared][number]
        if number == 3 { (rules.lists, rules.data, rules.dates) = (.wrapped(item: "it"), .hexadecimal, .milliseconds) }
        if rules.nils == .emptyElement { rules.namespaces["x"] = "urn:unused" }
        var encoder = XMLEncoder(rules)
        encoder.encoding = try TextEncoding.named(["utf-8", "utf-16", "iso-8859-1", "us-ascii", "windows-1251"][number])
        var decoder = XMLDecoder(rules)
        decoder.refusesUnknown = true
        var random = RandomText(seed: UInt64(number))
        for round in 0..<Sweep.rounds(ofAll: 400) {
            var order = Order(&random, rules)
            // `Extra` would be the name that this strategy gives the key.
            if case .capitalized = rules.keys { order.extra = nil }
            let data = try encoder.encode(order)
            let read = try decoder.decode(Order.self, from: data)
            #expect(read == order, "round \(round): \(String(decoding: data, as: UTF8.self))")
        }
    }

    @Test func `Elements are in the order of the declaration, and nothing is added`() throws {
        let order = Drawing(title: "a<&>\"'\r\n]]>", lines: [Line(sku: "\"<\t\n", count: 1, note: " x ")], names: ["b": 1, "a": 2])
        #expect(
            try write(order) { $0.rules.namespaces = ["s": "urn:s"] }
                == "<Drawing xmlns:s=\"urn:s\"><title>a&lt;&amp;&gt;\"'&#13;\n]]&gt;</title>"
                + "<line sku=\"&quot;&lt;&#9;&#10;\" s:count=\"1\"> x </line><names><a>2</a><b>1</b></names></Drawing>")
        #expect(
            String(decoding: try XMLEncoder().encode("x"), as: UTF8.self)
                == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<string>x</string>")
    }

    private struct Drawing: Codable {
        var title: String
        var lines: [Line]
        var names: [String: Int]
        enum CodingKeys: String, CodingKey { case title, lines = "line", names }
    }

    @Test func `The root has the rules' name, the type's, or one of its kind`() throws {
        struct Named: Codable, XMLRootNamed {
            static let xmlRootName = "{urn:n}thing"
        }
        #expect(try write(Named()) == "<thing xmlns=\"urn:n\"/>")
        #expect(
            try write(Named()) {
                $0.rules.rootName = "p:x"; $0.rules.namespaces = ["p": "u"]
            } == "<p:x xmlns:p=\"u\"/>")
        #expect(try write(Named()) { $0.rules.namespaces = ["n": "urn:n"] } == "<n:thing xmlns:n=\"urn:n\"/>")
        #expect(try write([1, 2]) == "<array><item>1</item><item>2</item></array>")
        #expect(try write([[1], []]) { $0.rules.itemName = "i" } == "<array><i><i>1</i></i><i/></array>")
        #expect(try write(["a": 1]) == "<dictionary><a>1</a></dictionary>")
        #expect(try write(1.5) == "<number>1.5</number>" && write(true) == "<boolean>true</boolean>")
        #expect(try write(Date(timeIntervalSince1970: 0)) == "<date>1970-01-01T00:00:00Z</date>" && write(Data([0])) == "<data>AA==</data>")
        #expect(try write(Optional<Int>.some(1)) == "<number>1</number>")
        #expect(try write(XMLValue("a", text: "b")) { $0.rules.rootName = "x" } == "<a>b</a>")
    }

    @Test func `Nil by the rules`() throws {
        struct Nil: Codable { var a: Int?, b: [Int?] }
        let value = Nil(a: nil, b: [nil])
        let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
        #expect(try write(value) == "<Nil><b \(xsi) xsi:nil=\"true\"/></Nil>")
        #expect(try write(value) { $0.rules.nils = .schemaNil } == "<Nil \(xsi)><a xsi:nil=\"true\"/><b xsi:nil=\"true\"/></Nil>")
        #expect(try write(value) { $0.rules.nils = .emptyElement } == "<Nil><a/><b \(xsi) xsi:nil=\"true\"/></Nil>")
    }

    @Test func `Shared types name their attributes in the rules`() throws {
        struct Plain: Codable, Equatable { var id: Int, name: String }
        var rules = XMLRules()
        rules.attributes = ["id"]
        let data = try XMLEncoder(rules).encode(Plain(id: 1, name: "x"))
        #expect(String(decoding: data, as: UTF8.self).hasSuffix("<Plain id=\"1\"><name>x</name></Plain>"))
        #expect(try XMLDecoder(rules).decode(Plain.self, from: data) == Plain(id: 1, name: "x"))
    }

    @Test func `Characters that a charset lacks are references, except in names`() throws {
        var encoder = XMLEncoder()
        encoder.encoding = try TextEncoding.named("windows-1251")
        let data = try encoder.encode(["Привет é 😀"])
        #expect(try TextEncoding.windows1251.decode(data).contains("<item>Привет &#233; &#128512;</item>"))
        #expect(try XMLDecoder().decode([String].self, from: data) == ["Привет é 😀"])
        #expect(throws: SerializationError.self) { try encoder.encode(["é": 1]) }
        #expect(XMLSerializer { encoder, _ in encoder.encoding = .windows1251 }.contentType == "application/xml; charset=windows-1251")
    }

    @Test func `What has no place in XML is an error`() throws {
        struct ListInAttribute: Codable { var a = [1]; enum CodingKeys: String, CodingKey { case a = "@a" } }
        struct ObjectInAttribute: Codable { var a = ["b": 1]; enum CodingKeys: String, CodingKey { case a = "@a" } }
        struct ObjectInText: Codable { var a = ["b": 1]; enum CodingKeys: String, CodingKey { case a = "#text" } }
        struct Unnamed: Codable { var a = ["b"]; enum CodingKeys: String, CodingKey { case a = "*" } }
        struct NoName: Codable { var a = 1; enum CodingKeys: String, CodingKey { case a = "1 2" } }
        struct NoPrefix: Codable { var a = 1; enum CodingKeys: String, CodingKey { case a = "p:a" } }
        struct Twice: Codable { var a = 1, b = 2; enum CodingKeys: String, CodingKey { case a = "@x", b = "@{}x" } }
        struct OtherName: Codable { var a = XMLValue("b") }
        let values: [any Encodable] = [
            ListInAttribute(), ObjectInAttribute(), ObjectInText(), Unnamed(), NoName(), NoPrefix(), Twice(), OtherName(), ["a b": 1],
            ["": 1],
            ["@a": 1], ["a/b": 1], Decimal.nan, Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan),
        ]
        for value in values { #expect(throws: EncodingError.self, "\(type(of: value))") { try write(value) } }
        for text in ["\0", "\u{1}", "\u{B}", "\u{1F}", "\u{FFFE}", "\u{FFFF}"] {
            let error = #expect(throws: SerializationError.self) { try write(["a": text]) }
            #expect(error?.message.contains("U+") == true)
        }
        for number in [Double.nan, .infinity, -1e300] {
            #expect(throws: (any Error).self) { try write(Date(timeIntervalSince1970: number)) { $0.rules.dates = .iso8601 } }
        }
        #expect(throws: EncodingError.self) { try write(Date(timeIntervalSince1970: .nan)) { $0.rules.dates = .seconds } }
        #expect(try write(Date(timeIntervalSince1970: 1e300)) { $0.rules.dates = .seconds } == "<date>1e+300</date>")
    }

    @Test func `Depth is bounded`() throws {
        struct Deep: Codable {
            var deep: [Deep]
            init(_ depth: Int) { deep = depth == 1 ? [] : [Deep(depth - 1)] }
        }
        let data = try XMLEncoder().encode(Deep(500))
        var (value, depth) = (try XMLDecoder().decode(Deep.self, from: data), 1)
        while let next = value.deep.first { (value, depth) = (next, depth + 1) }
        #expect(depth == 500)
        #expect(throws: EncodingError.self) { try XMLEncoder().encode(Deep(513)) }
        struct Chain: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: WireKey.self)
                for _ in 0..<10_000 { container = container.nestedContainer(keyedBy: WireKey.self, forKey: WireKey("a")) }
            }
        }
        #expect(throws: EncodingError.self) { try XMLEncoder().encode(Chain()) }
        struct Endless: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(Endless())
            }
        }
        #expect(throws: EncodingError.self) { try XMLEncoder().encode(Endless()) }
    }
}
