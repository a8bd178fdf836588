import Foundation

/// Writes JSON text (RFC 8259) directly into bytes: several times as fast as an encoder, and with a fixed order of keys.
///
/// The caller writes the braces, commas and keys as fixed text; this type writes the values. Swift strings are valid Unicode, so the output
/// is valid UTF-8.
struct JSONText: Sendable {
    private var bytes = ByteBuffer()

    /// The written text; meant for short texts.
    var string: String { bytes.withBytes { String(decoding: $0, as: UTF8.self) } }
    /// The written bytes, without a copy.
    var data: Data { bytes.data }
    /// The number of written bytes.
    var count: Int { bytes.count }

    mutating func reserve(_ count: Int) {
        bytes.reserve(count)
    }

    /// Writes fixed text unchanged.
    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append($0) }
    }

    /// Writes one byte unchanged.
    mutating func byte(_ byte: Unicode.Scalar) {
        bytes.append(UInt8(truncatingIfNeeded: byte.value))
    }

    /// Writes one byte unchanged, even if it is part of a multi-byte character.
    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    /// Removes a trailing comma.
    mutating func dropComma() {
        if bytes.last == UInt8(ascii: ",") { bytes.truncate(to: bytes.count - 1) }
    }

    /// Writes a quoted string with the escapes that JSON requires: quotes, backslashes and control characters.
    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { source in
            var start = 0
            while let index = Self.firstEscape(in: source, from: start) {
                bytes.append(UnsafeBufferPointer(rebasing: source[start..<index]))
                escape(source[index])
                start = index + 1
            }
            bytes.append(UnsafeBufferPointer(rebasing: source[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The index of the next byte that needs an escape. The search skips eight bytes at a time while none of them does.
    private static func firstEscape(in source: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let words = UnsafeRawBufferPointer(source)
        var index = start
        while index &+ 8 <= words.count {
            let word = words.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let (quotes, backslashes) = (word ^ 0x22 &* ones, word ^ 0x5C &* ones)
            // The top bit of each byte below 0x20 or equal to one of the two; false positives only follow a true one.
            let controls = (word &- 0x20 &* ones) & ~word
            let hits = (controls | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes) & tops
            guard hits == 0 else { break }
            index &+= 8
        }
        return source[index...].firstIndex(where: needsEscape)
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        default:
            raw("u00")
            bytes.append(Self.hexDigit(byte >> 4))
            bytes.append(Self.hexDigit(byte & 15))
        }
    }

    /// Writes the decimal digits of a number.
    mutating func integer(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        integer(value.magnitude)
    }

    /// Writes the decimal digits of a number.
    mutating func integer(_ value: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestInteger) { digits in
            var rest = value
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            bytes.append(UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }

    /// The digits of the largest 64-bit number.
    private static var longestInteger: Int { 20 }

    /// Writes a number in its shortest form that parses to the same value; NaN and the infinities become the strings of protobuf's JSON
    /// mapping.
    mutating func double(_ value: Double) {
        if value.isFinite {
            var text = value.description
            text.withUTF8 { bytes.append($0) }
        } else if value.isNaN {
            raw("\"NaN\"")
        } else if value < 0 {
            raw("\"-Infinity\"")
        } else {
            raw("\"Infinity\"")
        }
    }

    /// Writes `true` or `false`.
    mutating func bool(_ value: Bool) {
        if value { raw("true") } else { raw("false") }
    }

    /// Writes the 16 hexadecimal digits of a number, without quotes.
    mutating func hexadecimal(_ value: UInt64) {
        let digits = bytes.room(16)
        var rest = value
        var index = 16
        while index > 0 {
            index &-= 1
            digits[index] = Self.hexDigit(UInt8(truncatingIfNeeded: rest) & 15)
            rest >>= 4
        }
        bytes.advance(by: 16)
    }

    /// Writes the 32 hexadecimal digits of a 128-bit id, without quotes.
    mutating func hexadecimal(_ high: UInt64, _ low: UInt64) {
        hexadecimal(high)
        hexadecimal(low)
    }

    /// Writes the two hexadecimal digits of a byte, without quotes.
    mutating func hexadecimal(byte value: UInt8) {
        bytes.append(Self.hexDigit(value >> 4))
        bytes.append(Self.hexDigit(value & 15))
    }

    /// Writes bytes as a Base64 string (RFC 4648 §4, padded).
    mutating func base64(_ data: Data) {
        bytes.append(UInt8(ascii: "\""))
        data.base64EncodedData().withUnsafeBytes { bytes.append($0.bindMemory(to: UInt8.self)) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a number with a fixed count of digits, with leading zeros; higher digits are cut.
    mutating func padded(_ value: Int, digits: Int) {
        let place = bytes.room(digits)
        var rest = value
        for index in stride(from: digits - 1, through: 0, by: -1) {
            place[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        bytes.advance(by: digits)
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
    }
}

extension JSONText {
    /// Writes a value: dates in RFC 3339, bytes in Base64, NaN and the infinities as strings.
    mutating func value(_ value: LogValue, depth: Int = 0) {
        switch value {
        case .null: raw("null")
        case .string(let value): string(value)
        case .int(let value): integer(value)
        case .double(let value): double(value)
        case .bool(let value): bool(value)
        case .data(let value): base64(value)
        case .date(let value):
            byte("\"")
            TimestampText.write(value, into: &self)
            byte("\"")
        case .array(let values):
            guard depth < LogValue.maximumDepth else { return string(LogValue.tooDeep) }
            byte("[")
            for element in values {
                self.value(element, depth: depth + 1)
                byte(",")
            }
            dropComma()
            byte("]")
        case .dictionary(let values):
            guard depth < LogValue.maximumDepth else { return string(LogValue.tooDeep) }
            members(values, depth: depth + 1)
        }
    }

    /// Writes metadata as an object.
    mutating func members(_ metadata: LogMetadata, depth: Int = 0) {
        byte("{")
        for pair in metadata {
            string(pair.key)
            byte(":")
            value(pair.value, depth: depth)
            byte(",")
        }
        dropComma()
        byte("}")
    }

    /// Writes a key and a string, if there is one.
    ///
    /// - Parameter end: Closes the objects that the key has opened.
    mutating func optional(_ key: StaticString, _ text: String?, _ end: StaticString = "") {
        guard let text else { return }
        raw(key)
        string(text)
        raw(end)
    }
}
