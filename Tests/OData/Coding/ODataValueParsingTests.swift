import Foundation
import TestSupport
import Testing

@testable import OData

@Suite struct ODataValueParsingTests {
    private func value(_ text: String) throws -> ODataValue { try ODataValue(json: Data(text.utf8)) }

    @Test(arguments: [
        "", " ", "{", "[", "[1,]", #"{"a":1,}"#, #"{"a":1"a"}"#, #"{"a":1,"a":2}"#, #"{"a" 1}"#, "{1:2}", "nul", "truee", "01", "-", "1.",
        ".5", "1e",
        "+1", "0x1", "NaN", #""a"#, #""\x""#, #""\u12""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, "\"\u{01}\"", "[1] 2", "[1 2]",
        "1e99999999999",
        "'a'", "//x\n1",
    ])
    func `malformed JSON is an error with its position`(text: String) {
        let error = #expect(throws: DecodingError.self) { try value(text) }
        #expect("\(String(describing: error))".contains("byte "))
    }

    @Test func `bytes that aren't UTF-8 are an error`() {
        #expect(throws: DecodingError.self) { try ODataValue(json: Data([0x22, 0xFF, 0x22])) }
        #expect(throws: DecodingError.self) { try ODataValue(json: Data([0x22, 0xC0, 0x80, 0x22])) }
    }

    @Test func `members keep their order, and numbers their digits`() throws {
        let text =
            #"{"z":1.50,"a":[-0,0,1E5,9223372036854775808,-9223372036854775808,12345678901234567890.123456789012345678901234567890],"é\"\\\n":null}"#
        #expect(try String(decoding: PayloadWriter.data(value(text)), as: UTF8.self) == text)
    }

    @Test func `escapes are read, also of characters beyond the first plane`() throws {
        #expect(try value(#""\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000""#) == .string("\"\\/\u{8}\u{c}\n\r\té😀\0"))
        #expect(try value("\u{FEFF}[]") == [])
    }

    @Test func `nesting is bounded, in both directions`() throws {
        let limit = ODataValue.depthLimit
        let deepest = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        #expect(try PayloadWriter.data(value(deepest)) == Data(deepest.utf8))
        for text in ["[" + deepest + "]", String(repeating: "[", count: 1_000_000), String(repeating: #"{"a":"#, count: 10_000)] {
            let error = #expect(throws: DecodingError.self) { try value(text) }
            #expect("\(String(describing: error))".contains("containers deep"))
        }
        var nested = ODataValue.null
        for _ in 0..<(limit + 2) { nested = .array([nested]) }
        #expect(throws: EncodingError.self) { try ODataEncoder().encode(nested) }
    }

    @Test func `errors contain the place`() throws {
        let cases = [(#"{"a":1,"a":2}"#, "byte 7"), ("[1,\n02]", "line 2, column 2, byte 5"), (#"{"n":[1,1e99999999999]}"#, "byte 8")]
        for (text, place) in cases {
            let error = #expect(throws: DecodingError.self) { try value(text) }
            #expect("\(String(describing: error))".contains(place), "\(text)")
        }
    }

    @Test func `an error that ends a broken payload is found, and only there`() throws {
        let error = #"{"error":{"code":"5","message":"a \"b\" ]}"}}"#
        let found = try #require(ODataErrorBody(inStream: Data((#"{"value":[{"Id":1,"Na"# + error + "]}\n").utf8)))
        #expect(found.code == "5" && found.message == #"a "b" ]}"#)
        for rest in [error.dropLast(4) + "", error + ",1", error + "x"] {
            #expect(ODataErrorBody(inStream: Data((#"{"value":["# + rest).utf8)) == nil, "\(rest)")
        }
    }

    @Test func `a page cut short at any byte is an error, never a short result`() throws {
        let text = #"{"@odata.count":2,"value":[{"Id":1,"Name":"é"},{"Id":2,"Tags":["a",null,true]}],"@odata.nextLink":"x"} "#
        let whole = Data(text.utf8)
        for length in 0..<(whole.count - 1) {
            #expect(throws: (any Error).self) { try ODataDecoder().decode(ODataPage<DynamicEntity>.self, from: whole.prefix(length)) }
        }
        #expect(try ODataDecoder().decode(ODataPage<DynamicEntity>.self, from: whole).entities.count == 2)
    }

    @Test func `values are read as Foundation reads them`() throws {
        var generator = SeededGenerator(seed: 21)
        for _ in 0..<2_000 {
            let data = try ODataEncoder().encode(Self.random(&generator, depth: 3))
            let plain = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
            let again = try ODataEncoder().encode(try ODataDecoder().decode(ODataValue.self, from: data))
            #expect(again == data)
            let same = try JSONSerialization.jsonObject(with: again, options: .fragmentsAllowed)
            #expect((plain as? NSObject) == (same as? NSObject))
            // Foundation's decoder decodes the same value, but sorts the members.
            let other = try JSONDecoder().decode(ODataValue.self, from: data)
            let sorted = try JSONEncoder().encode(other)
            #expect((try JSONSerialization.jsonObject(with: sorted, options: .fragmentsAllowed) as? NSObject) == (plain as? NSObject))
        }
    }

    private static func random(_ generator: inout SeededGenerator, depth: Int) -> ODataValue {
        switch Int.random(in: 0...(depth > 0 ? 7 : 5), using: &generator) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &generator))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &generator))
        case 3: return .decimal(EdmDecimal(Decimal(Int.random(in: -999_999...999_999, using: &generator)) / 128))
        case 4, 5:
            let scalars = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                ["a", "\"", "\\", "/", "é", "😀", "\n", "\u{1f}", "\u{2028}", "'"].randomElement(using: &generator) ?? ""
            }
            return .string(scalars.joined())
        case 6:
            return .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in random(&generator, depth: depth - 1) })
        default:
            let count = Int.random(in: 0...15, using: &generator)
            return .object(DynamicEntity((0..<count).map { .init("p\($0 * 7 % 16)", random(&generator, depth: depth - 1)) }))
        }
    }
}
