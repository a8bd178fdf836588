import CSystemLibraries
import HTTPTransport

/// The clock of loggers and shippers. Tests can pass a clock that they control.
public protocol LogClock: Sendable {
    /// The wall-clock time in nanoseconds since 1970-01-01T00:00:00Z.
    var time: UInt64 { get }

    /// The monotonic time in nanoseconds since an arbitrary moment. It never goes back.
    var uptime: UInt64 { get }

    /// Waits until a moment on the monotonic clock; returns at once if it has passed. The clock determines whether time in system sleep
    /// counts.
    ///
    /// - Parameter end: The ``uptime`` at which the wait ends, in nanoseconds.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(until end: UInt64) async throws
}

extension LogClock {
    /// Waits for a duration from now; returns at once if it is zero or less.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await sleep(until: uptime &+ duration.wholeNanoseconds)
    }
}

/// The system's clocks.
public struct SystemLogClock: LogClock {
    /// Creates a clock.
    public init() {}

    /// The wall-clock time in nanoseconds since 1970-01-01T00:00:00Z; 0 before that.
    public var time: UInt64 { UInt64(max(0, csl_wall_nanoseconds())) }

    /// The monotonic time in nanoseconds, on Linux without time in system sleep.
    public var uptime: UInt64 { UInt64(max(0, csl_uptime_nanoseconds())) }

    /// Waits until a moment; time in system sleep counts.
    public func sleep(until end: UInt64) async throws {
        let now = uptime
        guard end > now else { return try Task.checkCancellation() }
        try await Task.sleep(for: Duration.nanoseconds(Int64(clamping: end - now)).bounded)
    }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to the range from 0 to 2^63 - 1 (292 years).
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = clampedComponents
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflows) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let limit = UInt64(Int64.max)
        guard !overflows, product < limit else { return limit }
        return min(limit, product + UInt64(attoseconds) / 1_000_000_000)
    }
}
