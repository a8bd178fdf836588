/// Which records a destination gets.
package struct RecordSelection: Sendable {
    /// Those from this level on.
    package var minimumLevel: LogLevel
    /// Of these, those for which it says yes; all without it.
    package var includes: (@Sendable (LogRecord) -> Bool)?

    package init(minimumLevel: LogLevel = .trace, includes: (@Sendable (LogRecord) -> Bool)? = nil) {
        self.minimumLevel = minimumLevel
        self.includes = includes
    }

    /// Whether the filter keeps a record out. Never a shipper's own report of losses.
    func excludes(_ record: LogRecord) -> Bool {
        guard let includes, record.level >= minimumLevel, !record.isLossReport else { return false }
        return !includes(record)
    }
}

extension LogRecord {
    /// The label of what a shipper says itself.
    static let ownLabel = "RemoteLogger"

    /// Whether a shipper tells of its losses: it stands outside of every session.
    var isLossReport: Bool { sequence == 0 && label == Self.ownLabel }
}
