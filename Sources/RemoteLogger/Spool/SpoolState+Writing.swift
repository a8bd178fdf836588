/// What the writer does with the records in memory.
extension SpoolState {
    /// The records to be written next: at least one if there is any, and no more than a number of records or of bytes.
    mutating func stage(through position: RecordPosition, within limits: BufferLimits) -> [RecordBuffer.Item] {
        releaseMemory()
        let items = memory.oldest(through: position, within: limits)
        staged = StagedRecords(through: items.last?.position ?? 0)
        return items
    }

    /// A destination begins, and its filter is asked for all in memory.
    mutating func judgeMemory(for name: String, _ excludes: (LogRecord) -> Bool) {
        memory.judge(for: name, excludes)
        staged.noteJudgement()
    }

    /// Leaves those out that were dropped since they were staged.
    func removeDropped(from items: inout ArraySlice<RecordBuffer.Item>) {
        guard staged.hasLosses else { return }
        items = items.filter { !staged.isLost(at: $0.position) }[...]
    }

    /// Records are on disk now. What was dropped while it was written is passed over there.
    ///
    /// - Returns: whether the segment is still there; otherwise the records stay in memory.
    mutating func commit(_ items: ArraySlice<RecordBuffer.Item>, in name: SegmentName, length: Int) -> Bool {
        guard let index = segments.lastIndex(where: { $0.name == name }), let last = items.last else { return false }
        let judged = staged.isJudged ? memory.exclusions(through: last.position) : nil
        for item in items {
            // What everybody had acknowledged before a destination began doesn't count for that one.
            let isGone = judged.map { $0[item.position] == nil } ?? false
            if staged.isLost(at: item.position) || isGone {
                segments[index].dropped.insert(item.position)
            } else {
                segments[index].note(level: item.record.level, position: item.position)
                segments[index].noteReport(item.record, at: item.position)
                for name in judged?[item.position] ?? item.excluded where item.record.level >= destinations[name]?.minimumLevel ?? .trace {
                    segments[index].excluded[name, default: Exclusions()].insert(item.position)
                }
            }
        }
        segments[index].length = length
        segments[index].fileBytes = length
        memory.removeAll(through: last.position)
        return true
    }

    /// A record that is being written is lost.
    mutating func lose(_ item: RecordBuffer.Item, _ reason: DropReason) {
        // Acknowledged or dropped meanwhile, it isn't lost now.
        guard let item = memory.remove(item) else { return }
        lose(item, because: reason)
    }
}
