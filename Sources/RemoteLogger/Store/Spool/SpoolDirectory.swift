#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The directory of one process, below the one that all share: locked, and read through once.
///
/// A process takes the first of the directories `0`, `1`, `2` … that no other process has locked.
struct SpoolDirectory: Sendable {
    /// The file that is written before it takes another one's place. There is one, so that no more can be left behind.
    static let temporary = "next.temporary"
    static let lockFile = "lock"
    /// How many processes can share a directory.
    private static let slots = 256

    let path: String
    private(set) var lock: Int32
    /// Whose files are accepted in it beside those of the process's user and of root.
    private var acceptedOwner: UInt32?
    var segments: [Segment] = []
    var cursors: [String: DestinationCursor] = [:]
    /// The bytes of files that aren't the spool's own.
    var otherBytes = 0
    /// The highest epoch of any segment.
    var epoch: UInt64 = 0
    /// The directories that lead to it and may have names in them that power loss would take.
    private(set) var unsyncedParents: [String] = []
    /// What there is to tell, each with the path of what it is about.
    var remarks: [String] = []

    /// The highest position that was ever used, as far as can be known.
    var lastPosition: RecordPosition {
        max(segments.map(\.last).max() ?? 0, cursors.values.map(\.position).max() ?? 0)
    }

    /// Opens the first directory that is free.
    ///
    /// - Parameter mustBeEmpty: whether only one without records will do, since this process has numbered its own already. What the
    ///   others hold waits for the next run.
    static func open(below root: String, mustBeEmpty: Bool, files: SpoolFileSystem) throws(SpoolFault) -> SpoolDirectory {
        var remarks: [String] = []
        var firstFault: SpoolFault?
        // Its own name may be new even if this process hasn't made it: who has may have been killed before it was synced.
        var parents: Set<String> = [root]
        // First of all: nothing is made in a directory that can't be used.
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
                if firstFault == nil { remarks.append("\(path) can't be used (\(fault)): another directory is.") }
                firstFault = firstFault ?? fault
            }
        }
        throw firstFault ?? SpoolFault.busy
    }

    /// Opens the directories of processes that have ended and have left records. One that can't be read now waits for the next run.
    ///
    /// - Parameters:
    ///   - own: the directory of this process: those before it were tried already.
    ///   - tell: gets what there is to tell of one that isn't used since it isn't safe.
    static func leftovers(
        below root: String, besides own: String? = nil, files: SpoolFileSystem, tell: (String) -> Void = { _ in }
    ) -> [SpoolDirectory] {
        // Why the spool's own directory can't be used was told.
        guard case .success(let owner) = Result(catching: { () throws(SpoolFault) in try check(root, files) }) else { return [] }
        let slots = ((try? files.list(root)) ?? []).compactMap { name in Int(name).flatMap { String($0) == name ? $0 : nil } }.sorted()
        let first = slots.firstIndex { root + "/\($0)" == own } ?? 0
        return slots.enumerated().compactMap { index, slot in
            var remarks: [String] = []
            do throws(SpoolFault) {
                guard let directory = try take(root + "/\(slot)", accepting: owner, files, &remarks) else { return nil }
                if !directory.segments.isEmpty { return directory }
                directory.close(files)
                for remark in directory.remarks { tell(remark) }
            } catch {
                if error.detail != nil, index >= first { tell("What is in \(root)/\(slot) isn't shipped: \(error).") }
            }
            return nil
        }
    }

    // MARK: Whose it is

    /// Looks whether the directory that all share can be used.
    ///
    /// - Returns: another owner whose files are accepted in it, as ``acceptedOwner(_:user:)`` says.
    private static func check(_ root: String, _ files: SpoolFileSystem) throws(SpoolFault) -> UInt32? {
        guard let status = try files.status(root) else { return nil }
        let accepted = acceptedOwner(status, user: geteuid())
        if let objection = status.objection(at: root, wanted: .folder, user: geteuid(), accepted: accepted) { throw objection }
        return accepted
    }

    /// The owner of a spool's directory is accepted in it where the process runs as root: in containers root finds volumes of users that don't exist
    /// there, and file systems that give all files to one user. Whoever could misuse that owns the place where the spool is to be, and root was
    /// told to use it.
    package static func acceptedOwner(_ status: SpoolFileStatus, user: UInt32) -> UInt32? {
        user == 0 ? status.owner : nil
    }

    /// Looks whether something in the directory can be used.
    private static func check(
        _ path: String, is kind: SpoolFileStatus.Kind, accepting owner: UInt32?, _ files: SpoolFileSystem
    ) throws(SpoolFault) -> SpoolFault? {
        try files.status(path)?.objection(at: path, wanted: kind, user: geteuid(), accepted: owner)
    }

    /// Locks a directory and reads it through.
    ///
    /// - Parameter remarks: gets what there is to tell of one that can't be used.
    /// - Returns: `nil` when another process has locked it, or a later version has written in it. Such a one goes on with positions that can't be
    ///   read here, and would take records that come beside them for its own.
    private static func take(
        _ path: String, accepting owner: UInt32?, _ files: SpoolFileSystem, _ remarks: inout [String]
    ) throws(SpoolFault) -> SpoolDirectory? {
        if let objection = try check(path, is: .folder, accepting: owner, files) { throw objection }
        let lockPath = path + "/" + lockFile
        if let objection = try check(lockPath, is: .file, accepting: owner, files) { throw objection }
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

    /// Why a file in it can't be used; `nil` if it can.
    func objection(to file: String, _ files: SpoolFileSystem) throws(SpoolFault) -> SpoolFault? {
        try Self.check(path + "/" + file, is: .file, accepting: acceptedOwner, files)
    }

    private init(path: String, lock: Int32) {
        self.path = path
        self.lock = lock
    }

    /// Lets the numbering begin anew: no record is left that a cursor could tell of.
    private mutating func forgetCursors(_ files: SpoolFileSystem) throws(SpoolFault) {
        do throws(SpoolFault) {
            for name in cursors.keys { try files.remove(path + "/" + DestinationCursor.file(of: name)) }
            cursors = [:]
        } catch {
            close(files)
            throw error
        }
    }

    /// Syncs what leads to the directory, once.
    mutating func syncParents(_ files: SpoolFileSystem) throws(SpoolFault) {
        while let parent = unsyncedParents.last {
            do throws(SpoolFault) {
                try files.syncDirectory(parent)
            } catch let fault where fault.isForbidden {
                // Who may make a name in a directory may yet not be allowed to read it, and to sync is to open for reading.
            }
            unsyncedParents.removeLast()
        }
    }

    func close(_ files: SpoolFileSystem) {
        files.close(lock)
    }
}

