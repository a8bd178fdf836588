import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The file system calls of a spool. Tests substitute their own, in which each call can fail or the power goes off.
package struct SpoolFileSystem: Sendable {
    /// How a file is opened.
    package enum Access: Sendable {
        /// An existing file, for reading.
        case read
        /// An existing file, for reading and writing.
        case update
        /// Something other than a regular file, such as a pipe, for writing. May be a symbolic link.
        case device
        /// An empty file, for writing. Discards existing content.
        case create
    }

    /// Makes a directory and its missing parents. Returns the directories that got a new entry, outermost first: until these are synced,
    /// power loss may undo the change.
    package var makeDirectory: @Sendable (_ path: String) throws(SpoolFault) -> [String]
    /// Returns the names in a directory.
    package var list: @Sendable (_ path: String) throws(SpoolFault) -> [String]
    /// Opens a file and returns its descriptor.
    package var open: @Sendable (_ path: String, Access) throws(SpoolFault) -> Int32
    /// Opens a file, creating it if missing, and locks it until it is closed or the process ends. Returns `nil` if another process holds
    /// the lock.
    package var lock: @Sendable (_ path: String) throws(SpoolFault) -> Int32?
    /// Returns the size of a file in bytes.
    package var size: @Sendable (_ file: Int32) throws(SpoolFault) -> Int
    /// Reads into a buffer from an offset and returns the number of bytes read: fewer than requested at the end of the file.
    package var read: @Sendable (_ file: Int32, _ offset: Int, UnsafeMutableRawBufferPointer) throws(SpoolFault) -> Int
    /// Writes at an offset and returns the number of bytes written, which may be fewer than given.
    package var write: @Sendable (_ file: Int32, _ offset: Int, UnsafeRawBufferPointer) throws(SpoolFault) -> Int
    /// Truncates a file.
    package var truncate: @Sendable (_ file: Int32, _ size: Int) throws(SpoolFault) -> Void
    /// Waits until the written data of a file is on the medium.
    package var sync: @Sendable (_ file: Int32) throws(SpoolFault) -> Void
    /// Closes a file.
    package var close: @Sendable (_ file: Int32) -> Void
    /// Renames a file and replaces any file with the new name.
    package var rename: @Sendable (_ path: String, _ newPath: String) throws(SpoolFault) -> Void
    /// Removes a file.
    package var remove: @Sendable (_ path: String) throws(SpoolFault) -> Void
    /// Waits until a directory's entries are on the medium.
    package var syncDirectory: @Sendable (_ path: String) throws(SpoolFault) -> Void
    /// Returns the status of a path without following a symbolic link; `nil` if nothing exists there or the status is unknown.
    package var status: @Sendable (_ path: String) throws(SpoolFault) -> SpoolFileStatus?

    package init(
        makeDirectory: @escaping @Sendable (String) throws(SpoolFault) -> [String],
        list: @escaping @Sendable (String) throws(SpoolFault) -> [String],
        open: @escaping @Sendable (String, Access) throws(SpoolFault) -> Int32,
        lock: @escaping @Sendable (String) throws(SpoolFault) -> Int32?,
        size: @escaping @Sendable (Int32) throws(SpoolFault) -> Int,
        read: @escaping @Sendable (Int32, Int, UnsafeMutableRawBufferPointer) throws(SpoolFault) -> Int,
        write: @escaping @Sendable (Int32, Int, UnsafeRawBufferPointer) throws(SpoolFault) -> Int,
        truncate: @escaping @Sendable (Int32, Int) throws(SpoolFault) -> Void,
        sync: @escaping @Sendable (Int32) throws(SpoolFault) -> Void,
        close: @escaping @Sendable (Int32) -> Void,
        rename: @escaping @Sendable (String, String) throws(SpoolFault) -> Void,
        remove: @escaping @Sendable (String) throws(SpoolFault) -> Void,
        syncDirectory: @escaping @Sendable (String) throws(SpoolFault) -> Void,
        status: @escaping @Sendable (String) throws(SpoolFault) -> SpoolFileStatus? = { _ throws(SpoolFault) in nil }
    ) {
        self.makeDirectory = makeDirectory
        self.list = list
        self.open = open
        self.lock = lock
        self.size = size
        self.read = read
        self.write = write
        self.truncate = truncate
        self.sync = sync
        self.close = close
        self.rename = rename
        self.remove = remove
        self.syncDirectory = syncDirectory
        self.status = status
    }
}

extension SpoolFileSystem {
    /// The block size of typical media, in bytes.
    private static let block = 4_096

    /// Opens a file for the duration of a closure.
    func with<Result>(_ path: String, _ access: Access, _ body: (Int32) throws(SpoolFault) -> Result) throws(SpoolFault) -> Result {
        let file = try open(path, access)
        defer { close(file) }
        return try body(file)
    }

    /// Writes all bytes.
    func writeAll(_ file: Int32, _ offset: Int, _ bytes: UnsafeRawBufferPointer) throws(SpoolFault) {
        var done = 0
        while done < bytes.count {
            let count = try write(file, offset + done, UnsafeRawBufferPointer(rebasing: bytes[done...]))
            guard count > 0 else { throw SpoolFault.full }
            done += min(count, bytes.count - done)
        }
    }

