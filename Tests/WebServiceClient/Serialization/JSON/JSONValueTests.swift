import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct JSONValueTests {
    private func read(_ text: String) throws -> JSONValue { try JSONReader().decode(JSONValue.self, from: Data(text.utf8)) }

    @Test func `Literals, subscripts and contents`() throws {
        let value: JSONValue = [
            "name": "Ada", "tags": ["a", ["b": 1]], "parent": nil, "ratio": 0.5, "big": 9_223_372_036_854_775_807, "on": true,
        ]
        #expect(value["name"]?.string == "Ada" && value["tags"][1]["b"]?.int == 1 && value["parent"]?.isNull == true)
        #expect(value["ratio"]?.double == 0.5 && value["ratio"]?.int == nil && value["big"]?.int == .max && value["on"]?.bool == true)
        #expect(value["x"] == nil && value["x"]["y"][3] == nil && value[0] == nil && value["tags"]["a"] == nil)
        #expect(value["tags"][2] == nil && value["tags"][-1] == nil && value["tags"]?.array?.count == 2)
        #expect(value.object?.names == ["name", "tags", "parent", "ratio", "big", "on"])
        #expect("\(value)" == #"{"name":"Ada","tags":["a",{"b":1}],"parent":null,"ratio":0.5,"big":9223372036854775807,"on":true}"#)
        #expect(JSONValue.number(Double.nan).isNull && JSONValue.number(UInt64.max).description == "18446744073709551615")
    }

    @Test func `Values change in place`() {
        var value: JSONValue = nil
        value["a"] = 1
        value["b"] = [1, 2]
        value["b"]?[2] = 3
        value["b"]?[0] = nil
        value["b"]?[9] = 4
        value["a"] = nil
        value["c"] = "x"
        #expect(value == ["b": [2, 3], "c": "x"])
        value[0] = 1
        #expect(value["b"]?[0] == 2)
        var many = JSONValue.Members()
        for number in 0..<100 { many["k\(number)"] = .number(number) }
        for number in stride(from: 0, to: 100, by: 2) { many["k\(number)"] = nil }
        #expect(many.count == 50 && many["k1"] == 1 && many["k2"] == nil && many.names.first == "k1")
        #expect(JSONValue.Members([("a", 1), ("b", 2), ("a", 3)]) == ["b": 2, "a": 3])
    }

    @Test func `An array that changes in place equals one built anew`() {
        var random = SeededGenerator(seed: 12)
        func value() -> JSONValue {
            var value: JSONValue = .number(Int.random(in: 0...9, using: &random))
            for _ in 0..<Int.random(in: 0...3, using: &random) { value = [value] }
            if Int.random(in: 0...9, using: &random) == 0 { for _ in 0..<600 { value = [value] } }
            return value
        }
        for _ in 0..<Sweep.rounds(ofAll: 200) {
            var (list, changed): ([JSONValue], JSONValue) = ([], [])
            for _ in 0..<20 {
                let index = Int.random(in: 0...list.count, using: &random)
                if index < list.count, Bool.random(using: &random) {
                    changed[index] = nil
                    list.remove(at: index)
                } else {
                    let new = value()
                    changed[index] = new
                    if index < list.count { list[index] = new } else { list.append(new) }
                }
                #expect(changed == .array(list))
            }
        }
    }

    @Test(arguments: [
        "0", "-0", "0.0", "1.10", "1e400", "-1E-400", "18446744073709551616", "0.1000000000000000055511151231257827021181583404541015625",
        "123456789012345678901234567890123456789012345678901234567890", "1e99999999999999999999",
    ])
    func `Numbers keep their digits`(text: String) throws {
        #expect(try read(text).description == text)
        #expect(try read("{\"a\":[\(text)]}").json() == "{\"a\":[\(text)]}")
        #expect(String(decoding: try JSONSerializer().encode(read("[\(text)]")), as: UTF8.self) == "[\(text)]")
        #expect(JSONValue.Number(text)?.text == text)
    }

    /// A value whose text is written by another encoder.
    private struct Quoted: Encodable {
        let value: JSONValue
        var other = JSONEncoder()

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(String(decoding: other.encode(value), as: UTF8.self))
        }
    }

    @Test func `Inside typed values, digits, names and order stay, too`() throws {
        struct Event: Encodable {
            let payloadValue: JSONValue
        }
        func text(_ value: any Encodable, _ serializer: JSONSerializer = JSONSerializer()) throws -> String {
            String(decoding: try serializer.encode(value), as: UTF8.self)
        }
        let json = #"{"zFirst":1.50,"aSecond":[1e400,12345678901234567890123456789012345678901.5,{}],"path":"a/b","n":null}"#
        let value = try read(json)
        #expect(try text(Event(payloadValue: value)) == #"{"payloadValue":\#(json)}"#)
        #expect(try text(Event(payloadValue: value), JSONSerializer(keys: .snakeCase)) == #"{"payload_value":\#(json)}"#)
        #expect(try text([value, 1, "x", value, true] as [JSONValue]) == #"[\#(json),1,"x",\#(json),true]"#)
        #expect(try text(Optional(value)) == json)
        #expect(try text([Quoted(value: ["a": [1]])]) == #"["{\"a\":[1]}"]"#)
        let own = JSONEncoder()
        own.outputFormatting = .withoutEscapingSlashes
        #expect(
            try text([Quoted(value: ["a": [1]], other: own)], JSONSerializer(encoder: own, reader: JSONReader())) == #"["{\"a\":[1]}"]"#)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(Event(payloadValue: value)) }
        let sorting = JSONSerializer { encoder, _ in encoder.outputFormatting.insert(.sortedKeys) }
        #expect(try text(Event(payloadValue: ["b": 1, "a": 1.5]), sorting) == #"{"payloadValue":{"a":1.5,"b":1}}"#)
    }

    @Test func `Numbers are equal if they denote the same`() throws {
        for (one, other) in [("1", "1.0"), ("1", "10e-1"), ("100", "1E2"), ("0", "-0.0e5"), ("0.5", "5e-1"), ("1e400", "10e399")] {
            #expect(try read(one) == read(other) && read(one).hashValue == read(other).hashValue, "\(one) \(other)")
        }
        for (one, other) in [
            ("1", "-1"), ("1", "1.0000000000000000000000000000000000001"), ("1e400", "1e401"), ("9007199254740993", "9007199254740992"),
        ] {
            #expect(try read(one) != read(other), "\(one) \(other)")
        }
        for text in ["", "-", "01", "1.", ".5", "+1", "1e", "1e+", "0x1", "NaN", " 1", "1 ", "١"] {
            #expect(JSONValue.Number(text) == nil, "\(text)")
        }
        for number in [0, 1, -1, 1e16, 1e-7, 0.1, Double.leastNonzeroMagnitude, .greatestFiniteMagnitude, 123_456.75] {
            let text = try #require(JSONValue.Number(number)).text
            #expect(Double(text) == number && JSONValue.Number(text) != nil)
        }
        #expect(JSONValue.Number(Double.infinity) == nil && JSONValue.Number(Decimal.nan) == nil)
        #expect(JSONValue.Number("12e3")?.integer() == 12_000 && JSONValue.Number("300")?.integer(UInt8.self) == nil)
        #expect(JSONValue.Number("1e999")?.double == nil && JSONValue.Number("0.1")?.decimal == Decimal(string: "0.1"))
    }

    @Test func `The order of members is kept, and means nothing for equality`() throws {
        let text = #"{"z":1,"a":{"y":[],"b":{}},"é":"\u00e9\n\"\\/\u0001"}"#
        let value = try read(text)
        #expect(value.description == #"{"z":1,"a":{"y":[],"b":{}},"é":"é\n\"\\/\u0001"}"#)
        #expect(try read(#"{"é":"é\n\"\\/\u0001","a":{"b":{},"y":[]},"z":1}"#) == value)
        #expect(throws: DecodingError.self) { try read(#"{"a":1,"a":2}"#) }
        var reader = JSONReader()
        reader.keyDecodingStrategy = .convertFromSnakeCase
        struct Box: Decodable { var someValue: JSONValue }
        let box = try reader.decode(Box.self, from: Data(#"{"some_value":{"page_count":1}}"#.utf8))
        #expect(box.someValue["page_count"] == 1)
    }

    @Test func `Any coder reads and writes values`() throws {
        let value: JSONValue = ["s": "x", "n": nil, "b": [true, false], "i": -1, "d": 0.25, "o": [:]]
        #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
        #expect(try JSONReader().decode([JSONValue].self, from: JSONEncoder().encode([value])) == [value])
        #expect(
            try JSONDecoder().decode(JSONValue.self, from: Data("[18446744073709551615,-9223372036854775808,0.1,1e300]".utf8)).description
                == "[18446744073709551615,-9223372036854775808,0.1,1e+300]")
        let list: JSONValue = ["s": "x", "b": [true], "i": -1]
        #expect(try PropertyListDecoder().decode(JSONValue.self, from: PropertyListEncoder().encode(list)) == list)
        struct Point: Codable, Equatable { var x: Int, name: String }
        #expect(try JSONValue(dictionaryLiteral: ("x", 1), ("name", "p")).decode(Point.self) == Point(x: 1, name: "p"))
        #expect(throws: DecodingError.self) { try JSONValue.null.decode(Point.self) }
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(read("1e400")) }
    }

    @Test func `Depth is bounded, and never overflows the stack`() throws {
        let deepest = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try read(deepest).description == deepest)
        #expect(throws: DecodingError.self) { try read("[" + deepest + "]") }
        var arrays: JSONValue = 1
        var objects: JSONValue = 1
        for _ in 0..<100_000 { (arrays, objects) = ([arrays], ["a": objects]) }
        for value in [arrays, objects] {
            #expect(throws: EncodingError.self) { try value.json() }
            #expect(throws: EncodingError.self) { try JSONEncoder().encode(value) }
            #expect(throws: EncodingError.self) { try JSONSerializer().encode(value) }
            #expect(value == value && value.description.contains("512"))
        }
        objects["a"] = 1
        #expect(try objects.json() == #"{"a":1}"#)
    }

    @Test func `Random values come back`() throws {
        var random = RandomText(seed: 5)
        for _ in 0..<Sweep.rounds(ofAll: 2_000) {
            let value = Self.random(&random, depth: 0)
            let text = try value.json()
            let read = try read(text)
            #expect(read == value)
            #expect(try read.json() == text)
            #expect(try self.read(String(decoding: JSONSerializer().encode([value]), as: UTF8.self)) == [value])
        }
    }

    private static func random(_ random: inout RandomText, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 4 ? 4 : 6), using: &random) {
        case 0: return [nil, true, false].randomElement(using: &random) ?? nil
        case 1: return .number(Int64.random(in: .min ... .max, using: &random))
        case 2: return .number(Double(Int32.random(in: .min ... .max, using: &random)) / 1024)
        case 3: return .string(random.text(upTo: 6))
        case 4: return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in Self.random(&random, depth: depth + 1) })
        default:
            return .object(
                JSONValue.Members(
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in (random.text(upTo: 3), Self.random(&random, depth: depth + 1)) })
            )
        }
    }
}
