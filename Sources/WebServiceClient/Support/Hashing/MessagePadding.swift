/// What follows a message before it is hashed: a one bit, zero bits up to the block's end, and the message's length in bits
/// (RFC 1321 §3.1 and §3.2, FIPS 180-4 §5.1).
enum MessagePadding {
    /// The ways to write the length.
    enum LengthField {
        /// 64 bits, lowest byte first (MD5; a longer message's length is taken modulo 2^64).
        case littleEndian64
        /// 64 bits, highest byte first (SHA-256).
        case bigEndian64
        /// 128 bits, highest byte first (SHA-512 and its short forms).
        case bigEndian128

        var byteCount: Int {
            switch self {
            case .littleEndian64, .bigEndian64: 8
            case .bigEndian128: 16
            }
        }
    }

    /// The padding of a message of so many bytes; with it the message fills its last block exactly.
    static func bytes(afterMessageOf byteCount: UInt64, blockLength: Int, lengthField: LengthField) -> [UInt8] {
        let used = Int(byteCount % UInt64(blockLength))
        let needed = 1 + lengthField.byteCount
        let length = used + needed <= blockLength ? blockLength - used : 2 * blockLength - used
        var padding = [UInt8](repeating: 0, count: length)
        padding[0] = 0x80
        // Bits are eight times the bytes: the low 64 of them, and the three that this pushes out at the top.
        let low = byteCount &<< 3
        let high = byteCount &>> 61
        for index in 0..<8 {
            let shift = UInt64(index) * 8
            switch lengthField {
            case .littleEndian64:
                padding[length - 8 + index] = UInt8(truncatingIfNeeded: low &>> shift)
            case .bigEndian64:
                padding[length - 1 - index] = UInt8(truncatingIfNeeded: low &>> shift)
            case .bigEndian128:
                padding[length - 1 - index] = UInt8(truncatingIfNeeded: low &>> shift)
                padding[length - 9 - index] = UInt8(truncatingIfNeeded: high &>> shift)
            }
        }
        return padding
    }
}
