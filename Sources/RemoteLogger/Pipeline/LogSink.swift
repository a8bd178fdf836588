/// Somewhere that records go: a receiver, the console, an array in a test.
///
/// Records arrive one at a time in the order of their sequence numbers, on the thread that logs. A conforming type therefore
/// * returns from ``write(_:)`` at once, without waiting for disk, network or another thread;
/// * doesn't log in ``write(_:)``: what it logs there is refused and counted (see ``LogPipeline/suppressed``), as it would feed itself;
/// * counts what it can't keep.
public protocol LogSink: Sendable {
    /// Records below this level aren't given to the sink. It doesn't change.
    var minimumLevel: LogLevel { get }

    /// Takes a record.
    func write(_ record: LogRecord)

    /// Waits until what was written before has arrived, or the time is over.
    ///
    /// - Returns: whether all of it arrived.
    func flush(within limit: Duration) async -> Bool

    /// Does what ``flush(within:)`` does, then ends. What is written later is dropped, and counted.
    ///
    /// - Returns: whether all of it arrived.
    func shutdown(within limit: Duration) async -> Bool
}
