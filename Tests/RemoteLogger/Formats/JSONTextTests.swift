import Foundation
import TestSupport
import Testing

@testable import RemoteLogger

@Suite struct JSONTextTests {
    @Test func `strings are escaped as JSON demands and no further`() {
        #expect(text { $0.string("a\"b\\c/\n\r\t\0\u{1F}\u{7F}é🦊\u{2028}") } == #""a\"b\\c/\n\r\t\u0000\u001f"# + "\u{7F}é🦊\u{2028}\"")
        #expect(text { $0.string("") } == "\"\"")
    }

    @Test func `what needs an escape is found at every place`() {
        for length in 0..<20 {
            for place in 0...length {
                for (sign, escaped) in [("\"", "\\\""), ("\\", "\\\\"), ("\u{1}", "\\u0001"), (" ", " "), ("é", "é"), ("\u{7F}", "\u{7F}")]
                {
                    let (before, behind) = (String(repeating: "!", count: place), String(repeating: "ü", count: length - place))
                    #expect(text { $0.string(before + sign + behind + sign) } == "\"" + before + escaped + behind + escaped + "\"")
                }
            }
        }
    }

    @Test func `numbers have all their digits`() {
        for value in [0, 7, -1, 10, .max, .min] as [Int64] {
            #expect(text { $0.integer(value) } == String(value))
        }
        #expect(text { $0.integer(UInt64.max) } == String(UInt64.max))
        #expect(text { $0.hexadecimal(0xDEAD_BEEF) } == "00000000deadbeef")
        #expect(text { $0.padded(7, digits: 3) } == "007")
    }

    @Test func `doubles that JSON can't write are strings`() {
        #expect(text { $0.double(.nan) } == "\"NaN\"")
        #expect(text { $0.double(.infinity) } == "\"Infinity\"")
        #expect(text { $0.double(-.infinity) } == "\"-Infinity\"")
    }

    @Test func `Foundation reads every string and double as it was`() throws {
        var generator = SeededGenerator(seed: 1)
        for sequence in 0..<2_000 {
            let record = LogRecord.random(UInt64(sequence), using: &generator)
            let number = Double(bitPattern: generator.next())
            let name = text {
                $0.byte("[")
                $0.string(record.message)
                $0.byte("]")
            }
            // Uses the decoder, since JSONSerialization on Linux loses U+FEFF and the last bit of some numbers.
            let strings = try JSONDecoder().decode([String].self, from: Data(name.utf8))
            #expect(strings.map { Array($0.utf8) } == [Array(record.message.utf8)])
            guard number.isFinite else { continue }
            let doubles = try JSONDecoder().decode([Double].self, from: Data("[\(text { $0.double(number) })]".utf8))
            #expect(doubles == [number])
        }
    }

    @Test func `times agree with Foundation's formatter`() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.calendar = Calendar(identifier: .gregorian)
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss"
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<2_000 {
            // From 1583 on: Foundation uses the Julian calendar before.
            let seconds = Double(Int64.random(in: -12_212_553_600..<253_402_300_799, using: &generator))
            let date = Date(timeIntervalSince1970: seconds)
            #expect(TimestampText.text(of: date) == formatter.string(from: date) + ".000000Z")
        }
        var time = JSONText()
        TimestampText.write(nanoseconds: 1_772_357_400_123_456_789, into: &time)
        #expect(time.string == "2026-03-01T09:30:00.123456789Z")
    }

    @Test func `dates beyond what RFC 3339 can write become seconds`() {
        #expect(TimestampText.text(of: Date(timeIntervalSince1970: .infinity)) == "inf")
        #expect(TimestampText.text(of: Date(timeIntervalSince1970: 1e30)) == "1e+30")
        #expect(TimestampText.text(of: Date(timeIntervalSince1970: -0.5)) == "1969-12-31T23:59:59.500000Z")
        #expect(TimestampText.text(of: Date(timeIntervalSince1970: 1.999_999_9)) == "1970-01-01T00:00:02.000000Z")
    }

    private func text(_ body: (inout JSONText) -> Void) -> String {
        var text = JSONText()
        body(&text)
        return text.string
    }
}
