public import Foundation
import WebServiceClient

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
