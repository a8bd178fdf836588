/// SHA-1 (FIPS 180-4 §6.1): 160 bits. It doesn't protect against forgery, and exists only for the checksums of tus uploads, whose servers
/// must support it.
package struct SHA1: HashFunction {
    package static var digestLength: Int { 20 }
    package static var blockLength: Int { SHA1Compression.blockLength }

    private var blocks = MessageBlocks(SHA1Compression())

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { blocks.append(bytes) }

    package func finalize() -> [UInt8] { Self.digest(of: blocks.finished().words.map(\.bigEndian)) }
}

/// The five words of SHA-1 and the 80 steps that mix a block into them.
struct SHA1Compression: BlockCompression {
    static var blockLength: Int { 64 }
    static var lengthField: MessagePadding.LengthField { .bigEndian64 }

    private(set) var words: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]

    mutating func compress(_ blocks: UnsafeRawPointer, count: Int) {
        var (a, b, c, d, e) = (words[0], words[1], words[2], words[3], words[4])
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { schedule in
            for index in 0..<count {
                let block = blocks + index &* Self.blockLength
                for i in 0..<16 { schedule[i] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: i &* 4, as: UInt32.self)) }
                for i in 16..<80 {
                    schedule[i] = Self.rotated(schedule[i &- 3] ^ schedule[i &- 8] ^ schedule[i &- 14] ^ schedule[i &- 16], 1)
                }
                let before = (a, b, c, d, e)
                for i in 0..<80 {
                    let (function, constant): (UInt32, UInt32) =
                        switch i {
                        case ..<20: ((b & c) | (~b & d), 0x5a82_7999)
                        case ..<40: (b ^ c ^ d, 0x6ed9_eba1)
                        case ..<60: ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc)
                        default: (b ^ c ^ d, 0xca62_c1d6)
                        }
                    let next = Self.rotated(a, 5) &+ function &+ e &+ constant &+ schedule[i]
                    (e, d, c, b, a) = (d, c, Self.rotated(b, 30), a, next)
                }
                (a, b, c, d, e) = (before.0 &+ a, before.1 &+ b, before.2 &+ c, before.3 &+ d, before.4 &+ e)
            }
        }
        words = [a, b, c, d, e]
    }

    @inline(__always) private static func rotated(_ x: UInt32, _ count: UInt32) -> UInt32 { x &<< count | x &>> (32 &- count) }
}
