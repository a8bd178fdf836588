import Dispatch
public import Foundation
public import HTTPTransport

/// Writes records as lines to a file, and starts new files by size or time.
///
///     FileSink(URL(filePath: "/var/log/shop/shop.log"), rotation: .daily(files: 14), formatter: .ndjson)
///
/// A full file becomes `shop.log.1`, the one before it `shop.log.2`, and so on; the oldest is deleted. Lines are written on a dedicated
/// thread; if it can't keep up, or the disk fails, lines above the bound are omitted and counted, and a line gives their number after
/// recovery.
///
/// Links are followed: the target file is written and renamed. A target that isn't a regular file, such as a pipe, a terminal or
/// `/dev/stdout`, receives the lines and is never renamed.
///
/// - Note: The file must be exclusive to one process. Use a ``Spool`` for records that must not be lost.
public final class FileSink: LogSink {
    /// Records below this level aren't written.
    public let minimumLevel: LogLevel
    /// The file that records are written to.
    public let file: URL

    private struct State: Sendable {
        var waiting: [LogRecord] = []
        var isScheduled = false
        var leftOut: UInt64 = 0
        var leftOutInAll: UInt64 = 0
        /// The number of them that a flush has already reported.
        var leftOutBefore: UInt64 = 0
        var isClosed = false
    }

    private let limit: Int
    private let formatter: LineFormatter
    private let queue = DispatchQueue(label: "RemoteLogger.FileSink", qos: .utility)
    private let state = Locked(State())
    private let diagnostics: Diagnostics
    private let hasReportedFailure = Locked(false)
    private let writer: Locked<RotatingFile>

    /// Creates a sink that writes to a file in an existing directory.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of records that may wait to be written.
    ///   - diagnostics: Receives one report when the file can't be written, and one when it can again. By default reports are discarded.
    public convenience init(
        _ file: URL, minimumLevel: LogLevel = .trace, rotation: FileRotation = FileRotation(), formatter: LineFormatter = .text,
        limit: Int = 10_000, clock: any LogClock = SystemLogClock(), diagnostics: Diagnostics = Diagnostics()
    ) {
        self.init(
            file, minimumLevel: minimumLevel, rotation: rotation, formatter: formatter, limit: limit, clock: clock,
            diagnostics: diagnostics, files: .system, find: LineTarget.following)
    }

    package convenience init(
        _ file: URL, minimumLevel: LogLevel = .trace, rotation: FileRotation, formatter: LineFormatter = .text, limit: Int = 10_000,
        clock: any LogClock, diagnostics: Diagnostics = Diagnostics(), files: SpoolFileSystem
    ) {
        self.init(
            file, minimumLevel: minimumLevel, rotation: rotation, formatter: formatter, limit: limit, clock: clock,
            diagnostics: diagnostics, files: files, find: { .file($0) })
    }

    private init(
        _ file: URL, minimumLevel: LogLevel, rotation: FileRotation, formatter: LineFormatter, limit: Int, clock: any LogClock,
        diagnostics: Diagnostics, files: SpoolFileSystem, find: @escaping @Sendable (String) throws(SpoolFault) -> LineTarget
    ) {
        self.diagnostics = diagnostics
        self.file = file
        self.minimumLevel = minimumLevel
        self.limit = max(1, limit)
        self.formatter = formatter
        writer = Locked(
            RotatingFile(path: file.path(percentEncoded: false), rotation: rotation, clock: clock, files: files, find: find))
    }

    /// The number of records that were omitted, since the disk was too slow or failed, or the sink was shut down.
    public var leftOut: UInt64 { state.withLock { $0.leftOutInAll } }

