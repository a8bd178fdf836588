import Foundation

/// Texts like those of JSONTestSuite, written for these tests: texts that every reader must accept, and texts that every reader must
/// reject.
enum JSONSamples {
    static let accepted: [String] = [
        "null", "true", "false", "0", "-0", "-1", "12", "1.5", "-1.5e3", "1E+2", "1e-2", "0e0", "0.0", "123456789012345678901234567890",
        "\"\"", "\"a\"", "\"\u{7F}\"", "\"/\"", "\"\\/\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0000\"", "\"\\u00e9\\u00E9\"",
        "\"\\uD83D\\uDE00\"", "\"\\uFFFF\"", "\"\\ufeff\"", "\"é漢😀\"", "\"\u{2028}\u{2029}\"", "\"\u{10FFFF}\"", "\"\\\\u0041\"",
        "[]", "[ ]", "[[]]", "[[],[]]", "[1,2,3]", " [ 1 , 2 ] ", "\t\r\n[\n1\n,\n2\n]\r\n", "[null,true,false]", "[[[[1]]]]",
        "{}", "{ }", "{\"a\":1}", "{ \"a\" : 1 }", "{\"\":0}", "{\"a\":{},\"b\":[]}", "{\"a\":1,\"A\":2}", "{\"\\u0061b\":1,\"b\":2}",
        "{\"a\":[{\"b\":null}],\"c\":{\"d\":{\"e\":\"f\"}}}", "[{\"a\":1,\"b\":2},{\"b\":3},{\"c\":1,\"a\":2}]",
        "[{\"a\":1},{\"a\":2},{\"\\u0061\":3}]", "[-0.0,1e308,4.9e-324]", "[\"" + String(repeating: "x", count: 1000) + "\"]",
        "        [               1                 ]                ", "[{\"a\":{\"x\":1}},{\"a\":[{\"x\":1}]},{\"a\":{\"x\":2}}]",
    ]

    static let rejected: [String] = [
        "", " ", "\n", "nul", "nulL", "tru", "fals", "truee", "True", "NaN", "Infinity", "-Infinity", "undefined", "'a'", "a", "é",
        "-", "+1", "01", "02", "-01", "00", "1.", ".5", "1.e1", "1e", "1e+", "1E-", "0x10", "1_000", "1,", "--1", "-a", "1 2", "1a",
        "0.0.1",
        "\"", "\"a", "\"\\\"", "\"\\", "\"\\u\"", "\"\\u12\"", "\"\\u123\"", "\"\\u123g\"", "\"\\x41\"", "\"\\a\"", "\"\\ \"", "\"\t\"",
        "\"\n\"",
        "\"\u{1F}\"", "\"\\uD800\"", "\"\\uDC00\"", "\"\\uD800\\uD800\"", "\"\\uD800x\"", "\"\\uDC00\\uD800\"", "\"\\uD83D\\n\"",
        "[", "]", "[1", "[1,", "[,", "[,1]", "[1,]", "[1,,2]", "[1 2]", "[1}", "[}", "[\"a\" \"b\"]", "[1]]", "[1]x", "[1],", "[][]",
        "[1:2]",
        "[tru]", "[nul", "[02]", "[1.]", "[\"\\q\"]", "[\"\\uD800\"]", "[\"\u{0}\"]", "[-]", "[/* */1]", "[1] // no", "[NaN]",
        "{", "}", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{\"a\":1,,\"b\":2}",
        "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1 \"b\":2}", "{a:1}", "{'a':1}", "{1:1}", "{null:1}", "{\"a\":1]", "{\"a\":1}}", "{\"a\":1}{",
        "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "{\"\":1,\"\":2}", "{\"b\":{\"a\":1,\"a\":1}}",
        "[{\"a\":1,\"b\":2},{\"a\":1,\"b\":2,\"a\":3}]",
        "[{\"a\":1},{\"b\":1,\"b\":2}]", "[{\"a\":1,\"b\":2},{\"b\":1,\"b\":2}]", "{\"\\uD800\":1}", "{\"\\q\":1}", "{\"\t\":1}",
        "{\"a\":02}",
        "\u{FEFF}\u{FEFF}1", "\u{A0}1", "\u{0B}1", "[1\u{2028}]", "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"a\":5}",
    ]

    /// Invalid UTF-8, inside and outside of strings.
    static let rejectedBytes: [[UInt8]] = {
        let sequences: [[UInt8]] = [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
            [0xE2, 0x28, 0xA1], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xC3, 0xA9, 0xA9],
        ]
        let quote = UInt8(ascii: "\"")
        var texts: [[UInt8]] = []
        for sequence in sequences {
            texts.append([quote] + sequence + [quote])
            texts.append([quote] + Array("0123456789abcdef".utf8) + sequence + Array("tail of it".utf8) + [quote])
            texts.append(Array("{\"".utf8) + sequence + Array("\":1}".utf8))
            texts.append(Array("[1,".utf8) + sequence + [UInt8(ascii: "]")])
            texts.append([quote] + sequence)
        }
        texts.append(Array("1".utf8) + [0, 0])
        texts.append([0x20, 0x31, 0x00])
        return texts
    }()

    /// More than 16 and more than 64 members, with and without a duplicate of an earlier name at the end.
    static let manyMembers: [(text: String, isGood: Bool)] = [15, 16, 17, 40, 64, 65, 200, 1000].flatMap { count in
        let list = (0..<count).map { "\"name\($0)\":\($0)" }
        let (members, first) = (list.joined(separator: ","), list[0])
        let reversed = list.reversed().joined(separator: ",")
        return [
            (text: "{\(members)}", isGood: true),
            (text: "{\(members),\"name\(count / 3)\":0}", isGood: false),
            (text: "{\(members),\"\\u006eame\(count / 2)\":0}", isGood: false),
            (text: "[{\(members)},{\(reversed),\(first)}]", isGood: false),
        ]
    }
}

/// Any JSON value, to compare readers.
enum JSONAnything: Decodable, Equatable, CustomStringConvertible {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case string(String)
    case array([JSONAnything])
    /// The keys are the bytes of the names, because names that are equal in Swift may differ for other readers.
    case object([[UInt8]: JSONAnything])

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: AnyKey.self) {
            self = .object(
                try Dictionary(object.allKeys.map { (Array($0.stringValue.utf8), try object.decode(JSONAnything.self, forKey: $0)) }) {
                    first, _ in first
                })
            return
        }
        if var array = try? decoder.unkeyedContainer() {
            var values: [JSONAnything] = []
            while !array.isAtEnd { values.append(try array.decode(JSONAnything.self)) }
            self = .array(values)
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else {
            self = .double(try value.decode(Double.self))
        }
    }

    /// The output of a Python program for the same value, with numbers as bits.
    var description: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .integer(let value): return "i\(value)"
        case .double(let value): return "d" + String(value.bitPattern, radix: 16)
        case .string(let value): return "s" + value.utf8.map { String($0, radix: 16) }.joined(separator: ".")
        case .array(let values): return "[" + values.map(\.description).joined(separator: ",") + "]"
        case .object(let members):
            let pairs = members.map { ($0.key, $0.value) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }
            return "{"
                + pairs.map { $0.0.map { String($0, radix: 16) }.joined(separator: ".") + ":" + $0.1.description }.joined(separator: ",")
                + "}"
        }
    }
}

struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }
    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
