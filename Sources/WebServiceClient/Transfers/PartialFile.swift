import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The file of an incomplete download, `.NAME.part` in the destination's folder, with its record in `.NAME.part.json`.
///
/// A lock on the file (`flock`) excludes other transfers, in this process and in others. The lock ends with the process.
final class PartialFile: Sendable {
    /// The paths of the files.
    struct Place: Sendable {
        let destination: String
        let partial: String
        let record: String
        let folder: String
        /// The destination's name, for messages.
        let name: String

        init(_ destination: URL) throws(TransferError) {
            guard destination.isFileURL, !destination.lastPathComponent.isEmpty, destination.lastPathComponent != "/" else {
                throw TransferError(.unusable, "The destination \(SecretMask.text(of: destination)) isn't a file: give a file URL.")
            }
            let target = destination.absoluteURL
            name = target.lastPathComponent
            folder = target.deletingLastPathComponent().path(percentEncoded: false)
            let prefix = folder.hasSuffix("/") ? folder : folder + "/"
            self.destination = prefix + name
            partial = prefix + ".\(name).part"
            record = partial + ".json"
        }

        /// Removes both files.
        func remove() {
            unlink(record)
            unlink(partial)
        }
    }

    let place: Place
    private let replacing: Bool
    private let descriptor: Int32
    private let state: Locked<DownloadRecord?>
    /// Held while the record is written, so that an earlier record doesn't replace a later one.
    private let writing = Locked(())
    /// The reason why an existing partial file isn't continued, as part of a sentence; `nil` if it is continued, or none exists.
    let note: String?

    /// The number of bytes of a piece after which the record is written, if the file has several pieces. After a kill, at most that many
    /// bytes of each piece are fetched again.
    private static let saveInterval: Int64 = 1 << 20
    /// The number of bytes of a piece after which the file is synchronized.
    private static let syncInterval: Int64 = 64 << 20

    /// Opens and locks the partial file of a destination, and reads its record.
    init(_ destination: URL, replacing: Bool) throws(TransferError) {
        let place = try Place(destination)
        self.place = place
        self.replacing = replacing
        var status = csl_file_status()
        if csl_status_at_path(place.destination, false, &status) == 0 {
            guard !status.is_folder else {
                throw TransferError(.destinationExists, "The destination \(place.name) is a folder: name a file in it.")
            }
            guard replacing else { throw Self.exists(place.name) }
        }
        descriptor = try Self.lock(place)
        let (record, note) = Self.read(place, descriptor)
        self.note = note
        state = Locked(record)
    }

    deinit { close(descriptor) }

    /// Opens and locks the file.
    private static func lock(_ place: Place) throws(TransferError) -> Int32 {
        // The transfer that had the lock may have renamed or removed the file in between.
        for _ in 0..<100 {
            let descriptor = open(place.partial, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
            guard descriptor >= 0 else { throw storage("The partial file of \(place.name) can't be created", errno) }
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                let code = errno
                if code == EINTR { continue }
                close(descriptor)
                guard code == EWOULDBLOCK else { throw storage("The partial file of \(place.name) can't be locked", code) }
                throw TransferError(
                    .locked, "Another transfer, possibly of another process, downloads \(place.name): wait for it, or cancel it.")
            }
            var own = csl_file_status()
            var named = csl_file_status()
            guard csl_status_of_file(descriptor, &own) == 0, own.is_regular else {
                close(descriptor)
                throw TransferError(
                    .storage, "The partial file of \(place.name) isn't a regular file: remove .\(place.name).part.")
            }
            if csl_status_at_path(place.partial, false, &named) == 0, named.node == own.node {
                guard csl_status_at_path(place.destination, false, &named) == 0, named.node == own.node else { return descriptor }
                // A process was killed after it gave the complete file its name, and before it removed this one.
                unlink(place.partial)
            }
            close(descriptor)
        }
        throw TransferError(.locked, "Other transfers download \(place.name) again and again: choose another destination.")
    }

