import CSystemLibraries
public import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Keeps responses in a folder, up to a number of bytes: for the next run of the program, and for other processes that use the same folder.
///
///     $0.cache = ResponseCache(store: DiskCacheStore(directory: folder, limit: 100_000_000))
///
/// Each response is a file, written under another name and renamed, so a killed process leaves no half response under a name that is read.
/// Every part has a checksum; a damaged file is removed and counts as not stored. Nothing is synced: after a power failure, responses may
/// be missing, but none is wrong. Files are written in the background, in one queue. While the queue is full, responses aren't stored.
///
/// The files never have more bytes than the limit, with those that aren't complete yet, if one process writes. Each further process may add
/// an eighth of the limit before it sees what the others have written.
///
/// The folder is private to its user (0700, files 0600). A folder that others may read or write isn't used.
public final class DiskCacheStore: CacheStore {
    /// A file operation of the store. Tests make them fail.
    enum Operation: Sendable, CaseIterable {
        case makeDirectory
        case create
        case write
        case rename
        case remove
        case list
    }

    private struct State {
        /// The number of waiting operations by URL; the next lookup of that URL waits for them.
        var pending: [String: Int] = [:]
        /// The bytes that wait to be written.
        var waitingBytes = 0
        /// The bytes of all files at the last look, and those written since; `nil` before the first look.
        var bytes: Int?
        /// The bytes written since the last look.
        var unseenBytes = 0
        var problem: String?
        /// The kinds of problems reported so far.
        var reportedErrors: Set<Int32> = []
        var isReady = false
    }

    /// The folder.
    public let directory: URL
    /// The greatest number of bytes.
    public let limit: Int
    /// Returns an error number for an operation that is to fail.
    let failing: (@Sendable (Operation) -> Int32?)?
    private let folder: DiskCacheFolder
    private let queue = DispatchQueue(label: "DiskCacheStore", qos: .utility)
    private let state = Locked(State())

    /// The maximum number of bytes that wait to be written.
    private static let waitingLimit = 8 * 1024 * 1024
    /// The most bytes of heads that count no longer in a file.
    private static let oldHeadsLimit = 128 * 1024
    /// Creates a store. Nothing is read or written before its first use.
    ///
    /// - Parameters:
    ///   - directory: The folder, which is created if it is missing. Only stores should use it.
    ///   - limit: The greatest number of bytes. Several processes each keep to it, and look from time to time at what the others have
    ///     written. A single response may have a quarter of it. Default 256 MiB.
    public convenience init(directory: URL, limit: Int = 256 * 1024 * 1024) {
        self.init(directory: directory, limit: limit, failing: nil)
    }

    init(directory: URL, limit: Int, failing: (@Sendable (Operation) -> Int32?)?) {
        self.directory = directory
        self.limit = max(0, limit)
        self.failing = failing
        folder = DiskCacheFolder(directory)
    }

    /// The number of bytes of all files, as far as known: 0 before the first response is stored.
    public var byteCount: Int { state.withLock { $0.bytes ?? 0 } }

    /// Returns a problem that occurred since the last call. Each kind is reported once.
    public func takeProblem() -> String? {
        state.withLock { state in
            defer { state.problem = nil }
            return state.problem
        }
    }

    // MARK: Reading

    /// Returns the responses of a key.
    public func entries(for key: CacheKey, until isFound: @Sendable (CacheHead) -> Bool) async -> [CacheEntry] {
        if state.withLock({ $0.pending[key.url] != nil }) { await written() }
        var entries: [CacheEntry] = []
        for path in folder.paths(of: key) {
            guard let entry = entry(at: path), entry.head.key == key else { continue }
            entries.append(entry)
            if isFound(entry.head) { break }
        }
        return entries
    }

