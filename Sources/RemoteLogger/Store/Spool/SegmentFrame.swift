/// A record in a segment: marker (4) · length of the payload (4) · CRC-32C (4) · position (8) · payload.
///
/// The checksum covers the segment's salt, length, position, and payload.
struct SegmentFrame: Sendable {
    /// 20 bytes before each payload.
    static let overhead = 20
    /// The last place that a record can have: nobody comes so far, and the next number is one, too. Where a spool goes on it is half as far at most.
    static let lastPosition = RecordPosition.max / 2
    /// Not UTF-8, and no small numbers: rare in what programs log.
    private static let marker: [UInt8] = [0xF5, 0xC1, 0x9E, 0xFA]

    let position: RecordPosition
    /// Where the frame begins.
    let start: Int
    /// The bytes of the payload. Of frames there are thousands at once: each is as small as can be.
    private let length: UInt32

    /// Where the payload is.
    var payload: Range<Int> { start + Self.overhead..<start + Self.overhead + Int(length) }
    /// The bytes of the whole frame.
    var range: Range<Int> { start..<payload.upperBound }

    /// Writes a record as a frame.
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

    /// Writes the frame as it is, or as one of a segment with another salt.
    func copy(from bytes: UnsafeRawBufferPointer, salt: UInt64?, into output: inout ByteBuffer) {
        let place = output.count
        let frame = UnsafeRawBufferPointer(rebasing: bytes[range])
        output.append(frame.bindMemory(to: UInt8.self))
        guard let salt else { return }
        let body = UnsafeRawBufferPointer(rebasing: frame[12...])
        output.overwrite(at: place + 8, with: Self.checksum(salt: salt, length: payload.count, body: body))
    }

    /// - Parameter body: position and payload.
    private static func checksum(salt: UInt64, length: Int, body: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = CRC32C()
        checksum.update(salt)
        checksum.update(UInt64(length))
        checksum.update(body)
        return checksum.value
    }

    /// What stands at a place.
    enum Finding {
        case frame(SegmentFrame)
        /// It may be a frame, whose end isn't there: so many bytes from its beginning.
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

    /// Whether a marker, or as much of it as the bytes have, stands at a place.
    static func hasMarker(at start: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes[start] == marker[0] else { return false }
        for index in 1..<4 where start + index < bytes.count && bytes[start + index] != marker[index] { return false }
        return true
    }
}

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

/// The name of a segment's file, `<epoch>-<number>.segment` in hexadecimal: the run that wrote it, and its place in that run. Their order
/// is the order of the records.
package struct SegmentName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The run: higher than that of every segment which was there when the run began.
    package let epoch: UInt64
    /// The segment's place in its run, from 1.
    package let number: UInt64

    private static let suffix = ".segment"

    package init(epoch: UInt64, number: UInt64) {
        self.epoch = epoch
        self.number = number
    }

    /// The segment of a file; `nil` when the file isn't one.
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

/// Goes from record to record through a segment's bytes. Where something is damaged it goes on behind, at the next record that is whole.
struct SegmentScanner {
    private let bytes: UnsafeRawBufferPointer
    private let salt: UInt64
    /// Whether the segment ends with these bytes.
    private let isEnd: Bool
    /// How far everything is read: the beginning of what comes next.
    private(set) var offset: Int
    /// How many stretches of damage were passed.
    private(set) var damages = 0
    /// The bytes from ``offset`` on which there must be to read on.
    private(set) var needed = 0
    private var isInDamage = false

    init(_ bytes: UnsafeRawBufferPointer, from offset: Int = 0, salt: UInt64, isEnd: Bool = true) {
        self.bytes = bytes
        self.salt = salt
        self.isEnd = isEnd
        self.offset = offset
    }

    /// The next record that is whole; `nil` where the bytes end or one isn't there to its end yet.
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

    /// Goes on to the next place where a record may begin.
    private mutating func skip() {
        offset += 1
        while offset < bytes.count, !SegmentFrame.hasMarker(at: offset, in: bytes) { offset += 1 }
    }
}
