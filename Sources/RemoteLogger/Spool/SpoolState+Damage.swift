extension SpoolState {
    /// Compares what a segment has with what it should have, and counts what is missing as lost for those who haven't read it.
    mutating func recount(_ name: SegmentName, found: [(position: RecordPosition, level: LogLevel)]) {
        guard let index = segments.firstIndex(where: { $0.name == name }) else { return }
        let segment = segments[index]
        var counts = LogLevel.allCases.map { _ in 0 }
        for record in found { counts[Int(record.level.rawValue)] += 1 }
        guard counts != segment.counts else { return }
        for (name, destination) in destinations where destination.read < segment.last {
            let level = destination.minimumLevel
            var expected = segment.count(from: level)
            if destination.read >= segment.first {
                let behind = segments[(index + 1)...].reduce(memoryCount(for: destination)) { $0 + $1.count(from: level) }
                expected = destination.unread - behind
            }
            let there = found.count { $0.position > destination.read && $0.level >= level }
            if expected > there {
                destinations[name]?.lose(expected - there, from: max(destination.read + 1, segment.first), .damaged)
            }
        }
        segments[index].counts = counts
    }

    /// How many records in memory a destination hasn't read.
    func memoryCount(for destination: DestinationState) -> Int {
        memory.count(from: destination.minimumLevel, after: destination.read)
    }
}
