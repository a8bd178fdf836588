/// The checksum CRC-32C (Castagnoli; RFC 3720 §12.1 and appendix B.4), which detects every error burst of up to 32 bits.
///
/// Computed in software with tables, eight bytes per step: fast enough for a disk, and the same on every machine.
package struct CRC32C: Sendable {
    private var state: UInt32 = .max

    /// Creates the checksum of no bytes.
    package init() {}

    /// The checksum of the bytes so far.
    package var value: UInt32 { ~state }

    /// Returns the checksum of a sequence of bytes.
    package static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        var checksum = CRC32C()
        let bytes = Array(bytes)
        bytes.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }

    /// Adds a number in little-endian order.
    package mutating func update(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { update($0) }
    }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        Self.tables.withUnsafeBufferPointer { tables in
            var crc = state
            var index = 0
            while index &+ 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let low = UInt32(truncatingIfNeeded: word) ^ crc
                let high = UInt32(truncatingIfNeeded: word >> 32)
                crc = tables[0x700 &+ Int(low & 0xFF)] ^ tables[0x600 &+ Int(low >> 8 & 0xFF)]
                crc ^= tables[0x500 &+ Int(low >> 16 & 0xFF)] ^ tables[0x400 &+ Int(low >> 24)]
                crc ^= tables[0x300 &+ Int(high & 0xFF)] ^ tables[0x200 &+ Int(high >> 8 & 0xFF)]
                crc ^= tables[0x100 &+ Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
                index &+= 8
            }
            while index < bytes.count {
                crc = crc >> 8 ^ tables[Int((crc ^ UInt32(bytes[index])) & 0xFF)]
                index &+= 1
            }
            state = crc
        }
    }

    /// Eight consecutive tables: the n-th gives the effect of a byte that is followed by n more bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
            tables[byte] = crc
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()
}
