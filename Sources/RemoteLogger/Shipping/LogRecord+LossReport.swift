extension LogRecord {
    /// The label of what a shipper says itself.
    static let ownLabel = "RemoteLogger"
    /// The name of a report's value that tells whose losses they are.
    private static let destinationKey = "receiver.destination"

    /// A record that tells a receiver what was lost for it. It stands outside of every session: its sequence is 0.
    ///
    /// - Parameter clockOffset: the nanoseconds that the receiver's clock is ahead.
    init(
        losses: [(reason: DropReason, count: UInt64)], for destination: String, clockOffset: Int64?, level: LogLevel, clock: any LogClock
    ) {
        var generator = SystemRandomNumberGenerator()
        let text = losses.map { "\($0.reason) \($0.count)" }.joined(separator: ", ")
        var metadata = LogMetadata(losses.map { ("dropped.\($0.reason)", .int(Int64(clamping: $0.count))) })
        metadata[Self.destinationKey] = .string(destination)
        metadata["receiver.clock_offset_s"] = clockOffset.map { .int($0 / 1_000_000_000) }
        self.init(
            id: LogRecordID(high: generator.next(), low: generator.next()), sequence: 0, time: clock.time, uptime: clock.uptime,
            level: level, label: Self.ownLabel, message: "Log records were dropped: \(text).", metadata: metadata)
    }

    /// Whether a shipper tells of its losses.
    var isLossReport: Bool { sequence == 0 && label == Self.ownLabel }

    /// The destination whose losses it tells, which gets it alone; `nil` for any other record, and for the reports of earlier versions.
    var lossDestination: String? {
        guard isLossReport, case .string(let name)? = metadata[Self.destinationKey] else { return nil }
        return name
    }
}
