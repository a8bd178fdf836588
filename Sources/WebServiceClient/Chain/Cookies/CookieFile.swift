import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The file of a jar. It is read and written on its own queue, so that no thread of the task pool waits for a disk; many changes at once
/// are one write.
///
/// A lock on the folder (`flock`) keeps processes apart while they read, merge and replace the file. A lock on the file itself would be one
/// on the file that is replaced.
final class CookieFile: Sendable {
    private struct State {
        var isScheduled = false
        /// Whether a write is going on. It may have taken changes over that aren't in the file yet.
        var isWriting = false
        /// The calls that wait for the next write.
        var waiters: [CallWaiter] = []
        /// The error of the last write, until it is reported.
        var failure: CookieFileError?
        var hasToldFailure = false
        /// The version of the file that was last read or written.
        var seen: Version?
    }

    /// What changes with each replacement of the file.
    private struct Version: Equatable {
        let node: UInt64
        let size: Int64
        let modified: Int64
    }

    /// The file's name, for messages.
    let name: String
    private let path: String
    private let folder: String
    private let content: PrivateFile
    private let store: Locked<CookieStore>
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "WebServiceClient.CookieFile")

    /// A file of more bytes isn't a jar's.
    private static let sizeLimit: Int64 = 64 << 20

    init(_ file: URL, store: Locked<CookieStore>) throws(CookieFileError) {
        guard file.isFileURL else { throw CookieFileError(message: "The cookie file isn't a file URL: use URL(filePath:).") }
        // Renaming would replace a symbolic link instead of its target.
        let target = file.absoluteURL.resolvingSymlinksInPath()
        name = target.lastPathComponent
        path = target.path(percentEncoded: false)
        folder = target.deletingLastPathComponent().path(percentEncoded: false)
        var content = PrivateFile(target, sizeLimit: Self.sizeLimit)
        // Other programs, such as curl, write such files too. A folder that was removed isn't created again.
        (content.admitsOthers, content.createsFolder) = (true, false)
        self.content = content
        self.store = store
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw CookieFileError(
                message: "The cookie file \(name) has no folder: create \(target.deletingLastPathComponent().lastPathComponent).")
        }
    }

    /// Reads the file for the first time, and removes the unfinished files of killed processes.
    ///
    /// - Returns: The lines that hold no cookie.
    func read() throws(CookieFileError) -> [Int] {
        let lock = lockFolder()
        defer { unlock(lock) }
        if lock != nil { removeRemains() }
        let version = version()
        guard let data = try contents() else { return [] }
        let now = Date()
        let (cookies, unread) = NetscapeCookies.cookies(in: data, now: now)
        state.withLock { $0.seen = version }
        store.withLock { _ = $0.merge(cookies, at: now) }
        return unread
    }

    // MARK: Writing

    /// Writes the store's changes soon, if there are any.
    func schedule() {
        guard hasChanges else { return }
        begin(nil)
    }

    /// Writes the store's changes, if there are any, and waits until they are in the file or can't be written. It doesn't wait for the disk
    /// if the call is cancelled.
    ///
    /// - Returns: The reason why the file can't be written, if it hasn't been reported.
    func save(unless cancellation: CallCancellation) async -> CookieFileError? {
        guard hasChanges || state.withLock({ $0.isWriting }) else { return nil }
        let waiter = CallWaiter()
        begin(waiter)
        // The caller looks for the cancellation itself.
        try? await waiter.wait(unless: cancellation)
        return state.withLock { state in
            guard let failure = state.failure, !state.hasToldFailure else { return nil }
            state.hasToldFailure = true
            return failure
        }
    }

    /// Writes the store's changes and reads the changes of other processes, on this thread.
    func synchronize() throws(CookieFileError) {
        let failure: CookieFileError? = queue.sync { write() }
        if let failure { throw failure }
    }

    private var hasChanges: Bool { store.withLock { $0.changes?.isEmpty == false } }

    private func begin(_ waiter: CallWaiter?) {
        let isFirst = state.withLock { state in
            if let waiter { state.waiters.append(waiter) }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        // The queue keeps the file until the write is done, even if the jar is gone.
        queue.async { [self] in
            // Changes and waiters from now on need another write.
            let waiters = state.withLock { state in
                defer { (state.isScheduled, state.waiters, state.isWriting) = (false, [], true) }
                return state.waiters
            }
            _ = write()
            for waiter in waiters { waiter.end(.success(())) }
        }
    }

    /// Merges and replaces the file. Runs on the queue only.
    private func write() -> CookieFileError? {
        let failure = Result { () throws(CookieFileError) in try merge() }.failure
        state.withLock { state in
            state.isWriting = false
            state.failure = failure
            if failure == nil { state.hasToldFailure = false }
        }
        return failure
    }

    private func merge() throws(CookieFileError) {
        let lock = lockFolder()
        defer { unlock(lock) }
        let now = Date()
        let found = version()
        var theirs: [Cookie]?
        // A missing file is created again.
        if let found, found != state.withLock({ $0.seen }), let data = try contents() {
            theirs = NetscapeCookies.cookies(in: data, now: now).cookies
        }
        let (kept, written) = store.withLock { $0.merge(theirs, at: now) }
        if written.isEmpty, found != nil {
            state.withLock { $0.seen = found }
            return
        }
        do {
            try replace(
                NetscapeCookies.data(
                    of: kept, comment: "Cookies of WebServiceClient. Keep this file private: whoever reads it can use your sessions.",
                    hasFurther: true))
        } catch {
            store.withLock { $0.restore(written) }
            throw error
        }
        let version = version()
        state.withLock { $0.seen = version }
    }

    private func replace(_ data: Data) throws(CookieFileError) {
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        do {
            try content.replace(with: data, temporary: folder + "/.\(name).\(number).tmp", synchronizes: false)
        } catch {
            throw failure(error)
        }
    }

    // MARK: Reading

    private func version() -> Version? {
        var status = csl_file_status()
        guard csl_status_at_path(path, true, &status) == 0 else { return nil }
        return Version(node: status.node, size: status.size, modified: status.modified)
    }

    /// The bytes of the file; `nil` if there is none.
    private func contents() throws(CookieFileError) -> Data? {
        do {
            return try content.read()
        } catch {
            throw failure(error)
        }
    }

    private func failure(_ failure: PrivateFile.Failure) -> CookieFileError {
        CookieFileError(message: "The cookie file \(name) \(failure.reason)")
    }

    /// Removes the files of writes that a killed process didn't finish.
    private func removeRemains() {
        let prefix = ".\(name)."
        for entry in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where entry.hasPrefix(prefix) && entry.hasSuffix(".tmp") && entry.dropFirst(prefix.count).dropLast(4).allSatisfy(\.isHexDigit) {
            unlink(folder + "/" + entry)
        }
    }

    // MARK: The lock

    /// Locks the folder against other jars of this file.
    ///
    /// - Returns: The descriptor that holds the lock; `nil` if the lock isn't available within ten seconds, as on some network file systems
    ///   or if the process that holds it is stopped. The file is replaced even then, and is never incomplete.
    private func lockFolder() -> Int32? {
        let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        for _ in 0..<5_000 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            // flock(2) has no time limit of its own. This is the file's own queue, so no thread of the task pool is blocked.
            usleep(2_000)
        }
        close(descriptor)
        return nil
    }

    private func unlock(_ descriptor: Int32?) {
        // Closing releases the lock.
        if let descriptor { close(descriptor) }
    }
}

/// The error of a jar's file that can't be read or written.
public struct CookieFileError: DescribedError, Sendable, Hashable {
    /// What happened and how to fix it, as a sentence. It names the file, not the folders.
    public let message: String

    init(message: String) {
        self.message = VisibleText.of(message)
    }

    /// The message.
    public var description: String { message }
}
