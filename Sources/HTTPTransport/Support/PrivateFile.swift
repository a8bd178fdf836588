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
    /// The most bytes that are read.
    package let sizeLimit: Int64

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
        let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
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
        guard status.is_private else {
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
        try createFolder()
        if let temporary { unlink(temporary) }
        let temporary = temporary ?? "\(path).\(UUID().uuidString)"
        let descriptor = openFile(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("can't be written", errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: data)
            // Without it, a file system may rename the file before it writes the content.
            if synchronizes { try file.synchronize() }
            try file.close()
        } catch {
            unlink(temporary)
            throw Failure(kind: .system, reason: "can't be written: is the disk full?")
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

    private func failure(_ what: String, _ code: Int32) -> Failure {
        let reason = String(cString: strerror(code)).lowercased()
        return Failure(kind: .system, reason: "\(what) (\(reason)): check the permissions of the file and its folder.")
    }
}

private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
