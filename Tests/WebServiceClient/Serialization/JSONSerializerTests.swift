import Foundation
import TestSupport
import Testing
import WebServiceClient

@Suite struct JSONSerializerTests {
    struct Page: Codable, Equatable {
        var pageCount: Int
        var sentAt: Date?
        var link: String?
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, _ text: String, at path: String..., with serializer: JSONSerializer = JSONSerializer()
    ) throws -> Value {
        try serializer.decode(type, from: Data(text.utf8), at: path, contentType: nil)
    }

    private func text(_ value: any Encodable, with serializer: JSONSerializer = JSONSerializer()) throws -> String {
        String(decoding: try serializer.encode(value), as: UTF8.self)
    }

    @Test func `Writes compactly, slashes as they are`() throws {
        #expect(try text(["a/b": [1, 2]]) == #"{"a/b":[1,2]}"#)
        #expect(JSONSerializer().contentType == "application/json")
        #expect(JSONSerializer(contentType: "application/vnd.api+json").contentType == "application/vnd.api+json")
    }

    @Test func `Any value may stand at the top`() throws {
        #expect(try decode(Int.self, " 42 ") == 42)
        #expect(try decode(String.self, "\"ä\"") == "ä")
        #expect(try decode(Bool.self, "true"))
        #expect(try decode(Int?.self, "null") == nil)
        #expect(try decode([Int].self, "[]") == [])
        #expect(try text("a") == "\"a\"")
        #expect(try text(1.5) == "1.5")
        #expect(try text(Int?.none) == "null")
    }

    @Test func `Dates are ISO 8601, read tolerantly`() throws {
        let date = Date(timeIntervalSince1970: 1.5)
        #expect(try text([date, Date(timeIntervalSince1970: 0)]) == #"["1970-01-01T00:00:01.500Z","1970-01-01T00:00:00Z"]"#)
        #expect(try decode([Date].self, #"["1970-01-01T00:00:01.500Z","1970-01-01T01:00:01.5+0100"]"#) == [date, date])
        let error = #expect(throws: DecodingError.self) { try decode([Date].self, #"["yesterday"]"#) }
        #expect(error.map { String(describing: $0).contains("yesterday") } == true)
        #expect(throws: EncodingError.self) { try text([Date(timeIntervalSince1970: .infinity)]) }
    }

    @Test func `Dates as seconds, milliseconds, and one's own`() throws {
        let date = Date(timeIntervalSince1970: 1500)
        #expect(try text([date], with: JSONSerializer(dates: .seconds)) == "[1500]")
        #expect(try decode([Date].self, "[1500]", with: JSONSerializer(dates: .seconds)) == [date])
        #expect(try text([date], with: JSONSerializer(dates: .milliseconds)) == "[1500000]")
        #expect(try decode([Date].self, "[1500000]", with: JSONSerializer(dates: .milliseconds)) == [date])
        let own = JSONDates.custom(
            write: { "@\(Int($0.timeIntervalSince1970))" },
            read: { $0.hasPrefix("@") ? Double($0.dropFirst()).map { Date(timeIntervalSince1970: $0) } : nil })
        #expect(try text([date], with: JSONSerializer(dates: own)) == "[\"@1500\"]")
        #expect(try decode([Date].self, "[\"@1500\"]", with: JSONSerializer(dates: own)) == [date])
        #expect(throws: DecodingError.self) { try decode([Date].self, "[\"1500\"]", with: JSONSerializer(dates: own)) }
    }

    @Test func `Snake case, also on the way to a root`() throws {
        let snake = JSONSerializer(dates: .seconds, keys: .snakeCase)
        #expect(try text(Page(pageCount: 1), with: snake) == #"{"page_count":1}"#)
        #expect(try decode(Page.self, #"{"page_count":1,"sent_at":2}"#, with: snake).sentAt == Date(timeIntervalSince1970: 2))
        let payload = #"{"search_result":{"_first_page_":{"page_count":7},"plainName":{"page_count":8},"__":{"page_count":9}}}"#
        #expect(try decode(Page.self, payload, at: "search_result", "_first_page_", with: snake).pageCount == 7)
        #expect(try decode(Page.self, payload, at: "search_result", "plainName", with: snake).pageCount == 8)
        #expect(try decode(Page.self, payload, at: "search_result", "__", with: snake).pageCount == 9)
    }

