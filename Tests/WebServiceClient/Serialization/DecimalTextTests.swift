import Foundation
import Testing

@testable import WebServiceClient

@Suite struct DecimalTextTests {
    /// Numbers with their digits and the exponent of the last digit; `nil` if `Decimal` can't represent the number. It has 128 bits for the
    /// digits without trailing zeros, and exponents from -128 to 127.
    static let numbers: [(text: String, digits: String?, exponent: Int)] = [
        ("1e127", "1", 127), ("1e128", nil, 0), ("1e129", nil, 0), ("1e140", nil, 0), ("1e164", nil, 0), ("1e165", nil, 0),
        ("10e127", nil, 0), ("10e126", "1", 127), ("100e125", "1", 127), ("1000e126", nil, 0), ("12e127", "12", 127), ("120e127", nil, 0),
        ("1.5e128", "15", 127), ("1.50e128", "15", 127), ("1.5e129", nil, 0), ("-1e128", nil, 0), ("-1e127", "-1", 127),
        ("1" + String(repeating: "0", count: 127), "1", 127), ("1" + String(repeating: "0", count: 128), nil, 0),
        ("1" + String(repeating: "0", count: 164), nil, 0), ("9" + String(repeating: "0", count: 128), nil, 0),
        ("1e-128", "1", -128), ("1e-129", nil, 0), ("10e-129", "1", -128), ("1000000000000000000e-140", "1", -122), ("0.1e-127", "1", -128),
        ("0.01e-127", nil, 0), ("0e999999999999", "0", 0), ("0.000", "0", 0), ("-0", "0", 0), ("1000000000000000000e110", nil, 0),
        ("1000000000000000000e109", "1", 127), ("9999999999999999999e109", "9999999999999999999", 109),
        ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455", 0),
        ("340282366920938463463374607431768211456", nil, 0),
        ("340282366920938463463374607431768211455e127", "340282366920938463463374607431768211455", 127),
        ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999", 0),
        ("123456789012345678901234567890.12345678", "12345678901234567890123456789012345678", -8),
        ("1234567890123456789012345678901234567890", "123456789012345678901234567890123456789", 1),
        ("12345678901234567890123456789012345678901", nil, 0), ("12345678901234567890123456789012345678901234567890", nil, 0),
        ("0.12345678901234567890123456789012345678901234567890", nil, 0), ("1e99999999999999999999", nil, 0), ("1E+2", "1", 2),
    ]

    private static func value(_ number: (text: String, digits: String?, exponent: Int)) -> Decimal? {
        number.digits.flatMap { digits in
            Decimal(string: digits).map {
                Decimal(sign: digits.hasPrefix("-") ? .minus : .plus, exponent: number.exponent, significand: abs($0))
            }
        }
    }

    @Test(arguments: 0..<numbers.count) func `A decimal is exact or an error, in JSON, texts and forms`(index: Int) throws {
        let number = Self.numbers[index]
        let expected = Self.value(number)
        #expect(DecimalText.decimal(number.text) == expected)
        let json = try? JSONSerializer().decode(
            [String: Decimal].self, from: Data("{\"v\":\(number.text)}".utf8), at: [], contentType: nil)["v"]
        #expect(json == expected)
        let text = try? PlainTextSerializer().decode(Decimal.self, from: Data(number.text.utf8), at: [], contentType: nil)
        #expect(text == expected)
        let encoded = URLEncoding.formField(number.text)
        let form = try? FormSerializer().decode([String: Decimal].self, from: Data("v=\(encoded)".utf8), at: [], contentType: nil)["v"]
        #expect(form == expected)
        for value in [json, text, form] { #expect(value?.isNaN != true) }
        if expected == nil {
            let error = #expect(throws: SerializationError.self) {
                try FormSerializer().decode([String: Decimal].self, from: Data("v=\(encoded)".utf8), at: [], contentType: nil)
            }
            #expect(error?.message.contains(number.text.prefix(20)) == true && error?.message.contains("Decimal") == true)
            #expect(throws: DecodingError.self) {
                try JSONSerializer().decode([Decimal].self, from: Data("[\(number.text)]".utf8), at: [], contentType: nil)
            }
        }
    }

    @Test(arguments: ["", " ", "1x", "x1", "1,5", "1 5", "--1", "1e", "e5", ".", "+", "0x10", "nan", "inf", "١", "1_000", "1e5e5", "1.2.3"])
    func `What is no number is none`(text: String) {
        #expect(DecimalText.decimal(text) == nil)
    }

    @Test(arguments: [("+1.5", 1.5), (".5", 0.5), ("5.", 5), ("-.5e1", -5), ("007", 7), ("1E2", 100)] as [(String, Decimal)])
    func `Spellings that JSON doesn't have`(text: String, value: Decimal) {
        #expect(DecimalText.decimal(text) == value)
    }

    @Test(arguments: ["1e400", "-1e400", "0x10", "0x1p3", "1e309", "1_0", "1e38x", "", "1,5"])
    func `A floating-point number that there isn't is an error`(text: String) {
        #expect(throws: SerializationError.self) {
            try PlainTextSerializer().decode(Double.self, from: Data(text.utf8), at: [], contentType: nil)
        }
        #expect(throws: SerializationError.self) {
            try FormSerializer().decode([String: Float].self, from: Data("v=\(text)".utf8), at: [], contentType: nil)
        }
    }

    @Test func `The nearest floating-point number, and the words`() throws {
        func double(_ text: String) throws -> Double {
            try PlainTextSerializer().decode(Double.self, from: Data(text.utf8), at: [], contentType: nil)
        }
        #expect(try double("1e308") == 1e308 && double(" -0.1 ") == -0.1 && double("1e-400") == 0 && double("inf") == .infinity)
        #expect(try double("nan").isNaN)
        #expect(throws: SerializationError.self) {
            try PlainTextSerializer().decode(Float.self, from: Data("1e39".utf8), at: [], contentType: nil)
        }
    }
}
