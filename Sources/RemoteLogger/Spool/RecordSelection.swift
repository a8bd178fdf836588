/// Which records a destination gets.
package struct RecordSelection: Sendable {
    /// The destination's name.
    var destination = ""
    /// Those from this level on.
    package var minimumLevel = LogLevel.trace
    /// Of these, those for which it says yes; all without it.
    package var includes: (@Sendable (LogRecord) -> Bool)?

    /// Whether the filter keeps a record out. Of reports of losses each destination gets its own, whatever the filter says: what others have lost
    /// would be wrong of it.
    func excludes(_ record: LogRecord) -> Bool {
        guard record.level >= minimumLevel else { return false }
        if record.isLossReport { return record.lossDestination.map { $0 != destination } ?? false }
        return includes.map { !$0(record) } ?? false
    }
}