    @Test func `A custom key strategy counts on the way to a root`() throws {
        let upper = JSONSerializer { _, decoder in
            decoder.keyDecodingStrategy = .custom { Key(stringValue: $0.last?.stringValue.lowercased() ?? "") }
        }
        #expect(try decode(Int.self, #"{"A":{"B":1}}"#, at: "A", "B", with: upper) == 1)
    }

    @Test func `Everything else is set on Foundation's objects`() throws {
        let serializer = JSONSerializer { encoder, decoder in
            encoder.outputFormatting.insert(.sortedKeys)
            encoder.nonConformingFloatEncodingStrategy = .convertToString(positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
            encoder.dataEncodingStrategy = .custom { data, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(data.count)
            }
        }
        #expect(try text(["b": Double.infinity, "a": 1], with: serializer) == #"{"a":1,"b":"INF"}"#)
        #expect(try decode([Double].self, "[\"-INF\"]", with: serializer) == [-.infinity])
        #expect(try text([Data([1, 2, 3])], with: serializer) == "[3]")
        #expect(throws: EncodingError.self) { try text([Double.nan]) }
    }

    /// Foundation's encoder writes it as `NaN`, which isn't JSON.
    @Test func `A decimal that isn't a number is refused with its place`() throws {
        struct Order: Encodable {
            var name = "NaN \\\"NaN"
            var prices: [String: [Decimal]]
            var total: Decimal = 1
        }
        let pretty = JSONEncoder()
        pretty.outputFormatting = [.prettyPrinted, .sortedKeys]
        for serializer in [JSONSerializer(), JSONSerializer(encoder: pretty, reader: JSONReader())] {
            for (value, place) in [
                (["v": Decimal.nan] as any Encodable, "v"), ([Decimal(1), .nan], "[1]"),
                (Order(prices: ["N": [1, 2, .nan]]), "prices.N[2]"),
                (Order(prices: [:], total: .nan), "total"), (Decimal.nan, ""), ([[Decimal]](arrayLiteral: [], [1], [.nan]), "[2][0]"),
            ] {
                let error = #expect(throws: EncodingError.self) { try serializer.encode(value) }
                guard case .invalidValue(_, let context)? = error else { continue }
                let keys = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? "." + key.stringValue }.joined()
                #expect(keys == (place.hasPrefix("[") || place.isEmpty ? place : "." + place))
            }
            #expect(throws: Never.self) { try serializer.encode(Order(prices: ["NaN": [0]])) }
        }
        #expect(try text(["NaN": "N,\"NaN:[{"]) == #"{"NaN":"N,\"NaN:[{"}"#)
    }

    @Test func `The root is reached by names and indices`() throws {
        let payload = #"{"a":{"b":[null,{"c":[1,2]},"x"],"n":null,"0":5},"d":"1970-01-01T00:00:01Z"}"#
        #expect(try decode([Int].self, payload, at: "a", "b", "1", "c") == [1, 2])
        #expect(try decode(Int.self, payload, at: "a", "b", "1", "c", "1") == 2)
        #expect(try decode(Int.self, payload, at: "a", "0") == 5)
        #expect(try decode(String?.self, payload, at: "a", "n") == nil)
        #expect(try decode(String?.self, payload, at: "a", "b", "2") == "x")
        #expect(try decode(Date.self, payload, at: "d") == Date(timeIntervalSince1970: 1))
        #expect(try decode([String: [Int]].self, payload, at: "a", "b", "1") == ["c": [1, 2]])
        #expect(try decode(Int.self, "[[7]]", at: "0", "0") == 7)
        #expect(throws: DecodingError.self) { try decode(Int.self, payload, at: "d") }
        #expect(throws: DecodingError.self) { try decode(Int.self, "{", at: "d") }
    }

