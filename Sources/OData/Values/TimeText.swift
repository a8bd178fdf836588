/// Reads dates and times within a text: each function returns the value and its end, or `nil` if there is none.
package enum TimeText {
    package typealias Found<Value> = (value: Value, end: Int)

    /// Reads `count` digits as a number.
    private static func number(_ bytes: [UInt8], _ start: Int, _ count: Int) -> Int? {
        guard start + count <= bytes.count else { return nil }
        var value = 0
        for byte in bytes[start..<start + count] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte & 15)
        }
        return value
    }

    private static func isDigit(_ bytes: [UInt8], _ index: Int) -> Bool {
        index < bytes.count && (0x30...0x39).contains(bytes[index])
    }

    private static func has(_ bytes: [UInt8], _ index: Int, _ byte: UInt8) -> Bool {
        index < bytes.count && bytes[index] == byte
    }

    /// Reads `2026-11-21`; years have four to nine digits and may be negative. Years with more than four digits must not begin with 0.
    package static func date(_ bytes: [UInt8], from start: Int) -> Found<EdmDate>? {
        let isNegative = has(bytes, start, 0x2D)
        let first = isNegative ? start + 1 : start
        var index = first
        while isDigit(bytes, index), index - first < 10 { index += 1 }
        let digits = index - first
        guard (4...9).contains(digits), digits == 4 || bytes[first] != 0x30, let year = number(bytes, first, digits) else { return nil }
        guard has(bytes, index, 0x2D), let month = number(bytes, index + 1, 2) else { return nil }
        guard has(bytes, index + 3, 0x2D), let day = number(bytes, index + 4, 2), !isDigit(bytes, index + 6) else { return nil }
        return EdmDate(year: isNegative ? -year : year, month: month, day: day).map { ($0, index + 6) }
    }

    /// Reads hour, minute, second and picosecond.
    private static func clock(_ bytes: [UInt8], from start: Int) -> Found<(Int, Int, Int, Int64)>? {
        guard let hour = number(bytes, start, 2), has(bytes, start + 2, 0x3A), let minute = number(bytes, start + 3, 2) else { return nil }
        var index = start + 5
        guard has(bytes, index, 0x3A), let second = number(bytes, index + 1, 2) else { return ((hour, minute, 0, 0), index) }
        index += 3
        guard has(bytes, index, 0x2E), isDigit(bytes, index + 1) else { return ((hour, minute, second, 0), index) }
        index += 1
        var fraction: Int64 = 0
        var digits = 0
        while isDigit(bytes, index) {
            guard digits < 12 else { return nil }
            fraction = fraction * 10 + Int64(bytes[index] & 15)
            digits += 1
            index += 1
        }
        while digits < 12 {
            fraction *= 10
            digits += 1
        }
        return ((hour, minute, second, fraction), index)
    }

    /// Reads `07:59`, `07:59:59` or `07:59:59.999`.
    package static func time(_ bytes: [UInt8], from start: Int) -> Found<EdmTimeOfDay>? {
        guard let (clock, end) = clock(bytes, from: start), !isDigit(bytes, end) else { return nil }
        return EdmTimeOfDay(hour: clock.0, minute: clock.1, second: clock.2, picosecond: clock.3).map { ($0, end) }
    }

    /// Reads `2026-11-21T07:59:59.999+01:00`.
    package static func dateTime(_ bytes: [UInt8], from start: Int) -> Found<EdmDateTimeOffset>? {
        guard let (date, middle) = date(bytes, from: start), middle < bytes.count, bytes[middle] | 0x20 == 0x74 else { return nil }
        guard let (clock, end) = clock(bytes, from: middle + 1), !isDigit(bytes, end) else { return nil }
        var index = end
        var offset: Int?
        if index < bytes.count, bytes[index] | 0x20 == 0x7A {
            offset = 0
            index += 1
        } else if has(bytes, index, 0x2B) || has(bytes, index, 0x2D) {
            guard let hours = number(bytes, index + 1, 2), has(bytes, index + 3, 0x3A), let minutes = number(bytes, index + 4, 2),
                hours < 24, minutes < 60
            else { return nil }
            offset = (bytes[index] == 0x2D ? -1 : 1) * (hours * 60 + minutes)
            index += 6
        }
        let value = EdmDateTimeOffset(
            date: date, hour: clock.0, minute: clock.1, second: clock.2, picosecond: clock.3, offset: offset)
        return value.map { ($0, index) }
    }
}
