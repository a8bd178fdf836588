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
