/// SHA-256 (FIPS 180-4 §6.2): 256 bits.
package struct SHA256: HashFunction {
    package static var digestLength: Int { 32 }

    private var blocks = MessageBlocks(SHA256Compression())

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        blocks.append(bytes)
    }

    package func finalize() -> [UInt8] {
        let end = blocks.finished()
        return Self.digest(of: [end.a, end.b, end.c, end.d, end.e, end.f, end.g, end.h].map(\.bigEndian))
    }
}

/// The eight words of SHA-256 and the 64 rounds which mix a block into them (FIPS 180-4 §6.2.2), eight rounds to a turn of a loop so
/// that no word has to be moved.
struct SHA256Compression: BlockCompression {
    static var blockLength: Int { 64 }
    static var lengthField: MessagePadding.LengthField { .bigEndian64 }

    private(set) var a: UInt32 = 0x6a09_e667
    private(set) var b: UInt32 = 0xbb67_ae85
    private(set) var c: UInt32 = 0x3c6e_f372
    private(set) var d: UInt32 = 0xa54f_f53a
    private(set) var e: UInt32 = 0x510e_527f
    private(set) var f: UInt32 = 0x9b05_688c
    private(set) var g: UInt32 = 0x1f83_d9ab
    private(set) var h: UInt32 = 0x5be0_cd19

    mutating func compress(_ blocks: UnsafeRawPointer, count: Int) {
        Self.constants.withUnsafeBufferPointer { constants in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                for index in 0..<count {
                    mix(blocks + index &* Self.blockLength, constants, schedule)
                }
            }
        }
    }

    private mutating func mix(
        _ block: UnsafeRawPointer, _ constants: UnsafeBufferPointer<UInt32>, _ schedule: UnsafeMutableBufferPointer<UInt32>
    ) {
        for i in 0..<16 {
            let word = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: i &* 4, as: UInt32.self))
            schedule.initializeElement(at: i, to: word)
        }
        for i in 16..<64 {
            let sum = schedule[i &- 16] &+ Self.smallSigma0(schedule[i &- 15]) &+ schedule[i &- 7] &+ Self.smallSigma1(schedule[i &- 2])
            schedule.initializeElement(at: i, to: sum)
        }
        var (a, b, c, d, e, f, g, h) = (a, b, c, d, e, f, g, h)
        for i in stride(from: 0, to: 64, by: 8) {
            Self.round(a, b, c, &d, e, f, g, &h, constants[i] &+ schedule[i])
            Self.round(h, a, b, &c, d, e, f, &g, constants[i &+ 1] &+ schedule[i &+ 1])
            Self.round(g, h, a, &b, c, d, e, &f, constants[i &+ 2] &+ schedule[i &+ 2])
            Self.round(f, g, h, &a, b, c, d, &e, constants[i &+ 3] &+ schedule[i &+ 3])
            Self.round(e, f, g, &h, a, b, c, &d, constants[i &+ 4] &+ schedule[i &+ 4])
            Self.round(d, e, f, &g, h, a, b, &c, constants[i &+ 5] &+ schedule[i &+ 5])
            Self.round(c, d, e, &f, g, h, a, &b, constants[i &+ 6] &+ schedule[i &+ 6])
            Self.round(b, c, d, &e, f, g, h, &a, constants[i &+ 7] &+ schedule[i &+ 7])
        }
        self.a &+= a
        self.b &+= b
        self.c &+= c
        self.d &+= d
        self.e &+= e
        self.f &+= f
        self.g &+= g
        self.h &+= h
    }

    @inline(__always)
    private static func round(
        _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ input: UInt32
    ) {
        let first = h &+ bigSigma1(e) &+ (g ^ (e & (f ^ g))) &+ input
        d &+= first
        h = first &+ bigSigma0(a) &+ ((a & b) | (c & (a | b)))
    }

    // The four functions of FIPS 180-4 §4.1.2.
    @inline(__always) private static func bigSigma0(_ x: UInt32) -> UInt32 { rotated(x, 2) ^ rotated(x, 13) ^ rotated(x, 22) }
    @inline(__always) private static func bigSigma1(_ x: UInt32) -> UInt32 { rotated(x, 6) ^ rotated(x, 11) ^ rotated(x, 25) }
    @inline(__always) private static func smallSigma0(_ x: UInt32) -> UInt32 { rotated(x, 7) ^ rotated(x, 18) ^ x &>> 3 }
    @inline(__always) private static func smallSigma1(_ x: UInt32) -> UInt32 { rotated(x, 17) ^ rotated(x, 19) ^ x &>> 10 }
    @inline(__always) private static func rotated(_ x: UInt32, _ count: UInt32) -> UInt32 { x &>> count | x &<< (32 &- count) }

    /// The first 32 bits of the fractions of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
