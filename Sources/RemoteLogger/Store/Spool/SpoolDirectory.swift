#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The locked directory of one process, below the shared root. Its files are read once.
///
/// A process uses the first of the directories `0`, `1`, `2` … that isn't locked by another process.
struct SpoolDirectory: Sendable {
    /// The name of the file that is written before it replaces another one. A single name leaves at most one stale file.
    static let temporary = "next.temporary"
    static let lockFile = "lock"
    /// The number of processes that can share a root.
    private static let slots = 256

    let path: String
    private(set) var lock: Int32
    /// An owner whose files are accepted in addition to those of the process's user and of root.
    private var acceptedOwner: UInt32?
    var segments: [Segment] = []
    var cursors: [String: DestinationCursor] = [:]
    /// The bytes of files that don't belong to the spool.
    var otherBytes = 0
    /// The highest epoch of all segments: the number in their names that no two segments share.
    var epoch: UInt64 = 0
    /// The parent directories with new entries that power loss could undo.
    private(set) var unsyncedParents: [String] = []
    /// Diagnostics, each with the path that it concerns.
    var remarks: [String] = []

    /// The highest known position in use.
    var lastPosition: RecordPosition {
        max(segments.map(\.last).max() ?? 0, cursors.values.map(\.position).max() ?? 0)
    }

    /// Opens the first unlocked directory.
    ///
    /// - Parameter mustBeEmpty: Whether to pass over directories with records, whose positions would collide with those that this process
    ///   has assigned. Their records wait for the next run.
    static func open(below root: String, mustBeEmpty: Bool, files: SpoolFileSystem) throws(SpoolFault) -> SpoolDirectory {
        var remarks: [String] = []
        var firstFault: SpoolFault?
        // The root's entry may be unsynced even if it existed: the process that made it may have been killed before the sync.
        var parents: Set<String> = [root]
        // The check comes first, so that nothing is created in an unusable directory.
        _ = try check(root, files)
        for slot in 0..<slots {
            let path = root + "/\(slot)"
            do throws(SpoolFault) {
                parents.formUnion(try files.makeDirectory(path))
                guard var directory = try take(path, accepting: check(root, files), files, &remarks) else { continue }
                guard !mustBeEmpty || directory.segments.isEmpty else {
                    directory.close(files)
                    continue
                }
                if mustBeEmpty { try directory.forgetCursors(files) }
                directory.remarks = remarks + directory.remarks
                directory.unsyncedParents = parents.sorted()
                return directory
            } catch let fault where fault.isOfPlace {
                if firstFault == nil { remarks.append("\(path) can't be used (\(fault)): another directory is used.") }
                firstFault = firstFault ?? fault
            }
        }
        // Each is locked, was written by a later version, or has records where an empty one is needed.
        let detail = "\(root) has no usable directory among its \(slots): end programs that share it, or use another spool directory"
        throw firstFault ?? SpoolFault(EBUSY, "flock", detail: detail)
    }

    /// Opens the directories of ended processes that have left records. A directory that can't be read now waits for the next run.
    ///
    /// - Parameters:
    ///   - own: The directory of this process; the directories before it have already been tried.
    ///   - report: Receives a diagnostic for each directory that isn't used because using it isn't safe.
    static func leftovers(
        below root: String, besides own: String? = nil, files: SpoolFileSystem, report: (String) -> Void = { _ in }
    ) -> [SpoolDirectory] {
        // `open` has already reported why the root can't be used.
        guard case .success(let owner) = Result(catching: { () throws(SpoolFault) in try check(root, files) }) else { return [] }
        let slots = ((try? files.list(root)) ?? []).compactMap { name in Int(name).flatMap { String($0) == name ? $0 : nil } }.sorted()
        let first = slots.firstIndex { root + "/\($0)" == own } ?? 0
        return slots.enumerated().compactMap { index, slot in
            var remarks: [String] = []
            do throws(SpoolFault) {
                guard let directory = try take(root + "/\(slot)", accepting: owner, files, &remarks) else { return nil }
                if !directory.segments.isEmpty { return directory }
                directory.close(files)
                for remark in directory.remarks { report(remark) }
            } catch {
                if error.detail != nil, index >= first { report("The records in \(root)/\(slot) aren't shipped: \(error).") }
            }
            return nil
        }
    }

    // MARK: Ownership

    /// Checks that the shared root can be used.
    ///
    /// - Returns: Another accepted owner, from ``acceptedOwner(_:user:)``.
    private static func check(_ root: String, _ files: SpoolFileSystem) throws(SpoolFault) -> UInt32? {
        guard let status = try files.status(root) else { return nil }
        let accepted = acceptedOwner(status, user: geteuid())
        if let objection = status.objection(at: root, wanted: .folder, user: geteuid(), accepted: accepted) { throw objection }
        return accepted
    }

