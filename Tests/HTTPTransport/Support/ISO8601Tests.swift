import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import HTTPTransport

@Suite struct ISO8601Tests {
    @Test(
        "Written in UTC with as much fraction as there is",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_709_251_199.5, "2024-02-29T23:59:59.500Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (-0.25, "1969-12-31T23:59:59.750Z"),
            (1.9996, "1970-01-01T00:00:02Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
            (15_000_000_000, "2445-05-01T02:40:00Z"),
        ] as [(Double, String)])
    func writing(seconds: Double, text: String) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(ISO8601.text(of: date) == text)
        if seconds != 1.9996 { #expect(ISO8601.date(from: text) == date) }
    }

    @Test func `What has no text`() {
        #expect(ISO8601.text(of: Date(timeIntervalSince1970: .nan)) == nil)
        #expect(ISO8601.text(of: Date(timeIntervalSince1970: .infinity)) == nil)
        #expect(ISO8601.text(of: .distantPast.addingTimeInterval(-1e11)) == nil)
        #expect(ISO8601.text(of: Date(timeIntervalSince1970: 253_402_300_800)) == nil)
    }

    @Test(
        "Read in all these spellings",
        arguments: [
            "2024-02-29T12:34:56Z", "2024-02-29t12:34:56z", "2024-02-29 12:34:56Z", "2024-02-29T12:34:56", "2024-02-29T12:34:56.000Z",
            "2024-02-29T12:34:56,000000000000Z", "2024-02-29T14:34:56+02:00", "2024-02-29T14:34:56+0200", "2024-02-29T14:34:56+02",
            "2024-02-29T07:04:56-05:30", "2024-03-01T12:33:56+23:59",
        ])
    func reading(text: String) {
        #expect(ISO8601.date(from: text) == Date(timeIntervalSince1970: 1_709_210_096))
    }

    @Test(
        "Not read",
        arguments: [
            "", "2024", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "24-01-01", "2024-01-01T", "2024-01-01T12",
            "2024-01-01T24:00:01Z",
            "2024-01-01T12:60Z", "2024-01-01T12:00:61Z", "2024-01-01T12:00:00.Z", "2024-01-01T12:00:00Zx", "2024-01-01T12:00:00+",
            "2024-01-01T12:00:00+24:00",
            "2024-01-01T12:00:00+01:", "2024-01-01-05", "2024-01-01-0500", "2024-01-01+1:00", "2024-01-01z", "2024-01-01 Z",
            "2024-01-01+24:00",
            "2024-01-01Zx", "2024-01-01+01:00x", "99999999999999-01-01", "２０２４-01-01", "2024-01-01\u{0}",
        ])
    func refusing(text: String) {
        #expect(ISO8601.date(from: text) == nil)
    }

    @Test(
        "What is read at the ends of the calendar can be written, and reads back the same",
        arguments: [
            "9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999999999999Z", "9999-12-31T23:59:59.99999Z", "9999-12-31T23:59:59.9999Z",
            "9999-12-31T23:59:59.9995Z", "9999-12-31T23:59:59.5Z", "9999-12-31T23:59:59Z", "9999-12-31",
            "9999-12-31T22:59:59.9999999-01:00",
            "9999-12-31T23:59:59.99999999999999999999999Z", "0000-01-01T00:00:00Z", "0000-01-01", "0000-01-01T00:00:00.0000001Z",
            "0000-02-29T12:00:00Z", "9999-01-01T00:59:59.9999999+01:00", "2024-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.9999999Z",
        ])
    func ends(text: String) throws {
        let date = try #require(ISO8601.date(from: text))
        for digits in 0...9 {
            let written = try #require(ISO8601.text(of: date, fractionDigits: digits))
            #expect(abs(try #require(ISO8601.date(from: written)).timeIntervalSince(date)) <= 1)
        }
        let written = try #require(ISO8601.text(of: date, fractionDigits: 9))
        #expect(try #require(ISO8601.date(from: written)) == date)
        #expect(written.prefix(4) == text.prefix(4))
        let data = try JSONSerializer().encode([date])
        #expect(try JSONSerializer().decode([Date].self, from: data, at: [], contentType: nil).count == 1)
    }

    @Test(
        "What no year of four digits holds in UTC isn't read",
        arguments: [
            "9999-12-31T23:59:60Z", "9999-12-31T24:00:00Z", "9999-12-31T23:30:00-01:00", "0000-01-01T00:00:00+00:01",
            "0000-01-01T00:30:00+01:00",
            "9999-12-31T23:59:60.5Z", "9999-12-31T00:00:00-24:00", "9999-12-31T24:00Z", "0000-01-01T00:00:00+23:59", "10000-01-01",
            "-0001-01-01",
        ])
    func beyond(text: String) {
        #expect(ISO8601.date(from: text) == nil)
    }

