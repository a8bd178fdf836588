package import Foundation

/// Random numbers that are the same in every run and on every platform (SplitMix64), so that failures can be reproduced.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator {
    /// Returns bytes that look random. It is fast, since only the first thousand are generated.
    package static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
        var random = SeededGenerator(seed: seed)
        let block = Data((0..<min(count, 1_009)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        var data = Data(capacity: count + block.count)
        while data.count < count { data.append(block) }
        return data.prefix(count)
    }
}
