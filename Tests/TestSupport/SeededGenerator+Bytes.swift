package import Foundation

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
