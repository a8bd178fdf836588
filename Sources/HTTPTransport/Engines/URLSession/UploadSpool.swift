import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A temporary file with the bytes of a request's body. It is removed with the last reference to it.
final class UploadSpool: Sendable {
    /// The file.
    let file: URL
    /// The number of bytes.
    let length: Int64

    private init(file: URL, length: Int64) {
        self.file = file
        self.length = length
    }

    deinit {
        unlink(file.path(percentEncoded: false))
    }

    /// Writes all of a body to a new file in the folder, readable only by its owner.
    ///
    /// - Parameter written: Called for each piece.
    static func write(_ body: RequestBody, folder: URL, written: @Sendable () -> Void) async throws -> UploadSpool {
        let file = folder.appending(path: "upload-\(UUID().uuidString)", directoryHint: .notDirectory)
        let path = file.path(percentEncoded: false)
        let descriptor = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if let shortage = DescriptorShortage.sentence(for: errno) {
                throw RequestBodyError(message: "The body can't be written to a file before it is sent. \(shortage)")
            }
            throw RequestBodyError(
                message:
                    "The body can't be written to \(folder.lastPathComponent) before it is sent (\(String(cString: strerror(errno)))): "
                    + "set the transport's spoolFolder to a folder that is writable.")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            var length: Int64 = 0
            for try await chunk in body.chunks() {
                do {
                    try handle.write(contentsOf: chunk)
                } catch {
                    throw RequestBodyError(
                        message: "The body could not be written to \(folder.lastPathComponent) before it is sent: check whether the disk "
                            + "is full.")
                }
                length += Int64(chunk.count)
                written()
            }
            // In a cancelled task, a stream ends early: the file isn't the whole body then.
            try Task.checkCancellation()
            try handle.close()
            guard body.length == nil || body.length == length else {
                throw RequestBodyError(
                    message:
                        "The stream provided \(length) bytes, but the body's length is \(body.length ?? 0): give the correct length, or "
                        + "none.")
            }
            return UploadSpool(file: file, length: length)
        } catch {
            unlink(path)
            throw error
        }
    }
}

/// The source of a request's body for URLSession.
enum URLSessionUpload: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// A file of the caller.
    case file(URL, length: Int64)
    /// A spool file, which is removed with the last reference to it.
    case spool(UploadSpool)

    /// The number of bytes.
    var length: Int64 {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(_, let length): length
        case .spool(let spool): spool.length
        }
    }

    /// Prepares a body for sending: bytes and single files unchanged, everything else through a spool file, because URLSession reads
    /// streams on a queue that all its sessions share.
    ///
    /// - Parameter written: Called for each piece that was written to a spool file.
    /// - Throws: ``RequestBodyError`` if the body can't be read, `CancellationError`, and any error that a stream throws.
    static func prepare(
        _ body: RequestBody?, folder: URL, written: @Sendable () -> Void = {}
    ) async throws -> URLSessionUpload {
        guard let body else { return .none }
        if let data = body.data { return .data(data) }
        guard let file = body.file else { return .spool(try await UploadSpool.write(body, folder: folder, written: written)) }
        let target = file.resolvingSymlinksInPath()
        let length = try RequestBody.length(of: target)
        guard length == body.length else {
            throw RequestBodyError(
                message: "The file \(file.lastPathComponent) has changed its length since the body was created: create the body again.")
        }
        return .file(target, length: length)
    }
}
