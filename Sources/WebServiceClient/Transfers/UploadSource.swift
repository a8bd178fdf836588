import CSystemLibraries
import Foundation

/// The file of an upload, with its length and modification time when the upload began.
struct UploadSource: Sendable {
    let file: URL
    let length: Int64
    /// The time of the last change, in nanoseconds since 1970.
    let modified: Int64

    /// A piece of at most this size is read into memory.
    private static let memoryLimit: Int64 = 1 << 20
    /// The size of the reads of a larger piece.
    private static let readSize = 256 << 10

    init(_ file: URL) throws {
        guard file.isFileURL else {
            throw TransferError(.unusable, "The upload's source \(SecretMask.text(of: file)) isn't a file: give a file URL.")
        }
        self.file = file
        (length, modified) = try Self.status(of: file)
    }

    private static func status(of file: URL) throws -> (length: Int64, modified: Int64) {
        // It throws if the file isn't a readable regular file.
        let length = try RequestBody.length(of: file)
        var status = csl_file_status()
        guard csl_status_at_path(file.path(percentEncoded: false), true, &status) == 0 else { return (length, 0) }
        return (status.size, status.modified)
    }

    /// Whether the file is unchanged.
    func isUnchanged() throws -> Bool { try Self.status(of: file) == (length, modified) }

    /// A part of the file as the body of a request.
    func body(_ range: Range<Int64>, contentType: String?) throws -> RequestBody {
        let count = range.upperBound - range.lowerBound
        if count <= Self.memoryLimit { return RequestBody(try data(range), contentType: contentType) }
        return RequestBody(length: count, isReplayable: true, contentType: contentType) { [file] in
            let reader = Locked<SliceReader?>(nil)
            return AsyncThrowingStream {
                try reader.withLock { reader in
                    if reader == nil { reader = try SliceReader(file, range) }
                    return try reader?.next(Self.readSize)
                }
            }
        }
    }

    /// A part of the file in memory.
    func data(_ range: Range<Int64>) throws -> Data {
        var reader = try SliceReader(file, range)
        var data = Data()
        while let piece = try reader.next(Int(range.upperBound - range.lowerBound)) { data.append(piece) }
        return data
    }

    /// Computes a checksum of a part.
    func digest<Hash: HashFunction>(_ range: Range<Int64>, _ type: Hash.Type) throws -> [UInt8] {
        var hash = Hash()
        var reader = try SliceReader(file, range)
        while let piece = try reader.next(Self.readSize) { piece.withUnsafeBytes { hash.update($0) } }
        return hash.finalize()
    }
}

/// Reads a part of a file.
private struct SliceReader: @unchecked Sendable {
    // @unchecked: the file handle is used only by the reader's owner, within its lock.
    private let handle: FileHandle
    private let name: String
    private var remaining: Int64

    init(_ file: URL, _ range: Range<Int64>) throws {
        handle = try RequestBody.open(file)
        name = file.lastPathComponent
        remaining = range.upperBound - range.lowerBound
        try handle.seek(toOffset: UInt64(clamping: range.lowerBound))
    }

    mutating func next(_ size: Int) throws -> Data? {
        guard remaining > 0 else { return nil }
        let piece = try handle.read(upToCount: Int(min(Int64(size), remaining))) ?? Data()
        guard !piece.isEmpty else {
            throw RequestBodyError(
                message: "The file \(name) has become shorter while it was being sent: send it when no program changes it.")
        }
        remaining -= Int64(piece.count)
        return piece
    }
}