    @Test(
        "A missing root is told with what is there instead",
        arguments: [
            (["a", "x", "c"], ["“a.x.c”", "in “a”", "“x” is missing", "“b”, “k0”"]), (["x"], ["at the top", "the key “a”"]),
            (["a", "b", "c"], ["in “a.b”", "an array of 2", "index"]), (["a", "b", "2"], ["an array of 2"]),
            (["a", "b", "-1"], ["an array of 2"]),
            (["a", "b", "0", "c"], ["null"]), (["a", "b", "1", "c"], ["simple value"]),
        ] as [([String], [String])])
    func missingRoot(path: [String], words: [String]) {
        let keys = (0..<12).map { "\"k\($0)\":0" }.joined(separator: ",")
        let payload = Data("{\"a\":{\"b\":[null,1],\(keys)}}".utf8)
        let error = #expect(throws: SerializationError.self) {
            try JSONSerializer().decode(Int?.self, from: payload, at: path, contentType: nil)
        }
        #expect(error?.kind == .root)
        for word in words { #expect(error?.message.contains(word) == true, "\(word) in \(error?.message ?? "")") }
        if words.contains("in “a”") { #expect(error?.message.contains("and 3 more") == true) }
    }

    @Test(
        "Other charsets are read, by header, mark or zeros",
        arguments: [
            ("iso-8859-1", nil, "application/json; charset=ISO-8859-1"), ("windows-1251", nil, "application/json; charset='windows-1251'"),
            ("utf-16le", nil, nil), ("utf-16be", nil, nil), ("utf-32le", nil, nil), ("utf-32be", nil, nil), ("utf-16", nil, nil),
            ("utf-16", nil, "application/json; charset=utf-16"), ("utf-32", nil, nil), ("utf-8", "\u{FEFF}", nil),
            ("utf-8", "\u{FEFF}", "application/json; charset=utf-8"), ("utf-16le", "\u{FEFF}", "application/json; charset=utf-8"),
            ("utf-8", nil, "application/json; charset=us-ascii"),
        ] as [(String, String?, String?)])
    func charsets(name: String, mark: String?, contentType: String?) throws {
        let word = name == "windows-1251" ? "Жук" : "Grüße"
        let data = try TextEncoding.named(name).encode((mark ?? "") + "{\"a\":\"\(word)\"}")
        let value = try JSONSerializer().decode(String.self, from: data, at: ["a"], contentType: contentType)
        #expect(value == word)
    }

    @Test(
        "A charset in the header means nothing for JSON in UTF-8 (RFC 8259 §11)",
        arguments: [
            "utf8mb4", "utf8mb3", "iso-8859-1", "ISO-8859-15", "windows-1252", "windows-1251", "us-ascii", "utf-16", "utf-16le", "utf-32",
            "klingon", "\"shift_jis\"", "gbk", "none", "", "'utf 8'", "binary", "ANSI_X3.4-1968",
        ])
    func header(charset: String) throws {
        let data = Data("{\"a\":\"Grüße, 漢字 😀\"}".utf8)
        for type in ["application/json; charset=" + charset, "application/problem+json;charset=\(charset);q=1"] {
            #expect(try JSONSerializer().decode([String: String].self, from: data, at: [], contentType: type) == ["a": "Grüße, 漢字 😀"])
            let text = try SerializationRegistry.standard.decode(
                String.self, body: data, contentType: type, fallback: JSONSerializer())
            #expect(text == String(decoding: data, as: UTF8.self))
        }
    }

    @Test(
        "Bytes that are no text are an error, whatever the charset",
        arguments: ["application/json", "application/json; charset=utf-8", "application/json; charset=klingon"])
    func noText(type: String) {
        let data = Data("{\"a\":\"".utf8) + Data([0xE9, 0x22, 0x7D])
        #expect(throws: (any Error).self) {
            try JSONSerializer().decode([String: String].self, from: data, at: [], contentType: type)
        }
        let error = #expect(throws: SerializationError.self) {
            try JSONSerializer().decode(
                [String: String].self, from: Data("{\"a\":\"".utf8) + Data([0x81, 0x22, 0x7D]), at: [],
                contentType: "application/json; charset=windows-1252")
        }
        #expect(error?.kind == .charset && error?.message.contains("at byte 6") == true)
    }

    @Test func `One serializer serves many calls at once, each with its own root`() async throws {
        let serializer = JSONSerializer()
        let payload = Data(("{" + (0..<50).map { "\"k\($0)\":[\($0)]" }.joined(separator: ",") + "}").utf8)
        try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for index in 0..<500 {
                group.addTask {
                    (index % 50, try serializer.decode(Int.self, from: payload, at: ["k\(index % 50)", "0"], contentType: nil))
                }
            }
            for try await (expected, value) in group { #expect(expected == value) }
        }
    }

    @Test func `What is written can be read again`() throws {
        var seed = SerializationSeed(6)
        let serializer = JSONSerializer(keys: .snakeCase)
        for _ in 0..<300 {
            let page = Page(
                pageCount: Int(truncatingIfNeeded: seed.next()),
                sentAt: Date(timeIntervalSince1970: Double(Int32(truncatingIfNeeded: seed.next()))),
                link: Bool.random(using: &seed) ? seed.text(upTo: 20) : nil)
            #expect(try serializer.decode(Page.self, from: serializer.encode(page), at: [], contentType: nil) == page)
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
