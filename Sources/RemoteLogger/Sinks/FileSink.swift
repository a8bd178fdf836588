import Dispatch
public import Foundation
public import WebServiceClient

/// Writes records as lines to a file, and begins new files by size or time.
///
///     FileSink(URL(filePath: "/var/log/shop/shop.log"), rotation: .daily(files: 14), formatter: .ndjson)
///
/// The file that is full becomes `shop.log.1`, the one before it `shop.log.2`, and so on; the oldest is deleted. A thread of its own writes; when it
/// can't keep up, or the disk fails, lines above the bound are left out, counted, and a line says how many once it works again.
///
/// Links are followed: the file is written and renamed where it is. What is no file, such as a pipe, a terminal or `/dev/stdout`, gets the lines and
/// is never renamed.
///
/// - Note: A process has its file for itself. For what must not be lost there is ``Spool``.
public final class FileSink: LogSink {
    /// Records below this level aren't written.
    public let minimumLevel: LogLevel
    /// The file that is written to.
    public let file: URL

    private struct State: Sendable {
        var waiting: [LogRecord] = []
        var isScheduled = false
        var leftOut: UInt64 = 0
        var leftOutInAll: UInt64 = 0
        /// How many of them a flush has answered for.
        var leftOutBefore: UInt64 = 0
        var isClosed = false
    }

    private let limit: Int
    private let formatter: LineFormatter
    private let queue = DispatchQueue(label: "RemoteLogger.FileSink", qos: .utility)
    private let state = Locked(State())
    private let diagnostics: Diagnostics
    private let hasComplained = Locked(false)
    private let writer: Locked<RotatingFile>

    /// A sink that writes to a file, whose directory exists.
    ///
    /// - Parameters:
    ///   - limit: the most records that may wait to be written.
    ///   - diagnostics: told that the file can't be written, and that it can again, once each; nobody unless given.
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

    /// How many records were left out, since the disk was too slow or failed, or the sink was shut down.
    public var leftOut: UInt64 { state.withLock { $0.leftOutInAll } }

    /// Hands the record to the writing thread.
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

    /// Writes what waits: on the queue.
    private func work() {
        let (records, before) = state.withLock { state in
            state.isScheduled = false
            defer {
                state.waiting = []
                state.leftOut = 0
            }
            return (state.waiting, state.leftOut)
        }
        // What formats may log: that mustn't be written in turn.
        var lines = OwnWork.$isShipping.withValue(true) { records.map { Array((formatter.line(of: $0) + "\n").utf8) } }
        if before > 0 { lines.insert(Array("… \(before) records left out: the file was too slow, or failed\n".utf8), at: 0) }
        let (lost, fault) = writer.withLock { writer in (writer.append(lines), writer.fault) }
        if !lines.isEmpty { complain(of: fault) }
        guard lost > 0 else { return }
        // The line that tells of the others counts as them.
        let isTold = before > 0 && lost < lines.count
        state.withLock { state in
            let records = UInt64(lost) - (before > 0 && !isTold ? 1 : 0)
            state.leftOut += records + (before > 0 && !isTold ? before : 0)
            state.leftOutInAll += records
        }
    }

    /// Tells once that the file can't be written, and once that it can again.
    private func complain(of fault: SpoolFault?) {
        let isNews = hasComplained.withLock { hasComplained in
            defer { hasComplained = fault != nil }
            return hasComplained != (fault != nil)
        }
        guard isNews else { return }
        if let fault {
            diagnostics.reportOwnWork(
                .warning, "\(file.path(percentEncoded: false)) can't be written: \(fault). Lines are left out, and counted.")
        } else {
            diagnostics.reportOwnWork(.notice, "\(file.path(percentEncoded: false)) can be written again.")
        }
    }

    /// Writes and syncs everything that was logged before, or as much as the time allows.
    ///
    /// - Returns: whether all of it is written that was logged since the last flush.
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

    /// Does what ``flush(within:)`` does and writes nothing that is logged later.
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

/// When a ``FileSink`` begins a new file, and how many it keeps.
public struct FileRotation: Sendable, Hashable {
    /// The most bytes of a file. A line that is longer stands in a file of its own. Default 16 MiB.
    public var bytes: Int
    /// The length of the periods, counted from 1970-01-01T00:00:00Z, of which each has files of its own; `nil` for none. Default none.
    public var period: Duration?
    /// How many files are kept beside the one that is written to. Default 5.
    public var files: Int

    /// The given bounds; less than 1 byte counts as 1, less than 0 files as 0, a period below a second as a second.
    public init(bytes: Int = 16 << 20, period: Duration? = nil, files: Int = 5) {
        self.bytes = max(1, bytes)
        self.period = period.map { max(.seconds(1), $0) }
        self.files = min(10_000, max(0, files))
    }

    /// A file for each hour.
    public static func hourly(files: Int = 24) -> FileRotation { FileRotation(bytes: .max, period: .seconds(3_600), files: files) }
    /// A file for each day, in UTC.
    public static func daily(files: Int = 7) -> FileRotation { FileRotation(bytes: .max, period: .seconds(86_400), files: files) }
}
