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
