import Foundation
import TestSupport
import Testing
import WebServiceClient

/// Tests all features of Decodable.
@Suite struct JSONReaderTests {
    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String, _ reader: JSONReader = JSONReader()) throws -> Value {
        try reader.decode(type, from: Data(text.utf8))
    }

    // MARK: Simple values

    private struct Widths: Decodable, Equatable {
        var a: Int8, b: Int16, c: Int32, d: Int64, e: Int, f: UInt8, g: UInt16, h: UInt32, i: UInt64, j: UInt
        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: AnyKey.self)
            func key(_ name: String) -> AnyKey { AnyKey(stringValue: name) }
            a = try object.decode(Int8.self, forKey: key("a"))
            b = try object.decode(Int16.self, forKey: key("b"))
            c = try object.decode(Int32.self, forKey: key("c"))
            d = try object.decode(Int64.self, forKey: key("d"))
            e = try object.decode(Int.self, forKey: key("e"))
            f = try object.decode(UInt8.self, forKey: key("f"))
            g = try object.decode(UInt16.self, forKey: key("g"))
            h = try object.decode(UInt32.self, forKey: key("h"))
            i = try object.decode(UInt64.self, forKey: key("i"))
            j = try object.decode(UInt.self, forKey: key("j"))
        }
    }

    private func limits<Value: FixedWidthInteger & Decodable>(_ type: Value.Type) throws {
        for value in [Value.min, Value.max, 0, 1, Value.max / 3] {
            #expect(try decode([Value].self, "[\(value)]") == [value])
            #expect(try decode(Value.self, "\(value)") == value)
            #expect(try decode([String: Value].self, "{\"a\":\(value)}") == ["a": value])
            #expect(try decode([Value].self, "[\(value).0,\(value)e0,\(value).000e-0]") == [value, value, value])
        }
        let beyond = ["\(Value.max)0", "-\(Value.max)0", "1\(Value.max)", "1e99", "1.5", "1e-1", "-1e40"]
        for text in beyond {
            let error = #expect(throws: DecodingError.self) { try decode([Value].self, "[0,\(text)]") }
            guard case .dataCorrupted(let context) = error else {
                Issue.record("\(text): \(String(describing: error))")
                continue
            }
            #expect(context.codingPath.map(\.intValue) == [1])
            #expect(context.debugDescription.contains(text))
        }
        if Value.min == 0 { #expect(throws: DecodingError.self) { try decode(Value.self, "-1") } }
    }

    @Test func `Integers of every width, up to their limits`() throws {
        try limits(Int8.self)
        try limits(Int16.self)
        try limits(Int32.self)
        try limits(Int64.self)
        try limits(Int.self)
        try limits(UInt8.self)
        try limits(UInt16.self)
        try limits(UInt32.self)
        try limits(UInt64.self)
        try limits(UInt.self)
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            try limits(Int128.self)
            try limits(UInt128.self)
        }
        let widths = try decode(
            Widths.self, "{\"j\":10,\"i\":9,\"h\":8,\"g\":7,\"f\":6,\"e\":-5,\"d\":-4,\"c\":-3,\"b\":-2,\"a\":-1}")
        #expect([widths.a == -1, widths.b == -2, widths.c == -3, widths.d == -4, widths.e == -5].allSatisfy { $0 })
        #expect([widths.f == 6, widths.g == 7, widths.h == 8, widths.i == 9, widths.j == 10].allSatisfy { $0 })
    }

    @Test func `Integers are exact where a Double isn't`() throws {
        #expect(
            try decode([Int64].self, "[9007199254740993,9007199254740993.0,900719925474099.3e1]") == [
                9_007_199_254_740_993, 9_007_199_254_740_993, 9_007_199_254_740_993,
            ])
        #expect(try decode(UInt64.self, "1844674407370955161.5e1") == .max)
        #expect(throws: DecodingError.self) { try decode(UInt64.self, "1844674407370955161.6e1") }
        #expect(try decode([Int].self, "[-0,0e5,-0.000]") == [0, 0, 0])
    }

    @Test func `Doubles and Floats are the nearest ones`() throws {
        var seed = SerializationSeed(41)
        for round in 0..<Sweep.rounds(ofAll: 4_000) {
            let value = Double(bitPattern: seed.next())
            guard value.isFinite else { continue }
            #expect(try decode([Double].self, "[\(value)]") == [value])
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: seed.next()))
            if float.isFinite { #expect(try decode([Float].self, "[\(float)]") == [float]) }
            let digits = String(seed.next() % (round % 2 == 0 ? 100_000_000_000_000_000 : 1_000_000))
            let text = digits + "." + String(seed.next() % 1_000_000) + "e\(Int.random(in: -40...30, using: &seed))"
            #expect(try decode(Double.self, text) == Double(text))
            if let float = Float(text), float.isFinite { #expect(try decode(Float.self, text) == float) }
        }
        #expect(try decode(Double.self, "-0.0").sign == .minus)
        #expect(try decode([Double].self, "[1e-400,0.1,123456789012345678901234567890]") == [0, 0.1, 1.2345678901234568e29])
        #expect(throws: DecodingError.self) { try decode(Double.self, "1e400") }
        #expect(throws: DecodingError.self) { try decode(Float.self, "1e39") }
    }

    @Test func `Decimals have the digits of the text`() throws {
        for text in [
            "0", "-0", "0.1", "-12.50", "1e10", "1.5E-7", "12345678901234567890123456789012345678",
            "0.12345678901234567890123456789012345678",
            "99999999999999999999999999999999999999", "1e127", "1e-128", "3.00", "10000000000000000000000000000000000000000", "0.3e1",
            "1844674407370955161.1844674407370955161", "18446744073709551615", "-9223372036854775808.5",
            "123456789012345678901234567890123456789", "340282366920938463463374607431768211455",
        ] {
            let expected = try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
            #expect(try decode([Decimal].self, "[\(text)]") == [expected], "\(text)")
        }
        // Its digits are a number of 128 bits, so some numbers with 39 digits fit.
        let digits = "123456789012345678901234567890123456789"
        #expect(try decode(Decimal.self, digits).description == digits)
        // A number that it can't represent is an error, not an approximation.
        for text in [
            "340282366920938463463374607431768211457", "1234567890123456789012345678901234567891", "1e200", "1e-129", "0.1e-200",
            "1e99999999999999999999", "1e166",
        ] {
            #expect(throws: DecodingError.self, "\(text)") { try decode([Decimal].self, "[\(text)]") }
        }
        #expect(try decode(Decimal.self, "0e99999999999999999999") == 0)
        #expect(throws: DecodingError.self) { try decode(Decimal.self, "\"1\"") }
    }

    @Test func `Strings of every length and alignment`() throws {
        let scalars: [String] = ["a", "é", "漢", "😀", "\\n", "\\u00e9", "\\\"", "/"]
        for length in 0..<70 {
            for (index, scalar) in scalars.enumerated() {
                let text = String(repeating: "x", count: length) + scalar + String(repeating: "y", count: (length * 7 + index) % 40)
                let json = "{\"\(text)\":\"\(text)\",\"z\":[\"\(text)\"]}"
                let expected = try JSONDecoder().decode(JSONAnything.self, from: Data(json.utf8))
                #expect(try decode(JSONAnything.self, json) == expected)
            }
        }
    }

    @Test func `A string of many megabytes`() throws {
        let count = 3_000_000
        let text = Data("\"".utf8) + Data(repeating: UInt8(ascii: "x"), count: count) + Data("\"".utf8)
        #expect(try JSONReader().decode(String.self, from: text).utf8.count == count)
    }

    // MARK: Structure

    private enum Shape: Codable, Equatable {
        case circle(radius: Double)
        case rectangle(Double, Double)
        case named(name: String, inner: [Shape])
        case nothing
    }

    @Test func `Enums with payloads, raw values, optionals and nested lists`() throws {
        enum Colour: String, Codable { case red, green }
        enum Level: Int, Codable { case low = 1, high }
        let shapes: [Shape] = [.circle(radius: 1.5), .rectangle(2, 3), .named(name: "n", inner: [.nothing, .circle(radius: 0)]), .nothing]
        #expect(try JSONReader().decode([Shape].self, from: JSONEncoder().encode(shapes)) == shapes)
        #expect(try decode([Colour?].self, "[\"red\",null,\"green\"]") == [.red, nil, .green])
        #expect(try decode([Level: [Colour]].self, "[1,[\"red\"],2,[]]") == [.low: [.red], .high: []])
        #expect(throws: DecodingError.self) { try decode([Colour].self, "[\"blue\"]") }
        #expect(try decode([[[Int?]]].self, "[[[1,null],[]],[]]") == [[[1, nil], []], []])
        #expect(try decode([Int: String].self, "{\"1\":\"a\",\"-2\":\"b\"}") == [1: "a", -2: "b"])
        #expect(try decode(Set<String>.self, "[\"a\",\"b\"]") == ["a", "b"])
        #expect(try decode(Int??.self, "null") == .some(nil) || decode(Int??.self, "null") == nil)
        #expect(try decode(ClosedRange<Int>.self, "[1,5]") == 1...5)
    }

    private class Animal: Codable {
        var name: String
        init(name: String) { self.name = name }
    }

    private final class Dog: Animal {
        var tricks: [String]
        var owner: String?
        enum Keys: String, CodingKey { case tricks, owner }
        init(name: String, tricks: [String]) {
            self.tricks = tricks
            super.init(name: name)
        }
        required init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: Keys.self)
            tricks = try object.decode([String].self, forKey: .tricks)
            owner = try object.decodeIfPresent(String.self, forKey: .owner)
            try super.init(from: object.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Keys.self)
            try object.encode(tricks, forKey: .tricks)
            try super.encode(to: object.superEncoder())
        }
    }

    /// Decodes everything with containers.
    private struct ByHand: Decodable {
        var texts: [String] = []
        init(from decoder: any Decoder) throws {
            let object = try decoder.container(keyedBy: AnyKey.self)
            func key(_ name: String) -> AnyKey { AnyKey(stringValue: name) }
            var list = try object.nestedUnkeyedContainer(forKey: key("list"))
            #expect(list.count == 5)
            texts.append(try list.decode(String.self))
            let inner = try list.nestedContainer(keyedBy: AnyKey.self)
            texts.append(try inner.decode(String.self, forKey: key("x")))
            var pair = try list.nestedUnkeyedContainer()
            #expect(try pair.decodeNil())
            #expect(try !pair.decodeNil())
            texts.append("\(try pair.decode(Int.self)) \(pair.isAtEnd) \(pair.currentIndex)")
            let another = try list.superDecoder()
            texts.append(try another.singleValueContainer().decode(String.self))
            // A failure doesn't advance the container.
            #expect(throws: DecodingError.self) { try list.decode(Int.self) }
            #expect(throws: DecodingError.self) { try list.nestedUnkeyedContainer() }
            #expect(list.currentIndex == 4)
            texts.append(try list.decode(String.self))
            #expect(list.isAtEnd)
            #expect(throws: DecodingError.self) { try list.decodeNil() }
            let nested = try object.nestedContainer(keyedBy: AnyKey.self, forKey: key("object"))
            texts.append(nested.allKeys.map(\.stringValue).joined())
            texts.append(nested.codingPath.map(\.stringValue).joined(separator: "/"))
            #expect(nested.contains(key("b")) && !nested.contains(key("d")))
            #expect(try nested.decodeNil(forKey: key("c")))
            #expect(try !object.superDecoder(forKey: key("object")).singleValueContainer().decodeNil())
            #expect(try object.superDecoder().singleValueContainer().decodeNil())
            #expect(try object.superDecoder().codingPath.last?.stringValue == "super")
        }
    }

    @Test func `Class hierarchies, super decoders and containers by hand`() throws {
        let dog = Dog(name: "Rex", tricks: ["sit", "roll"])
        let read = try JSONReader().decode(Dog.self, from: JSONEncoder().encode(dog))
        #expect(read.name == "Rex")
        #expect(read.tricks == ["sit", "roll"])
        let byHand = try decode(ByHand.self, #"{"object":{"a":1,"b":2,"c":null},"list":["1",{"x":"2"},[null,3],"4","5"]}"#)
        #expect(byHand.texts == ["1", "2", "3 true 2", "4", "5", "abc", "object"])
        let error = #expect(throws: DecodingError.self) { try decode(Dog.self, "{\"tricks\":[]}") }
        guard case .valueNotFound(_, let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["super"])
    }

    /// A hundred properties, more than the bits of a word, requested in a different order than in the text.
    @Test func `Many properties in any order`() throws {
        struct Many: Decodable {
            var sum = 0
            init(from decoder: any Decoder) throws {
                let object = try decoder.container(keyedBy: AnyKey.self)
                for index in 0..<100 {
                    sum += try object.decode(Int.self, forKey: AnyKey(stringValue: "p\(index * 37 % 100)"))
                    #expect(try object.decodeIfPresent(Int.self, forKey: AnyKey(stringValue: "q\(index)")) == nil)
                }
            }
        }
        let text = "{" + (0..<100).map { "\"p\($0)\":\($0)" }.joined(separator: ",") + "}"
        #expect(try decode([Many].self, "[\(text),\(text)]").map(\.sum) == [4950, 4950])
    }

    @Test func `Names that are the same text to Swift are found`() throws {
        struct Café: Decodable { var café: Int }
        #expect(try decode(Café.self, "{\"cafe\u{301}\":1}").café == 1)
        #expect(try decode(Café.self, "{\"caf\\u00e9\":2}").café == 2)
        #expect(try decode(Café.self, "{\"cafe\":0,\"café\":3}").café == 3)
        // In JSON the two names differ, so there is no error. The identical spelling takes precedence.
        #expect(try decode(Café.self, "{\"cafe\u{301}\":4,\"café\":5}").café == 5)
    }

    // MARK: Strategies

    private struct Kinds: Codable, Equatable {
        var someDate: Date
        var otherDates: [Date]
        var someData: Data
        var theURL: URL
        var moreByName: [String: Int]
    }

    @Test func `Every strategy reads what Foundation's encoder writes by it`() throws {
        let value = Kinds(
            someDate: Date(timeIntervalSince1970: 1_700_000_000), otherDates: [Date(timeIntervalSince1970: -5)],
            someData: Data([0, 255, 7]),
            theURL: try #require(URL(string: "https://example.com/a?b=c")), moreByName: ["snake_case_key": 1])
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy/MM/dd HH:mm:ss"
        let dates: [(JSONEncoder.DateEncodingStrategy, JSONDecoder.DateDecodingStrategy)] = [
            (.deferredToDate, .deferredToDate), (.secondsSince1970, .secondsSince1970), (.millisecondsSince1970, .millisecondsSince1970),
            (.iso8601, .iso8601), (.formatted(formatter), .formatted(formatter)),
            (
                .custom { try "\($0.timeIntervalSince1970)".encode(to: $1) },
                .custom { Date(timeIntervalSince1970: Double(try $0.singleValueContainer().decode(String.self)) ?? 0) }
            ),
        ]
        let data: [(JSONEncoder.DataEncodingStrategy, JSONDecoder.DataDecodingStrategy)] = [
            (.base64, .base64), (.deferredToData, .deferredToData),
            (.custom { try Array($0).reversed().encode(to: $1) }, .custom { Data(try [UInt8](from: $0).reversed()) }),
        ]
        let keys: [(JSONEncoder.KeyEncodingStrategy, JSONDecoder.KeyDecodingStrategy)] = [
            (.useDefaultKeys, .useDefaultKeys), (.convertToSnakeCase, .custom { AnyKey(stringValue: camel($0.last?.stringValue ?? "")) }),
            (
                .custom { AnyKey(stringValue: "x" + ($0.last?.stringValue ?? "")) },
                .custom { AnyKey(stringValue: String($0.last?.stringValue.dropFirst() ?? "")) }
            ),
        ]
        for (dateEncoding, dateDecoding) in dates {
            for (dataEncoding, dataDecoding) in data {
                for (keyEncoding, keyDecoding) in keys {
                    let encoder = JSONEncoder()
                    encoder.dateEncodingStrategy = dateEncoding
                    encoder.dataEncodingStrategy = dataEncoding
                    encoder.keyEncodingStrategy = keyEncoding
                    let decoder = JSONDecoder()
                    decoder.dateDecodingStrategy = dateDecoding
                    decoder.dataDecodingStrategy = dataDecoding
                    decoder.keyDecodingStrategy = keyDecoding
                    #expect(JSONReader.isAble(toReadAs: decoder))
                    #expect(try JSONReader(settingsOf: decoder).decode(Kinds.self, from: encoder.encode(value)) == value)
                }
            }
        }
    }

    private func camel(_ name: String) -> String {
        // The only name that ends in an abbreviation.
        let words = name.split(separator: "_")
        if name == "the_url" { return "theURL" }
        return (words.first.map(String.init) ?? "") + words.dropFirst().map(\.capitalized).joined()
    }

    @Test func `Snake case is converted as Foundation does it`() throws {
        struct Names: Decodable, Equatable { var values: [String: [String]] }
        struct AllKeys: Decodable, Equatable {
            var names: Set<String>
            init(from decoder: any Decoder) throws {
                names = Set(try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue))
            }
        }
        let names = [
            "a", "a_b", "page_count", "_page_count", "page_count_", "__a__b__", "_", "__", "", "aB_cD", "URL_path", "one_TWO_three", "é_ö",
            "a__b",
            "already", "x_1_y", "_x", "x_",
        ]
        let text = Data(("{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}").utf8)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let reader = JSONReader(settingsOf: decoder)
        #expect(try reader.decode(AllKeys.self, from: text) == decoder.decode(AllKeys.self, from: text))
        // Dictionaries keep their keys, also when nested.
        let nested = Data(#"{"outer_name":{"in_ner":{"a_b":1}}}"#.utf8)
        #expect(try reader.decode([String: [String: [String: Int]]].self, from: nested) == ["outer_name": ["in_ner": ["a_b": 1]]])
        struct Outer: Decodable { var outerName: [String: [String: Int]] }
        #expect(try reader.decode(Outer.self, from: nested).outerName == ["in_ner": ["a_b": 1]])
        let error = #expect(throws: DecodingError.self) {
            try reader.decode(Outer.self, from: Data(#"{"outer_name":{"in_ner":{"a_b":"x"}}}"#.utf8))
        }
        guard case .typeMismatch(_, let context) = error else { return }
        #expect(context.codingPath.first?.stringValue == "outerName")
    }

    @Test func `Numbers that JSON doesn't have, as texts`() throws {
        var reader = JSONReader()
        #expect(throws: DecodingError.self) { try decode([Double].self, "[\"INF\"]", reader) }
        reader.nonConformingFloatDecodingStrategy = .convertFromString(positiveInfinity: "INF", negativeInfinity: "-INF", nan: "NaN")
        #expect(try decode([Double].self, "[\"INF\",\"-INF\",1.5]", reader) == [.infinity, -.infinity, 1.5])
        #expect(try decode([Float].self, "[\"INF\",\"NaN\"]", reader)[1].isNaN)
        #expect(throws: DecodingError.self) { try decode([Double].self, "[\"1\"]", reader) }
    }

    @Test func `What is told by user info arrives`() throws {
        struct Told: Decodable {
            static let key = CodingUserInfoKey(rawValue: "told")
            var text: String?
            init(from decoder: any Decoder) throws { text = Self.key.flatMap { decoder.userInfo[$0] as? String } }
        }
        var reader = JSONReader()
        reader.userInfo = try [#require(Told.key): "hello"]
        #expect(try decode([Told].self, "[1,{}]", reader).map(\.text) == ["hello", "hello"])
    }

    @Test func `A decoder whose settings can't be taken over is known`() {
        let decoder = JSONDecoder()
        #expect(JSONReader.isAble(toReadAs: decoder))
        decoder.allowsJSON5 = true
        #expect(!JSONReader.isAble(toReadAs: decoder))
        final class Own: JSONDecoder, @unchecked Sendable {}
        #expect(!JSONReader.isAble(toReadAs: Own()))
    }

    // MARK: What goes wrong

    @Test func `A container that outlives its call reads nothing`() throws {
        struct Keeper: Decodable {
            nonisolated(unsafe) static var kept: [Any] = []
            init(from decoder: any Decoder) throws {
                Self.kept.append(decoder)
                if let object = try? decoder.container(keyedBy: AnyKey.self) {
                    Self.kept.append(object)
                    _ = try object.decode(Keeper.self, forKey: AnyKey(stringValue: "a"))
                } else {
                    Self.kept.append(try decoder.unkeyedContainer())
                }
            }
        }
        _ = try decode(Keeper.self, "{\"a\":[1,\"secret\"]}")
        let kept = Keeper.kept
        Keeper.kept = []
        for round in 0..<3 {
            // Also while the memory contains another text.
            if round > 0 { _ = try decode([Int].self, "[1,2,3]") }
            for thing in kept {
                if let decoder = thing as? any Decoder {
                    #expect(decoder.codingPath.isEmpty)
                    #expect(decoder.userInfo.isEmpty)
                    #expect(throws: DecodingError.self) { try decoder.container(keyedBy: AnyKey.self) }
                    #expect(throws: DecodingError.self) { try decoder.unkeyedContainer() }
                    #expect(throws: DecodingError.self) { try decoder.singleValueContainer().decode(Int.self) }
                    #expect(throws: DecodingError.self) { try decoder.singleValueContainer().decode([Int].self) }
                    #expect(try decoder.singleValueContainer().decodeNil() == false)
                } else if let object = thing as? KeyedDecodingContainer<AnyKey> {
                    let key = AnyKey(stringValue: "a")
                    #expect(object.allKeys.isEmpty)
                    #expect(!object.contains(key))
                    #expect(throws: DecodingError.self) { try object.decode([Int].self, forKey: key) }
                    #expect(throws: DecodingError.self) { try object.decodeIfPresent(Int.self, forKey: key) }
                    #expect(throws: DecodingError.self) { try object.decodeNil(forKey: key) }
                    #expect(throws: DecodingError.self) { try object.superDecoder() }
                } else if var list = thing as? any UnkeyedDecodingContainer {
                    #expect(list.isAtEnd)
                    #expect(list.count == nil)
                    #expect(throws: DecodingError.self) { try list.decode(Int.self) }
                    #expect(throws: DecodingError.self) { try list.superDecoder() }
                }
            }
        }
    }

    @Test func `Containers that outlive their calls read nothing while other calls use the memory`() async {
        struct Keeper: Decodable {
            let decoder: any Decoder
            let object: KeyedDecodingContainer<AnyKey>
            let list: any UnkeyedDecodingContainer
            init(from decoder: any Decoder) throws {
                self.decoder = decoder
                object = try decoder.container(keyedBy: AnyKey.self)
                list = try object.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "a"))
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<200 {
                        guard let kept = try? decode(Keeper.self, "{\"a\":[\(round),\"secret\"]}") else {
                            Issue.record("nothing was decoded")
                            return
                        }
                        await Task.yield()
                        #expect(throws: DecodingError.self) { try kept.object.decode([Int].self, forKey: AnyKey(stringValue: "a")) }
                        #expect(throws: DecodingError.self) { try kept.decoder.singleValueContainer().decode(Int.self) }
                        #expect(kept.list.isAtEnd && kept.list.count == nil && kept.object.allKeys.isEmpty)
                        #expect((try? decode([String: [Int]].self, "{\"b\":[1,2,3]}")) == ["b": [1, 2, 3]])
                    }
                }
            }
        }
    }

    @Test func `Containers that are kept for a while are each of their own`() throws {
        struct Lazy: Decodable {
            let object: KeyedDecodingContainer<AnyKey>
            init(from decoder: any Decoder) throws { object = try decoder.container(keyedBy: AnyKey.self) }
        }
        struct All: Decodable {
            var sum: [Int] = []
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                var lazy: [Lazy] = []
                while !list.isAtEnd { lazy.append(try list.decode(Lazy.self)) }
                sum = try lazy.map { try $0.object.decode(Int.self, forKey: AnyKey(stringValue: "n")) }
            }
        }
        for count in [1, 7, 8, 9, 40, 200] {
            let text = "[" + (0..<count).map { "{\"n\":\($0)}" }.joined(separator: ",") + "]"
            #expect(try decode(All.self, text).sum == Array(0..<count))
        }
    }

    @Test func `A type that decodes itself without end is an error`() async throws {
        struct Endless: Decodable {
            init(from decoder: any Decoder) throws { self = try decoder.singleValueContainer().decode(Endless.self) }
        }
        let error = try await onOwnThread { () -> String in
            do {
                _ = try JSONReader().decode([Endless].self, from: Data("[1]".utf8))
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(error.contains("decode themselves"))
        #expect(try decode([Int].self, "[1]") == [1])
    }

    @Test func `Readers work at the same time, and inside each other`() async throws {
        struct Outer: Decodable {
            var inner: [Int]
            init(from decoder: any Decoder) throws {
                let text = try decoder.singleValueContainer().decode(String.self)
                inner = try JSONReader().decode([Int].self, from: Data(text.utf8))
            }
        }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let text = "[" + String(repeating: "\"[\(index),2]\",", count: index) + "\"[3]\"]"
                    let read = try JSONReader().decode([Outer].self, from: Data(text.utf8))
                    return read.count == index + 1 && read.dropLast().allSatisfy { $0.inner == [index, 2] }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func `A root is reached by names as they stand in the text`() throws {
        let text = Data(#"{"a_b":{"c":[{"d":1},{"d":2}]},"e":null}"#.utf8)
        var reader = JSONReader()
        reader.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try reader.decode(Int.self, from: text, at: ["a_b", "c", "1", "d"]) == 2)
        #expect(try reader.decode(Int?.self, from: text, at: ["e"]) == nil)
        let error = #expect(throws: DecodingError.self) { try reader.decode(String.self, from: text, at: ["a_b", "c", "1", "d"]) }
        guard case .typeMismatch(_, let context) = error else { return }
        #expect(context.codingPath.map(\.stringValue) == ["aB", "c", "Index 1", "d"])
        #expect(throws: SerializationError.self) { try reader.decode(Int.self, from: text, at: ["aB"]) }
    }
}
