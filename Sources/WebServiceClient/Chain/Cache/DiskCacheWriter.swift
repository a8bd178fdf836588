import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Takes the bytes of a body, and writes them in the queue.
final class DiskCacheWriter: CacheWriter {
    private struct State {
        /// Bytes that aren't a whole frame yet.
        var frame = Data()
        var count: Int64 = 0
        var hasEnded = false
    }

    private let store: DiskCacheStore
    private let head: CacheHead
    private let file: DiskCacheFile
    private let state = Locked(State())

    init(_ store: DiskCacheStore, _ head: CacheHead) {
        self.store = store
        self.head = head
        file = DiskCacheFile(store, head)
    }

    deinit { discard() }

    func append(_ bytes: Data) {
        let frames: [Data]? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.count += Int64(bytes.count)
            guard state.count < Int64(store.limit / 4), store.reserve(bytes.count) else {
                state.hasEnded = true
                return nil
            }
            var frames: [Data] = []
            var rest = bytes[...]
            while state.frame.count + rest.count >= CacheFile.frameSize {
                let missing = CacheFile.frameSize - state.frame.count
                frames.append(state.frame + rest.prefix(missing))
                state.frame = Data()
                rest = rest.dropFirst(missing)
            }
            state.frame.append(rest)
            return frames
        }
        guard let frames else {
            let file = file
            return store.perform(nil) { _ in file.discard() }
        }
        guard !frames.isEmpty else { return }
        let file = file
        store.perform(nil) { _ in for frame in frames { file.add(frame) } }
    }

    func finish() {
        let end: (frame: Data, count: Int64)? = state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return (state.frame, state.count)
        }
        guard let end else { return }
        var head = head
        head.bodyLength = end.count
        let file = file
        store.perform(head.key.url) { [head] _ in
            if !end.frame.isEmpty { file.add(end.frame) }
            file.finish(head)
        }
    }

    func discard() {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard isFirst else { return }
        let file = file
        store.perform(nil) { _ in file.discard() }
    }
}

/// A file that isn't visible yet. It is used in the store's queue only.
private final class DiskCacheFile: Sendable {
    private struct State {
        var descriptor: Int32 = -1
        var path = ""
        var frames: Int64 = 0
        var written = 0
        var hasFailed = false
    }

    private let store: DiskCacheStore
    private let head: CacheHead
    private let state = Locked(State())

    init(_ store: DiskCacheStore, _ head: CacheHead) {
        self.store = store
        self.head = head
    }

    /// Writes a frame. The last one may be shorter.
    func add(_ frame: Data) {
        var bytes = frame
        let ok = state.withLock { state in
            CacheFile.append(CacheFile.checksum(frame, state.frames, id: head.id), to: &bytes)
            state.frames += 1
            return write(bytes, &state)
        }
        store.release(frame.count)
        if !ok { discard() }
    }

    private func write(_ bytes: Data, _ state: inout State) -> Bool {
        guard !state.hasFailed else { return false }
        var bytes = bytes
        if state.descriptor < 0 {
            state.path = store.unfinishedPath(in: head.key.partition)
            guard store.prepare(head.key.partition) else { return false }
            state.descriptor = store.failing?(.create).map { fail($0) } ?? CacheFile.open(state.path, O_WRONLY | O_CREAT | O_EXCL)
            guard state.descriptor >= 0 else {
                // A folder that another process has removed is made again the next time.
                store.forgetFolder()
                store.note("making a file", errno)
                return false
            }
            bytes = Data(CacheFile.magic) + bytes
        }
        guard store.makeRoom(for: bytes.count) else { return false }
        var done = 0
        defer {
            state.written += done
            store.count(done)
        }
        while done < bytes.count {
            let file = state.descriptor
            let result =
                store.failing?(.write).map { Int(fail($0)) }
                ?? bytes.withUnsafeBytes { Self.write(file, $0.baseAddress.map { $0 + done }, bytes.count - done) }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else {
                store.note("writing", errno)
                return false
            }
            done += result
        }
        return true
    }

    private static func write(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        Darwin.write(file, bytes, count)
        #elseif canImport(Glibc)
        Glibc.write(file, bytes, count)
        #elseif canImport(Musl)
        Musl.write(file, bytes, count)
        #endif
    }

    private func fail(_ error: Int32) -> Int32 {
        errno = error
        return -1
    }

    /// Writes the head, and gives the file its name.
    func finish(_ head: CacheHead) {
        let (path, written): (String?, Int) = state.withLock { state in
            guard write(CacheFile.ending(head), &state) else { return (nil, 0) }
            close(state.descriptor)
            state.descriptor = -1
            state.hasFailed = true
            return (state.path, state.written)
        }
        guard let path else { return discard() }
        let place = store.place(of: head)
        var replaced = csl_file_status()
        let old = csl_status_at_path(place, false, &replaced) == 0 ? Int(clamping: replaced.size) : 0
        let result = store.failing?(.rename).map { fail($0) } ?? rename(path, place)
        if result == 0 { return store.count(-old) }
        // Another process that takes this one for an ended one, because it is in another container, may have removed the file.
        if errno != ENOENT { store.note("renaming a file", errno) }
        if store.remove(path) { store.count(-written) }
    }

    func discard() {
        let (path, written): (String?, Int) = state.withLock { state in
            state.hasFailed = true
            guard state.descriptor >= 0 else { return (nil, 0) }
            close(state.descriptor)
            state.descriptor = -1
            return (state.path, state.written)
        }
        if let path, store.remove(path) { store.count(-written) }
    }
}
