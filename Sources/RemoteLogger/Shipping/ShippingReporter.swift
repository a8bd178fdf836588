import HTTPTransport

/// Reports the state of shipping to the diagnostics: the beginning and end of each problem, not every attempt.
final class ShippingReporter: Sendable {
    private struct State: Sendable {
        var isFailing = false
        var isPaused = false
        var hasReportedMissingCompressor = false
        var reportedRemark: String?
        var hasReportedClock = false
        var reportedRejections: Set<Int?> = []
    }

    private let core: ShippingCore
    private let state = Locked(State())

    init(core: ShippingCore) {
        self.core = core
    }

    /// Changes a part of the state.
    ///
    /// - Returns: Whether the value is different from the old one.
    private func change<Value: Equatable & Sendable>(_ part: any WritableKeyPath<State, Value> & Sendable, to value: Value) -> Bool {
        state.withLock { state in
            defer { state[keyPath: part] = value }
            return state[keyPath: part] != value
        }
    }

    /// Returns a receiver's text with secrets masked: a response may repeat a secret from the request.
    private func quoted(_ reason: String) -> String { LogRedaction.standard.masked(reason) }

    private var receiver: String { core.sender.receiver }

    private static func text(of status: Int?) -> String {
        status.map(String.init) ?? "unknown"
    }

    func noteFailure(_ message: String, next: Duration) {
        guard change(\.isFailing, to: true) else { return }
        core.report(
            .warning,
            "\(receiver) doesn't accept log records at present (\(quoted(message))); they are kept, "
                + "and the next attempt is in \(next.text).")
    }

    func notePause(status: Int?, reason: String, next: Duration) {
        guard change(\.isPaused, to: true) else { return }
        let detail = reason.isEmpty ? "" : ", \"\(quoted(reason))\""
        core.report(
            .warning,
            "\(receiver) refuses the log shipper (status \(Self.text(of: status))\(detail)): check the URL and the credentials. "
                + "The records are kept, and the next attempt is in \(next.text).")
    }

    func noteAnswer() {
        let (wasFailing, wasPaused) = (change(\.isFailing, to: false), change(\.isPaused, to: false))
        if wasFailing || wasPaused { core.report(.notice, "\(receiver) accepts log records again.") }
    }

    /// Reports that the receiver's clock differs from the local one by a minute or more. The times of records are sent unchanged.
    ///
    /// - Parameter offset: The receiver's clock minus the local one, in nanoseconds; `nil` if unknown.
    func noteClock(_ offset: Int64?) {
        guard let offset else { return }
        let seconds = (offset / 1_000_000_000).magnitude
        guard change(\.hasReportedClock, to: seconds >= 60), seconds >= 60 else { return }
        let side = offset > 0 ? "ahead of" : "behind"
        core.report(.notice, "The clock of \(receiver) is \(seconds) s \(side) the local one. Log records have local times.")
    }

    func noteCompression(of payload: BatchBody) {
        guard payload.lacksCompressor, change(\.hasReportedMissingCompressor, to: true) else { return }
        core.report(.notice, "zlib (libz.so.1) isn't installed: log records are sent uncompressed.")
    }

    func noteRefusedCompression() {
        core.report(
            .warning,
            "\(receiver) doesn't accept gzip: log records are sent uncompressed from now on. "
                + "Set `compression` to `.none` in this shipper's settings to avoid this attempt at each start.")
    }

    /// Reports the first rejection with each status. Later rejections appear only in the totals of ``ShippingCore/reportLosses()``.
    func noteRejection(of count: Int, status: Int?, reason: String) {
        guard state.withLock({ $0.reportedRejections.insert(status).inserted }) else { return }
        let detail = reason.isEmpty ? "" : ": \"\(quoted(reason))\""
        core.report(.warning, "\(receiver) has permanently refused \(count) log records (status \(Self.text(of: status)))\(detail)")
    }

    func noteDrop(_ reason: DropReason, _ message: String) {
        core.report(.warning, "A log record was dropped (\(reason)). \(quoted(message))")
    }

    func noteRemark(_ remark: String) {
        guard change(\.reportedRemark, to: remark) else { return }
        core.report(.notice, "\(receiver) has accepted log records with a remark: \"\(quoted(remark))\"")
    }
}

extension LogRecord {
    /// The label of a shipper's own records.
    static let ownLabel = "RemoteLogger"
    /// The metadata key for the name of the destination that has the losses.
    private static let destinationKey = "receiver.destination"

    /// Creates a record that reports losses to a receiver. Its sequence is 0, because the record doesn't come from a logger.
    ///
    /// - Parameter clockOffset: The receiver's clock minus the local one, in nanoseconds.
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

    /// Whether the record is a loss report of a shipper.
    var isLossReport: Bool { sequence == 0 && label == Self.ownLabel }

    /// The destination that has the reported losses; other destinations don't receive the report. `nil` for other records, and for reports
    /// that an earlier version wrote.
    var lossDestination: String? {
        guard isLossReport, case .string(let name)? = metadata[Self.destinationKey] else { return nil }
        return name
    }
}