    /// Passes the record to the writing thread.
    public func write(_ record: LogRecord) {
        let mustSchedule = state.withLock { state in
            guard !state.isClosed, state.waiting.count < limit else {
                state.leftOut += 1
                state.leftOutInAll += 1
                return false
            }
            state.waiting.append(record)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule { queue.async { [self] in work() } }
    }

    /// Writes the waiting records; runs on the queue.
    private func work() {
        let (records, before) = state.withLock { state in
            state.isScheduled = false
            defer {
                state.waiting = []
                state.leftOut = 0
            }
            return (state.waiting, state.leftOut)
        }
        // Log calls of the formatter mustn't be written in turn.
        var lines = OwnWork.$isShipping.withValue(true) { records.map { Array((formatter.line(of: $0) + "\n").utf8) } }
        if before > 0 { lines.insert(Array("… \(before) records left out: the file was too slow, or failed\n".utf8), at: 0) }
        let (lost, fault) = writer.withLock { writer in (writer.append(lines), writer.fault) }
        if !lines.isEmpty { report(fault) }
        guard lost > 0 else { return }
        // The line that reports omitted records counts as those records.
        let isCounted = before > 0 && lost < lines.count
        state.withLock { state in
            let records = UInt64(lost) - (before > 0 && !isCounted ? 1 : 0)
            state.leftOut += records + (before > 0 && !isCounted ? before : 0)
            state.leftOutInAll += records
        }
    }

    /// Reports once that the file can't be written, and once that it can again.
    private func report(_ fault: SpoolFault?) {
        let isNews = hasReportedFailure.withLock { hasReportedFailure in
            defer { hasReportedFailure = fault != nil }
            return hasReportedFailure != (fault != nil)
        }
        guard isNews else { return }
        if let fault {
            diagnostics.reportOwnWork(
                .warning, "\(file.path(percentEncoded: false)) can't be written: \(fault). Lines are omitted and counted.")
        } else {
            diagnostics.reportOwnWork(.notice, "\(file.path(percentEncoded: false)) can be written again.")
        }
    }

    /// Writes and syncs all earlier records, or as many as the time allows.
    ///
    /// - Returns: Whether all records since the last flush are written.
    public func flush(within limit: Duration) async -> Bool {
        let isDone = await queue.finishes(within: limit) { [self] in
            work()
            writer.withLock { $0.sync() }
        }
        return state.withLock { state in
            defer { state.leftOutBefore = state.leftOutInAll }
            return isDone && state.leftOutInAll == state.leftOutBefore
        }
    }

    /// Flushes like ``flush(within:)`` and ignores all later records.
    public func shutdown(within limit: Duration) async -> Bool {
        state.withLock { $0.isClosed = true }
        let isDone = await flush(within: limit)
        queue.async { [self] in writer.withLock { $0.close() } }
        return isDone
    }
}

extension FileSink: HealthReporting {
    func report(to health: inout LogHealth) { health.leftOut += leftOut }
}

/// The conditions for a new file of a ``FileSink``, and the number of files to keep.
public struct FileRotation: Sendable, Hashable {
    /// The maximum number of bytes of a file. A longer line gets its own file. The default is 16 MiB.
    public var bytes: Int
    /// The length of the periods after which a new file begins, counted from 1970-01-01T00:00:00Z; `nil` for none, the default.
    public var period: Duration?
    /// The number of kept files in addition to the current one. The default is 5.
    public var files: Int

    /// Creates a rotation. `bytes` is at least 1, `files` at least 0, and `period` at least a second; smaller values are raised.
    public init(bytes: Int = 16 << 20, period: Duration? = nil, files: Int = 5) {
        self.bytes = max(1, bytes)
        self.period = period.map { max(.seconds(1), $0) }
        self.files = min(10_000, max(0, files))
    }

    /// One file for each hour.
    public static func hourly(files: Int = 24) -> FileRotation { FileRotation(bytes: .max, period: .seconds(3_600), files: files) }
    /// One file for each day, in UTC.
    public static func daily(files: Int = 7) -> FileRotation { FileRotation(bytes: .max, period: .seconds(86_400), files: files) }
}