    /// Returns the owner of the spool's folder if the process runs as the user root: a container's volume may belong to a user unknown
    /// there, or its file system may give all files one owner. This is safe, because such an owner controls the spool's location anyway.
    package static func acceptedOwner(_ status: SpoolFileStatus, user: UInt32) -> UInt32? {
        user == 0 ? status.owner : nil
    }

    /// Returns why a path in the directory can't be used; `nil` if it can.
    private static func objection(
        to path: String, is kind: SpoolFileStatus.Kind, accepting owner: UInt32?, _ files: SpoolFileSystem
    ) throws(SpoolFault) -> SpoolFault? {
        try files.status(path)?.objection(at: path, wanted: kind, user: geteuid(), accepted: owner)
    }

    /// Locks a directory and reads its files.
    ///
    /// - Parameter remarks: Receives the diagnostics of an unusable directory.
    /// - Returns: `nil` if another process has locked the directory, if a later version has written to it, or if a position in it is too
    ///   high. Records added to a later version's directory could get positions that it has used.
    private static func take(
        _ path: String, accepting owner: UInt32?, _ files: SpoolFileSystem, _ remarks: inout [String]
    ) throws(SpoolFault) -> SpoolDirectory? {
        if let objection = try objection(to: path, is: .folder, accepting: owner, files) { throw objection }
        let lockPath = path + "/" + lockFile
        if let objection = try objection(to: lockPath, is: .file, accepting: owner, files) { throw objection }
        guard let lock = try files.lock(lockPath) else { return nil }
        var directory = SpoolDirectory(path: path, lock: lock)
        directory.acceptedOwner = owner
        do throws(SpoolFault) {
            if try directory.scan(files) { return directory }
        } catch {
            files.close(lock)
            throw error
        }
        files.close(lock)
        remarks += directory.remarks
        return nil
    }

    /// Returns why a file in the directory can't be used; `nil` if it can.
    func objection(to file: String, _ files: SpoolFileSystem) throws(SpoolFault) -> SpoolFault? {
        try Self.objection(to: path + "/" + file, is: .file, accepting: acceptedOwner, files)
    }

    private init(path: String, lock: Int32) {
        self.path = path
        self.lock = lock
    }

    /// Restarts the numbering: no records are left that the cursors could refer to.
    private mutating func forgetCursors(_ files: SpoolFileSystem) throws(SpoolFault) {
        do throws(SpoolFault) {
            for name in cursors.keys { try files.remove(path + "/" + DestinationCursor.file(of: name)) }
            cursors = [:]
        } catch {
            close(files)
            throw error
        }
    }

    /// Syncs the parent directories, once.
    mutating func syncParents(_ files: SpoolFileSystem) throws(SpoolFault) {
        while let parent = unsyncedParents.last {
            do throws(SpoolFault) {
                try files.syncDirectory(parent)
            } catch let fault where fault.isForbidden {
                // A user may create entries in a directory without being allowed to read it, and syncing requires opening it for reading.
            }
            unsyncedParents.removeLast()
        }
    }

    func close(_ files: SpoolFileSystem) {
        files.close(lock)
    }
}

extension SpoolFault {
    /// Whether access is denied.
    fileprivate var isForbidden: Bool { code == EACCES || code == EPERM }

    /// Whether the fault is this path's alone, such as another user's directory or a file in its place, so that another directory may work.
    fileprivate var isOfPlace: Bool { detail != nil || [EACCES, ENOTDIR, EEXIST, ELOOP].contains(code) }
}

extension SpoolDirectory {
    /// The size limit for reading a segment file. This version writes at most 1 MiB, but a foreign file may have any size.
    private static let largestFile = 16 << 20

    /// Reads all files.
    ///
    /// - Returns: Whether the directory can be used.
    mutating func scan(_ files: SpoolFileSystem) throws(SpoolFault) -> Bool {
        var names: [SegmentName] = []
        // Useless files are removed at the end, because a directory to which a later version has written must stay unchanged.
        var useless: [String] = []
        for file in try files.list(path) where file != Self.lockFile {
            let objection = try objection(to: file, files)
            if let name = SegmentName(file) {
                // Unusable files count too, so that no new segment gets their names.
                epoch = max(epoch, name.epoch)
                if let objection {
                    remarks.append("\(objection). The records in \(file), if any, are skipped.")
                } else {
                    names.append(name)
                }
            } else if let objection {
                // The spool writes the temporary file and the cursors itself, so it must own them. Other foreign files are ignored.
                if file == Self.temporary || DestinationCursor.destination(ofFile: file) != nil { throw objection }
            } else if file == Self.temporary {
                useless.append(path + "/" + file)
            } else if let destination = DestinationCursor.destination(ofFile: file) {
                let bytes = try files.with(path + "/" + file, .read) { file throws(SpoolFault) in
                    try files.readAll(file, 0..<DestinationCursor.size)
                }
                switch DestinationCursor.read(bytes) {
                case .cursor(let cursor): cursors[destination] = cursor
                case .damaged:
                    cursors[destination] = DestinationCursor()
                    remarks.append("\(path)/\(file) is damaged: the remaining records are sent to its destination again.")
                case .newer:
                    remarks.append("\(path)/\(file) has a version that this program doesn't know. The directory is left unchanged.")
                    return false
                }
            } else {
                leave(try files.with(path + "/" + file, .read) { file throws(SpoolFault) in try files.size(file) })
            }
        }
        var damaged: Set<SegmentName> = []
        for name in names.sorted() {
            epoch = max(epoch, name.epoch)
            guard try scan(name, &useless, &damaged, files) else { return false }
        }
        guard lastPosition <= SegmentFrame.lastPosition / 2 else {
            remarks.append("\(path) has a position that no spool reaches. The directory is left unchanged: remove it to use it again.")
            return false
        }
        let superseded = try supersede(damaged, files)
        // The replacements must be as durable as the files that are removed.
        if !superseded.isEmpty { try files.syncDirectory(path) }
        for path in useless + superseded { try files.remove(path) }
        return true
    }

