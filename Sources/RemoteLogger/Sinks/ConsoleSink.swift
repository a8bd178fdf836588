import Dispatch
import Foundation
import WebServiceClient

/// Prints records as lines on standard error:
///
///     2026-03-01T09:30:00.123Z warning  shop.orders: Stock is low item=17 left=2 (Shop/Orders.swift:42)
///
/// A thread of its own writes; when it can't keep up, lines above the bound are left out, and a line says how many.
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

    /// A sink that prints.
    ///
    /// - Parameters:
    ///   - limit: the most lines that may wait to be written.
    ///   - formatter: how a record is written.
    ///   - output: writes a line, which ends in a newline; standard error unless given. Called on one thread at a time. What it
    ///     or the formatter logs makes no record.
    public init(
        minimumLevel: LogLevel = .trace, limit: Int = 10_000, formatter: LineFormatter = .text, output: (@Sendable (String) -> Void)? = nil
    ) {
        self.minimumLevel = minimumLevel
        self.limit = max(1, limit)
        self.formatter = formatter
        // That nobody reads standard error is no reason to fail.
        self.output = output ?? { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) }
    }

    /// How many records were left out, since the output was too slow or the sink was shut down.
    public var leftOut: UInt64 { state.withLock { $0.leftOutInAll } }

    /// Hands the record to the writing thread.
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
            // What formats or prints may log: that mustn't be printed in turn.
            OwnWork.$isShipping.withValue(true) {
                if leftOut > 0 { output("… \(leftOut) records left out: the console was too slow\n") }
                output(formatter.line(of: record) + "\n")
            }
        }
    }

    /// Waits until everything is printed, or the time is over.
    public func flush(within limit: Duration) async -> Bool {
        await queue.finishes(within: limit)
    }

    /// Waits like ``flush(within:)`` and prints nothing that is logged later.
    public func shutdown(within limit: Duration) async -> Bool {
        state.withLock { $0.isClosed = true }
        return await flush(within: limit)
    }

    /// A record as a line without its end. Line breaks and controls in it are written as `\n` or `\u{…}`, so that nobody can forge a line.
    static func line(of record: LogRecord) -> String {
        var time = JSONText()
        TimestampText.write(nanoseconds: record.time, into: &time)
        var line = time.string.dropLast(7) + "Z "
        line += record.level.description.padding(toLength: 8, withPad: " ", startingAt: 0)
        line += record.label.isEmpty ? " " : " \(record.label): "
        line += record.message
        if !record.metadata.isEmpty { line += " \(record.metadata)" }
        if let error = record.error { line += " error=\(error)" }
        if let source = record.source { line += " (\(source.file):\(source.line))" }
        return escapedLine(String(line))
    }

    /// A line with what ends it, or what terminals obey, escaped.
    static func escapedLine(_ line: String) -> String {
        line.unicodeScalars.contains(where: isUnfit) ? escaped(line) : line
    }

    /// Controls, those above ASCII too, which terminals obey, and what else ends a line or turns its direction around.
    private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func escaped(_ line: String) -> String {
        var result = ""
        for scalar in line.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isUnfit(scalar): result += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension ConsoleSink: HealthReporting {
    func report(to health: inout LogHealth) { health.leftOut += leftOut }
}
