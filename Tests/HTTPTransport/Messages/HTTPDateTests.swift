import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

@Suite struct HTTPDateTests {
    private let instant = Date(timeIntervalSince1970: 784_111_777)

    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func `All three forms are read`(text: String) {
        #expect(HTTPDate.date(from: text) == instant)
    }

    @Test func `The fixed form is written`() {
        #expect(HTTPDate.text(of: instant) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.date(from: "1994-11-06T08:49:37Z") == nil)
    }

    @Test(arguments: [
        "Sun, 06 Nov 4 08:4\u{0337}\u{033D}\u{FFFD}:3\u{FFFD}[", "Sun, 06 Nov 1994 08:49:37 \u{FF27}MT", "", " ", "Sun,",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov 08:49:37 GMT", "Sun Nov 6 08:49:37 94 x",
        "Sun, 06 Nov 1994 08:49 GMT", "99999999999999999999",
    ])
    func `What is no date is none, and no crash`(text: String) {
        #expect(HTTPDate.date(from: text) == nil)
        #expect(RetryAfter(text) == nil || text.hasPrefix("9"))
    }

    @Test func `Two digits are the year at most 50 years ahead`() {
        let now = Date(timeIntervalSince1970: 1_795_305_600)  // 2026-11-22
        func year(_ digits: String) -> String? {
            HTTPDate.date(from: "Sunday, 06-Nov-\(digits) 08:49:37 GMT", now: now).map {
                String(HTTPDate.text(of: $0).dropFirst(12).prefix(4))
            }
        }
        #expect(year("94") == "1994" && year("26") == "2026" && year("76") == "2076" && year("77") == "1977" && year("00") == "2000")
    }

    @Test func `Foundation's formatter agrees, and what is written is read`() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        var random = RandomText(seed: 11)
        for _ in 0..<2_000 {
            let date = Date(timeIntervalSince1970: Double(Int.random(in: -11_676_096_000...253_402_300_799, using: &random)))
            #expect(HTTPDate.text(of: date) == formatter.string(from: date))
            #expect(HTTPDate.date(from: HTTPDate.text(of: date)) == date)
        }
        for odd in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: .nan), Date(timeIntervalSince1970: .infinity)] {
            #expect(HTTPDate.text(of: odd).hasSuffix("GMT"))
        }
    }
}
