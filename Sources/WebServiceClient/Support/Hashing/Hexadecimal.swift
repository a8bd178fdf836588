/// Bytes as text: two lower-case hexadecimal digits for each, the `LHEX` of RFC 7616 §3.3.
package enum Hexadecimal {
    /// The digits of the bytes, the high half of each first.
    package static func text(of bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count &* 2) { digits in
            for (index, byte) in bytes.enumerated() {
                digits[index &* 2] = digit(byte >> 4)
                digits[index &* 2 &+ 1] = digit(byte & 0x0f)
            }
            return bytes.count &* 2
        }
    }

    /// The number in exactly eight digits, as nonce counts are written (RFC 7616 §3.4).
    package static func text(of number: UInt32) -> String {
        text(of: withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ (value &- 10)
    }
}
