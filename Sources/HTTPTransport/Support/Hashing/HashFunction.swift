/// A hash that takes its message piece by piece: what Digest access authentication (RFC 7616) is computed with.
///
/// Conforming types are values: a copy goes on from the state it was copied in, and neither sees what the other takes afterwards.
/// They are here because the package has no dependencies and Foundation has no hashes on Linux. None of them is meant for storing
/// passwords, and ``MD5`` is meant for nothing but talking to servers that know no better.
package protocol HashFunction: Sendable {
    /// The length of a digest in bytes.
    static var digestLength: Int { get }

    /// A hash that has taken nothing yet.
    init()

    /// Takes the next bytes of the message.
    mutating func update(_ bytes: UnsafeRawBufferPointer)

    /// The digest of all that was taken so far. The hash itself isn't changed, and can take more.
    func finalize() -> [UInt8]
}

extension HashFunction {
    /// Takes the next bytes of the message.
    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Takes a text's UTF-8 bytes.
    package mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
    }

    /// The bytes of a digest's words, which stand in the order of their bytes in memory.
    package static func digest<Word: FixedWidthInteger>(of words: [Word]) -> [UInt8] {
        words.withUnsafeBytes { Array($0) }
    }

    /// The digest of the bytes, in lower-case hexadecimal digits.
    package static func hexadecimal(of bytes: [UInt8]) -> String {
        var hash = Self()
        hash.update(bytes)
        return Hexadecimal.text(of: hash.finalize())
    }

    /// The digest of a text's UTF-8 bytes, in lower-case hexadecimal digits.
    package static func hexadecimal(of text: String) -> String {
        var hash = Self()
        hash.update(text)
        return Hexadecimal.text(of: hash.finalize())
    }
}

/// The inner state of a hash of the Merkle–Damgård kind: it takes whole blocks only.
protocol BlockCompression: Sendable {
    /// The length of a block in bytes.
    static var blockLength: Int { get }

    /// How the message's length ends its last block.
    static var lengthField: MessagePadding.LengthField { get }

    /// Takes as many whole blocks as stated, which lie one behind the other and needn't be aligned.
    mutating func compress(_ blocks: UnsafeRawPointer, count: Int)
}

/// Cuts a message that comes in pieces of any length into the whole blocks that a compression takes.
///
/// Blocks that lie whole in a piece are handed on where they are; only what is left over between two pieces is copied.
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

    /// The compression after the padded end of the message.
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
