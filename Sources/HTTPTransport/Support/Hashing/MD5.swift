/// MD5 (RFC 1321): 128 bits. It doesn't protect against forgery, and exists only for servers whose Digest authentication supports nothing
/// better.
package struct MD5: HashFunction {
    package static var digestLength: Int { 16 }
    package static var blockLength: Int { MD5Compression.blockLength }

    private var blocks = MessageBlocks(MD5Compression())

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        blocks.append(bytes)
    }

    package func finalize() -> [UInt8] {
        let end = blocks.finished()
        return Self.digest(of: [end.a, end.b, end.c, end.d].map(\.littleEndian))
    }
}

/// The four words of MD5 and the 64 steps that mix a block into them (RFC 1321 §3.4). Each loop iteration runs four steps, so that no word
/// has to be moved.
struct MD5Compression: BlockCompression {
    static var blockLength: Int { 64 }
    static var lengthField: MessagePadding.LengthField { .littleEndian64 }

    private(set) var a: UInt32 = 0x6745_2301
    private(set) var b: UInt32 = 0xefcd_ab89
    private(set) var c: UInt32 = 0x98ba_dcfe
    private(set) var d: UInt32 = 0x1032_5476

    mutating func compress(_ blocks: UnsafeRawPointer, count: Int) {
        Self.sines.withUnsafeBufferPointer { sines in
            for index in 0..<count {
                mix(blocks + index &* Self.blockLength, sines)
            }
        }
    }

    private mutating func mix(_ block: UnsafeRawPointer, _ k: UnsafeBufferPointer<UInt32>) {
        @inline(__always) func word(_ index: Int) -> UInt32 {
            UInt32(littleEndian: block.loadUnaligned(fromByteOffset: (index & 15) &* 4, as: UInt32.self))
        }
        @inline(__always) func step(_ x: inout UInt32, _ next: UInt32, _ function: UInt32, _ index: Int, _ i: Int, _ shift: UInt32) {
            let sum = x &+ function &+ word(index) &+ k[i]
            x = next &+ (sum &<< shift | sum &>> (32 &- shift))
        }
        var (a, b, c, d) = (a, b, c, d)
        for i in stride(from: 0, to: 16, by: 4) {
            step(&a, b, (b & c) | (~b & d), i, i, 7)
            step(&d, a, (a & b) | (~a & c), i &+ 1, i &+ 1, 12)
            step(&c, d, (d & a) | (~d & b), i &+ 2, i &+ 2, 17)
            step(&b, c, (c & d) | (~c & a), i &+ 3, i &+ 3, 22)
        }
        for i in stride(from: 16, to: 32, by: 4) {
            step(&a, b, (b & d) | (c & ~d), 5 &* i &+ 1, i, 5)
            step(&d, a, (a & c) | (b & ~c), 5 &* i &+ 6, i &+ 1, 9)
            step(&c, d, (d & b) | (a & ~b), 5 &* i &+ 11, i &+ 2, 14)
            step(&b, c, (c & a) | (d & ~a), 5 &* i &+ 16, i &+ 3, 20)
        }
        for i in stride(from: 32, to: 48, by: 4) {
            step(&a, b, b ^ c ^ d, 3 &* i &+ 5, i, 4)
            step(&d, a, a ^ b ^ c, 3 &* i &+ 8, i &+ 1, 11)
            step(&c, d, d ^ a ^ b, 3 &* i &+ 11, i &+ 2, 16)
            step(&b, c, c ^ d ^ a, 3 &* i &+ 14, i &+ 3, 23)
        }
        for i in stride(from: 48, to: 64, by: 4) {
            step(&a, b, c ^ (b | ~d), 7 &* i, i, 6)
            step(&d, a, b ^ (a | ~c), 7 &* i &+ 7, i &+ 1, 10)
            step(&c, d, a ^ (d | ~b), 7 &* i &+ 14, i &+ 2, 15)
            step(&b, c, d ^ (c | ~a), 7 &* i &+ 21, i &+ 3, 21)
        }
        self.a &+= a
        self.b &+= b
        self.c &+= c
        self.d &+= d
    }

    /// The first 32 bits of the fraction of |sin(1)|, |sin(2)|, … in radians.
    private static let sines: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]
}
