import CSystemLibraries
package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A small file that only the process's user can access, such as one with a token or a session. It is replaced atomically: after a crash it
/// has the previous content or the new one.
package struct PrivateFile: Sendable {
    /// Why a file can't be read or written, as the rest of a sentence that begins with the file's name.
    package struct Failure: Error, Sendable, Hashable {
        /// The kinds of failures.
        package enum Kind: Sendable, Hashable {
            /// The system refuses access, or the disk is full.
            case system
            /// The file isn't a regular one, or it is too large.
            case unfit
            /// Other users can access the file.
            case shared
        }

        /// The kind of failure.
        package let kind: Kind
        /// The problem and the fix.
        package let reason: String
    }

    /// The path of the file.
    package let path: String
    /// The maximum number of bytes to read.
    package let sizeLimit: Int64
    /// Whether the file may be a symbolic link. It is replaced by a file in any case.
    package var followsLinks = true
    /// Whether a file is read that other users can access.
    package var admitsOthers = false
    /// Whether missing folders are created.
    package var createsFolder = true

    /// Refers to a file, which needn't exist.
    package init(_ file: URL, sizeLimit: Int64 = 1 << 20) {
        path = file.path(percentEncoded: false)
        self.sizeLimit = sizeLimit
    }

    /// The file's name, for messages.
    package var name: String { (path as NSString).lastPathComponent }

    /// Returns the file's content; `nil` if the file doesn't exist.
    package func read() throws(Failure) -> Data? {
        // A pipe without a writer would block the call.
        let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW), 0)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("can't be read", errno)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = csl_file_status()
        guard csl_status_of_file(descriptor, &status) == 0 else { throw failure("can't be read", errno) }
        guard status.is_regular, status.size <= sizeLimit else {
            throw Failure(kind: .unfit, reason: "isn't a regular file of at most \(sizeLimit >> 10) KiB: name another file.")
        }
        guard status.is_private || admitsOthers else {
            throw Failure(
                kind: .shared, reason: "isn't private: other users may have read or changed it. Restrict it by chmod 600, as its owner.")
        }
        do {
            return try file.readToEnd() ?? Data()
        } catch {
            throw failure("can't be read", EIO)
        }
    }

    /// Replaces the file's content, and creates missing folders with the mode 0700. If it fails, the previous content is kept.
    ///
    /// - Parameters:
    ///   - temporary: The path of the file that is written first, if the caller's lock excludes other writers; one with a unique name by
    ///     default. A process that is killed leaves it.
    ///   - synchronizes: Whether the content must be on the disk before the file gets its name. Without it, the file may be empty after a
    ///     crash of the system, but not of the process.
    package func replace(with data: Data, temporary: String? = nil, synchronizes: Bool = true) throws(Failure) {
        if createsFolder { try createFolder() }
        if let temporary { unlink(temporary) }
        let temporary = temporary ?? "\(path).\(UUID().uuidString)"
        let descriptor = openFile(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("can't be written", errno) }
        var code = Self.write(data, to: descriptor)
        // Without it, a file system may rename the file before it writes the content.
        if code == 0, synchronizes, fsync(descriptor) != 0 { code = errno }
        if close(descriptor) != 0, code == 0 { code = errno }
        guard code == 0 else {
            unlink(temporary)
            throw failure("can't be written", code)
        }
        guard rename(temporary, path) == 0 else {
            let code = errno
            unlink(temporary)
            throw failure("can't be replaced", code)
        }
    }

    /// Removes the file, if it exists.
    package func remove() throws(Failure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure("can't be removed", errno) }
    }

    /// Creates the file's folder, if it doesn't exist.
    package func createFolder() throws(Failure) {
        let folder = (path as NSString).deletingLastPathComponent
        guard !folder.isEmpty, access(folder, F_OK) != 0 else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure(kind: .system, reason: "has no folder, and it can't be created: check the permissions of the folder above.")
        }
    }

    /// Writes all bytes at the file's position.
    ///
    /// - Returns: The system's error number; 0 if all are written.
    private static func write(_ data: Data, to descriptor: Int32) -> Int32 {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = writeFile(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : ENOSPC }
                rest = rest.dropFirst(count)
            }
            return 0
        }
    }

    private func failure(_ what: String, _ code: Int32) -> Failure {
        Failure(kind: .system, reason: "\(what) \(Self.reason(of: code)).")
    }

    /// The reason for a failed call on a file, in parentheses, and its fix, as the end of a sentence.
    package static func reason(of code: Int32) -> String {
        let fix =
            switch code {
            case ENOSPC, EDQUOT: "make room on the disk"
            case EFBIG: "raise the limit of the size of files"
            case EROFS: "use a folder that can be written"
            case EMFILE, ENFILE: "close files, or raise the limit of open files"
            case ENAMETOOLONG: "use a shorter name"
            case ENOENT: "create the folder"
            default: "check the permissions of the file and its folder"
            }
        return "(\(String(cString: strerror(code)).lowercased())): \(fix)"
    }
}

// The system's functions, which members of the same name would hide.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func writeFile(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int { write(descriptor, bytes.baseAddress, bytes.count) }
