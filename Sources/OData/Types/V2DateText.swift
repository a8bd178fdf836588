import WebServiceClient

/// Points in time as V2's JSON has them: `/Date(1291362539000)/`, `/Date(1291362539000+0060)/`.
///
/// The number is the milliseconds since 1970 in UTC; an offset, in minutes, only says where the clock that was read stands.
enum V2DateText {
    static func value(_ text: String) -> EdmDateTimeOffset? {
        guard text.hasPrefix("/Date("), text.hasSuffix(")/") else { return nil }
        let body = text.dropFirst(6).dropLast(2)
        let sign = body.dropFirst().lastIndex { $0 == "+" || $0 == "-" }
        guard let milliseconds = whole(body[..<(sign ?? body.endIndex)]) else { return nil }
        var offset: Int?
        if let sign {
            let digits = body[body.index(after: sign)...]
            guard digits.utf8.count <= 4, let minutes = DigitText.number(digits), minutes < 1440 else { return nil }
            offset = body[sign] == "-" ? -minutes : minutes
        }
        // Down, not towards zero: the fraction counts forward also before 1970.
        var seconds = milliseconds / 1_000
        var rest = milliseconds % 1_000
        if rest < 0 {
            seconds -= 1
            rest += 1_000
        }
        return EdmDateTimeOffset(secondsSince1970: seconds, picosecond: rest * 1_000_000_000, offset: offset)
    }

    private static func whole(_ text: Substring) -> Int64? {
        let digits = text.first == "-" ? text.dropFirst() : text
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }

    /// The text of a point in time; `nil` where it has a finer fraction than milliseconds, or is too far away.
    static func text(_ value: EdmDateTimeOffset) -> String? {
        guard value.picosecond % 1_000_000_000 == 0 else { return nil }
        let (product, overflow) = value.secondsSince1970.multipliedReportingOverflow(by: 1_000)
        let (milliseconds, carry) = product.addingReportingOverflow(value.picosecond / 1_000_000_000)
        guard !overflow, !carry else { return nil }
        guard let offset = value.offset, offset != 0 else { return "/Date(\(milliseconds))/" }
        return "/Date(\(milliseconds)" + (offset < 0 ? "-" : "+") + DigitText.padded(abs(offset), 4) + ")/"
    }
}
