import Dispatch
import Foundation
import HTTPTransport

/// Prints records as lines on standard error:
///
///     2026-03-01T09:30:00.123Z warning  shop.orders: Stock is low item=17 left=2 (Shop/Orders.swift:42)
///
/// Lines are written on a dedicated thread; if it can't keep up, lines above the bound are omitted, and a line gives their number.
public final class ConsoleSink: LogSink {
    /// Records below this level aren't printed.
    public let minimumLevel: LogLevel

    private struct State {
        var waiting = 0
        var leftOut: UInt64 = 0
        var leftOutInAll: UInt64 = 0
        var isClosed = false
    }

    private let limit: Int
    private let formatter: LineFormatter
    private let output: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "RemoteLogger.ConsoleSink", qos: .utility)
    private let state = Locked(State())

    /// Creates a sink that prints.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of lines that may wait to be written.
    ///   - formatter: Formats a record.
    ///   - output: Writes a line, which ends with a newline; by default to standard error. Called on one thread at a time. Log calls in the
    ///     output or the formatter make no records.
    public init(
        minimumLevel: LogLevel = .trace, limit: Int = 10_000, formatter: LineFormatter = .text, output: (@Sendable (String) -> Void)? = nil
    ) {
        self.minimumLevel = minimumLevel
        self.limit = max(1, limit)
        self.formatter = formatter
        // A closed standard error isn't a failure.
        self.output = output ?? { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) }
    }

    /// The number of records that were omitted, since the output was too slow or the sink was shut down.
    public var leftOut: UInt64 { state.withLock { $0.leftOutInAll } }

    /// Passes the record to the writing thread.
    public func write(_ record: LogRecord) {
        let accepted = state.withLock { state in
            guard !state.isClosed, state.waiting < limit else {
                state.leftOut += 1
                state.leftOutInAll += 1
                return false
            }
            state.waiting += 1
            return true
        }
        guard accepted else { return }
        queue.async { [self] in
            let leftOut = state.withLock { state in
                state.waiting -= 1
                defer { state.leftOut = 0 }
                return state.leftOut
            }
            // Log calls of the formatter or the output mustn't be printed in turn.
            OwnWork.$isShipping.withValue(true) {
                if leftOut > 0 { output("… \(leftOut) records left out: the console was too slow\n") }
                output(formatter.line(of: record) + "\n")
            }
        }
    }

    /// Waits until everything is printed, up to the limit.
    public func flush(within limit: Duration) async -> Bool {
        await queue.finishes(within: limit)
    }

    /// Waits like ``flush(within:)`` and ignores all later records.
    public func shutdown(within limit: Duration) async -> Bool {
        state.withLock { $0.isClosed = true }
        return await flush(within: limit)
    }
}

extension ConsoleSink: HealthReporting {
    func report(to health: inout LogHealth) { health.leftOut += leftOut }
}
