import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct CookieDateTests {
    private static func seconds(_ text: String) -> Int? {
        CookieDate.date(from: Array(text.utf8)[...]).map { Int($0.timeIntervalSince1970) }
    }

    /// The dates of one moment, 1994-11-06 08:49:37, in the forms of RFC 9110 and of careless servers.
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "6 nov 1994 8:49:37",
        "1994 08:49:37 November 6th", "Nov 06 1994 08:49:37 GMT-0800", "06/NOV/1994;08:49:37", "\t06 Nov 94 08:49:37UTC",
        "06.Nov.1994.08:49:37",
        "Sun, 06 Nov 1994 08:49:37 GMT; comment", "xx 06 yy Novitiate 94abc 08:49:37.123", "06 Nov 1994 08:49:37 09:50:38 07 Dec 1995",
        "@06[Nov`1994~08:49:37", "06 Nov 1994 8:49:37", "6th Nov 1994 08:49:37",
    ]) func `any order and delimiters are read`(text: String) {
        #expect(Self.seconds(text) == 784_111_777)
    }

    @Test(arguments: [
        "", "GMT", "Sun, 06 Nov 1994", "06 Nov 08:49:37", "Nov 1994 08:49:37", "06 1994 08:49:37", "31 Feb 2020 00:00:00",
        "29 Feb 2021 00:00:00", "00 Jan 2020 00:00:00", "32 Jan 2020 00:00:00", "01 Jan 1600 00:00:00", "01 Jan 2020 24:00:00",
        "01 Jan 2020 00:60:00",
        "01 Jan 2020 00:00:60", "01 Jan 2020 1:2", "01 Jan 2020 001:00:00", "01 Jan 20200 00:00:00", "01 Jan 2 00:00:00",
        "001 Jan 2020 00:00:00",
        "01 Ja 2020 00:00:00", "01 Jän 2020 00:00:00", "-1", "784111777",
    ]) func `an incomplete or impossible date is none`(text: String) {
        #expect(Self.seconds(text) == nil)
    }

    @Test(arguments: [("00", 2000), ("69", 2069), ("70", 1970), ("99", 1999), ("1601", 1601), ("9999", 9999)])
    func `years of two digits begin with 1970`(digits: String, year: Int) {
        let expected = CivilCalendar.day(year: Int64(year), month: 1, day: 2) * 86_400
        #expect(Self.seconds("02 Jan \(digits) 00:00:00") == Int(expected))
    }

    @Test func `leap days exist in leap years`() {
        #expect(Self.seconds("29 Feb 2000 00:00:00") != nil && Self.seconds("29 Feb 2024 00:00:00") != nil)
        #expect(Self.seconds("29 Feb 1900 00:00:00") == nil)
    }

    @Test func `what is written comes back, and random bytes do no harm`() {
        var random = SeededGenerator(seed: 32)
        for _ in 0..<2000 {
            let second = Int.random(in: 0..<8_000_000_000, using: &random)
            #expect(Self.seconds(HTTPDate.text(of: Date(timeIntervalSince1970: TimeInterval(second)))) == second)
            let alphabet = Array("0123456789: ,-JanFebNOVdec\t\u{7F}é".utf8)
            let noise = (0..<Int.random(in: 0..<40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            _ = CookieDate.date(from: noise[...])
        }
    }
}
