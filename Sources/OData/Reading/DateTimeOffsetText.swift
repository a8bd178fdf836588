import Foundation
import WebServiceClient

/// Reads `Edm.DateTimeOffset` as an instant: `2012-12-03T07:16:23.5+02:00`, up to twelve fraction digits, seconds optional.
enum DateTimeOffsetText {
    static func date(_ text: String) -> Date? {
        guard let separator = text.firstIndex(where: { $0 == "T" || $0 == "t" }) else { return nil }
        guard let date = EdmDate(String(text[..<separator])) else { return nil }
        let rest = text[text.index(after: separator)...]
        guard let zone = rest.firstIndex(where: { "Zz+-".contains($0) }) else { return nil }
        guard let time = EdmTimeOfDay(String(rest[..<zone])), let offset = seconds(ofOffset: rest[zone...]) else { return nil }
        let day = CivilCalendar.day(year: Int64(date.year), month: Int64(date.month), day: Int64(date.day))
        let seconds = day * 86_400 + Int64(time.hour * 3600 + time.minute * 60 + time.second) - offset
        return Date(timeIntervalSince1970: Double(seconds) + Double(time.picosecond) / 1e12)
    }

    private static func seconds(ofOffset text: Substring) -> Int64? {
        if text == "Z" || text == "z" { return 0 }
        let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count == 2, parts[1].count == 2 else { return nil }
        guard let hours = DigitText.number(parts[0]), let minutes = DigitText.number(parts[1]) else { return nil }
        guard hours < 24, minutes < 60 else { return nil }
        let seconds = Int64(hours * 3600 + minutes * 60)
        return text.first == "-" ? -seconds : seconds
    }
}
