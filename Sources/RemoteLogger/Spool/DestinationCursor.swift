import Foundation

/// How far a destination has acknowledged, in a file of its own: two slots of 32 bytes, written in turn and in place, so that one is
/// whole whatever happens to the other, and the file never grows.
///
///     "RLog" · version (4) · count of writes (8) · position (8) · 0 (4) · CRC-32C of the 28 bytes before (4)
///
/// A cursor that is lost costs duplicates, no records.
struct DestinationCursor: Sendable, Equatable {
    static let version: UInt32 = 1
    /// The bytes of the file.
    static let size = 64
    private static let slotSize = 32
    private static let magic: [UInt8] = Array("RLog".utf8)
    private static let suffix = ".cursor"

    /// How often it was written.
    var writes: UInt64 = 0
    /// Everything up to here is acknowledged.
    var position: RecordPosition = 0

    /// Why a file gives no cursor.
    enum Finding: Equatable {
        case cursor(DestinationCursor)
        case damaged
        /// A later version has written it.
        case newer
    }

    static func read(_ bytes: ByteBuffer) -> Finding {
        var latest: DestinationCursor?
        var isNewer = false
        bytes.withUnsafeBytes { bytes in
            for start in [0, slotSize] where bytes.count >= start + slotSize {
                let slot = UnsafeRawBufferPointer(rebasing: bytes[start..<start + slotSize])
                var checksum = CRC32C()
                checksum.update(UnsafeRawBufferPointer(rebasing: slot[..<28]))
                guard slot.prefix(4).elementsEqual(magic),
                    UInt32(littleEndian: slot.loadUnaligned(fromByteOffset: 28, as: UInt32.self)) == checksum.value
                else { continue }
                guard UInt32(littleEndian: slot.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) == version else {
                    isNewer = true
                    continue
                }
                let cursor = DestinationCursor(
                    writes: UInt64(littleEndian: slot.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                    position: UInt64(littleEndian: slot.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
                // From what somebody else has made up nothing could be counted on.
                guard max(cursor.position, cursor.writes) <= SegmentFrame.lastPosition else { continue }
                if latest.map({ $0.writes < cursor.writes }) ?? true { latest = cursor }
            }
        }
        if isNewer { return .newer }
        return latest.map(Finding.cursor) ?? .damaged
    }

    /// Where the slot of this write is.
    var offset: Int { writes % 2 == 0 ? 0 : Self.slotSize }

    /// The slot of this write.
    var slot: [UInt8] {
        var slot = RecordEncoder()
        slot.raw(Self.magic)
        slot.fixed(Self.version)
        slot.fixed(writes)
        slot.fixed(position)
        slot.fixed(UInt32(0))
        slot.fixed(CRC32C.checksum(of: slot.bytes))
        return slot.bytes
    }

    // MARK: Names

    /// The file of a destination: its name, with everything but letters, digits, `-` and `_` as `%` and the byte's two digits.
    static func file(of destination: String) -> String {
        var name = JSONText()
        for byte in destination.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.byte(Unicode.Scalar(byte))
            default:
                name.byte("%")
                name.hexadecimal(byte: byte)
            }
        }
        return name.string + suffix
    }

    /// The destination of a file; `nil` when the file isn't a cursor.
    static func destination(ofFile file: String) -> String? {
        guard file.hasSuffix(suffix), let name = String(file.dropLast(suffix.count)).removingPercentEncoding, Self.file(of: name) == file
        else { return nil }
        return name
    }
}