    /// Writes all bytes.
    func writeAll(_ file: Int32, _ offset: Int, _ bytes: [UInt8]) throws(SpoolFault) {
        // `withUnsafeBytes` can't rethrow a typed error.
        try bytes.withUnsafeBytes { bytes in Result { () throws(SpoolFault) in try writeAll(file, offset, bytes) } }.get()
    }

    /// Writes all bytes.
    func writeAll(_ file: Int32, _ offset: Int, _ bytes: ByteBuffer) throws(SpoolFault) {
        try bytes.withUnsafeBytes { bytes in Result { () throws(SpoolFault) in try writeAll(file, offset, bytes) } }.get()
    }

    /// Returns the bytes of a range, fewer at the end of the file.
    ///
    /// - Parameter salvages: Whether blocks that the medium can't read are replaced by zeros, which loses their records, instead of causing
    ///   a fault.
    func readAll(_ file: Int32, _ range: Range<Int>, salvages: Bool = false) throws(SpoolFault) -> ByteBuffer {
        var bytes = ByteBuffer()
        let room = UnsafeMutableRawBufferPointer(start: bytes.room(range.count), count: range.count)
        var isCareful = false
        while bytes.count < range.count {
            let block = Self.block - (range.lowerBound + bytes.count) % Self.block
            let end = isCareful ? min(range.count, bytes.count + block) : range.count
            let piece = UnsafeMutableRawBufferPointer(rebasing: room[bytes.count..<end])
            do throws(SpoolFault) {
                let count = try read(file, range.lowerBound + bytes.count, piece)
                guard count > 0 else { return bytes }
                bytes.advance(by: min(count, piece.count))
            } catch {
                guard salvages, error.isUnreadable else { throw error }
                // Reading block by block limits the loss to the bad blocks.
                if isCareful {
                    piece.initializeMemory(as: UInt8.self, repeating: 0)
                    bytes.advance(by: piece.count)
                } else {
                    isCareful = true
                }
            }
        }
        return bytes
    }

    /// Removes a file that may already be gone.
    func removeIfThere(_ path: String) throws(SpoolFault) {
        do throws(SpoolFault) {
            try remove(path)
        } catch let fault where fault.isMissing {
            return
        }
    }

    /// Replaces or creates a file atomically.
    func replace(_ path: String, in directory: String, by bytes: [UInt8]) throws(SpoolFault) {
        let temporary = directory + "/" + SpoolDirectory.temporary
        do throws(SpoolFault) {
            try with(temporary, .create) { file throws(SpoolFault) in
                try writeAll(file, 0, bytes)
                try sync(file)
            }
            try rename(temporary, path)
        } catch {
            try? remove(temporary)
            throw error
        }
        try syncDirectory(directory)
    }
}

extension SpoolFault {
    /// No space is left.
    static let full = SpoolFault(ENOSPC, "write")
}

extension SpoolFileSystem {
    /// The file system of the operating system. Only the owner has access to created files; child processes don't inherit descriptors.
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
            // Opened for reading as well: opening a pipe that has no reader would block.
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
            // A trailing slash would make `lstat` follow a link.
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

    /// Opens a regular file and rejects everything else. Opening a FIFO would block until its other end is opened.
    private static func openRegular(_ path: String, _ flags: Int32) throws(SpoolFault) -> Int32 {
        let file = try repeating("open") { Self.openFile(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) }
        var found = csl_file_status()
        do throws(SpoolFault) {
            _ = try repeating("fstat") { csl_status_of_file(file, &found) }
            guard found.is_regular else {
                throw SpoolFault(EINVAL, "open", detail: "\(path) is \(SpoolFileStatus(found).kind.rawValue), not a regular file")
            }
            return file
        } catch {
            _ = Self.closeFile(file)
            throw error
        }
    }

    /// Collects the names of a directory.
    ///
    /// - Throws: If reading ends with an error. If an incomplete listing counted as complete, existing files would be overwritten.
    static func names(_ next: () -> UnsafePointer<CChar>?) throws(SpoolFault) -> [String] {
        var names: [String] = []
        while let bytes = next() {
            let name = String(cString: bytes)
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw .last("readdir") }
        return names
    }

    /// Makes a directory and its missing parents.
    ///
    /// - Parameter parents: Receives the directories that got a new entry.
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
            // The directory exists, or another process has just made it. Not every file system reports that as EEXIST.
            var status = csl_file_status()
            guard csl_status_at_path(path, true, &status) == 0, status.is_folder else { throw error }
        }
    }

    /// Repeats a call while signals interrupt it.
    private static func repeating<Result: SignedInteger>(_ name: String, _ call: () -> Result) throws(SpoolFault) -> Result {
        while true {
            let result = call()
            guard result < 0 else { return result }
            guard errno == EINTR else { throw .last(name) }
        }
    }

    private static func synchronize(_ file: Int32) throws(SpoolFault) {
        #if canImport(Darwin)
        // On these systems fsync(2) leaves the data in the drive's cache. Some file systems support only fsync(2).
        guard fcntl(file, F_FULLFSYNC) != 0 else { return }
        #endif
        _ = try repeating("fsync") { fsync(file) }
    }

    // The properties of this type shadow the functions' names.

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
