import Foundation

/// Writes JSON text (RFC 8259) straight into bytes: several times as quick as an encoder, and in a fixed order of keys.
///
/// The caller puts the braces, commas and keys, as pieces of fixed text; this type writes the values. A Swift string is valid
/// Unicode, hence the output is valid UTF-8.
struct JSONText: Sendable {
    private(set) var bytes: [UInt8] = []

    /// What has been written, for short texts.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    /// Writes fixed text as it stands.
    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Writes one byte as it stands.
    mutating func byte(_ byte: Unicode.Scalar) {
        bytes.append(UInt8(truncatingIfNeeded: byte.value))
    }

    /// Writes one byte as it stands, also one of a longer character.
    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    /// Takes back a comma that nothing followed.
    mutating func dropComma() {
        if bytes.last == UInt8(ascii: ",") { bytes.removeLast() }
    }

    /// A text in quotes, with what JSON demands escaped: quotes, backslashes and the control characters.
    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { source in
            var start = 0
            for index in source.indices where Self.needsEscape(source[index]) {
                bytes.append(contentsOf: source[start..<index])
                escape(source[index])
                start = index + 1
            }
            bytes.append(contentsOf: source[start...])
        }
        bytes.append(UInt8(ascii: "\""))
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

    /// The decimal digits of a number.
    mutating func integer(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        integer(value.magnitude)
    }

    /// The decimal digits of a number.
    mutating func integer(_ value: UInt64) {
        var rest = value
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        reverse(from: start)
    }

    /// A number in the shortest form that reads back as the same; NaN and the infinities as the strings that protobuf's JSON mapping
    /// uses for them.
    mutating func double(_ value: Double) {
        if value.isFinite {
            bytes.append(contentsOf: value.description.utf8)
        } else if value.isNaN {
            raw("\"NaN\"")
        } else if value < 0 {
            raw("\"-Infinity\"")
        } else {
            raw("\"Infinity\"")
        }
    }

    /// `true` or `false`.
    mutating func bool(_ value: Bool) {
        if value { raw("true") } else { raw("false") }
    }

    /// The sixteen hexadecimal digits of a number, without quotes.
    mutating func hexadecimal(_ value: UInt64) {
        for shift in stride(from: 60, through: 0, by: -4) {
            bytes.append(Self.hexDigit(UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 15))
        }
    }

    /// The 32 hexadecimal digits of an id of 128 bits, without quotes.
    mutating func hexadecimal(_ high: UInt64, _ low: UInt64) {
        hexadecimal(high)
        hexadecimal(low)
    }

    /// The two hexadecimal digits of a byte, without quotes.
    mutating func hexadecimal(byte value: UInt8) {
        bytes.append(Self.hexDigit(value >> 4))
        bytes.append(Self.hexDigit(value & 15))
    }

    /// Bytes as a string of Base64 (RFC 4648 §4, padded).
    mutating func base64(_ data: Data) {
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: data.base64EncodedData())
        bytes.append(UInt8(ascii: "\""))
    }

    /// A number of a fixed count of digits, with zeros in front; digits above are cut.
    mutating func padded(_ value: Int, digits: Int) {
        let start = bytes.count
        var rest = value
        for _ in 0..<digits {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
        reverse(from: start)
    }

    /// Turns the bytes from a place on around, in place: reversing a slice would copy it.
    private mutating func reverse(from start: Int) {
        var left = start
        var right = bytes.count - 1
        while left < right {
            bytes.swapAt(left, right)
            left += 1
            right -= 1
        }
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
    }
}