    /// Reads the record, and adjusts it to the file.
    private static func read(_ place: Place, _ descriptor: Int32) -> (DownloadRecord?, note: String?) {
        var status = csl_file_status()
        guard csl_status_of_file(descriptor, &status) == 0 else { return (nil, nil) }
        guard let data = content(of: place.record) else { return (nil, status.size > 0 ? "its record is missing" : nil) }
        guard var record = DownloadRecord(data) else { return (nil, "its record is unreadable") }
        guard record.adjust(toFileOf: status.size, boot: DownloadRecord.currentBoot) else {
            return (nil, status.size > 0 ? "its file doesn't fit its record" : nil)
        }
        return (record, nil)
    }

    /// The record of a place without its lock; `nil` if there is nothing to continue.
    static func stored(_ place: Place) -> DownloadRecord? {
        var status = csl_file_status()
        guard csl_status_at_path(place.partial, false, &status) == 0, let data = content(of: place.record),
            var record = DownloadRecord(data), record.adjust(toFileOf: status.size, boot: DownloadRecord.currentBoot)
        else { return nil }
        return record
    }

    /// The bytes of a small regular file that only this user can access; `nil` if there is none.
    static func content(of path: String) -> Data? {
        var file = PrivateFile(URL(filePath: path), sizeLimit: DownloadRecord.sizeLimit)
        file.followsLinks = false
        return try? file.read()
    }

    // MARK: The record

    /// The description of the file; `nil` before the first response.
    var record: DownloadRecord? { state.withLock { $0 } }

    /// Empties the file and begins with another record.
    func begin(_ record: DownloadRecord) throws(TransferError) {
        var record = record
        record.boot = DownloadRecord.currentBoot
        // In this order: a record never describes bytes of an earlier version.
        unlink(place.record)
        guard ftruncate(descriptor, 0) == 0 else { throw fault("can't be emptied", errno) }
        state.withLock { [record] in $0 = record }
        try save()
    }

    /// Forgets the bytes.
    func reset() throws(TransferError) {
        unlink(place.record)
        guard ftruncate(descriptor, 0) == 0 else { throw fault("can't be emptied", errno) }
        state.withLock { $0 = nil }
    }

    /// Changes the record, and writes it.
    func update(_ change: (inout DownloadRecord) -> Void) throws(TransferError) {
        state.withLock { record in
            guard var changed = record else { return }
            change(&changed)
            record = changed
        }
        try save()
    }

    /// Drops the bytes from a position onwards, in a file of one piece.
    func cut(at position: Int64) throws(TransferError) {
        guard ftruncate(descriptor, off_t(position)) == 0 else { throw fault("can't be shortened", errno) }
        try update { record in
            record.pieces[0].done = position
            record.pieces[0].synced = min(record.pieces[0].synced, position)
        }
    }

    /// Writes the record, unless it has no validator: such a download can't be continued.
    func save() throws(TransferError) {
        try writing.withLock { _ throws(TransferError) in
            guard let record, record.validator != nil, let data = try? record.data() else { return }
            // The lock on the partial file excludes another writer, and a killed process leaves one file at most.
            try Self.replace(place.record, with: data, temporary: place.record + ".new")
        }
    }

    // MARK: The bytes

