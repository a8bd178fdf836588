/// Runs of Base64 digits in either alphabet (RFC 4648 §4 and §5).
enum Base64Run {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The value of each digit, or 64 for other bytes.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        for (value, digit) in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8.enumerated() {
            values[Int(digit)] = UInt8(value)
        }
        values[Int(UInt8(ascii: "-"))] = 62
        values[Int(UInt8(ascii: "_"))] = 63
        return values
    }()

    /// The fewest digits that can encode a secret.
    private static let shortest = 14

    /// Whether a run may be Base64, which has letters of both cases.
    static func isCandidate(_ run: Range<Int>, in bytes: Bytes) -> Bool {
        run.count >= shortest && run.contains { bytes[$0].isUppercase } && run.contains { bytes[$0].isLowercase }
    }

    /// Decodes a range of digits. Bits at the end that don't fill a byte are dropped.
    static func decoded(_ range: Range<Int>, of bytes: Bytes) -> [UInt8] {
        values.withUnsafeBufferPointer { values in
            var result: [UInt8] = []
            result.reserveCapacity(range.count / 4 * 3 + 3)
            var bits: UInt32 = 0
            var count = 0
            for index in range {
                let value = values[Int(bytes[index])]
                guard value < 64 else { continue }
                bits = bits << 6 | UInt32(value)
                count += 6
                if count >= 8 {
                    count -= 8
                    result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                }
            }
            return result
        }
    }

    /// Whether the bytes contain at least 8 consecutive text characters.
    static func hasText(_ bytes: [UInt8]) -> Bool {
        var length = 0
        for byte in bytes {
            length = byte >= 0x20 && byte < 0x7F || byte == 0x0A || byte == 0x0D || byte == 0x09 ? length + 1 : 0
            if length >= 8 { return true }
        }
        return false
    }

    /// Whether a range looks random: upper case, lower case and digits alternate more than in words, paths and numbers.
    static func isRandom(_ range: Range<Int>, in bytes: Bytes) -> Bool {
        var (changes, upper, lower, digits) = (0, 0, 0, 0)
        var last = 0
        for index in range {
            let kind: Int
            if bytes[index].isUppercase {
                (kind, upper) = (1, upper + 1)
            } else if bytes[index].isLowercase {
                (kind, lower) = (2, lower + 1)
            } else if bytes[index].isDigit {
                (kind, digits) = (3, digits + 1)
            } else {
                kind = 4
            }
            if kind != last { changes += 1 }
            last = kind
        }
        return upper >= 3 && lower >= 3 && digits >= 2 && changes * 3 >= range.count
    }
}
