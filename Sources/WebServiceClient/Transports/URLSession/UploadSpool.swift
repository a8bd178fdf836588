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

    /// Writes all of a body to a new file in the folder, readable by its owner only.
    ///
    /// - Parameter written: called for each piece.
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
                        message: "The body could not be written to \(folder.lastPathComponent) before it is sent: is the disk full?")
                }
                length += Int64(chunk.count)
                written()
            }
            // A cancelled task sees its stream end early: what was written then isn't the body.
            try Task.checkCancellation()
            try handle.close()
            guard body.length == nil || body.length == length else {
                throw RequestBodyError(
                    message:
                        "The stream gave \(length) bytes where the body's length is \(body.length ?? 0): give the right length, or none.")
            }
            return UploadSpool(file: file, length: length)
        } catch {
            unlink(path)
            throw error
        }
    }
}
