import Foundation
import TestSupport
import Testing

@testable import OData

@Suite struct EdmDecimalTests {
    @Test(arguments: [
        ("3.1991163E7", "31991163"), ("8.675E-06", "0.000008675"), ("-0.10e1", "-1"), ("1e0", "1"), ("0e5", "0"), ("120E-1", "12"),
        ("12.50", "12.50"), ("1E+3", "1000"),
    ])
    func `decimals in exponent form are read, and written without one`(text: String, plain: String) throws {
        let value = try #require(EdmDecimal(text))
        #expect(value.description == text && value.plainText == plain)
        #expect(value.decimal == Decimal(string: text))
    }

    @Test(arguments: [
        "", "-", "+", ".5", "5.", "1e", "1e+", "0x1", "1 ", " 1", "١", "Infinity", "nan", "1e99999999999", "0.5e-9223372036854775808",
        "0.05e-9223372036854775807", "1e9223372036854775807", "--1", "1.2.3",
    ])
    func `other texts aren't decimals`(text: String) {
        #expect(EdmDecimal(text) == nil)
    }

    @Test func `digits beyond those of Foundation's Decimal are kept`() throws {
        let text = "-1234567890123456789012345678901234567890.12345678901234567890"
        let value = try ODataDecoder().decode([EdmDecimal].self, from: Data("[\(text)]".utf8))
        #expect(value[0].description == text && value[0].decimal == nil)
        #expect(try ODataEncoder().encode(value) == Data("[\(text)]".utf8))
        let error = #expect(throws: DecodingError.self) { try ODataDecoder().decode([Decimal].self, from: Data("[\(text)]".utf8)) }
        #expect("\(String(describing: error))".contains("EdmDecimal"))
    }

    @Test func `values are compared, not spellings`() throws {
        let equal = ["1.5", "1.50", "15E-1", "0.15e1", "001.5", "+1.5"].compactMap { EdmDecimal($0) }
        #expect(equal.count == 6 && Set(equal).count == 1)
        #expect(EdmDecimal("-0") == EdmDecimal("0.0"))
        let sorted = ["-INF", "-1e5", "-12", "-1.2", "0", "1e-400", "0.5", "9", "10", "1e300", "INF"].compactMap { EdmDecimal($0) }
        #expect(sorted.shuffled().sorted() == sorted)
        #expect(EdmDecimal("NaN") == EdmDecimal("NaN"))
    }

    @Test func `integers are read from any spelling of a whole number only`() {
        #expect(EdmDecimal("9223372036854775807")?.integer(Int64.self) == .max)
        #expect(EdmDecimal("-9.223372036854775808E18")?.integer(Int64.self) == .min)
        #expect(EdmDecimal("1.0")?.integer(UInt8.self) == 1)
        #expect(EdmDecimal("1e400000000")?.integer(Int64.self) == nil)
        #expect(EdmDecimal("0e400000000")?.integer(Int64.self) == 0)
        #expect(EdmDecimal("1.5")?.integer(Int.self) == nil)
        #expect(EdmDecimal("256")?.integer(UInt8.self) == nil)
        #expect(EdmDecimal("1e1000000000")?.plainText == nil)
    }

    @Test func `random decimals agree with Foundation's, in order and as text`() throws {
        var generator = SeededGenerator(seed: 11)
        func random() -> Decimal {
            let digits = (0..<Int.random(in: 1...30, using: &generator)).map { _ in String(Int.random(in: 0...9, using: &generator)) }
                .joined()
            let exponent = Int.random(in: -20...20, using: &generator)
            return (Decimal(string: digits) ?? 0) * (Bool.random(using: &generator) ? 1 : -1)
                * Decimal(sign: .plus, exponent: exponent, significand: 1)
        }
        for _ in 0..<3_000 {
            let (left, right) = (random(), random())
            let (first, second) = (EdmDecimal(left), EdmDecimal(right))
            #expect((first < second) == (left < right) && (first == second) == (left == right))
            #expect(EdmDecimal(first.description)?.decimal == left)
            let again = try ODataDecoder().decode([EdmDecimal].self, from: ODataEncoder().encode([first, second]))
            #expect(again.map(\.description) == [first.description, second.description])
        }
    }

    @Test func `other coders read and write it as well`() throws {
        let values = try JSONDecoder().decode(
            [EdmDecimal].self, from: Data(#"[1, 2.50, "1234567890123456789012345678901234567890.5", 9223372036854775808]"#.utf8))
        #expect(values.map { $0.plainText ?? "" } == ["1", "2.5", "1234567890123456789012345678901234567890.5", "9223372036854775808"])
        #expect(try JSONDecoder().decode([EdmDecimal].self, from: JSONEncoder().encode(values)) == values)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([EdmDecimal].self, from: Data(#"["x"]"#.utf8)) }
    }
}
