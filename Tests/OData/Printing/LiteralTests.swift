import Foundation
import TestSupport
import Testing

@testable import OData

@Suite struct LiteralTests {
    private func text(_ value: any EdmConvertible, _ printer: QueryPrinter = QueryPrinter()) throws -> String {
        try printer.text(of: value.edmValue)
    }

    @Test func plainValues() throws {
        #expect(try text(Int?.none) == "null")
        #expect(try text(true) == "true")
        #expect(try text(Int64.min) == "-9223372036854775808")
        #expect(try text(UInt64.max) == "18446744073709551615")
        #expect(try text(UInt8(7)) == "7")
        #expect(try text(1.5) == "1.5")
        #expect(try text(1e300) == "1e300")
        #expect(try text(Double.leastNonzeroMagnitude) == "5e-324")
        #expect(try text(Double.infinity) == "INF")
        #expect(try text(-Double.infinity) == "-INF")
        #expect(try text(Float.nan) == "NaN")
        #expect(try text(Float(0.1)) == "0.1")
        #expect(try text(EdmValue.number("-12345678901234567890.1234567890")) == "-12345678901234567890.1234567890")
        #expect(try text(EdmValue.number("+1.50")) == "1.50")
        #expect(try text(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")) == "01234567-89ab-cdef-0123-456789abcdef")
        #expect(try text(Data([0xFB, 0xFF, 0x01, 0x02])) == "binary'-_8BAg'")
        #expect(try text(Data()) == "binary''")
    }

    @Test func decimalsKeepTheirDigits() throws {
        let digits = "12345678901234567890123456789.012345678"
        let decimal = try #require(Decimal(string: digits))
        #expect(try text(decimal) == digits)
        #expect(try text(Decimal(string: "0.00000000000000000001")) == "0.00000000000000000001")
        #expect(try text(Decimal(string: "1e30")) == "1" + String(repeating: "0", count: 30))
        #expect(throws: ODataQueryError.self) { try text(Decimal.nan) }
    }

    @Test(arguments: ["", "x", "1.", ".5", "1e", "--1", "1 or 1", "0x1", "1'"])
    func numbersAreChecked(digits: String) {
        #expect(throws: ODataQueryError.self) { try text(EdmValue.number(digits)) }
    }

