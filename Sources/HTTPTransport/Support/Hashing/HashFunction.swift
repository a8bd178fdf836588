/// A hash function with incremental input, as required by Digest access authentication (RFC 7616).
///
/// Conforming types are values: a copy continues from the current state, independently of the original. They exist because the package has
/// no dependencies and Foundation has no hashes on Linux. None of them is suitable for storing passwords, and ``MD5`` is only for servers
/// that support nothing better.
package protocol HashFunction: Sendable {
    /// The length of a digest in bytes.
    static var digestLength: Int { get }

    /// The length of a block in bytes, which ``HMAC`` needs.
    static var blockLength: Int { get }

    /// Creates a hash without input.
    init()

    /// Adds the next bytes of the message.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// Returns the digest of all input so far. The hash isn't changed, and accepts more input.
    func finalize() -> [UInt8]
}

extension HashFunction {
    /// Adds the next bytes of the message.
    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Adds a text's UTF-8 bytes.
    package mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the bytes of a digest's words, which are already in the digest's byte order.
    package static func digest<Word: FixedWidthInteger>(of words: [Word]) -> [UInt8] {
        words.withUnsafeBytes { Array($0) }
    }

    /// Returns the digest of the bytes in lower-case hexadecimal digits.
    package static func hexadecimal(of bytes: [UInt8]) -> String {
        var hash = Self()
        hash.update(bytes)
        return Hexadecimal.text(of: hash.finalize())
    }

    /// Returns the digest of a text's UTF-8 bytes in lower-case hexadecimal digits.
    package static func hexadecimal(of text: String) -> String {
        var hash = Self()
        hash.update(text)
        return Hexadecimal.text(of: hash.finalize())
    }
}

/// The internal state of a Merkle–Damgård hash, which processes whole blocks.
protocol BlockCompression: Sendable {
    /// The length of a block in bytes.
    static var blockLength: Int { get }

    /// The format of the message's length at the end of the last block.
    static var lengthField: MessagePadding.LengthField { get }

    /// Processes consecutive whole blocks, which needn't be aligned.
    mutating func compress(_ blocks: UnsafeRawPointer, count: Int)
}

/// Splits a message that arrives in pieces of any length into whole blocks for a compression function.
///
/// Whole blocks within a piece are processed without a copy; only the rest between two pieces is copied.
struct MessageBlocks<Compression: BlockCompression>: Sendable {
    private(set) var compression: Compression
    private var remainder: [UInt8]
    private var remainderCount = 0
    private var byteCount: UInt64 = 0

    init(_ compression: Compression) {
        self.compression = compression
        remainder = [UInt8](repeating: 0, count: Compression.blockLength)
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        byteCount &+= UInt64(bytes.count)
        let blockLength = Compression.blockLength
        var offset = 0
        if remainderCount > 0 {
            offset = min(blockLength - remainderCount, bytes.count)
            keep(start, count: offset)
            guard remainderCount == blockLength else { return }
            remainder.withUnsafeBytes { block in
                if let address = block.baseAddress { compression.compress(address, count: 1) }
            }
            remainderCount = 0
        }
        let wholeBlocks = (bytes.count - offset) / blockLength
        if wholeBlocks > 0 {
            compression.compress(start + offset, count: wholeBlocks)
            offset += wholeBlocks * blockLength
        }
        keep(start + offset, count: bytes.count - offset)
    }

    /// Returns the compression state after the padded end of the message.
    func finished() -> Compression {
        var copy = self
        let padding = MessagePadding.bytes(
            afterMessageOf: byteCount, blockLength: Compression.blockLength, lengthField: Compression.lengthField)
        padding.withUnsafeBytes { copy.append($0) }
        return copy.compression
    }

    private mutating func keep(_ start: UnsafeRawPointer, count: Int) {
        guard count > 0 else { return }
        let end = remainderCount
        remainder.withUnsafeMutableBytes { block in
            block.baseAddress.map { ($0 + end).copyMemory(from: start, byteCount: count) }
        }
        remainderCount += count
    }
}

/// The padding of a message: a one bit, zero bits up to the block's end, and the message's length in bits (RFC 1321 §3.1 and §3.2, FIPS
/// 180-4 §5.1).
enum MessagePadding {
    /// The formats of the length.
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

    /// Returns the padding of a message with `byteCount` bytes, which completes its last block.
    static func bytes(afterMessageOf byteCount: UInt64, blockLength: Int, lengthField: LengthField) -> [UInt8] {
        let used = Int(byteCount % UInt64(blockLength))
        let needed = 1 + lengthField.byteCount
        let length = used + needed <= blockLength ? blockLength - used : 2 * blockLength - used
        var padding = [UInt8](repeating: 0, count: length)
        padding[0] = 0x80
        // Multiplying by eight shifts three bits out of the low word into the high word.
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

/// Lower-case hexadecimal text with two digits per byte, the `LHEX` of RFC 7616 §3.3.
package enum Hexadecimal {
    /// Returns the digits of the bytes, with the high half of each byte first.
    package static func text(of bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count &* 2) { digits in
            for (index, byte) in bytes.enumerated() {
                digits[index &* 2] = digit(byte >> 4)
                digits[index &* 2 &+ 1] = digit(byte & 0x0f)
            }
            return bytes.count &* 2
        }
    }

    /// Returns the number in exactly eight digits, the format of nonce counts (RFC 7616 §3.4).
    package static func text(of number: UInt32) -> String {
        text(of: withUnsafeBytes(of: number.bigEndian) { Array($0) })
    }

    /// Returns the bytes of digits in upper or lower case; `nil` if there is anything else, or a single digit at the end.
    package static func bytes(of digits: some Collection<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &+ (value &- 10)
    }
}
