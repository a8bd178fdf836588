import Foundation
import Testing

@testable import WebServiceClient

@Suite struct ArgumentTextTests {
    enum Color: String { case red = "r/d" }
    enum Level: Int, Encodable { case high = 3 }
    enum Plain { case one }
    enum Bare: Encodable { case one }
    enum Loaded { case one(Int) }
    struct Shades: OptionSet { let rawValue: UInt8 }
    struct Wrapped: RawRepresentable { var rawValue: Color }
    struct Identifier: Encodable {
        let number: Int
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode("id-\(number)")
        }
    }
    struct Version: CustomStringConvertible, TextRepresentable {
        let description = "1.2"
    }
    struct Chosen: TextRepresentable {
        let text = "chosen"
    }
    struct Described: CustomStringConvertible {
        let description = "for people"
    }

    private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255))

    @Test func `Each kind of leaf has its text`() throws {
        let date = Date(timeIntervalSince1970: 86_399.5)
        let expected: [(Any, String)] = [
            ("a/b", "a/b"), ("abc".dropFirst(), "bc"), (Character("é"), "é"), (true, "true"), (false, "false"), (Int.min, "\(Int.min)"),
            (UInt64.max, "18446744073709551615"), (Int8(-1), "-1"), (UInt8(255), "255"), (1.0, "1.0"), (0.1, "0.1"), (Float(0.1), "0.1"),
            (1e21, "1e+21"), (CGFloat(2.5), "2.5"), (Decimal(string: "12345678901234567890.5") ?? 0, "12345678901234567890.5"),
            (Self.uuid, "01020304-0506-0708-090A-0B0C0D0E0FFF"), (date, "1970-01-01T23:59:59.500Z"), (Color.red, "r/d"), (Level.high, "3"),
            (Shades(rawValue: 5), "5"), (Wrapped(rawValue: .red), "r/d"), (Identifier(number: 7), "id-7"), (Version(), "1.2"),
            (Chosen(), "chosen"), (AnyHashable(3), "3"), (AnyHashable("x"), "x"), (URL(string: "https://h/a?b") as Any, "https://h/a?b"),
        ]
        for (value, text) in expected { #expect(try ArgumentText.text(of: value) == text) }
    }

    @Test func `Optionals are unwrapped at any depth`() throws {
        let none: Int?? = .some(nil)
        let some: Int??? = 5
        let erased: [Any] = [none as Any, Int?.none as Any, String?.none as Any, some as Any, Color?.some(.red) as Any]
        #expect(try erased.map { try ArgumentText.text(of: $0) } == [nil, nil, nil, "5", "r/d"])
    }

    @Test func `What has no text is refused with the type and the fix`() {
        func problem(_ value: Any) -> ReflectionError? {
            #expect(throws: ReflectionError.self) { try ArgumentText.text(of: value, named: "owner") }
        }
        #expect(problem(Data([1]))?.problem == .binary)
        #expect(problem(Double.nan)?.problem == .notFinite)
        #expect(problem(-Float.infinity)?.problem == .notFinite)
        #expect(problem(Decimal.nan)?.problem == .notFinite)
        #expect(problem(Date(timeIntervalSince1970: .nan))?.problem == .dateOutOfRange)
        #expect(problem(Plain.one)?.problem == .enumWithoutRawValue)
        #expect(problem(Bare.one)?.problem == .enumWithoutRawValue)
        #expect(problem(Loaded.one(1))?.problem == .enumWithoutRawValue)
        #expect(problem({ 1 } as () -> Int)?.problem == .nothingToReflect)
        #expect(problem(Int.self)?.problem == .nothingToReflect)
        #expect(problem(["secret"])?.problem == .noText)
        #expect(problem(["k": "secret"])?.problem == .noText)
        #expect(problem(())?.problem == .noText)
        #expect(
            problem(Described())?.description
                == "The value at \"owner\" of type Described isn't one text; pass a String, conform the type to TextRepresentable or give"
                + " it a raw value.")
    }
}