    @Test func strings() throws {
        #expect(try text("O'Neil") == "'O''Neil'")
        #expect(try text("O'\u{301}Neil") == "'O''%CC%81Neil'")
        #expect(try text("''") == "''''''")
        #expect(
            try text("a&b+c#d\"e<f>g\\h^i`j k/l?m%n;o=p(q)r,s{t}|[u]")
                == "'a%26b%2Bc%23d%22e%3Cf%3Eg%5Ch%5Ei%60j%20k%2Fl%3Fm%25n%3Bo%3Dp%28q%29r%2Cs%7Bt%7D%7C%5Bu%5D'")
        #expect(try text("%2F") == "'%252F'")
        #expect(try text("\0\r\n\t") == "'%00%0D%0A%09'")
        #expect(try text("Söhne 🎈") == "'S%C3%B6hne%20%F0%9F%8E%88'")
    }

    @Test func datesAndTimes() throws {
        #expect(try text(Date(timeIntervalSince1970: 0)) == "1970-01-01T00%3A00%3A00Z")
        #expect(try LiteralText.instant(Date(timeIntervalSince1970: 0.123)) == "1970-01-01T00:00:00.123Z")
        #expect(try LiteralText.instant(Date(timeIntervalSince1970: -0.5)) == "1969-12-31T23:59:59.5Z")
        #expect(try LiteralText.instant(Date(timeIntervalSince1970: 1_709_164_799.999_999_9)) == "2024-02-29T00:00:00Z")
        #expect(try LiteralText.instant(Date(timeIntervalSince1970: 951_782_400)) == "2000-02-29T00:00:00Z")
        #expect(try LiteralText.instant(Date(timeIntervalSince1970: -62_167_219_201)) == "-0001-12-31T23:59:59Z")
        for wrong in [Double.nan, .infinity, 1e300, 253_402_300_800] {
            #expect(throws: ODataQueryError.self) { try LiteralText.instant(Date(timeIntervalSince1970: wrong)) }
        }
        #expect(try text(EdmDate(year: 2024, month: 2, day: 29)) == "2024-02-29")
        #expect(EdmDate(year: 2023, month: 2, day: 29) == nil)
        #expect(try text(EdmTimeOfDay(hour: 7, minute: 59, second: 59, picosecond: 999_000_000_000)) == "07%3A59%3A59.999")
    }

    @Test(arguments: [
        "9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.997Z", "9999-12-31T23:59:59.5Z", "9999-12-31T00:00:00.001Z",
        "0001-01-01T00:00:00.001Z", "0001-01-01T00:00:00.25Z", "-0044-03-15T12:00:00.123Z", "1582-10-15T00:00:00.1234Z",
        "2500-06-01T10:20:30.4567Z", "2300-01-01T00:00:00.99999Z", "2026-11-28T01:02:03.123456Z", "1970-01-01T00:00:00.000001Z",
    ]) func `an instant far away keeps its digits`(text: String) throws {
        let date = try #require(EdmDateTimeOffset(text)).instant
        #expect(try LiteralText.instant(date) == text)
        #expect(EdmDateTimeOffset(date)?.description == text)
    }

    @Test func `the last moment of the year 9999 stays in it`() throws {
        let date = try #require(EdmDateTimeOffset("9999-12-31T23:59:59.9999999Z")).instant
        let text = try LiteralText.instant(date)
        #expect(text.hasPrefix("9999-12-31T23:59:59.9999") && EdmDateTimeOffset(text)?.instant == date)
    }

    @Test func instantsAgreeWithFoundation() throws {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            let date = Date(timeIntervalSince1970: Double(Int64.random(in: -30_000_000_000...250_000_000_000, using: &generator)))
            guard date.timeIntervalSince1970 > -12_219_292_800 else { continue }
            #expect(try LiteralText.instant(date) == date.formatted(style))
        }
    }

    @Test func durations() throws {
        #expect(LiteralText.duration(.zero) == "PT0S")
        #expect(LiteralText.duration(.seconds(86_400)) == "P1D")
        #expect(LiteralText.duration(.seconds(93_784) + .milliseconds(500)) == "P1DT2H3M4.5S")
        #expect(LiteralText.duration(.milliseconds(-1_500)) == "-PT1.5S")
        #expect(LiteralText.duration(Duration(secondsComponent: .min, attosecondsComponent: 0)) == "-P106751991167300DT15H30M8S")
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999)
        #expect(LiteralText.duration(longest) == "P106751991167300DT15H30M7.999999999999999999S")
        #expect(LiteralText.duration(longest * 18) == "P1921535841011411DT15H2M23.999999999999999982S")
        #expect(LiteralText.duration(.seconds(-90_000)) == "-P1DT1H")
        #expect(try text(Duration.seconds(1)) == "duration'PT1S'")
    }

    @Test func dateAndTimeTextsAreReadBack() {
        #expect(EdmDate("2024-02-29")?.description == "2024-02-29")
        #expect(EdmDate("-0044-03-15")?.description == "-0044-03-15")
        #expect(EdmTimeOfDay("07:59")?.description == "07:59:00")
        #expect(EdmTimeOfDay("07:59:59.999999999999")?.picosecond == 999_999_999_999)
        for wrong in ["", "2024", "2024-2-29", "2024-02-30", "24-02-29", "2024-02-29T", "99999999999-01-01", "+2024-01-01"] {
            #expect(EdmDate(wrong) == nil)
        }
        for wrong in ["", "7:59", "24:00", "07:60", "07:59:60", "07:59:59.", "07:59:59.1234567890123", "07:59:59.5.5", "-7:59"] {
            #expect(EdmTimeOfDay(wrong) == nil)
        }
    }

    @Test func enumerations() throws {
        #expect(try text(Gender.female) == "Trippin.Gender'Female'")
        #expect(try text(Gender.female, QueryPrinter(enumerations: .bare)) == "'Female'")
        #expect(try text(EdmValue.enumeration(type: nil, member: "A,B")) == "'A,B'")
        // Members may be numbers (ABNF, "singleEnumLiteral").
        #expect(try text(EdmValue.enumeration(type: "N.T", member: "1")) == "N.T'1'")
        #expect(try text(EdmValue.enumeration(type: "N.T", member: "A,-2")) == "N.T'A,-2'")
        for member in ["", "A'", "A,", "A B", "1.5", "1A"] {
            #expect(throws: ODataQueryError.self) { try text(EdmValue.enumeration(type: "N.T", member: member)) }
        }
        #expect(throws: ODataQueryError.self) { try text(EdmValue.enumeration(type: "N'T", member: "A")) }
    }

    @Test func `spatial values in JSON are GeoJSON`() throws {
        let point = EdmSpatial(.geography, srid: 4326, .point(EdmSpatial.Position(x: 1.5, y: -2)))
        let expression = QueryExpression.array([.literal(.spatial(point)), .object([.init("at", .literal(.spatial(point)))])])
        let json = try QueryPrinter().text(of: expression).removingPercentEncoding
        #expect(json == #"[{"coordinates":[1.5,-2],"type":"Point"},{"at":{"coordinates":[1.5,-2],"type":"Point"}}]"#)
    }

    @Test func `errors name the part of the query and the fault`() {
        func message(_ expression: QueryExpression, _ version: ODataVersion = .v4) -> String {
            do {
                return try QueryPrinter(version: version).text(of: expression)
            } catch {
                return "\(error)"
            }
        }
        let one = QueryExpression.literal(.integer(1))
        #expect(message(.object([.init("", one)])).contains("a member has no name"))
        #expect(message(.object([.init("a", one), .init("a", one)])).contains("the member 'a' occurs twice"))
        let endless = EdmSpatial(.geography, srid: 4326, .point(EdmSpatial.Position(x: .infinity, y: 1)))
        let spatial = message(.array([.literal(.spatial(endless))]))
        #expect(spatial.contains("A spatial value in JSON") && spatial.contains("its coordinates must be finite"))
        #expect(message(.array([one]), .v2).contains("a collection or a complex value in a URL"))
        #expect(message(.call("year", [one, one])).contains("it takes 1 argument, not 2"))
    }
}
