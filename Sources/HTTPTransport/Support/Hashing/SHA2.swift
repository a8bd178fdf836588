/// SHA-256 (FIPS 180-4 §6.2): 256 bits.
package struct SHA256: HashFunction {
    package static var digestLength: Int { 32 }
    package static var blockLength: Int { SHA2Compression<SHA256Variant>.blockLength }

    private var blocks = MessageBlocks(SHA2Compression<SHA256Variant>())

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { blocks.append(bytes) }

    package func finalize() -> [UInt8] { Self.digest(of: blocks.finished().words.map(\.bigEndian)) }
}

/// SHA-512 (FIPS 180-4 §6.4): 512 bits.
package struct SHA512: HashFunction {
    package static var digestLength: Int { 64 }
    package static var blockLength: Int { SHA2Compression<SHA512Variant>.blockLength }

    private var blocks = MessageBlocks(SHA2Compression<SHA512Variant>())

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { blocks.append(bytes) }

    package func finalize() -> [UInt8] { Self.digest(of: blocks.finished().words.map(\.bigEndian)) }
}

/// SHA-512/256 (FIPS 180-4 §6.7): SHA-512 with different initial words, truncated to 256 bits. Digest authentication calls it
/// `SHA-512-256`. It isn't the first half of SHA-512.
package struct SHA512_256: HashFunction {
    package static var digestLength: Int { 32 }
    package static var blockLength: Int { SHA2Compression<SHA512_256Variant>.blockLength }

    private var blocks = MessageBlocks(SHA2Compression<SHA512_256Variant>())

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { blocks.append(bytes) }

    package func finalize() -> [UInt8] { Self.digest(of: blocks.finished().words.prefix(4).map(\.bigEndian)) }
}

/// The differences between the members of the SHA-2 family.
protocol SHA2Variant {
    associatedtype Word: FixedWidthInteger & UnsignedInteger & Sendable
    static var lengthField: MessagePadding.LengthField { get }
    /// One round constant per round.
    static var constants: [Word] { get }
    /// The eight initial words (FIPS 180-4 §5.3).
    static var initial: [Word] { get }
    // The four functions of FIPS 180-4 §4.1.2 and §4.1.3.
    static func bigSigma0(_ x: Word) -> Word
    static func bigSigma1(_ x: Word) -> Word
    static func smallSigma0(_ x: Word) -> Word
    static func smallSigma1(_ x: Word) -> Word
}

extension SHA2Variant {
    @inline(__always) static func rotated(_ x: Word, _ count: Word) -> Word { x &>> count | x &<< (Word(Word.bitWidth) &- count) }
}

enum SHA256Variant: SHA2Variant {
    static var lengthField: MessagePadding.LengthField { .bigEndian64 }
    static let constants = SHA512_256Variant.constants.prefix(64).map { UInt32(truncatingIfNeeded: $0 &>> 32) }
    static let initial: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    @inline(__always) static func bigSigma0(_ x: UInt32) -> UInt32 { rotated(x, 2) ^ rotated(x, 13) ^ rotated(x, 22) }
    @inline(__always) static func bigSigma1(_ x: UInt32) -> UInt32 { rotated(x, 6) ^ rotated(x, 11) ^ rotated(x, 25) }
    @inline(__always) static func smallSigma0(_ x: UInt32) -> UInt32 { rotated(x, 7) ^ rotated(x, 18) ^ x &>> 3 }
    @inline(__always) static func smallSigma1(_ x: UInt32) -> UInt32 { rotated(x, 17) ^ rotated(x, 19) ^ x &>> 10 }
}

/// SHA-512 differs from SHA-512/256 in its initial words only.
enum SHA512Variant: SHA2Variant {
    static var lengthField: MessagePadding.LengthField { .bigEndian128 }
    static var constants: [UInt64] { SHA512_256Variant.constants }
    static let initial: [UInt64] = [
        0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b, 0xa54f_f53a_5f1d_36f1,
        0x510e_527f_ade6_82d1, 0x9b05_688c_2b3e_6c1f, 0x1f83_d9ab_fb41_bd6b, 0x5be0_cd19_137e_2179,
    ]
    @inline(__always) static func bigSigma0(_ x: UInt64) -> UInt64 { SHA512_256Variant.bigSigma0(x) }
    @inline(__always) static func bigSigma1(_ x: UInt64) -> UInt64 { SHA512_256Variant.bigSigma1(x) }
    @inline(__always) static func smallSigma0(_ x: UInt64) -> UInt64 { SHA512_256Variant.smallSigma0(x) }
    @inline(__always) static func smallSigma1(_ x: UInt64) -> UInt64 { SHA512_256Variant.smallSigma1(x) }
}

