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