    /// Writes bytes at the position of a piece.
    func append(_ data: Data, toPiece index: Int) throws(TransferError) {
        guard let position = state.withLock({ $0?.pieces[index].position }) else { return }
        var written = 0
        let code: Int32 = data.withUnsafeBytes { bytes in
            while written < bytes.count, let base = bytes.baseAddress {
                let count = pwrite(descriptor, base + written, bytes.count - written, off_t(position + Int64(written)))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : ENOSPC }
                written += count
            }
            return 0
        }
        let (needsSaving, needsSync) = state.withLock { record -> (Bool, Bool) in
            guard record != nil else { return (false, false) }
            let before = record?.pieces[index].done ?? 0
            record?.pieces[index].done = before + Int64(written)
            let isOne = record?.pieces.count == 1
            let after = before + Int64(written)
            let unsynced = after - (record?.pieces[index].synced ?? 0)
            return (!isOne && before / Self.saveInterval != after / Self.saveInterval, unsynced >= Self.syncInterval)
        }
        guard code == 0 else { throw fault("can't be written", code) }
        if needsSync { try synchronize() } else if needsSaving { try save() }
    }

    /// Synchronizes the bytes to the disk, and notes how many.
    func synchronize() throws(TransferError) {
        guard let before = record else { return }
        guard fsync(descriptor) == 0 else { throw fault("can't be written to the disk", errno) }
        try update { record in
            // Another version of the file may have begun in the meantime.
            guard record.validator == before.validator else { return }
            for (index, piece) in before.pieces.enumerated() where index < record.pieces.count && record.pieces[index].start == piece.start
            {
                record.pieces[index].synced = min(piece.done, record.pieces[index].done)
            }
        }
    }

    /// Computes the file's digests in one pass. A large file takes seconds, so the thread of the task pool is released after each megabyte.
    func digests(_ algorithms: Set<ContentDigest.Algorithm>) async throws -> [ContentDigest] {
        var hash = BodyHash(algorithms)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var position: Int64 = 0
        while !algorithms.isEmpty {
            try Task.checkCancellation()
            let count = read(into: &buffer, at: position)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault("can't be read for its checksum", errno) }
            guard count > 0 else { break }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            position += Int64(count)
            await Task.yield()
        }
        return hash.digests()
    }

    private func read(into buffer: inout [UInt8], at position: Int64) -> Int {
        buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(position)) }
    }

    // MARK: The end

    /// Gives the complete file its name, atomically, and removes the record.
    func moveInPlace(length: Int64) throws(TransferError) {
        var status = csl_file_status()
        guard csl_status_of_file(descriptor, &status) == 0, status.size == length else {
            throw TransferError(
                .storage, "The partial file of \(place.name) has \(status.size) bytes instead of \(length): start the download again.")
        }
        guard fsync(descriptor) == 0 else { throw fault("can't be written to the disk", errno) }
        if replacing || !linkInPlace() {
            if !replacing {
                guard errno != EEXIST else { throw Self.exists(place.name) }
                // The file system has no hard links, so a file created between this check and the renaming is replaced.
                guard access(place.destination, F_OK) != 0 else { throw Self.exists(place.name) }
            }
            guard rename(place.partial, place.destination) == 0 else {
                throw Self.storage("The download can't be moved to \(place.name)", errno)
            }
        }
        unlink(place.record)
        let folder = open(place.folder, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        // Some file systems can't synchronize folders; the file is there in any case.
        fsync(folder)
        close(folder)
    }

    /// Gives the file its name if the destination doesn't exist: linking fails where renaming would replace the destination.
    private func linkInPlace() -> Bool {
        guard link(place.partial, place.destination) == 0 else { return false }
        unlink(place.partial)
        return true
    }

    /// Removes the files. Later writes have no effect.
    func discard() {
        state.withLock { $0 = nil }
        place.remove()
    }

    private func fault(_ problem: String, _ code: Int32) -> TransferError {
        Self.storage("The partial file of \(place.name) \(problem)", code)
    }

    /// Replaces a small file with the mode 0600. A record, written with `temporary`, isn't synchronized, because it need survive only a
    /// crash of the process: see ``DownloadRecord/adjust(toFileOf:boot:)``.
    static func replace(_ path: String, with data: Data, temporary: String? = nil) throws(TransferError) {
        let file = PrivateFile(URL(filePath: path))
        do {
            try file.replace(with: data, temporary: temporary, synchronizes: temporary == nil)
        } catch {
            throw TransferError(.storage, "\(file.name) \(error.reason)")
        }
    }

    private static func storage(_ problem: String, _ code: Int32) -> TransferError {
        let rest = code == ENOSPC || code == EDQUOT ? ", then start the transfer again: it continues" : ""
        return TransferError(.storage, "\(problem) \(PrivateFile.reason(of: code))\(rest).")
    }

    private static func exists(_ name: String) -> TransferError {
        TransferError(
            .destinationExists, "The destination \(name) already exists: choose another name, or set DownloadOptions.replacing.")
    }
}