enum SHA512_256Variant: SHA2Variant {
    static var lengthField: MessagePadding.LengthField { .bigEndian128 }
    static let initial: [UInt64] = [
        0x2231_2194_fc2b_f72c, 0x9f55_5fa3_c84c_64c2, 0x2393_b86b_6f53_b151, 0x9638_7719_5940_eabd,
        0x9628_3ee2_a88e_ffe3, 0xbe5e_1e25_5386_3992, 0x2b01_99fc_2c85_b8aa, 0x0eb7_2ddc_81c5_2ca2,
    ]
    @inline(__always) static func bigSigma0(_ x: UInt64) -> UInt64 { rotated(x, 28) ^ rotated(x, 34) ^ rotated(x, 39) }
    @inline(__always) static func bigSigma1(_ x: UInt64) -> UInt64 { rotated(x, 14) ^ rotated(x, 18) ^ rotated(x, 41) }
    @inline(__always) static func smallSigma0(_ x: UInt64) -> UInt64 { rotated(x, 1) ^ rotated(x, 8) ^ x &>> 7 }
    @inline(__always) static func smallSigma1(_ x: UInt64) -> UInt64 { rotated(x, 19) ^ rotated(x, 61) ^ x &>> 6 }

    /// The first 64 bits of the fractional parts of the cube roots of the first 80 primes (FIPS 180-4 §4.2.3). SHA-256 takes the first
    /// 32 bits of the first 64 (§4.2.2).
    static let constants: [UInt64] = [
        0x428a_2f98_d728_ae22, 0x7137_4491_23ef_65cd, 0xb5c0_fbcf_ec4d_3b2f, 0xe9b5_dba5_8189_dbbc,
        0x3956_c25b_f348_b538, 0x59f1_11f1_b605_d019, 0x923f_82a4_af19_4f9b, 0xab1c_5ed5_da6d_8118,
        0xd807_aa98_a303_0242, 0x1283_5b01_4570_6fbe, 0x2431_85be_4ee4_b28c, 0x550c_7dc3_d5ff_b4e2,
        0x72be_5d74_f27b_896f, 0x80de_b1fe_3b16_96b1, 0x9bdc_06a7_25c7_1235, 0xc19b_f174_cf69_2694,
        0xe49b_69c1_9ef1_4ad2, 0xefbe_4786_384f_25e3, 0x0fc1_9dc6_8b8c_d5b5, 0x240c_a1cc_77ac_9c65,
        0x2de9_2c6f_592b_0275, 0x4a74_84aa_6ea6_e483, 0x5cb0_a9dc_bd41_fbd4, 0x76f9_88da_8311_53b5,
        0x983e_5152_ee66_dfab, 0xa831_c66d_2db4_3210, 0xb003_27c8_98fb_213f, 0xbf59_7fc7_beef_0ee4,
        0xc6e0_0bf3_3da8_8fc2, 0xd5a7_9147_930a_a725, 0x06ca_6351_e003_826f, 0x1429_2967_0a0e_6e70,
        0x27b7_0a85_46d2_2ffc, 0x2e1b_2138_5c26_c926, 0x4d2c_6dfc_5ac4_2aed, 0x5338_0d13_9d95_b3df,
        0x650a_7354_8baf_63de, 0x766a_0abb_3c77_b2a8, 0x81c2_c92e_47ed_aee6, 0x9272_2c85_1482_353b,
        0xa2bf_e8a1_4cf1_0364, 0xa81a_664b_bc42_3001, 0xc24b_8b70_d0f8_9791, 0xc76c_51a3_0654_be30,
        0xd192_e819_d6ef_5218, 0xd699_0624_5565_a910, 0xf40e_3585_5771_202a, 0x106a_a070_32bb_d1b8,
        0x19a4_c116_b8d2_d0c8, 0x1e37_6c08_5141_ab53, 0x2748_774c_df8e_eb99, 0x34b0_bcb5_e19b_48a8,
        0x391c_0cb3_c5c9_5a63, 0x4ed8_aa4a_e341_8acb, 0x5b9c_ca4f_7763_e373, 0x682e_6ff3_d6b2_b8a3,
        0x748f_82ee_5def_b2fc, 0x78a5_636f_4317_2f60, 0x84c8_7814_a1f0_ab72, 0x8cc7_0208_1a64_39ec,
        0x90be_fffa_2363_1e28, 0xa450_6ceb_de82_bde9, 0xbef9_a3f7_b2c6_7915, 0xc671_78f2_e372_532b,
        0xca27_3ece_ea26_619c, 0xd186_b8c7_21c0_c207, 0xeada_7dd6_cde0_eb1e, 0xf57d_4f7f_ee6e_d178,
        0x06f0_67aa_7217_6fba, 0x0a63_7dc5_a2c8_98a6, 0x113f_9804_bef9_0dae, 0x1b71_0b35_131c_471b,
        0x28db_77f5_2304_7d84, 0x32ca_ab7b_40c7_2493, 0x3c9e_be0a_15c9_bebc, 0x431d_67c4_9c10_0d4c,
        0x4cc5_d4be_cb3e_42b6, 0x597f_299c_fc65_7e2a, 0x5fcb_6fab_3ad6_faec, 0x6c44_198c_4a47_5817,
    ]
}

