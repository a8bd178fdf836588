import Foundation
import Testing

@testable import WebServiceClient

private struct Feed: Decodable, Equatable {
    var title: String
    var language: String?
    var entries: [Entry]
    enum CodingKeys: String, CodingKey { case title, language = "@xml:lang", entries = "entry" }
}

private struct Entry: Decodable, Equatable {
    var id: Int
    var link: String?
    var summary: String?
    enum CodingKeys: String, CodingKey { case id = "@id", link = "link/@href", summary = "{urn:media}summary" }
}

private enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case square(Square)
    case point
    struct Square: Codable, Equatable { var side: Int }
}

private struct Drawing: Codable, Equatable {
    var shapes: [Shape]
    enum CodingKeys: String, CodingKey { case shapes = "*" }
}

@Suite struct XMLDecoderTests {
    private func read<Value: Decodable>(
        _ text: String, as type: Value.Type = Value.self, at path: [String] = [], _ configure: (inout XMLDecoder) -> Void = { _ in }
    ) throws -> Value {
        var decoder = XMLDecoder()
        configure(&decoder)
        return try decoder.decode(type, from: Data(text.utf8), at: path)
    }

    @Test func `Elements, attributes, paths and namespaces`() throws {
        let feed: Feed = try read(
            """
            <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="urn:media" xml:lang="en">
              <title>A &amp; B</title><m:title>no</m:title>
              <entry id="1"><link href="/a"/><m:summary>x</m:summary><summary>no</summary></entry>
              <x:other xmlns:x="urn:x"/>
              <entry id=" 2 "/>
            </feed>
            """)
        #expect(
            feed
                == Feed(
                    title: "A & B", language: "en",
                    entries: [Entry(id: 1, link: "/a", summary: "x"), Entry(id: 2, link: nil, summary: nil)]))
    }

    @Test func `Attributes and elements of one name are apart, and so are namespaces`() throws {
        struct Both: Decodable, Equatable {
            var attribute: Int
            var element: Int
            var other: Int
            var none: Int
            var any: [Int]
            enum CodingKeys: String, CodingKey { case attribute = "@n", element = "n", other = "p:n", none = "{}n", any = "{*}n" }
        }
        let text = "<a n='1' xmlns:q='v' xmlns='u' q:n='9'><n>2</n><q:n>3</q:n></a>"
        #expect(throws: DecodingError.self) { try read(text, as: Both.self) { $0.rules.namespaces = ["p": "v"] } }
        let both: Both = try read("<z:a n='1' xmlns:q='v' xmlns:z='u' q:n='9'><n>2</n><q:n>3</q:n></z:a>") {
            $0.rules.namespaces = ["p": "v"]
        }
        #expect(both == Both(attribute: 1, element: 2, other: 3, none: 2, any: [2, 3]))
        let error = #expect(throws: DecodingError.self) { try read(text, as: Both.self) }
        #expect(error.map { DecodingErrorText.text(of: $0) }?.contains("XMLRules.namespaces") == true)
    }

    @Test func `Lists with and without wrapper, of none, of one, of empty elements, mixed with others`() throws {
        struct Lists: Decodable, Equatable {
            var tag: [String]
            var items: [Int]
            var maybe: [Int]?
            var optional: [Int?]
            enum CodingKeys: String, CodingKey { case tag, items = "items/item", maybe = "maybe/item", optional }
        }
        let nils = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'"
        let cases: [(String, Lists)] = [
            ("<a/>", Lists(tag: [], items: [], maybe: nil, optional: [])),
            ("<a><tag/><items/><maybe/></a>", Lists(tag: [""], items: [], maybe: [], optional: [])),
            (
                "<a \(nils)><tag/><items><item>1</item></items><tag>x</tag><optional xsi:nil='true'/><optional>2</optional></a>",
                Lists(tag: ["", "x"], items: [1], maybe: nil, optional: [nil, 2])
            ),
            (
                "<a><items><item>1</item><x/><item>2</item></items><items><item>3</item></items><maybe><item>4</item></maybe></a>",
                Lists(tag: [], items: [1, 2, 3], maybe: [4], optional: [])
            ),
        ]
        for (text, expected) in cases { #expect(try read(text) == expected) }
        #expect(try read("<a><b>1</b><c>2</c></a>") == [1, 2])
        #expect(try read("<a><r><x>1</x><x>2</x></r><r/></a>", as: [String: [[Int]]].self) == ["r": [[1, 2], []]])
        #expect(
            try read("<a><t><i>1</i><j>3</j><i>2</i></t></a>", as: [String: [Int]].self) { $0.rules.lists = .wrapped(item: "i") } == [
                "t": [1, 2]
            ])
        #expect(try read("<a><t/></a>", as: [String: [Int]].self) { $0.rules.lists = .wrapped(item: "i") } == ["t": []])
        #expect(try read("<a><t>1</t><t>1</t><t>2</t></a>", as: [String: Set<Int>].self) == ["t": [1, 2]])
    }

    @Test(arguments: [
        ("<a><r>1</r><r>2</r></a>", "the text “1” (/a/r[1], line 1, column 4)"),
        ("<a><r/><r>\n<![CDATA[x]]></r></a>", "the text “x” (/a/r[2], line 1, column 8)"),
    ])
    func `A text in place of a list's elements isn't lost`(text: String, reason: String) throws {
        let inner = #expect(throws: DecodingError.self) { try read(text, as: [String: [[Int]]].self) }
        #expect("\(inner as Any)".contains(reason), "\(inner as Any)")
        let error = #expect(throws: DecodingError.self) { try read("<a>5</a>", as: [Int].self) }
        #expect("\(error as Any)".contains("the text “5”"), "\(error as Any)")
        #expect(throws: DecodingError.self) {
            try read("<a><t>1</t></a>", as: [String: [Int]].self) { $0.rules.lists = .wrapped(item: "i") }
        }
        #expect(try read("<a> \n<!-- none --></a>", as: [Int].self) == [])
    }

    @Test func `The error of an empty element names the rule`() throws {
        struct Numbers: Decodable { var count: Int? }
        let error = #expect(throws: DecodingError.self) { try read("<a><count/></a>", as: Numbers.self) }
        #expect("\(error as Any)".contains("isn't a whole number of this type; with XMLRules.nils = .emptyElement"), "\(error as Any)")
        let other = #expect(throws: DecodingError.self) { try read("<a>x</a>", as: Int.self) }
        #expect(!"\(other as Any)".contains("XMLRules"))
    }

    @Test func `Text is kept, and white space of numbers isn't`() throws {
        struct Text: Decodable, Equatable {
            var unit: String?
            var text: String
            enum CodingKeys: String, CodingKey { case unit = "@unit", text = "#text" }
        }
        #expect(try read("<a unit='m'> 1&#10;<![CDATA[ <2> ]]>&amp;<!-- x -->3 </a>") == Text(unit: "m", text: " 1\n <2> &3 "))
        #expect(try read("<a>x<b/>y</a>") == Text(unit: nil, text: "xy"))
        #expect(try read("<a/>") == Text(unit: nil, text: ""))
        #expect(try read("<a> x </a>") == " x ")
        #expect(try read("<a>\n 42 </a>") == 42)
        #expect(try read("<a> -1.5e3</a>") == -1500.0)
        #expect(try read("<a> true </a>") == true && read("<a>0</a>") == false)
        #expect(try read("<a></a>") == "" && read("<a/>") == Optional(""))
    }

    @Test func `Numbers are exact, and what isn't one is an error`() throws {
        #expect(try read("<a>9223372036854775807</a>") == Int64.max)
        #expect(try read("<a>18446744073709551615</a>") == UInt64.max)
        #expect(try read("<a>+7</a>") == 7)
        #expect(try read("<a>0.1000000000000000055511151231257827</a>") == Decimal(string: "0.1000000000000000055511151231257827"))
        #expect(try read("<a>INF</a>") == Double.infinity && read("<a>-INF</a>") == -Float.infinity)
        #expect(try read("<a>NaN</a>", as: Double.self).isNaN)
        for text in ["", "x", "1.5", "9223372036854775808", "1 2", "0x1", "1e2"] {
            #expect(throws: DecodingError.self) { try read("<a>\(text)</a>", as: Int64.self) }
        }
        for text in ["", "inf", "nan", "infinity", "0x1p3", "1,5", "1e999"] {
            #expect(throws: DecodingError.self) { try read("<a>\(text)</a>", as: Double.self) }
        }
        for text in ["", "yes", "TRUE", "2"] { #expect(throws: DecodingError.self) { try read("<a>\(text)</a>", as: Bool.self) } }
        for text in ["1e999", "NaN", "", "1.2.3"] { #expect(throws: DecodingError.self) { try read("<a>\(text)</a>", as: Decimal.self) } }
    }

    @Test func `Dates, data and URLs by the rules`() throws {
        let date = Date(timeIntervalSince1970: 1_000_000_000.5)
        #expect(try read("<a> 2001-09-09T01:46:40.500Z </a>") == date)
        #expect(try read("<a>1000000000.5</a>") { $0.rules.dates = .seconds } == date)
        #expect(try read("<a>1000000000500</a>") { $0.rules.dates = .milliseconds } == date)
        #expect(try read("<a>now</a>") { $0.rules.dates = .custom(write: { _ in nil }, read: { $0 == "now" ? date : nil }) } == date)
        #expect(try read("<a>AQ\n L/</a>") == Data([1, 2, 255]))
        #expect(try read("<a>01 02fF</a>") { $0.rules.data = .hexadecimal } == Data([1, 2, 255]))
        #expect(try read("<a/>") == Data())
        #expect(try read("<a> https://h/a </a>") == URL(string: "https://h/a"))
        for text in ["1", "0g", "001"] {
            #expect(throws: DecodingError.self) { try read("<a>\(text)</a>", as: Data.self) { $0.rules.data = .hexadecimal } }
        }
        #expect(throws: DecodingError.self) { try read("<a>*</a>", as: Data.self) }
        for text in ["", "now", "NaN", "inf"] {
            #expect(throws: DecodingError.self) { try read("<a>\(text)</a>", as: Date.self) { $0.rules.dates = .seconds } == date }
        }
    }

    @Test func `Nil is a missing element or marked, and an empty one by rule`() throws {
        struct Nils: Decodable, Equatable { var text: String?, number: Int? }
        let xsi = "xmlns:i='http://www.w3.org/2001/XMLSchema-instance'"
        #expect(try read("<a \(xsi)><text i:nil='true'/><number i:nil='1'/></a>") == Nils(text: nil, number: nil))
        #expect(try read("<a \(xsi)><text i:nil='false'/></a>") == Nils(text: "", number: nil))
        #expect(try read("<a><text/></a>") == Nils(text: "", number: nil))
        #expect(throws: DecodingError.self) { try read("<a><number/></a>", as: Nils.self) }
        #expect(try read("<a><text/><number/></a>") { $0.rules.nils = .emptyElement } == Nils(text: nil, number: nil))
        #expect(try read("<a><text></text></a>", as: [String: String].self) { $0.rules.nils = .emptyElement } == ["text": ""])
        #expect(throws: DecodingError.self) { try read("<a \(xsi)><b i:nil='true'/></a>", as: [String: String].self) }
    }

    @Test func `Choices are enums`() throws {
        let text = "<d><square><side>1</side></square><point/><circle><radius>2</radius></circle></d>"
        #expect(try read(text) == Drawing(shapes: [.square(Shape.Square(side: 1)), .point, .circle(radius: 2)]))
        #expect(throws: DecodingError.self) { try read("<d><oval/></d>", as: Drawing.self) }
        #expect(
            try read("<d><Square><Side>1</Side></Square></d>") { $0.rules.keys = .capitalized }
                == Drawing(shapes: [.square(Shape.Square(side: 1))]))
        #expect(try read("<d><a>1</a>x<b>2</b></d>", as: XMLValue.self).children.count == 3)
    }

    @Test(
        arguments: [
            (XMLKeys.capitalized, "<A><PageCount>1</PageCount><URL>u</URL></A>"),
            (.snakeCase, "<a><page_count>1</page_count><url>u</url></a>"),
            (.kebabCase, "<a><page-count>1</page-count><url>u</url></a>"),
            (.custom { $0.uppercased() }, "<a><PAGECOUNT>1</PAGECOUNT><URL>u</URL></a>"),
        ] as [(XMLKeys, String)])
    func `Keys are converted`(keys: XMLKeys, text: String) throws {
        struct Page: Codable, Equatable {
            var pageCount: Int
            var address: String
            enum CodingKeys: String, CodingKey { case pageCount, address = "URL" }
        }
        #expect(try read(text) { $0.rules.keys = keys } == Page(pageCount: 1, address: "u"))
    }

    @Test func `A root inside is found, and its lack told`() throws {
        let text = "<rss><channel><title>t</title><item>1</item><item>2</item></channel></rss>"
        #expect(try read(text, at: ["channel", "item"]) == [1, 2])
        #expect(try read(text, at: ["channel", "item", "1"]) == 2)
        #expect(try read(text, at: ["channel", "title"]) == "t")
        #expect(try read(text, as: [String: XMLValue].self, at: ["channel", "title"]).isEmpty)
        #expect(throws: DecodingError.self) { try read(text, as: Int.self, at: ["channel", "item"]) }
        for path in [["x"], ["channel", "x"], ["channel", "item", "2"], ["channel", "item", "-1"], ["0"], [""], ["p:x"]] {
            let error = #expect(throws: SerializationError.self) { try read(text, as: Int.self, at: path) }
            #expect(error?.kind == .root)
        }
        #expect(try read("<a xmlns='u'><b>1</b></a>", at: ["{u}b"]) == [1])
    }

    @Test func `A list without elements is empty`() throws {
        let text = "<rss><channel><title>t</title></channel></rss>"
        #expect(try read(text, as: [Int].self, at: ["channel", "item"]).isEmpty)
        #expect(try read(text, as: Set<Int>.self, at: ["channel", "item"]).isEmpty)
        for path in [["feed", "item"], ["channel", "item", "0"], ["channel", "item", "guid"]] {
            let error = #expect(throws: SerializationError.self) { try read(text, as: [Int].self, at: path) }
            #expect(error?.kind == .root)
        }
        #expect(throws: SerializationError.self) { try read(text, as: [Int]?.self, at: ["channel", "item"]) }
        #expect(throws: SerializationError.self) { try read(text, as: XMLValue.self, at: ["channel", "item"]) }
    }

    @Test func `A root's name is checked if it is known`() throws {
        struct Order: Decodable, XMLRootNamed {
            static let xmlRootName = "{urn:shop}order"
        }
        _ = try read("<o:order xmlns:o='urn:shop'/>", as: Order.self)
        let error = #expect(throws: DecodingError.self) { try read("<error/>", as: Order.self) }
        #expect(error.map { DecodingErrorText.text(of: $0) }?.contains("{urn:shop}order") == true)
        #expect(throws: DecodingError.self) { try read("<b/>", as: String.self) { $0.rules.rootName = "a" } }
        #expect(try read("<a/>") { $0.rules.rootName = "a" } == "")
    }

    @Test func `What a type doesn't read is refused on request`() throws {
        struct Known: Decodable, Equatable {
            var id: Int?
            var name: String?
            enum CodingKeys: String, CodingKey { case id = "@id", name }
        }
        #expect(try read("<a id='1' x='2'>t<name/><y/></a>") == Known(id: 1, name: ""))
        for text in ["<a x='1'/>", "<a><y/></a>", "<a>t</a>"] {
            let error = #expect(throws: DecodingError.self) { try read(text, as: Known.self) { $0.refusesUnknown = true } }
            #expect(error.map { DecodingErrorText.text(of: $0) }?.contains("unknown") == true)
        }
        #expect(try read("<a id='1' xml:lang='de'>\n<name>x</name></a>") { $0.refusesUnknown = true } == Known(id: 1, name: "x"))
    }

    @Test func `Errors name the element, line and column, and no secret`() throws {
        let text = "<a>\n <b><c>1</c></b>\n <b><c>x</c></b></a>"
        struct C: Decodable { var c: Int }
        let error = #expect(throws: DecodingError.self) { try read(text, as: [String: [C]].self) }
        let message = error.map { DecodingErrorText.text(of: $0) } ?? ""
        #expect(message.contains("/a/b[2]/c, line 3, column 5") && message.contains("b[1].c"), "\(message)")
        #expect(throws: DecodingError.self) { try read("<a><b><c>1</c></b><b/></a>", as: [String: C].self) }
        let secret = #expect(throws: DecodingError.self) { try read("<a><password>hunter2</password></a>", as: [String: Int].self) }
        #expect(secret.map { DecodingErrorText.text(of: $0) }?.contains("hunter2") == false)
    }

    @Test func `Errors that a type catches cost no search for their place`() throws {
        struct Either: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if (try? container.decode(Int.self)) == nil { _ = try container.decode(String.self) }
            }
        }
        let count = 50_000
        let text = "<list>" + String(repeating: "<item>a</item>\n", count: count) + "</list>"
        let values = try XMLDecoder().decode([Either].self, from: Data(text.utf8), at: ["item"])
        #expect(values.count == count)
    }

    @Test func `A type that decodes itself for ever is stopped`() {
        struct Endless: Decodable {
            init(from decoder: any Decoder) throws { _ = try decoder.singleValueContainer().decode(Endless.self) }
        }
        #expect(throws: DecodingError.self) { try read("<a/>", as: Endless.self) }
    }
}
