/// The records that came last, to know one again that another destination brings, too.
struct RecentRecords: Sendable {
    private struct Entry: Sendable {
        /// `nil` as long as only destinations have brought it whose filters keep it out.
        var position: RecordPosition?
        var destinations: Set<String>
        /// Those whose filters keep it out.
        let excluded: [String]
    }

    private static let limit = 1_024
    private var entries: [LogRecordID: Entry] = [:]
    private var order = RecordQueue<LogRecordID>()

    mutating func add(_ id: LogRecordID, at position: RecordPosition?, by destination: String, excluded: [String]) {
        entries[id] = Entry(position: position, destinations: [destination], excluded: excluded)
        order.append(id)
        if order.count > Self.limit, let oldest = order.popFirst(), oldest != id { entries[oldest] = nil }
    }

    /// A record that came before has a place now.
    mutating func place(_ id: LogRecordID, at position: RecordPosition) {
        entries[id]?.position = position
    }

    /// The place of a record that another destination has brought, if it has one, and whose filters keep it out; `nil` when it is new.
    mutating func claim(_ id: LogRecordID, by destination: String) -> (position: RecordPosition?, excluded: [String])? {
        guard let entry = entries[id], entries[id]?.destinations.insert(destination).inserted == true else { return nil }
        return (entry.position, entry.excluded)
    }
}