/// The eight words of a SHA-2 hash and the rounds that mix a block into them (FIPS 180-4 §6.2.2 and §6.4.2).
struct SHA2Compression<Variant: SHA2Variant>: BlockCompression {
    typealias Word = Variant.Word

    static var blockLength: Int { 16 * MemoryLayout<Word>.size }
    static var lengthField: MessagePadding.LengthField { Variant.lengthField }

    private(set) var words = Variant.initial

    mutating func compress(_ blocks: UnsafeRawPointer, count: Int) {
        Variant.constants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: Word.self, capacity: constants.count) { schedule in
                words.withUnsafeMutableBufferPointer { words in
                    for index in 0..<count { Self.mix(blocks + index &* Self.blockLength, into: words, constants, schedule) }
                }
            }
        }
    }

    private static func mix(
        _ block: UnsafeRawPointer, into words: UnsafeMutableBufferPointer<Word>, _ constants: UnsafeBufferPointer<Word>,
        _ schedule: UnsafeMutableBufferPointer<Word>
    ) {
        for i in 0..<16 {
            let word = Word(bigEndian: block.loadUnaligned(fromByteOffset: i &* MemoryLayout<Word>.size, as: Word.self))
            schedule.initializeElement(at: i, to: word)
        }
        for i in 16..<constants.count {
            let sum =
                schedule[i &- 16] &+ Variant.smallSigma0(schedule[i &- 15]) &+ schedule[i &- 7] &+ Variant.smallSigma1(schedule[i &- 2])
            schedule.initializeElement(at: i, to: sum)
        }
        var (a, b, c, d, e, f, g, h) = (words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7])
        // Eight rounds per iteration, so that no word has to be moved.
        for i in stride(from: 0, to: constants.count, by: 8) {
            round(a, b, c, &d, e, f, g, &h, constants[i] &+ schedule[i])
            round(h, a, b, &c, d, e, f, &g, constants[i &+ 1] &+ schedule[i &+ 1])
            round(g, h, a, &b, c, d, e, &f, constants[i &+ 2] &+ schedule[i &+ 2])
            round(f, g, h, &a, b, c, d, &e, constants[i &+ 3] &+ schedule[i &+ 3])
            round(e, f, g, &h, a, b, c, &d, constants[i &+ 4] &+ schedule[i &+ 4])
            round(d, e, f, &g, h, a, b, &c, constants[i &+ 5] &+ schedule[i &+ 5])
            round(c, d, e, &f, g, h, a, &b, constants[i &+ 6] &+ schedule[i &+ 6])
            round(b, c, d, &e, f, g, h, &a, constants[i &+ 7] &+ schedule[i &+ 7])
        }
        words[0] &+= a
        words[1] &+= b
        words[2] &+= c
        words[3] &+= d
        words[4] &+= e
        words[5] &+= f
        words[6] &+= g
        words[7] &+= h
    }

    @inline(__always)
    private static func round(
        _ a: Word, _ b: Word, _ c: Word, _ d: inout Word, _ e: Word, _ f: Word, _ g: Word, _ h: inout Word, _ input: Word
    ) {
        let first = h &+ Variant.bigSigma1(e) &+ (g ^ (e & (f ^ g))) &+ input
        d &+= first
        h = first &+ Variant.bigSigma0(a) &+ ((a & b) | (c & (a | b)))
    }
}