    /// Skips the earlier copies of records in two segments, which a failed sync or an interrupted merge leaves. The later copy was synced
    /// last. If only the later copy is damaged, the earlier one counts.
    ///
    /// - Parameter damaged: The damaged segments.
    /// - Returns: The files without remaining records.
    private mutating func supersede(_ damaged: Set<SegmentName>, _ files: SpoolFileSystem) throws(SpoolFault) -> [String] {
        var last: RecordPosition = 0
        for (index, segment) in segments.enumerated() {
            if !damaged.contains(segment.name) {
                last = max(last, segment.last)
            } else if segment.first > 0, segment.first <= last {
                segments[index] = try rescan(segment, after: last, files)
            }
        }
        var superseded: [String] = []
        var bound = RecordPosition.max
        for index in segments.indices.reversed() where segments[index].first > 0 {
            let segment = segments[index]
            if segment.first >= bound {
                superseded.append(path + "/\(segment.name)")
                segments.remove(at: index)
            } else {
                if segment.last >= bound { segments[index] = try rescan(segment, before: bound, files) }
                bound = segment.first
            }
        }
        // A segment without records gets the last position of the one before it, so that both are removed together.
        for index in segments.indices where segments[index].first == 0 { segments[index].last = index > 0 ? segments[index - 1].last : 0 }
        return superseded
    }

    private func rescan(
        _ segment: Segment, after previous: RecordPosition = 0, before bound: RecordPosition = .max, _ files: SpoolFileSystem
    ) throws(SpoolFault) -> Segment {
        let (bytes, _) = try read(segment.name, files)
        guard case .segment(let rest, _) = Segment.scan(segment.name, bytes, after: previous, before: bound) else { return segment }
        return rest
    }

    /// Scans a segment file.
    ///
    /// - Parameters:
    ///   - useless: Receives removable files.
    ///   - damaged: Receives damaged segments.
    /// - Returns: Whether the directory can be used.
    private mutating func scan(
        _ name: SegmentName, _ useless: inout [String], _ damaged: inout Set<SegmentName>, _ files: SpoolFileSystem
    ) throws(SpoolFault) -> Bool {
        let (bytes, size) = try read(name, files)
        switch Segment.scan(name, bytes) {
        case .empty where size > Self.largestFile:
            leave(size)
            remarks.append("\(path)/\(name) has \(size) bytes, more than any segment. It is left unchanged.")
        case .segment(let segment, let damages):
            if damages > 0 {
                damaged.insert(name)
                remarks.append("\(path)/\(name) is damaged at \(damages) places; all other records are intact.")
            }
            segments.append(segment)
        case .empty:
            useless.append(path + "/\(name)")
        case .unreadable:
            leave(size)
            remarks.append("\(path)/\(name) has no readable header. It is left unchanged.")
        case .newer(let version):
            remarks.append("\(path)/\(name) has version \(version), which this program doesn't know. The directory is left unchanged.")
            return false
        }
        return true
    }

    /// Returns a segment file's bytes, or only its header if the file is too large, and the file's size.
    private func read(_ name: SegmentName, _ files: SpoolFileSystem) throws(SpoolFault) -> (bytes: ByteBuffer, size: Int) {
        try files.with(path + "/\(name)", .read) { file throws(SpoolFault) -> (ByteBuffer, Int) in
            let size = try files.size(file)
            // The header shows whether a later version has written the file, which may write larger ones.
            let range = 0..<(size > Self.largestFile ? SegmentHeader.size : size)
            do throws(SpoolFault) {
                return (try files.readAll(file, range), size)
            } catch let fault where fault.isUnreadable {
                return (try files.readAll(file, range, salvages: true), size)
            }
        }
    }

    /// Counts the bytes of a file that is left unchanged. File systems may report any size, so the sum is bounded against overflow.
    private mutating func leave(_ size: Int) {
        let bound = 1 << 60
        otherBytes = min(otherBytes, bound) + min(size, bound)
    }
}
