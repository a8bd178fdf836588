import Foundation
import TestSupport
import Testing

@testable import OData

@Suite struct EdmTimeTests {
    private func v2(_ text: String) -> EdmDateTimeOffset? { V2DateText.value(text) }

    @Test func `V2's dates count milliseconds in UTC, and the offset is ignored`() {
        #expect(v2("/Date(1291362539000)/")?.description == "2010-12-03T07:48:59")
        #expect(v2("/Date(1291362539123+0060)/")?.description == "2010-12-03T08:48:59.123+01:00")
        #expect(v2("/Date(1291362539000+60)/")?.instant == Date(timeIntervalSince1970: 1_291_362_539))
        #expect(v2("/Date(1291362539000-0330)/")?.description == "2010-12-03T02:18:59-05:30")
    }

    @Test func `V2's fractions before 1970 are rounded down`() {
        #expect(v2("/Date(-1)/")?.description == "1969-12-31T23:59:59.999")
        #expect(v2("/Date(-62135596800000)/")?.description == "0001-01-01T00:00:00")
        #expect(v2("/Date(253402300799999)/")?.description == "9999-12-31T23:59:59.999")
    }

    @Test(arguments: [
        "/Date()/", "/Date(x)/", "/Date(1", "Date(1)", "/Date(1+)/", "/Date(1+1440)/", "/Date(1+00060)/", "/Date(--1)/",
        "/Date(99999999999999999999)/",
    ])
    func `other texts aren't V2 dates`(text: String) {
        #expect(v2(text) == nil)
    }

    @Test func `V2's dates are parsed as they were written`() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<3_000 {
            let milliseconds = Int64.random(in: -70_000_000_000_000...300_000_000_000_000, using: &generator)
            let offset = Int.random(in: -1439...1439, using: &generator)
            let sign = offset < 0 ? "-" : "+"
            let text = "/Date(\(milliseconds)" + (offset == 0 ? "" : sign + DigitText.padded(abs(offset), 4)) + ")/"
            let value = try #require(v2(text))
            #expect(V2DateText.text(value) == text)
            #expect(value.secondsSince1970 * 1_000 + value.picosecond / 1_000_000_000 == milliseconds)
        }
        #expect(V2DateText.text(try #require(EdmDateTimeOffset("2026-11-21T07:59:59.0001Z"))) == nil)
        #expect(v2("/Date(9223372036854775807)/").flatMap { V2DateText.text($0) } == "/Date(9223372036854775807)/")
    }

    @Test func `a DateTimeOffset keeps twelve fraction digits and its offset`() throws {
        let text = "2026-11-21T07:59:59.123456789012-08:30"
        let value = try ODataDecoder().decode([EdmDateTimeOffset].self, from: Data(#"["\#(text)"]"#.utf8))
        #expect(value[0].description == text)
        #expect(try ODataEncoder().encode(value) == Data(#"["\#(text)"]"#.utf8))
        #expect(value[0].truncated(toFractionDigits: 3).description == "2026-11-21T07:59:59.123-08:30")
        #expect(value[0].truncated(toFractionDigits: .max) == value[0] && value[0].truncated(toFractionDigits: .min).picosecond == 0)
        #expect(value[0].truncated(toFractionDigits: 0).description == "2026-11-21T07:59:59-08:30")
        #expect(EdmDateTimeOffset("2026-11-21T07:59:59.1234567890123Z") == nil)
    }

    @Test func `seconds may be absent in times`() {
        #expect(EdmTimeOfDay("07:59")?.description == "07:59:00")
        #expect(EdmDateTimeOffset("2026-11-21T07:59Z")?.description == "2026-11-21T07:59:00Z")
    }

    @Test func `years beyond four digits and before Christ are dates`() throws {
        for text in ["-0001-02-28", "12345-01-01", "-999999999-12-31", "0000-02-29"] {
            #expect(EdmDate(text)?.description == text)
            #expect(try ODataDecoder().decode([EdmDate].self, from: Data(#"["\#(text)"]"#.utf8))[0].description == text)
        }
        #expect(EdmDate("2023-02-29") == nil && EdmDate("0000-13-01") == nil)
    }

    @Test func `instants are made from their parts`() throws {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<3_000 {
            let micros = Int64.random(in: -60_000_000_000_000_000...250_000_000_000_000_000, using: &generator)
            let date = Date(timeIntervalSince1970: Double(micros / 1_000_000))
            let value = try #require(EdmDateTimeOffset(date, offset: Int.random(in: -1439...1439, using: &generator)))
            #expect(value.instant == date)
            #expect(EdmDateTimeOffset(value.description) == value)
        }
        #expect(EdmDateTimeOffset(Date(timeIntervalSince1970: .infinity)) == nil)
        #expect(EdmDateTimeOffset(Date(timeIntervalSince1970: 1e300)) == nil)
        #expect(EdmDateTimeOffset(Date(), offset: 1440) == nil)
    }

    @Test func `points in time are ordered by instant`() throws {
        let texts = ["2026-01-01T00:00:00+02:00", "2026-01-01T00:00:00+01:00", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.1Z"]
        let values = texts.compactMap { EdmDateTimeOffset($0) }
        #expect(values.shuffled().sorted() == values)
    }

    @Test(arguments: [
        ("-P1DT2H3M4.5S", "-P1DT2H3M4.5S"), ("PT24H", "P1D"), ("P0D", "PT0S"), ("PT0.000000000001S", "PT0.000000000001S"),
        ("P12DT23H59M59.999999999999S", "P12DT23H59M59.999999999999S"),
    ])
    func `durations are exact, also negative ones and to twelve digits`(text: String, written: String) throws {
        let values = try ODataDecoder().decode([EdmDuration].self, from: Data(#"["\#(text)"]"#.utf8))
        #expect(values[0].description == written)
        #expect(try ODataDecoder().decode([Duration].self, from: Data(#"["\#(text)"]"#.utf8)) == [values[0].duration])
        #expect(try JSONDecoder().decode([EdmDuration].self, from: JSONEncoder().encode(values)) == values)
        #expect(try ODataEncoder().encode([values[0].duration]) == Data(#"["\#(written)"]"#.utf8))
    }

    @Test(arguments: ["P", "PT", "1D", "P1Y", "P1M", "P1H", "PT1D", "P-1D", "PT1.S", "PT.5S", "P1DT"])
    func `other texts aren't durations`(text: String) {
        #expect(EdmDuration(text) == nil)
    }

    @Test func `V2's times of day and dates without time are read`() throws {
        let json = #"["PT09H50M04S", "PT0S", "PT23H59M59.999S", "07:59", "PT24H"]"#
        let times = try ODataDecoder().decode([EdmTimeOfDay].self, from: Data(json.utf8))
        #expect(times.map(\.description) == ["09:50:04", "00:00:00", "23:59:59.999", "07:59:00", "24:00:00"])
        for wrong in ["PT24H00M01S", "PT25H", "-PT1S", "P2D"] {
            #expect(throws: DecodingError.self) { try ODataDecoder().decode([EdmTimeOfDay].self, from: Data(#"["\#(wrong)"]"#.utf8)) }
        }
        let days = try ODataDecoder().decode([EdmDate].self, from: Data(#"["/Date(1430784000000)/", "2015-05-05"]"#.utf8))
        #expect(days.map(\.description) == ["2015-05-05", "2015-05-05"])
        #expect(throws: DecodingError.self) { try ODataDecoder().decode([EdmDate].self, from: Data(#"["/Date(1430784000001)/"]"#.utf8)) }
    }
}
