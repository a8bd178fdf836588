import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension SpoolFault {
    /// There is no space left.
    static let full = SpoolFault(ENOSPC, "write")
}

extension SpoolFileStatus {
    init(_ status: csl_file_status) {
        let kind: Kind =
            if status.is_regular {
                .file
            } else if status.is_folder {
                .folder
            } else if status.is_link {
                .link
            } else if status.is_pipe {
                .pipe
            } else if status.is_socket {
                .socket
            } else {
                .device
            }
        self.init(kind: kind, owner: status.owner, mode: status.mode)
    }
}

extension SpoolFileSystem {
    /// The system's own. Files are for their owner only; other programs that the process starts don't get them.
    package static let system = SpoolFileSystem(
        makeDirectory: { path throws(SpoolFault) in
            var parents: [String] = []
            try Self.makeDirectory(path, &parents)
            return parents
        },
        list: { path throws(SpoolFault) in
            guard let folder = csl_folder_open(path) else { throw .last("opendir") }
            defer { csl_folder_close(folder) }
            return try names { csl_folder_next(folder) }
        },
        open: { path, access throws(SpoolFault) in
            switch access {
            case .read: try openRegular(path, O_RDONLY)
            case .update: try openRegular(path, O_RDWR)
            // For reading, too: a pipe without a reader would keep who opens it waiting.
            case .device: try repeating("open") { Self.openFile(path, O_RDWR | O_NOCTTY | O_CLOEXEC) }
            case .create: try openRegular(path, O_RDWR | O_CREAT | O_TRUNC)
            }
        },
        lock: { path throws(SpoolFault) in
            let file = try openRegular(path, O_RDWR | O_CREAT)
            do throws(SpoolFault) {
                _ = try repeating("flock") { flock(file, LOCK_EX | LOCK_NB) }
                return file
            } catch {
                _ = Self.closeFile(file)
                if error.code == EWOULDBLOCK { return nil }
                throw error
            }
        },
        size: { file throws(SpoolFault) in
            var status = csl_file_status()
            _ = try repeating("fstat") { csl_status_of_file(file, &status) }
            return Int(status.size)
        },
        read: { file, offset, buffer throws(SpoolFault) in
            try repeating("read") { pread(file, buffer.baseAddress, buffer.count, off_t(offset)) }
        },
        write: { file, offset, buffer throws(SpoolFault) in
            try repeating("write") { pwrite(file, buffer.baseAddress, buffer.count, off_t(offset)) }
        },
        truncate: { file, size throws(SpoolFault) in
            _ = try repeating("ftruncate") { ftruncate(file, off_t(size)) }
        },
        sync: { file throws(SpoolFault) in
            try synchronize(file)
        },
        close: { file in
            _ = Self.closeFile(file)
        },
        rename: { path, newPath throws(SpoolFault) in
            _ = try repeating("rename") { Self.renameFile(path, newPath) }
        },
        remove: { path throws(SpoolFault) in
            _ = try repeating("unlink") { unlink(path) }
        },
        syncDirectory: { path throws(SpoolFault) in
            let directory = try repeating("open") { Self.openFile(path, O_RDONLY | O_CLOEXEC) }
            defer { _ = Self.closeFile(directory) }
            try synchronize(directory)
        },
        status: { path throws(SpoolFault) in
            // With a slash at its end a link would be followed.
            var path = path[...]
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            var found = csl_file_status()
            do throws(SpoolFault) {
                _ = try repeating("lstat") { csl_status_at_path(String(path), false, &found) }
            } catch let fault where fault.isMissing {
                return nil
            }
            return SpoolFileStatus(found)
        })

    /// Opens a regular file, and nothing else. A FIFO would keep whoever opens it waiting for the other side.
    private static func openRegular(_ path: String, _ flags: Int32) throws(SpoolFault) -> Int32 {
        let file = try repeating("open") { Self.openFile(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) }
        var found = csl_file_status()
        do throws(SpoolFault) {
            _ = try repeating("fstat") { csl_status_of_file(file, &found) }
            guard found.is_regular else {
                throw SpoolFault(EINVAL, "open", detail: "\(path) is \(SpoolFileStatus(found).kind.rawValue) and no regular file")
            }
            return file
        } catch {
            _ = Self.closeFile(file)
            throw error
        }
    }

    /// The names that a folder brings one by one.
    ///
    /// - Throws: where it ends with an error: what a part of the names says would be taken for all, and files be written over.
    static func names(_ next: () -> UnsafePointer<CChar>?) throws(SpoolFault) -> [String] {
        var names: [String] = []
        while let bytes = next() {
            let name = String(cString: bytes)
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw .last("readdir") }
        return names
    }

    /// Makes a directory and what leads to it.
    ///
    /// - Parameter parents: gets those that have a new name in them.
    private static func makeDirectory(_ path: String, _ parents: inout [String]) throws(SpoolFault) {
        let parent = (path as NSString).deletingLastPathComponent
        do throws(SpoolFault) {
            do throws(SpoolFault) {
                _ = try repeating("mkdir") { mkdir(path, 0o700) }
            } catch let fault where fault.isMissing && !parent.isEmpty && parent != path {
                try makeDirectory(parent, &parents)
                _ = try repeating("mkdir") { mkdir(path, 0o700) }
            }
            parents.append(parent.isEmpty ? "." : parent)
        } catch {
            // It is there, or somebody else has made it meanwhile. Not every file system says so by EEXIST.
            var status = csl_file_status()
            guard csl_status_at_path(path, true, &status) == 0, status.is_folder else { throw error }
        }
    }

    /// Makes a call again while signals interrupt it.
    private static func repeating<Result: SignedInteger>(_ name: String, _ call: () -> Result) throws(SpoolFault) -> Result {
        while true {
            let result = call()
            guard result < 0 else { return result }
            guard errno == EINTR else { throw .last(name) }
        }
    }

    private static func synchronize(_ file: Int32) throws(SpoolFault) {
        #if canImport(Darwin)
        // On these systems fsync(2) leaves the data in the drive's own memory. Some file systems know nothing else.
        guard fcntl(file, F_FULLFSYNC) != 0 else { return }
        #endif
        _ = try repeating("fsync") { fsync(file) }
    }

    // The members of this type have the names of the calls.

    private static func openFile(_ path: String, _ flags: Int32) -> Int32 {
        #if canImport(Darwin)
        Darwin.open(path, flags, mode_t(0o600))
        #elseif canImport(Glibc)
        Glibc.open(path, flags, mode_t(0o600))
        #else
        Musl.open(path, flags, mode_t(0o600))
        #endif
    }

    private static func closeFile(_ file: Int32) -> Int32 {
        #if canImport(Darwin)
        Darwin.close(file)
        #elseif canImport(Glibc)
        Glibc.close(file)
        #else
        Musl.close(file)
        #endif
    }

    private static func renameFile(_ path: String, _ newPath: String) -> Int32 {
        #if canImport(Darwin)
        Darwin.rename(path, newPath)
        #elseif canImport(Glibc)
        Glibc.rename(path, newPath)
        #else
        Musl.rename(path, newPath)
        #endif
    }
}
