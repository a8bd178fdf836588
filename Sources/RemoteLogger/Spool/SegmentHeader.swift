/// How a segment begins: twice the same 32 bytes, so that damage to one copy costs nothing.
///
///     "RemLogSp" · version (4) · header's size (4) · salt (8) · 0 (4) · CRC-32C of the 28 bytes before (4)
///
/// These 32 bytes keep their form in every version, so that an older program can tell a newer segment, and leave it alone.
struct SegmentHeader: Sendable, Equatable {
    static let version: UInt32 = 1
    /// The bytes of both copies.
    static let size = 64
    private static let copySize = 32
    private static let magic: [UInt8] = Array("RemLogSp".utf8)

    let version: UInt32
    /// A random number that goes into the checksum of each record: text that somebody logs can't look like a record of this file.
    let salt: UInt64

    init(version: UInt32 = Self.version, salt: UInt64) {
        self.version = version
        self.salt = salt
    }

    /// The first copy that is whole; `nil` when none is.
    init?(_ bytes: UnsafeRawBufferPointer) {
        for start in [0, Self.copySize] where bytes.count >= start + Self.copySize {
            let copy = UnsafeRawBufferPointer(rebasing: bytes[start..<start + Self.copySize])
            guard copy.prefix(8).elementsEqual(Self.magic) else { continue }
            var checksum = CRC32C()
            checksum.update(UnsafeRawBufferPointer(rebasing: copy[..<28]))
            guard UInt32(littleEndian: copy.loadUnaligned(fromByteOffset: 28, as: UInt32.self)) == checksum.value else { continue }
            version = UInt32(littleEndian: copy.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
            salt = UInt64(littleEndian: copy.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            return
        }
        return nil
    }

    var bytes: [UInt8] {
        var copy = RecordEncoder()
        copy.raw(Self.magic)
        copy.fixed(version)
        copy.fixed(UInt32(Self.size))
        copy.fixed(salt)
        copy.fixed(UInt32(0))
        copy.fixed(CRC32C.checksum(of: copy.bytes))
        return copy.bytes + copy.bytes
    }
}