extension SpoolFault {
    /// Every place is taken.
    static let busy = SpoolFault(EBUSY, "flock")

    /// Whether it isn't allowed.
    fileprivate var isForbidden: Bool { code == EACCES || code == EPERM }

    /// Whether it is this place that can't be used, and not the disk: somebody else's directory, or a file in its place.
    fileprivate var isOfPlace: Bool { detail != nil || [EACCES, ENOTDIR, EEXIST, ELOOP].contains(code) }
}

extension SpoolDirectory {
    /// A segment's file of more bytes isn't read: this version writes 1 MiB at most, and somebody else's file may have any size.
    private static let largestFile = 16 << 20

    /// Reads all files through.
    ///
    /// - Returns: whether the directory can be used.
    mutating func scan(_ files: SpoolFileSystem) throws(SpoolFault) -> Bool {
        var names: [SegmentName] = []
        // Removed at the end: a directory in which a later version has written is left untouched, whatever else is in it.
        var useless: [String] = []
        for file in try files.list(path) where file != Self.lockFile {
            let objection = try objection(to: file, files)
            if let name = SegmentName(file) {
                // Its name isn't given to another one, in any case.
                epoch = max(epoch, name.epoch)
                if let objection { remarks.append("\(objection). Its records, if it has any, are left out.") } else { names.append(name) }
            } else if let objection {
                // What takes the place of these would delete them; others don't matter.
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
                    remarks.append("\(path)/\(file) is damaged: what is left is sent to its destination again.")
                case .newer:
                    remarks.append("\(path)/\(file) is of a version that this program doesn't know. The directory is left as it is.")
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
            remarks.append("\(path) has records at places that no program comes to. The directory is left as it is.")
            return false
        }
        let superseded = try supersede(damaged, files)
        // What stands in their place must not be less sure than they are.
        if !superseded.isEmpty { try files.syncDirectory(path) }
        for path in useless + superseded { try files.remove(path) }
        return true
    }

    /// Leaves out the records that later segments have, too, since a sync had failed, or a process ended while two became one: these were synced
    /// later. Only where the later one is damaged, and the earlier isn't, the earlier one's count.
    ///
    /// - Parameter damaged: the segments in which something is.
    /// - Returns: the files of which nothing is left.
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
        // A segment without records is kept as long as what stands before it.
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

    /// - Parameters:
    ///   - useless: gets what can be removed.
    ///   - damaged: gets the segments in which something is.
    /// - Returns: whether the directory can be used.
    private mutating func scan(
        _ name: SegmentName, _ useless: inout [String], _ damaged: inout Set<SegmentName>, _ files: SpoolFileSystem
    ) throws(SpoolFault) -> Bool {
        let (bytes, size) = try read(name, files)
        switch Segment.scan(name, bytes) {
        case .empty where size > Self.largestFile:
            leave(size)
            remarks.append("\(path)/\(name) has \(size) bytes, more than any segment. It is left as it is.")
        case .segment(let segment, let damages):
            if damages > 0 {
                damaged.insert(name)
                remarks.append("\(path)/\(name) is damaged at \(damages) places; every record elsewhere is whole.")
            }
            segments.append(segment)
        case .empty:
            useless.append(path + "/\(name)")
        case .unreadable:
            leave(size)
            remarks.append("\(path)/\(name) has no header that can be read. It is left as it is.")
        case .newer(let version):
            remarks.append("\(path)/\(name) is of version \(version), which this program doesn't know. The directory is left as it is.")
            return false
        }
        return true
    }

    /// - Returns: a segment's bytes, of one that is too large only where the header is, and their number.
    private func read(_ name: SegmentName, _ files: SpoolFileSystem) throws(SpoolFault) -> (bytes: ByteBuffer, size: Int) {
        try files.with(path + "/\(name)", .read) { file throws(SpoolFault) -> (ByteBuffer, Int) in
            let size = try files.size(file)
            // The header says whether a later version has written it, which may write larger ones.
            let range = 0..<(size > Self.largestFile ? SegmentHeader.size : size)
            do throws(SpoolFault) {
                return (try files.readAll(file, range), size)
            } catch let fault where fault.isUnreadable {
                return (try files.readAll(file, range, salvages: true), size)
            }
        }
    }

    /// Leaves a file as it is, and counts its bytes: sizes are whatever a file system says, their sum mustn't overflow.
    private mutating func leave(_ size: Int) {
        let bound = 1 << 60
        otherBytes = min(otherBytes, bound) + min(size, bound)
    }
}
