import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file of a ``DiskCacheStore``: one response.
///
///     magic (8) · frames · head · trailer (40)
///     frame: at most 64 KiB of the body · CRC-32C (4) of id, number of the frame and bytes
///     trailer: magic (8) · body's length (8) · id (8) · head's length (4) · head's CRC-32C (4) · zeros (4) · trailer's CRC-32C (4)
///
/// All parts contain the id, so that parts of different files are never combined. A later head is appended with another trailer, and the
/// last trailer counts. Numbers are little-endian.
struct CacheFile: Sendable {
    static let frameSize = 64 * 1024
    static let magic: [UInt8] = Array("WSCache1".utf8)
    static let endMagic: [UInt8] = Array("WSCend01".utf8)
    static let trailerSize = 40
    /// A file up to this size is read at once.
    private static let wholeLimit = 80 * 1024

    let descriptor: FileDescriptor
    let head: CacheHead
    /// The bytes of the body, if the file was read at once.
    let body: Data?
    /// The size of the file, with heads that count no longer.
    let size: Int

    /// An open file, closed with its last owner. Its content stays readable even if the file is removed.
    final class FileDescriptor: Sendable {
        let number: Int32

        init(_ number: Int32) { self.number = number }

        deinit { close(number) }
    }

    /// The file isn't a complete response, or it isn't the one that was expected.
    struct Damaged: Error {}

    /// Opens a file and reads its head; `nil` if it can't be opened.
    init?(path: String, _ flags: Int32 = O_RDONLY) throws(Damaged) {
        let number = Self.open(path, flags)
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(number)
        var status = csl_file_status()
        guard csl_status_of_file(number, &status) == 0, status.is_regular, status.size >= Int64(Self.magic.count + Self.trailerSize),
            let size = Int(exactly: status.size)
        else { throw Damaged() }
        self.size = size
        let tail = min(size, Self.wholeLimit)
        let start = size - tail
        var bytes = try Self.bytes(number, at: start, count: tail)
        let trailer = try Trailer(bytes.suffix(Self.trailerSize))
        let headEnd = size - Self.trailerSize
        let bodyEnd = Self.magic.count + Self.framedLength(trailer.bodyLength)
        guard headEnd - trailer.headLength >= bodyEnd else { throw Damaged() }
        if headEnd - trailer.headLength < start {
            bytes = try Self.bytes(number, at: headEnd - trailer.headLength, count: trailer.headLength + Self.trailerSize)
        }
        let headBytes = bytes.dropLast(Self.trailerSize).suffix(trailer.headLength)
        guard headBytes.count == trailer.headLength, CRC32C.checksum(of: headBytes) == trailer.headChecksum,
            let head = CacheHead(encoded: Data(headBytes)), head.id == trailer.id, head.bodyLength == trailer.bodyLength
        else { throw Damaged() }
        self.head = head
        guard start == 0 else {
            body = nil
            return
        }
        guard bytes.starts(with: Self.magic) else { throw Damaged() }
        body = try Self.unframed(bytes[(bytes.startIndex + Self.magic.count)...], length: trailer.bodyLength, id: head.id)
    }

    /// Returns a range of the body.
    func body(_ range: Range<Int64>, isDamaged: @escaping @Sendable () -> Void) -> ResponseBody {
        if let body {
            let range = range.clamped(to: 0..<Int64(body.count))
            if range.count == body.count { return ResponseBody(body) }
            return ResponseBody(body[body.startIndex + Int(range.lowerBound)..<body.startIndex + Int(range.upperBound)])
        }
        let (descriptor, id, length) = (descriptor, head.id, head.bodyLength)
        let host = SecretMask.text(ofURL: head.key.url)
        let next = Locked(range.clamped(to: 0..<length))
        return ResponseBody(
            expectedLength: Int64(range.count),
            next: {
                let rest = next.withLock { $0 }
                guard !rest.isEmpty else { return nil }
                do throws(Damaged) {
                    let index = rest.lowerBound / Int64(Self.frameSize)
                    let frame = try Self.frame(descriptor.number, index, bodyLength: length, id: id)
                    let offset = Int(rest.lowerBound - index * Int64(Self.frameSize))
                    let piece = frame.dropFirst(offset).prefix(Int(min(Int64(Self.frameSize), rest.upperBound - rest.lowerBound)))
                    next.withLock { $0 = rest.lowerBound + Int64(piece.count)..<rest.upperBound }
                    return piece
                } catch {
                    isDamaged()
                    throw TransportError(
                        .truncated, "The stored body of \(host) is damaged, and the cache has removed it: repeat the call.")
                }
            },
            cancel: { next.withLock { $0 = $0.upperBound..<$0.upperBound } })
    }

