import HTTPTransport

/// A record in a segment: marker (4) · length of the payload (4) · CRC-32C (4) · position (8) · payload.
///
/// The checksum covers the segment's salt, length, position, and payload.
struct SegmentFrame: Sendable {
    /// The number of bytes before each payload: 20.
    static let overhead = 20
    /// The largest valid position, far beyond any real one. Its successor is representable, too. A spool starts at half of this position at
    /// most.
    static let lastPosition = RecordPosition.max / 2
    /// The marker of a frame. It is neither valid UTF-8 nor a sequence of small numbers, so it is rare in logged data.
    private static let marker: [UInt8] = [0xF5, 0xC1, 0x9E, 0xFA]

    let position: RecordPosition
    /// The offset of the frame.
    let start: Int
    /// The size of the payload in bytes. It is 32 bits wide because thousands of frames are in memory at once.
    private let length: UInt32

    /// The range of the payload.
    var payload: Range<Int> { start + Self.overhead..<start + Self.overhead + Int(length) }
    /// The range of the whole frame.
    var range: Range<Int> { start..<payload.upperBound }

    /// Encodes a record as a frame.
    static func write(_ record: LogRecord, at position: RecordPosition, salt: UInt64, into output: inout RecordEncoder) {
        let start = output.count
        output.raw(marker)
        output.fixed(UInt32(0))
        output.fixed(UInt32(0))
        output.fixed(position)
        output.write(record)
        let length = output.count - start - overhead
        output.overwrite(at: start + 4, with: UInt32(truncatingIfNeeded: length))
        let checksum = output.withBytes {
            Self.checksum(salt: salt, length: length, body: UnsafeRawBufferPointer(rebasing: $0[(start + 12)...]))
        }
        output.overwrite(at: start + 8, with: checksum)
    }

    /// Copies the frame, unchanged or for a segment with another salt.
    func copy(from bytes: UnsafeRawBufferPointer, salt: UInt64?, into output: inout ByteBuffer) {
        let start = output.count
        let frame = UnsafeRawBufferPointer(rebasing: bytes[range])
        output.append(frame.bindMemory(to: UInt8.self))
        guard let salt else { return }
        let body = UnsafeRawBufferPointer(rebasing: frame[12...])
        output.overwrite(at: start + 8, with: Self.checksum(salt: salt, length: payload.count, body: body))
    }

    /// Returns the checksum of a frame.
    ///
    /// - Parameter body: Position and payload.
    private static func checksum(salt: UInt64, length: Int, body: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = CRC32C()
        checksum.update(salt)
        checksum.update(UInt64(length))
        checksum.update(body)
        return checksum.value
    }

    /// The result of looking for a frame.
    enum Finding {
        case frame(SegmentFrame)
        /// The possible start of a frame that continues after the bytes, with the frame's size.
        case incomplete(Int)
        case nothing
    }

    static func find(at start: Int, in bytes: UnsafeRawBufferPointer, salt: UInt64) -> Finding {
        let rest = bytes.count - start
        guard hasMarker(at: start, in: bytes) else { return .nothing }
        guard rest >= overhead else { return .incomplete(overhead) }
        let written = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self))
        let length = Int(written)
        guard length <= rest - overhead else { return .incomplete(overhead + length) }
        let end = start + overhead + length
        let expected = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt32.self))
        let body = UnsafeRawBufferPointer(rebasing: bytes[start + 12..<end])
        guard checksum(salt: salt, length: length, body: body) == expected else { return .nothing }
        let position = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt64.self))
        guard position <= lastPosition else { return .nothing }
        return .frame(SegmentFrame(position: position, start: start, length: written))
    }

    /// Returns whether a marker, or its truncated beginning at the end of the bytes, is at an offset.
    static func hasMarker(at start: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes[start] == marker[0] else { return false }
        for index in 1..<4 where start + index < bytes.count && bytes[start + index] != marker[index] { return false }
        return true
    }
}

/// The header of a segment: the same 32 bytes twice, so that damage to one copy is harmless.
///
///     "RemLogSp" · version (4) · header's size (4) · salt (8) · 0 (4) · CRC-32C of the 28 bytes before (4)
///
/// These 32 bytes have the same format in every version, so that an older program can detect a newer segment and leave the file unchanged.
struct SegmentHeader: Sendable, Equatable {
    static let version: UInt32 = 1
    /// The size of both copies in bytes.
    static let size = 64
    private static let copySize = 32
    private static let magic: [UInt8] = Array("RemLogSp".utf8)

    let version: UInt32
    /// A random number that goes into the checksum of each record, so that logged text can't pass as a record of this file.
    let salt: UInt64

    init(version: UInt32 = Self.version, salt: UInt64) {
        self.version = version
        self.salt = salt
    }

    /// Reads the first intact copy; `nil` if both are damaged.
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

/// The name of a segment file, `<epoch>-<number>.segment` in hexadecimal: the run that wrote the segment, and the segment's number in that
/// run. Names sort in the order of the records.
package struct SegmentName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The run: higher than the epoch of every segment that existed when the run began.
    package let epoch: UInt64
    /// The segment's number in its run, from 1.
    package let number: UInt64

    private static let suffix = ".segment"

    package init(epoch: UInt64, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// Parses a file name; `nil` if the file isn't a segment.
    package init?(_ file: String) {
        guard file.hasSuffix(Self.suffix) else { return nil }
        let parts = file.dropLast(Self.suffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt64(parts[0], radix: 16), let number = UInt64(parts[1], radix: 16) else { return nil }
        self.init(epoch: epoch, number: number)
        guard description == file else { return nil }
    }

    package var description: String {
        var text = JSONText()
        text.hexadecimal(epoch)
        text.byte("-")
        text.hexadecimal(number)
        return text.string + Self.suffix
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.epoch, left.number) < (right.epoch, right.number)
    }
}

/// Scans the records in a segment's bytes. After damage it continues at the next intact record.
struct SegmentScanner {
    private let bytes: UnsafeRawBufferPointer
    private let salt: UInt64
    /// Whether the segment ends with these bytes.
    private let isEnd: Bool
    /// The offset of the next record.
    private(set) var offset: Int
    /// The number of damaged stretches.
    private(set) var damages = 0
    /// The number of bytes from ``offset`` on that are required to continue.
    private(set) var needed = 0
    private var isInDamage = false

    init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0, salt: UInt64, isEnd: Bool = true) {
        self.bytes = bytes
        self.salt = salt
        self.isEnd = isEnd
        self.offset = offset
    }

    /// Returns the next intact record; `nil` if the bytes end or the record is incomplete.
    mutating func next() -> SegmentFrame? {
        while offset < bytes.count {
            switch SegmentFrame.find(at: offset, in: bytes, salt: salt) {
            case .frame(let frame):
                offset = frame.payload.upperBound
                isInDamage = false
                return frame
            case .incomplete(let size) where !isEnd:
                needed = size
                return nil
            case .incomplete, .nothing:
                if !isInDamage { damages += 1 }
                isInDamage = true
                skip()
            }
        }
        return nil
    }

    /// Skips to the next possible record.
    private mutating func skip() {
        offset += 1
        while offset < bytes.count, !SegmentFrame.hasMarker(at: offset, in: bytes) { offset += 1 }
    }
}
