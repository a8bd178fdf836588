import CSystemLibraries
import Dispatch
import Foundation
import HTTPTransport

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The target that a path leads to after following links.
enum LineTarget: Sendable, Equatable {
    /// A regular file at this path, which isn't a link, or a file to be created. It is written and renamed there; the links remain.
    case file(String)
    /// Something else at this path, such as a pipe or a terminal: it has no offsets and no size, and is never renamed.
    case device(String)
    /// A descriptor that the process has open, as with `/dev/stdout`. It is shared: output of other writers interleaves.
    case descriptor(Int32)

    /// Follows a path like the system does.
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
            // The descriptor links of other processes describe the target, such as `pipe:[123]`, without a path.
            var end = csl_file_status()
            if csl_status_at_path(destination, false, &status) != 0, csl_status_at_path(path, true, &end) == 0 {
                // A regular file that was deleted, or whose name isn't UTF-8: the link's text would name a different file.
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

    /// Writes bytes to a target without offsets.
    ///
    /// - Returns: The number of written bytes.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SpoolFault) -> Int {
        // A pipe without a reader is an ordinary error and mustn't end the process.
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
            // Another process may have made the descriptor nonblocking. This thread has no other work, so it waits.
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&ready, 1, 1_000)
            return 0
        }
        throw SpoolFault(code, "write")
    }
}

extension DispatchQueue {
    /// Waits until all work on the queue, and then `work`, is done, or the time is over.
    ///
    /// - Returns: Whether it is done.
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
