import CSystemLibraries
import Dispatch
import Foundation
import WebServiceClient

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What a path leads to, links followed: lines go there.
enum LineTarget: Sendable, Equatable {
    /// A file, or none yet, at this path, which is no link. It is changed there, and the links stay as they are.
    case file(String)
    /// Something else, such as a pipe or a terminal, at this path: it has neither places nor a size, and is never renamed.
    case device(String)
    /// What the process has open under this number, as `/dev/stdout` leads to. It is used as it is: whatever else is written there comes in turn.
    case descriptor(Int32)

    /// Follows a path as the system does.
    static func following(_ path: String) throws(SpoolFault) -> LineTarget {
        var path = path
        for _ in 0..<40 {
            if let number = descriptor(named: path) { return .descriptor(number) }
            var status = csl_file_status()
            guard csl_status_at_path(path, false, &status) == 0 else {
                guard errno == ENOENT else { throw .last("lstat") }
                return .file(path)
            }
            if status.is_regular { return .file(path) }
            guard status.is_link else { return .device(path) }
            let destination = try destination(ofLink: path)
            // The links of other processes' descriptors tell what these are, not where: `pipe:[123]`.
            var end = csl_file_status()
            if csl_status_at_path(destination, false, &status) != 0, csl_status_at_path(path, true, &end) == 0 {
                // A regular file that was deleted, or whose name is no UTF-8: what the link tells would be the name of another one.
                guard !end.is_regular else { throw SpoolFault(ENOENT, "readlink") }
                return .device(path)
            }
            path = destination
        }
        throw SpoolFault(ELOOP, "readlink")
    }

    private static func descriptor(named path: String) -> Int32? {
        switch path {
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            let own = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", "/proc/\(getpid())/fd/"]
            guard let folder = own.first(where: path.hasPrefix) else { return nil }
            return Int32(path.dropFirst(folder.count)).flatMap { $0 >= 0 ? $0 : nil }
        }
    }

    private static func destination(ofLink path: String) throws(SpoolFault) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count >= 0 else { throw .last("readlink") }
        let destination = String(decoding: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if destination.hasPrefix("/") { return destination }
        return String(path[..<(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)]) + destination
    }

    /// Writes bytes where there are no places.
    ///
    /// - Returns: how many were written.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SpoolFault) -> Int {
        // That nobody reads a pipe any more is a fault like others, and doesn't end the process.
        var guarding = csl_signal_guard()
        csl_signal_guard_begin(&guarding)
        defer { csl_signal_guard_end(&guarding) }
        #if canImport(Darwin)
        let count = bytes.withUnsafeBytes { Darwin.write(descriptor, $0.baseAddress, $0.count) }
        #elseif canImport(Glibc)
        let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        #else
        let count = bytes.withUnsafeBytes { Musl.write(descriptor, $0.baseAddress, $0.count) }
        #endif
        let code = errno
        if count >= 0 { return count }
        if code == EINTR { return 0 }
        if code == EAGAIN || code == EWOULDBLOCK {
            // Somebody else who has it open may have made it so. Who writes lines has nothing better to do than to wait.
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&ready, 1, 1_000)
            return 0
        }
        throw SpoolFault(code, "write")
    }
}

/// How console and files write a record.
///
///     FileSink(file, formatter: .ndjson)
///     ConsoleSink(formatter: LineFormatter { "\($0.level): \($0.message)" })
public struct LineFormatter: Sendable {
    private let format: @Sendable (LogRecord) -> String

    /// A formatter. What ends a line, or what terminals obey, is escaped in what it makes: a record is a line, whatever is in it.
    public init(_ format: @escaping @Sendable (LogRecord) -> String) {
        self.format = { Self.escaped(format($0)) }
    }

    private init(raw format: @escaping @Sendable (LogRecord) -> String) {
        self.format = format
    }

    /// Time, level, label, message, metadata, error and source, for people.
    public static let text = LineFormatter(raw: { ConsoleSink.line(of: $0) })

    /// An object of JSON, as ``NDJSONFormat`` writes it.
    public static let ndjson = LineFormatter(raw: { record in
        var text = JSONText()
        NDJSONFormat.write(record, into: &text)
        return text.string
    })

    /// The record as a line without its end.
    public func line(of record: LogRecord) -> String { format(record) }

    private static func escaped(_ line: String) -> String {
        ConsoleSink.escapedLine(line)
    }
}

extension DispatchQueue {
    /// Waits until everything that was put on the queue before, and then some work, is done, or the time is over.
    ///
    /// - Returns: whether it is done.
    func finishes(within limit: Duration, _ work: @escaping @Sendable () -> Void = {}) async -> Bool {
        await withCheckedContinuation { continuation in
            let once = Locked<CheckedContinuation<Bool, Never>?>(continuation)
            let end: @Sendable (Bool) -> Void = { done in
                once.withLock { waiting in
                    defer { waiting = nil }
                    return waiting
                }?.resume(returning: done)
            }
            async {
                work()
                end(true)
            }
            let year: UInt64 = 365 * 86_400 * 1_000_000_000
            let nanoseconds = Int(truncatingIfNeeded: min(year, limit.wholeNanoseconds))
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { end(false) }
        }
    }
}
