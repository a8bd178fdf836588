/// The one home of percent-encoding: text to URL components and back (RFC 3986 section 2, RFC 3629).
///
/// Every function works on UTF-8 bytes with an ``Alphabet`` of those that may stand raw; all others become `%XX` in upper case. What
/// needs no change is returned as it is, without a copy. Nothing here looks at the meaning of a value: a placeholder, a slash or a
/// percent sign inside one is text like any other.
public enum URLEncoding {
    /// The text with every byte outside the alphabet as a percent triplet.
    ///
    /// A `%` of the text becomes `%25`, also before two hexadecimal digits, unless the alphabet holds it: the text is taken as
    /// plain text and never as encoded already. See ``repaired(_:allowing:)`` for the other case.
    public static func encode(_ text: String, allowing alphabet: Alphabet = .unreserved) -> String {
        withBytes(of: text) { bytes in
            var escapes = 0
            for byte in bytes where !alphabet.contains(byte) { escapes += 1 }
            if escapes == 0 { return text }
            return String(unsafeUninitializedCapacity: bytes.count + 2 * escapes) { buffer in
                var end = 0
                for byte in bytes {
                    if alphabet.contains(byte) {
                        buffer[end] = byte
                        end += 1
                    } else {
                        buffer[end] = percent
                        buffer[end + 1] = hexadecimalDigit(byte >> 4)
                        buffer[end + 2] = hexadecimalDigit(byte & 15)
                        end += 3
                    }
                }
                return end
            }
        }
    }

    /// The plain text of percent-encoded text, or nil where a `%` isn't followed by two hexadecimal digits or the bytes aren't UTF-8.
    ///
    /// `+` stays a plus sign: only forms read it as a blank, see ``parseForm(_:)``.
    public static func decode(_ text: String) -> String? {
        guard let bytes = decodeBytes(text) else { return nil }
        let decoded = String(decoding: bytes, as: UTF8.self)
        // Invalid sequences have been replaced by U+FFFD, which changes the bytes.
        return decoded.utf8.elementsEqual(bytes) ? decoded : nil
    }

    /// The bytes that percent-encoded text stands for, which needn't be UTF-8, or nil where a `%` isn't followed by two hexadecimal
    /// digits.
    public static func decodeBytes(_ text: String) -> [UInt8]? {
        withBytes(of: text) { bytes in decodeBytes(bytes, plusIsBlank: false) }
    }

    static func decodeBytes(_ bytes: UnsafeBufferPointer<UInt8>, plusIsBlank: Bool) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == percent {
                guard isTriplet(bytes, at: index), let high = hexadecimalValue(bytes[index + 1]),
                    let low = hexadecimalValue(bytes[index + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return decoded
    }

    /// Appends the text, encoded, to the bytes: what builds a URL piece by piece without a string for each piece.
    package static func append(_ text: String, to output: inout [UInt8], allowing alphabet: Alphabet) {
        withBytes(of: text) { bytes in
            for byte in bytes { append(byte, to: &output, allowing: alphabet) }
        }
    }

    static func append(_ byte: UInt8, to output: inout [UInt8], allowing alphabet: Alphabet) {
        if alphabet.contains(byte) {
            output.append(byte)
        } else {
            output.append(percent)
            output.append(hexadecimalDigit(byte >> 4))
            output.append(hexadecimalDigit(byte & 15))
        }
    }
}

extension URLEncoding {
    static let percent = UInt8(ascii: "%")

    /// Runs the body with the text's UTF-8 bytes; only a string that isn't native (Apple's bridged ones) is copied for it.
    static func withBytes<Result>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try text.utf8.withContiguousStorageIfAvailable(body) { return result }
        return try Array(text.utf8).withUnsafeBufferPointer(body)
    }

    /// The upper-case digit of a value below 16; higher bits are ignored.
    static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        let nibble = value & 15
        return nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + (nibble - 10)
    }

    static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Whether a whole `%XX` starts at the index.
    static func isTriplet(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        index >= 0 && bytes.count - index > 2 && bytes[index] == percent && hexadecimalValue(bytes[index + 1]) != nil
            && hexadecimalValue(bytes[index + 2]) != nil
    }
}