    @Test(
        "Leap seconds are the first of what follows",
        arguments: [
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"), ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.500Z"),
            ("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00Z"),
        ])
    func leapSeconds(text: String, next: String) throws {
        #expect(ISO8601.text(of: try #require(ISO8601.date(from: text))) == next)
    }

    @Test func `Short forms`() {
        #expect(ISO8601.date(from: "1970-01-02") == Date(timeIntervalSince1970: 86_400))
        #expect(ISO8601.date(from: "1970-01-02Z") == Date(timeIntervalSince1970: 86_400))
        #expect(ISO8601.date(from: "1970-01-02+02:00") == Date(timeIntervalSince1970: 79_200))
        #expect(ISO8601.date(from: "1970-01-01-05:30") == Date(timeIntervalSince1970: 19_800))
        #expect(ISO8601.date(from: "1970-01-01T24:00Z") == Date(timeIntervalSince1970: 86_400))
        #expect(ISO8601.date(from: "1970-01-01T00:01") == Date(timeIntervalSince1970: 60))
        #expect(ISO8601.text(of: Date(timeIntervalSince1970: 0.123456), fractionDigits: 0) == "1970-01-01T00:00:00Z")
        #expect(ISO8601.text(of: Date(timeIntervalSince1970: 0.123456), fractionDigits: 99) != nil)
    }

    @Test func `Agrees with Foundation on random dates`() throws {
        var seed = SerializationSeed(5)
        for _ in 0..<2000 {
            let date = Date(timeIntervalSince1970: Double(Int64.random(in: -60_000_000_000...250_000_000_000, using: &seed)))
            let text = try #require(ISO8601.text(of: date))
            #expect(ISO8601.date(from: text) == date)
            // Before 1582, Foundation's calendar is Julian, unlike ISO 8601.
            if date.timeIntervalSince1970 > -12_000_000_000 { #expect(text == date.formatted(.iso8601)) }
        }
        for _ in 0..<2000 {
            let milliseconds = Double(Int64.random(in: 0...4_000_000_000_000, using: &seed))
            let date = Date(timeIntervalSince1970: milliseconds / 1000)
            let text = try #require(ISO8601.text(of: date))
            let read = try #require(ISO8601.date(from: text))
            #expect(abs(read.timeIntervalSince(date)) < 1e-6)
            #expect(ISO8601.text(of: read) == text)
        }
    }
}

@Suite struct ISO8601CalendarTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (-0.001, "1969-12-31T23:59:59.999Z"), (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_799.9996, "2000-03-01T00:00:00Z"), (-2_203_891_200, "1900-03-01T00:00:00Z"), (-2_203_977_600, "1900-02-28T00:00:00Z"),
        (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
        (-62_162_121_600, "0000-02-29T00:00:00Z"), (253_402_300_799.999, "9999-12-31T23:59:59.999Z"),
        (1_703_980_800, "2023-12-31T00:00:00Z"),
        (1_735_603_200, "2024-12-31T00:00:00Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
    ])
    func `Dates are written in UTC`(seconds: Double, text: String) {
        #expect(ISO8601.text(of: Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test(arguments: [-62_167_219_201, 253_402_300_800, 1e300, -1e300, .infinity, .nan])
    func `Dates out of range have no text`(seconds: Double) {
        #expect(ISO8601.text(of: Date(timeIntervalSince1970: seconds)) == nil)
    }

    @Test func `Foundation's formatter agrees`() {
        let formatter = ISO8601DateFormatter()
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        var random = RandomText(seed: 6)
        // Foundation's calendar is Gregorian from 1582 on; the test starts in 1600.
        for _ in 0..<2_000 {
            let date = Date(timeIntervalSince1970: Double(Int.random(in: -11_676_096_000...253_402_300_799, using: &random)))
            #expect(ISO8601.text(of: date) == formatter.string(from: date))
        }
    }

    @Test func `Every day of a cycle follows the one before`() {
        var previous = ""
        for day in 0..<146_098 {
            let text = ISO8601.text(of: Date(timeIntervalSince1970: Double(day) * 86_400 - 62_167_219_200)) ?? ""
            // An expectation is slower than the comparison.
            if text <= previous || !text.hasSuffix("T00:00:00Z") { Issue.record("day \(day) is \(text)") }
            previous = text
        }
        #expect(previous == "0400-01-01T00:00:00Z")
    }
}
