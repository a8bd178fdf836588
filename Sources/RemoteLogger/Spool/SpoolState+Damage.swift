extension SpoolState {
    /// Compares what a segment has with what it should have, and counts what is missing as lost for those who haven't read it.
    mutating func recount(_ name: SegmentName, found: FoundRecords) {
        guard let index = segments.firstIndex(where: { $0.name == name }) else { return }
        let segment = segments[index]
        var counts = LogLevel.allCases.map { _ in 0 }
        for record in found { counts[Int(record.level.rawValue)] += 1 }
        guard counts != segment.counts else { return }
        for (name, destination) in destinations where destination.read < segment.last {
            let level = destination.minimumLevel
            let excluded = segment.excluded[name]
            var expected = segment.count(for: name, destination)
            if destination.read >= segment.first {
                let behind = segments[(index + 1)...].reduce(memoryCount(for: name, destination)) { $0 + $1.count(for: name, destination) }
                expected = destination.unread - behind
            }
            let there = found.count { record in
                let position = record.frame.position
                return position > destination.read && record.level >= level && !(excluded?.contains(position) ?? false)
            }
            if expected > there {
                destinations[name]?.lose(expected - there, from: max(destination.read + 1, segment.first), .damaged)
            }
        }
        segments[index].counts = counts
        var there = Exclusions()
        for record in found { there.insert(record.frame.position) }
        segments[index].found = there
        segments[index].keepReports(found.lazy.map(\.frame.position))
        for name in segment.excluded.keys { segments[index].excluded[name]?.keep(only: found.lazy.map(\.frame.position)) }
    }

    /// How many records in memory a destination hasn't read.
    func memoryCount(for name: String, _ destination: DestinationState) -> Int {
        memory.count(from: destination.minimumLevel, after: destination.read, for: name)
    }
}