    // MARK: Frames

    /// The number of bytes that a body takes with its checksums.
    static func framedLength(_ length: Int64) -> Int {
        let length = Int(clamping: length)
        let frames = length / frameSize + (length % frameSize == 0 ? 0 : 1)
        return length.addingReportingOverflow(frames * 4).partialValue
    }

    static func checksum(_ bytes: Data, _ index: Int64, id: UInt64) -> UInt32 {
        var checksum = CRC32C()
        checksum.update(id)
        checksum.update(UInt64(bitPattern: index))
        bytes.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }

    private static func frame(_ file: Int32, _ index: Int64, bodyLength: Int64, id: UInt64) throws(Damaged) -> Data {
        let start = index * Int64(frameSize)
        let count = Int(min(Int64(frameSize), bodyLength - start))
        let bytes = try bytes(file, at: magic.count + Int(index) * (frameSize + 4), count: count + 4)
        let body = bytes.prefix(count)
        guard checksum(body, index, id: id) == number(bytes.suffix(4)) else { throw Damaged() }
        return body
    }

    private static func unframed(_ bytes: Data, length: Int64, id: UInt64) throws(Damaged) -> Data {
        if length <= Int64(frameSize) {
            // The most common case: the bytes are used where they are.
            guard length > 0 else { return Data() }
            let body = bytes.prefix(Int(length))
            guard body.count == Int(length), checksum(body, 0, id: id) == number(bytes.dropFirst(Int(length)).prefix(4)) else {
                throw Damaged()
            }
            return body
        }
        var whole = Data(capacity: Int(length))
        var rest = bytes
        var index: Int64 = 0
        while whole.count < Int(length) {
            let count = min(frameSize, Int(length) - whole.count)
            let body = rest.prefix(count)
            guard body.count == count, checksum(body, index, id: id) == number(rest.dropFirst(count).prefix(4)) else { throw Damaged() }
            whole.append(body)
            rest = rest.dropFirst(count + 4)
            index += 1
        }
        return whole
    }

    // MARK: Trailers

    /// The last bytes of a file, or of the part that a new head appends.
    struct Trailer {
        let bodyLength: Int64
        let id: UInt64
        let headLength: Int
        let headChecksum: UInt32

        init(_ bytes: Data) throws(Damaged) {
            guard bytes.count == CacheFile.trailerSize, bytes.starts(with: CacheFile.endMagic),
                CRC32C.checksum(of: bytes.dropLast(4)) == number(bytes.suffix(4)) as UInt32
            else { throw Damaged() }
            let rest = bytes.dropFirst(8)
            bodyLength = number(rest.prefix(8)) as Int64
            id = number(rest.dropFirst(8).prefix(8))
            headLength = Int(number(rest.dropFirst(16).prefix(4)) as UInt32)
            headChecksum = number(rest.dropFirst(20).prefix(4))
            guard bodyLength >= 0, bodyLength < Int64.max / 4 else { throw Damaged() }
        }
    }

    /// A head with its trailer.
    static func ending(_ head: CacheHead) -> Data {
        let headBytes = head.encoded
        var trailer = Data(endMagic)
        append(head.bodyLength, to: &trailer)
        append(head.id, to: &trailer)
        append(UInt32(truncatingIfNeeded: headBytes.count), to: &trailer)
        append(CRC32C.checksum(of: headBytes), to: &trailer)
        append(UInt32(0), to: &trailer)
        append(CRC32C.checksum(of: trailer), to: &trailer)
        return headBytes + trailer
    }

    static func append(_ number: some FixedWidthInteger, to data: inout Data) {
        withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
    }

    // MARK: Calls of the system

    static func open(_ path: String, _ flags: Int32) -> Int32 {
        let flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        #if canImport(Darwin)
        return Darwin.open(path, flags, mode_t(0o600))
        #elseif canImport(Glibc)
        return Glibc.open(path, flags, mode_t(0o600))
        #elseif canImport(Musl)
        return Musl.open(path, flags, mode_t(0o600))
        #endif
    }

    /// Reads exactly that many bytes.
    private static func bytes(_ file: Int32, at offset: Int, count: Int) throws(Damaged) -> Data {
        var data = Data(count: count)
        var done = 0
        while done < count {
            let result = data.withUnsafeMutableBytes { pread(file, $0.baseAddress.map { $0 + done }, count - done, off_t(offset + done)) }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw Damaged() }
            done += result
        }
        return data
    }
}

/// Reads a little-endian number; 0 from too few bytes, which no checksum accepts.
private func number<Number: FixedWidthInteger>(_ bytes: Data) -> Number {
    guard bytes.count == MemoryLayout<Number>.size else { return 0 }
    return bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
}
