public import Foundation
public import HTTPTransport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Keeps log records on disk until their receivers have acknowledged them: across outages, process exits, and power loss.
///
///     let spool = Spool(directory: URL.applicationSupportDirectory.appending(path: "logs"))
///     let shipper = try LogShipper(to: collector, format: OTLPFormat()) { $0.spool = spool }
///
/// Several shippers may share a spool; each needs its own ``ShippingSettings/destination``, which has its own cursor. Several processes may
/// share a directory: each locks its own subdirectory, and also ships the records of processes that have ended.
///
/// A spool never throws and never blocks logging threads. Creating a spool or a shipper on it reads the records of earlier runs, but
/// doesn't wait for writes. While the disk fails, for any reason, records wait in memory within ``SpoolSettings/memory``, are delivered
/// from there, and are written once the disk works again. See <doc:Durability>.
public final class Spool: Sendable {
    let core: SpoolCore
    /// The spools of processes that had ended when this one started.
    let leftovers: [SpoolCore]

    /// Creates a spool in a directory, which is made if missing. Reads the records of earlier runs before it returns.
    ///
    /// - Parameters:
    ///   - directory: A directory of the local file system that is used for nothing else.
    ///   - settings: The limits.
    public convenience init(directory: URL, settings: SpoolSettings = SpoolSettings()) {
        // The URL of an existing directory ends with a slash, which would be doubled in paths inside it.
        var root = directory.standardizedFileURL.path(percentEncoded: false)
        while root.count > 1, root.hasSuffix("/") { root.removeLast() }
        self.init(root: root, settings: settings, files: .system)
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
            // The directory can't be used now; the next run tries again.
            core.close()
            return nil
        }
    }

    deinit {
        core.close()
        for leftover in leftovers { leftover.close() }
    }

    /// The current state of the spool.
    public var statistics: SpoolStatistics {
        var statistics = core.statistics
        statistics.leftovers = leftovers.compactMap(\.statistics.directory)
        return statistics
    }

    /// Writes the records in memory and waits until they are synced.
    ///
    /// - Returns: Whether all earlier records are safe, or gone for another reason, such as an acknowledgement.
    @discardableResult public func sync() async -> Bool {
        await core.sync()
    }

    /// Returns the store of a destination that receives the records from a minimum level that pass the filter; `nil` if the destination is
    /// already in use.
    package func store(
        for destination: String, minimumLevel: LogLevel, includes: (@Sendable (LogRecord) -> Bool)? = nil
    ) -> SpoolDestination? {
        let selection = RecordSelection(destination: destination, minimumLevel: minimumLevel, includes: includes)
        guard core.register(destination, selection) else { return nil }
        for leftover in leftovers { _ = leftover.register(destination, selection) }
        return SpoolDestination(name: destination, spool: self)
    }
}

/// The limits and intervals of a ``Spool``. Every setting has a default that suits most programs.
public struct SpoolSettings: Sendable {
    /// The maximum total size of the spool's files in bytes, a hard limit that includes compaction files. Default 64 MiB; minimum 64 KiB. A
    /// record larger than a sixteenth of it, or than 1 MiB, is dropped as `oversize`.
    public var diskBytes = 64 << 20
    /// The limits of the memory for records on their way to disk, and for all records while the disk fails. Default 50,000 records, 4 MiB.
    public var memory = BufferLimits()
    /// The maximum time until a record is written and synced. Default 200 ms. Records of level `error` or `critical` don't wait.
    public var syncInterval = Duration.milliseconds(200)
    /// The footprint of waiting records, in bytes of memory, that triggers a write before the interval ends. Default 64 KiB.
    public var syncBytes = 64 << 10
    /// The delay before the disk is retried after a failure. Default 500 ms.
    public var retryInterval = Duration.milliseconds(500)
    /// Receives the spool's diagnostics: disk failures and recoveries, and damaged files.
    public var diagnostics = Diagnostics()
    /// The clock of the intervals, which tests can replace.
    public var clock: any LogClock = SystemLogClock()

    /// Creates settings with the defaults.
    public init() {}

    var boundedDiskBytes: Int { max(64 << 10, diskBytes) }

    /// The maximum size of a segment file in bytes.
    var segmentBytes: Int { min(1 << 20, boundedDiskBytes / 16) }

    /// The disk space that is reserved for replacing a segment or a cursor, in bytes.
    var reservedBytes: Int { segmentBytes + SegmentHeader.size + DestinationCursor.size }
}

/// The state of a ``Spool``.
public struct SpoolStatistics: Sendable, Hashable {
    /// The storage of new records.
    public enum Mode: Sendable, Hashable {
        /// On disk, after a short wait in memory.
        case disk
        /// In memory only, because the disk fails. The disk is retried continuously.
        case memory
    }

    /// The storage of new records.
    public var mode: Mode
    /// The total size of the spool's files in bytes.
    public var diskBytes: Int
    /// The number of files with records.
    public var segments: Int
    /// The number of records that wait in memory.
    public var memoryRecords: Int
    /// The approximate size of these records in bytes.
    public var memoryBytes: Int
    /// The directory that this process uses; `nil` until there is one. Other processes with the same spool directory use other ones.
    public var directory: String?
    /// The directories of ended processes whose records are also shipped; the other counts exclude them.
    public var leftovers: [String] = []
}

/// A failed file system call.
package struct SpoolFault: DescribedError, Sendable, Hashable {
    /// The value of `errno`.
    package let code: Int32
    /// The name of the call, such as `rename`.
    package let call: String
    /// The path and the remedy, if the error number alone isn't sufficient.
    package let detail: String?

    package init(_ code: Int32, _ call: String, detail: String? = nil) {
        self.code = code
        self.call = call
        self.detail = detail
    }

    /// Returns the fault for the current `errno`.
    static func last(_ call: String) -> SpoolFault {
        SpoolFault(errno, call)
    }

    /// Whether the path doesn't exist.
    var isMissing: Bool { code == ENOENT }
    /// Whether the medium can't read the data.
    var isUnreadable: Bool { code == EIO }

    package var description: String {
        if let detail { return detail }
        return "\(String(cString: strerror(code))) (\(call), errno \(code))"
    }
}
