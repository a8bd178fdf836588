extension Segment {
    /// A record in a segment's file.
    struct Found: Sendable {
        let frame: SegmentFrame
        let level: LogLevel
    }

    /// The records in the file, each once, without those that were dropped while they were written. Of a file that has nothing but what others
    /// have, none count.
    func frames(in bytes: ByteBuffer) -> FoundRecords {
        bytes.withUnsafeBytes { bytes in
            var found = FoundRecords()
            var scanner = SegmentScanner(bytes, from: min(bytes.count, SegmentHeader.size), salt: salt)
            while let frame = scanner.next() {
                guard has(frame.position), frame.position > found.last?.frame.position ?? 0, !dropped.contains(frame.position),
                    let level = frame.level(in: bytes)
                else { continue }
                found.append(Found(frame: frame, level: level))
            }
            return found
        }
    }
}
