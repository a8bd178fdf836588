/// What becomes of records that the receiver doesn't take.
extension BatchShipment {
    /// Looks for the record for which a piece is refused, later if nothing was taken for long.
    ///
    /// - Returns: what is to be sent now.
    mutating func isolate(_ piece: [Int], status: Int?, reason: String) async -> [[Int]] {
        await follow(search.refuse(Suspect(piece: piece, status: status, reason: reason)))
    }

    /// What the search sends next, now that a piece has come to its end.
    mutating func goOn(after piece: [Int]) async -> [[Int]] {
        if batch.hasDelivered(of: piece) { search.renew() }
        return await follow(search.goOn(after: piece, isTaken: batch.hasDeliveredAll(of: piece)))
    }

    private mutating func follow(_ step: RefusalSearch.Step) async -> [[Int]] {
        if let found = step.found { await reject(found) }
        return step.pieces
    }

    /// Asks for the halves of a piece whose answer can't be understood, later if nothing was taken for long, or drops its only record.
    mutating func halve(_ piece: [Int], status: Int?, reason: String) async -> [[Int]] {
        let suspect = Suspect(piece: piece, status: status, reason: reason)
        guard piece.count == 1 else { return search.halves(of: suspect) }
        await reject(suspect)
        return []
    }

    mutating func reject(_ suspect: Suspect) async {
        await reject(suspect.piece, status: suspect.status, reason: suspect.reason)
    }

    mutating func reject(_ places: [Int], status: Int?, reason: String) async {
        reporter.noteRejection(of: places.count, status: status, reason: reason)
        await drop(places, .rejected, reason)
    }

    /// Asks for the parts of a piece, or drops its only record.
    mutating func splitOrDrop(_ piece: [Int], _ reason: DropReason, _ message: String) async -> [[Int]] {
        guard piece.count == 1 else { return reason == .oversize ? parts(of: piece) : piece.halves }
        reporter.noteDrop(reason, message)
        await drop(piece, reason, message)
        return []
    }

    /// The parts of a piece that is too large: halves, or where one record is larger than all others together that one, and those before and behind
    /// it. Only such a record can be too large by itself where the others aren't; halving down to it would take a request for each step.
    private func parts(of piece: [Int]) -> [[Int]] {
        let records = piece.map { batch.records[$0].record }
        guard let largest = records.indices.max(by: { records[$0].footprint < records[$1].footprint }),
            let size = try? core.format.encode([records[largest]]).count,
            let others = try? core.format.encode(Array(records[..<largest] + records[(largest + 1)...])).count, size > others
        else { return piece.halves }
        return [Array(piece[..<largest]), [piece[largest]], Array(piece[(largest + 1)...])].filter { !$0.isEmpty }
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
