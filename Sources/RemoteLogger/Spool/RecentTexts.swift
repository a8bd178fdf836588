import Foundation

/// Texts that were read shortly before. Names come again with each record: they needn't be made anew.
struct RecentTexts {
    /// By a few bits of what they end with.
    private var slots = [String](repeating: "", count: 64)

    /// Swift keeps shorter ones in place.
    private static var shortest: Int { 16 }

    /// The text of some bytes; what isn't UTF-8 is repaired.
    mutating func text(of bytes: UnsafeRawBufferPointer) -> String {
        guard bytes.count >= Self.shortest, let start = bytes.baseAddress else { return String(decoding: bytes, as: UTF8.self) }
        let end = bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
        let slot = Int((end &* 0x9E37_79B9_7F4A_7C15) >> 58)
        if slots[slot].utf8.count == bytes.count {
            let isKnown = slots[slot].utf8.withContiguousStorageIfAvailable { known in
                known.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? false
            }
            if isKnown == true { return slots[slot] }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        slots[slot] = text
        return text
    }
}
