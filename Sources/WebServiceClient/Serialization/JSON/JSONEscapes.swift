/// The escapes in JSON strings (RFC 8259 §7). Those that are read have been checked by the scanner.
package enum JSONEscapes {
    /// Appends a string with its quotation marks and escapes.
    package static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): text += "\\\"".utf8
            case UInt8(ascii: "\\"): text += "\\\\".utf8
            case 0x0A: text += "\\n".utf8
            case 0x0D: text += "\\r".utf8
            case 0x09: text += "\\t".utf8
            case 0..<0x20: text += ("\\u00" + Hexadecimal.text(of: [byte])).utf8
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    /// Writes a string without its escapes. The result is never longer than the input, but bytes in the padding after it are overwritten,
    /// too.
    ///
    /// - Returns: The number of bytes written.
    static func unescape(_ bytes: UnsafePointer<UInt8>, _ count: Int, into target: UnsafeMutablePointer<UInt8>) -> Int {
        var index = 0
        var end = 0
        while index < count {
            // Copies sixteen bytes, of which those before the next escape count. The constant step of sixteen doesn't depend on the
            // search's result, so the next step needn't wait for it.
            UnsafeMutableRawPointer(target + end).copyMemory(from: bytes + index, byteCount: 16)
            let plain = JSONBytes.indexOfBackslash(bytes + index)
            if plain == 16 {
                index &+= 16
                end &+= 16
                continue
            }
            index &+= plain
            end &+= plain
            if index >= count { break }
            // Escapes come in runs: text in other scripts than Latin may consist of nothing else.
            repeat {
                let escape = bytes[index + 1]
                index &+= 2
                guard escape == UInt8(ascii: "u") else {
                    target[end] = character(of: escape)
                    end &+= 1
                    continue
                }
                var scalar = unit(bytes + index)
                index &+= 4
                if scalar & 0xFC00 == 0xD800 {
                    scalar = 0x10000 + (scalar & 0x3FF) << 10 + unit(bytes + index + 2) & 0x3FF
                    index &+= 6
                }
                end &+= write(scalar, to: target + end)
            } while index < count && bytes[index] == UInt8(ascii: "\\")
        }
        // The last copy of sixteen may exceed the end.
        return end &- (index &- count)
    }

    /// The character of the letter after a backslash.
    private static func character(of escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    /// The value of four hexadecimal digits.
    private static func unit(_ bytes: UnsafePointer<UInt8>) -> UInt32 {
        (0..<4).reduce(0) { $0 &<< 4 | UInt32(digit(bytes[$1]) ?? 0) }
    }

    @inline(__always) private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func write(_ scalar: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
        func continuation(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: 0x80 | scalar &>> shift & 0x3F) }
        switch scalar {
        case ..<0x80:
            target[0] = UInt8(truncatingIfNeeded: scalar)
            return 1
        case ..<0x800:
            target[0] = UInt8(truncatingIfNeeded: 0xC0 | scalar &>> 6)
            target[1] = continuation(0)
            return 2
        case ..<0x10000:
            target[0] = UInt8(truncatingIfNeeded: 0xE0 | scalar &>> 12)
            target[1] = continuation(6)
            target[2] = continuation(0)
            return 3
        default:
            target[0] = UInt8(truncatingIfNeeded: 0xF0 | scalar &>> 18)
            target[1] = continuation(12)
            target[2] = continuation(6)
            target[3] = continuation(0)
            return 4
        }
    }

    /// The length of the escape at a backslash, or the reason why it is invalid.
    @inline(__always) static func check(
        _ bytes: UnsafePointer<UInt8>, upTo end: UnsafePointer<UInt8>
    ) -> Result<Int, JSONFault.Reason> {
        guard end - bytes >= 2 else { return .failure(.truncated) }
        switch bytes[1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            return .success(2)
        case UInt8(ascii: "u"):
            return checkUnit(bytes, upTo: end)
        default:
            return .failure(.escape)
        }
    }

    /// The length of a `\u` escape, or the reason why it is invalid.
    @inline(never) private static func checkUnit(
        _ bytes: UnsafePointer<UInt8>, upTo end: UnsafePointer<UInt8>
    ) -> Result<Int, JSONFault.Reason> {
        if let reason = checkDigits(bytes + 2, upTo: end) { return .failure(reason) }
        let first = unit(bytes + 2)
        if first & 0xFC00 == 0xDC00 { return .failure(.surrogate) }
        guard first & 0xFC00 == 0xD800 else { return .success(6) }
        for (index, expected) in [(6, UInt8(ascii: "\\")), (7, UInt8(ascii: "u"))] {
            guard end - bytes > index else { return .failure(.truncated) }
            guard bytes[index] == expected else { return .failure(.surrogate) }
        }
        if let reason = checkDigits(bytes + 8, upTo: end) { return .failure(reason) }
        return unit(bytes + 8) & 0xFC00 == 0xDC00 ? .success(12) : .failure(.surrogate)
    }

    private static func checkDigits(_ bytes: UnsafePointer<UInt8>, upTo end: UnsafePointer<UInt8>) -> JSONFault.Reason? {
        for index in 0..<4 {
            guard end - bytes > index else { return .truncated }
            guard digit(bytes[index]) != nil else { return .hexDigits }
        }
        return nil
    }
}
