public import Foundation
public import HTTPTransport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Keeps log records on disk until their receivers have acknowledged them: across outages, the end of the process, and power loss.
///
///     let spool = Spool(directory: URL.applicationSupportDirectory.appending(path: "logs"))
///     let shipper = try LogShipper(to: collector, format: OTLPFormat()) { $0.spool = spool }
///
/// Several shippers may share a spool; each says its own ``ShippingSettings/destination`` and has a cursor of its own. Several processes
/// may be given one directory: each uses a subdirectory that it locks, and ships what is in those of processes that have ended.
///
/// A spool never throws and keeps nobody waiting who logs. To make one, and a shipper on it, reads what an earlier run has left, but waits for
/// nothing to be written. While the disk fails, whatever the reason, records wait in memory within ``SpoolSettings/memory``, are delivered from
/// there, and go to disk once it works again. See <doc:Durability>.
public final class Spool: Sendable {
    let core: SpoolCore
    /// The directories of processes that had ended when this one began.
    let leftovers: [SpoolCore]

    /// A spool in a directory, which is made if need be. What an earlier run has left there is read through before this returns.
    ///
    /// - Parameters:
    ///   - directory: a directory of the local file system that is used for nothing else.
    ///   - settings: the bounds.
    public convenience init(directory: URL, settings: SpoolSettings = SpoolSettings()) {
        self.init(root: directory.standardizedFileURL.path(percentEncoded: false), settings: settings, files: .system)
    }

    package init(root: String, settings: SpoolSettings, files: SpoolFileSystem) {
        core = SpoolCore(root: root, settings: settings, files: files)
        core.start()
        let found = SpoolDirectory.leftovers(below: root, besides: core.statistics.directory, files: files) { [core] in
            core.report(.warning, $0)
        }
        leftovers = found.compactMap { directory in
            let core = SpoolCore(root: root, settings: settings, files: files, leftover: directory)
            core.start()
            if core.statistics.directory != nil { return core }
            // It can't be used now: the next run may.
            core.close()
            return nil
        }
    }

    deinit {
        core.close()
        for leftover in leftovers { leftover.close() }
    }

    /// How the spool is.
    public var statistics: SpoolStatistics {
        var statistics = core.statistics
        statistics.leftovers = leftovers.compactMap(\.statistics.directory)
        return statistics
    }

    /// Writes what is in memory, and waits until it is synced.
    ///
    /// - Returns: whether all that was taken before is safe, or gone for another reason, such as an acknowledgement.
    @discardableResult public func sync() async -> Bool {
        await core.sync()
    }

    /// The store of a destination, for records from a level on that are wanted; `nil` when it is in use already.
    package func store(
        for destination: String, minimumLevel: LogLevel, includes: (@Sendable (LogRecord) -> Bool)? = nil
    ) -> SpoolDestination? {
        let selection = RecordSelection(destination: destination, minimumLevel: minimumLevel, includes: includes)
        guard core.register(destination, selection) else { return nil }
        for leftover in leftovers { _ = leftover.register(destination, selection) }
        return SpoolDestination(name: destination, spool: self)
    }
}

/// The bounds and habits of a ``Spool``. Every setting has a default that suits most programs.
public struct SpoolSettings: Sendable {
    /// The most bytes that the spool's files may have together, to the byte, what it needs to tidy up included. Default 64 MiB; less than
    /// 64 KiB counts as that. A record that takes more than a sixteenth of it, or than 1 MiB, is dropped as `oversize`.
    public var diskBytes = 64 << 20
    /// How much is kept in memory: what is on its way to the disk, and all there is while the disk fails. Default 50,000 records, 4 MiB.
    public var memory = BufferLimits()
    /// How long a record may wait until it is written and synced. Default 200 ms. One of level `error` or `critical` doesn't wait.
    public var syncInterval = Duration.milliseconds(200)
    /// The bytes of waiting records, as they take in memory, from which on nothing waits for the interval. Default 64 KiB.
    public var syncBytes = 64 << 10
    /// How long it is until the disk is tried again after it has failed. Default 500 ms.
    public var retryInterval = Duration.milliseconds(500)
    /// Where the spool says what it has to say: that the disk fails and works again, and what it finds damaged.
    public var diagnostics = Diagnostics()
    /// The clock of the intervals; tests give their own.
    public var clock: any LogClock = SystemLogClock()

    /// The defaults.
    public init() {}

    var boundedDiskBytes: Int { max(64 << 10, diskBytes) }

    /// The most bytes of a segment's file.
    var segmentBytes: Int { min(1 << 20, boundedDiskBytes / 16) }

    /// What is kept free for the copy of a segment, or of a cursor, that takes the other's place.
    var reservedBytes: Int { segmentBytes + SegmentHeader.size + DestinationCursor.size }
}

/// How a ``Spool`` is.
public struct SpoolStatistics: Sendable, Hashable {
    /// Where the records are.
    public enum Mode: Sendable, Hashable {
        /// On disk, after a short wait in memory.
        case disk
        /// In memory only, since the disk fails; it is tried again all the time.
        case memory
    }

    /// Where the records are.
    public var mode: Mode
    /// The bytes of the spool's files.
    public var diskBytes: Int
    /// The files that hold records.
    public var segments: Int
    /// The records that wait in memory.
    public var memoryRecords: Int
    /// The bytes that these take, about.
    public var memoryBytes: Int
    /// The directory that this process uses; `nil` until there is one. A second process on the same directory has another one.
    public var directory: String?
    /// The directories of processes that have ended, whose records are shipped, too; the other counts are without them.
    public var leftovers: [String] = []
}

/// A call of the file system that failed.
package struct SpoolFault: DescribedError, Sendable, Hashable {
    /// The system's number of the error.
    package let code: Int32
    /// What was tried, such as `rename`.
    package let call: String
    /// Which path it is, and what to do, where the number alone doesn't tell.
    package let detail: String?

    package init(_ code: Int32, _ call: String, detail: String? = nil) {
        self.code = code
        self.call = call
        self.detail = detail
    }

    /// The fault that `errno` tells of.
    static func last(_ call: String) -> SpoolFault {
        SpoolFault(errno, call)
    }

    /// Whether there is nothing of the name.
    var isMissing: Bool { code == ENOENT }
    /// Whether the medium can't read it.
    var isUnreadable: Bool { code == EIO }

    package var description: String {
        if let detail { return detail }
        return "\(String(cString: strerror(code))) (\(call), errno \(code))"
    }
}