    /// Waits until everything that was begun before is written.
    func written() async {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume() }
        }
    }

    private func entry(at path: String) -> CacheEntry? {
        do throws(CacheFile.Damaged) {
            guard let file = try CacheFile(path: path) else { return nil }
            // The time of the last change is that of the last use.
            _ = futimens(file.descriptor.number, nil)
            // The entry holds the open file: removing or replacing it doesn't change what is read.
            return CacheEntry(file.head) { [weak self] range in
                file.body(range) { [weak self] in self?.perform(file.head.key.url) { $0.remove(path) } }
            }
        } catch {
            perform(nil) { $0.remove(path) }
            return nil
        }
    }

    /// The heads of all responses.
    public func heads() async -> [CacheHead] {
        await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: self.paths().compactMap { Self.head(at: $0) })
            }
        }
    }

    private static func head(at path: String) -> CacheHead? {
        do throws(CacheFile.Damaged) {
            guard let file = try CacheFile(path: path) else { return nil }
            return file.head
        } catch {
            return nil
        }
    }

    /// The paths of all responses.
    private func paths() -> [String] {
        var paths: [String] = []
        visit { file, place in if file.kind == .response { paths.append(place.path) } }
        return paths
    }

    /// Visits all files. Abandoned unfinished files are removed.
    private func visit(_ body: (_ file: DiskCacheFolder.File, _ place: DiskCacheFolder.Place) -> Void) {
        guard failing?(.list) == nil else { return }
        let now = Date()
        folder.visit { file, place in
            if DiskCacheFolder.isExpired(file, at: now), remove(place.path) { return }
            body(file, place)
        }
    }

    // MARK: Writing

    /// Performs an operation in the background. The next lookup of the URL waits for it.
    func perform(_ url: String?, _ body: @escaping @Sendable (DiskCacheStore) -> Void) {
        if let url { state.withLock { $0.pending[url, default: 0] += 1 } }
        queue.async {
            body(self)
            guard let url else { return }
            self.state.withLock { state in
                let rest = (state.pending[url] ?? 1) - 1
                state.pending[url] = rest > 0 ? rest : nil
            }
        }
    }

    /// Reports a problem once for each error number.
    func note(_ operation: String, _ error: Int32) {
        state.withLock { state in
            guard state.reportedErrors.insert(error).inserted else { return }
            state.problem = "the folder \(folder.root) can't be used, since \(operation) failed: \(String(cString: strerror(error)))"
        }
    }

    /// Makes the folder of a partition, and checks the store's.
    func prepare(_ partition: String) -> Bool {
        if let error = failing?(.makeDirectory) {
            note("making it", error)
            return false
        }
        if !state.withLock({ $0.isReady }) {
            try? FileManager.default.createDirectory(
                atPath: folder.root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            var status = csl_file_status()
            guard csl_status_at_path(folder.root, true, &status) == 0, status.is_folder else {
                note("making it", errno == 0 ? ENOTDIR : errno)
                return false
            }
            guard status.is_private else {
                note("checking that only its user may read and write it", EPERM)
                return false
            }
            state.withLock { $0.isReady = true }
        }
        guard mkdir(folder.folder(of: partition), 0o700) != 0, errno != EEXIST else { return true }
        if errno == ENOENT { state.withLock { $0.isReady = false } }
        note("making a folder in it", errno)
        return false
    }

    /// Removes a file.
    ///
    /// - Returns: Whether it is gone.
    @discardableResult
    func remove(_ path: String) -> Bool {
        if let error = failing?(.remove) {
            note("removing a file", error)
            return false
        }
        guard unlink(path) != 0, errno != ENOENT else { return true }
        note("removing a file", errno)
        return false
    }

    /// Begins to store a response.
    public func writer(for head: CacheHead) -> (any CacheWriter)? {
        guard head.bodyLength < Int64(limit / 4) else { return nil }
        return DiskCacheWriter(self, head)
    }

    /// Reserves memory for bytes that wait to be written.
    func reserve(_ count: Int) -> Bool {
        state.withLock { state in
            guard state.waitingBytes + count <= Self.waitingLimit else { return false }
            state.waitingBytes += count
            return true
        }
    }

    func release(_ count: Int) {
        state.withLock { $0.waitingBytes = max(0, $0.waitingBytes - count) }
    }

    /// Creates the folder again before the next file: another process may have removed it.
    func forgetFolder() {
        state.withLock { $0.isReady = false }
    }

    /// Counts bytes that were written, or removed.
    func count(_ bytes: Int) {
        state.withLock { state in
            state.bytes = state.bytes.map { max(0, $0 + bytes) }
            state.unseenBytes += max(0, bytes)
        }
    }

    /// A new path for a response that isn't finished.
    func unfinishedPath(in partition: String) -> String { folder.unfinishedPath(in: partition) }

    /// The path for a new response: that of the one that it replaces, else a free one, else that of the oldest.
    func place(of head: CacheHead) -> String {
        var free: String?
        var oldest: (path: String, received: Date)?
        let paths = folder.paths(of: head.key)
        for path in paths {
            guard let old = Self.head(at: path) else {
                free = free ?? path
                continue
            }
            if old.selectsTheSame(as: head) { return path }
            if oldest.map({ old.received < $0.received }) ?? true { oldest = (path, old.received) }
        }
        return free ?? oldest?.path ?? paths[0]
    }

    /// Makes room for bytes that are about to be written. If it must remove the least recently used responses, then down to nine tenths, so
    /// that it happens rarely.
    ///
    /// - Returns: Whether there is room.
    func makeRoom(for added: Int) -> Bool {
        let hasRoom = state.withLock { state in
            guard let bytes = state.bytes else { return false }
            return bytes + added <= limit && state.unseenBytes + added <= limit / 8
        }
        if hasRoom { return true }
        // Other processes write and remove, too: only the folder knows.
        var total = 0
        visit { file, _ in total += file.size }
        if total + added > limit {
            var files: [(path: String, file: DiskCacheFolder.File)] = []
            visit { file, place in if file.kind != .unfinished { files.append((place.path, file)) } }
            files.sort { ($0.file.kind == .abandoned ? 0 : 1, $0.file.used) < ($1.file.kind == .abandoned ? 0 : 1, $1.file.used) }
            for (path, file) in files {
                guard total + added > limit - limit / 10 else { break }
                if remove(path) { total -= file.size }
            }
        }
        state.withLock { state in
            state.bytes = total
            state.unseenBytes = 0
        }
        return total + added <= limit
    }

    // MARK: Changing

    /// Replaces a head.
    public func update(_ head: CacheHead) {
        perform(head.key.url) { store in
            // Read and written through one descriptor: another process may put another response in the file's place.
            guard let (path, file) = store.find(head, O_RDWR | O_APPEND) else { return }
            var head = head
            head.bodyLength = file.head.bodyLength
            let ending = CacheFile.ending(head)
            let oldHeads = file.size - CacheFile.framedLength(head.bodyLength)
            guard oldHeads + ending.count <= Self.oldHeadsLimit, store.makeRoom(for: ending.count) else {
                store.remove(path)
                return
            }
            // If it isn't written as a whole, the file has no valid end, and counts as damaged.
            let number = file.descriptor.number
            let count =
                store.failing?(.write).map {
                    errno = $0
                    return -1
                } ?? ending.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
            store.count(max(0, count))
            guard count != ending.count else { return }
            store.note("writing", count < 0 ? errno : ENOSPC)
            store.remove(path)
        }
    }

    /// The file of a response.
    private func find(_ head: CacheHead, _ flags: Int32 = O_RDONLY) -> (path: String, file: CacheFile)? {
        for path in folder.paths(of: head.key) {
            do throws(CacheFile.Damaged) {
                guard let file = try CacheFile(path: path, flags), file.head.id == head.id else { continue }
                return (path, file)
            } catch {
                remove(path)
            }
        }
        return nil
    }

    /// Removes a response.
    public func remove(_ head: CacheHead) {
        perform(head.key.url) { store in
            if let (path, _) = store.find(head) { store.remove(path) }
        }
    }

    /// Removes all responses of a URL.
    public func removeAll(ofURL url: String) {
        perform(url) { store in
            for path in store.folder.paths(ofURL: url) { store.remove(path) }
        }
    }

    /// Removes responses.
    public func removeAll(where isRemoved: @escaping @Sendable (CacheHead) -> Bool) async -> Int {
        await withCheckedContinuation { continuation in
            queue.async {
                var count = 0
                for path in self.paths() {
                    guard let head = Self.head(at: path) else {
                        self.remove(path)
                        continue
                    }
                    guard isRemoved(head) else { continue }
                    self.remove(path)
                    count += 1
                }
                self.state.withLock { $0.bytes = nil }
                continuation.resume(returning: count)
            }
        }
    }
}
