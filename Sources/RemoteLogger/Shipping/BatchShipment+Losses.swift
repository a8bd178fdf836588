/// What becomes of records that the receiver doesn't take.
extension BatchShipment {
    /// Asks for the halves of a piece in which some record is refused, later if nothing was taken for long, or drops its only record.
    mutating func isolate(_ piece: [Int], status: Int?, reason: String) async -> [[Int]] {
        guard piece.count == 1 else { return search.halves(of: piece, status: status, reason: reason) }
        await reject(piece, status: status, reason: reason)
        return []
    }

    mutating func reject(_ places: [Int], status: Int?, reason: String) async {
        reporter.noteRejection(of: places.count, status: status, reason: reason)
        await drop(places, .rejected, reason)
    }

    /// Asks for the halves of a piece, or drops its only record.
    mutating func splitOrDrop(_ piece: [Int], _ reason: DropReason, _ message: String) async -> [[Int]] {
        guard piece.count == 1 else { return piece.halves }
        reporter.noteDrop(reason, message)
        await drop(piece, reason, message)
        return []
    }

    /// Drops what the receiver doesn't take any more, by its own clock. The clock here may be wrong by days: a record of this run has to be old by
    /// the monotonic one, too.
    ///
    /// - Returns: whether any was.
    @discardableResult
    mutating func dropExpired(of places: [Int]) async -> Bool {
        guard let limit = core.format.maximumAge, let offset = core.sender.clockOffset else { return false }
        let uptime = core.settings.clock.uptime
        let now = Int64(clamping: core.settings.clock.time).addingReportingOverflow(offset).partialValue
        let (nanoseconds, foundThrough) = (limit.wholeNanoseconds, core.store.foundThrough)
        let expired = places.filter { place in
            let (position, record) = (batch.records[place].position, batch.records[place].record)
            let (age, overflows) = now.subtractingReportingOverflow(Int64(clamping: record.time))
            guard !overflows, age > 0, UInt64(age) > nanoseconds else { return false }
            return position <= foundThrough || uptime > record.uptime && uptime - record.uptime > nanoseconds
        }
        guard !expired.isEmpty else { return false }
        reporter.noteDrop(.expired, "The receiver takes none that is older than \(limit): \(expired.count) are.")
        await drop(expired, .expired, "too old for the receiver")
        return true
    }

    /// Drops records, into the dead-letter file if there is one.
    private mutating func drop(_ places: [Int], _ reason: DropReason, _ message: String) async {
        await core.bury(places.map { batch.records[$0].record }, reason, message)
        batch.note(.dropped(reason), for: places)
    }
}
