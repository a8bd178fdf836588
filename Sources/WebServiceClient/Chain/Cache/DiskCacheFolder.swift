import CSystemLibraries
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The folder of a ``DiskCacheStore``: names and lists its files.
///
///     ROOT/PARTITION/URL.SLOT                  a response; both names are digests
///     ROOT/PARTITION/new-PROCESS-MARK-RANDOM   a response that isn't finished
struct DiskCacheFolder: Sendable {
    /// A file.
    struct File {
        enum Kind {
            case response
            /// A process is writing it.
            case unfinished
            /// The process that was writing it has ended.
            case abandoned
        }

        let kind: Kind
        let size: Int
        /// The time of the last use, in nanoseconds since 1970.
        let used: Int64
    }

    /// The place of a file that is being visited. The path is built on demand, because most visits need only the size.
    struct Place {
        fileprivate let folder: String
        /// Valid during the visit.
        fileprivate let name: UnsafePointer<CChar>

        var path: String { "\(folder)/\(String(cString: name))" }
    }

    /// The path of the folder.
    let root: String

    /// The number of responses of one key, such as those for different languages.
    static let slots = 8
    /// Distinguishes this process from others, including ended ones with the same ID.
    private static let processMark = "\(getpid())-\(String(UInt32.random(in: .min ... .max), radix: 36))"
    /// The beginning of the names of unfinished files.
    private static let unfinishedPrefix = "new-"
    /// The age in seconds at which unfinished files are removed, even if their process still runs.
    private static let unfinishedAge = 3_600.0
    /// The age in seconds at which abandoned files are removed. A process in another container may only seem to have ended.
    private static let abandonedAge = 60.0

    init(_ directory: URL) {
        var path = directory.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        root = path
    }

    // MARK: Names

    /// The folder of a partition.
    func folder(of partition: String) -> String {
        "\(root)/\(partition.isEmpty ? "0" : String(SHA256.hexadecimal(of: partition).prefix(32)))"
    }

    /// The paths that the responses of a key may have.
    func paths(of key: CacheKey) -> [String] { Self.paths(folder(of: key.partition), key.url) }

    /// The paths that the responses of a URL may have, in all partitions.
    func paths(ofURL url: String) -> [String] { partitions.flatMap { Self.paths($0, url) } }

    private static func paths(_ folder: String, _ url: String) -> [String] {
        let name = SHA256.hexadecimal(of: url).prefix(40)
        return (0..<slots).map { "\(folder)/\(name).\($0)" }
    }

    /// A new path for a response that isn't finished.
    func unfinishedPath(in partition: String) -> String {
        "\(folder(of: partition))/\(Self.unfinishedPrefix)\(Self.processMark)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }

    // MARK: Content

    private var partitions: [String] {
        var paths: [String] = []
        Self.names(in: root) { _, name in paths.append("\(root)/\(String(cString: name))") }
        return paths
    }

    /// Visits all files.
    func visit(_ body: (_ file: File, _ place: Place) -> Void) {
        for folder in partitions {
            Self.names(in: folder) { handle, name in
                var status = csl_file_status()
                guard csl_folder_status(handle, name, &status) == 0, status.is_regular else { return }
                let isUnfinished = strncmp(name, Self.unfinishedPrefix, Self.unfinishedPrefix.utf8.count) == 0
                let kind: File.Kind =
                    isUnfinished ? Self.isAbandoned(String(cString: name)) ? .abandoned : .unfinished : .response
                body(
                    File(kind: kind, size: Int(clamping: status.size), used: status.modified), Place(folder: folder, name: name))
            }
        }
    }

    /// Whether an unfinished file is old enough to be removed.
    static func isExpired(_ file: File, at now: Date) -> Bool {
        let age = now.timeIntervalSince1970 - Double(file.used) / 1e9
        return switch file.kind {
        case .response: false
        case .unfinished: age > unfinishedAge
        case .abandoned: age > abandonedAge
        }
    }

    /// Whether the process that was writing an unfinished file seems to have ended.
    private static func isAbandoned(_ name: String) -> Bool {
        let mark = name.dropFirst(unfinishedPrefix.count)
        if mark.hasPrefix(processMark + "-") { return false }
        guard let process = mark.split(separator: "-").first.flatMap({ pid_t($0) }), process > 0 else { return true }
        return process == getpid() || kill(process, 0) != 0 && errno == ESRCH
    }

    private static func names(in path: String, _ body: (_ folder: UnsafeMutableRawPointer, _ name: UnsafePointer<CChar>) -> Void) {
        guard let folder = csl_folder_open(path) else { return }
        defer { csl_folder_close(folder) }
        while let name = csl_folder_next(folder) {
            if name[0] != CChar(UInt8(ascii: ".")) { body(folder, name) }
        }
    }
}
