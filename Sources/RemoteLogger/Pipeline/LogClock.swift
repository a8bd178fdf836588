import CSystemLibraries
import WebServiceClient

/// The clock of loggers and shippers. Tests give their own, whose time moves when they say so.
public protocol LogClock: Sendable {
    /// The wall-clock time in nanoseconds since 1970-01-01T00:00:00Z.
    var time: UInt64 { get }

    /// The monotonic time in nanoseconds since an arbitrary moment. It never goes back.
    var uptime: UInt64 { get }

    /// Waits; not at all for a duration of zero or less. Whether the time in which the machine sleeps counts is the clock's affair.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The system's clocks.
public struct SystemLogClock: LogClock {
    /// The system's clocks.
    public init() {}

    /// The wall-clock time in nanoseconds since 1970-01-01T00:00:00Z; 0 before that.
    public var time: UInt64 { UInt64(max(0, csl_wall_nanoseconds())) }

    /// The monotonic time in nanoseconds, on Linux without the time in which the machine sleeps.
    public var uptime: UInt64 { UInt64(max(0, csl_uptime_nanoseconds())) }

    /// Waits; the time in which the machine sleeps counts.
    public func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await Task.sleep(for: duration.bounded)
    }
}

extension Duration {
    /// The duration in whole nanoseconds, brought into the range from 0 to 2^63 - 1 (292 years).
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = clampedComponents
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflows) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let limit = UInt64(Int64.max)
        guard !overflows, product < limit else { return limit }
        return min(limit, product + UInt64(attoseconds) / 1_000_000_000)
    }
}
