#if os(Linux) || os(macOS)
package import Foundation

/// A program of the system that was started. It has no more of this process than the three descriptors it is given.
///
/// Not Foundation's `Process`: on Linux its `run()` reads beyond the end of a buffer and crashes now and then where many descriptors are open
/// (swift-corelibs-foundation #5472, mended after Swift 6.3.1), and what others open meanwhile is inherited.
///
/// Exactly one of ``end()`` and ``kill()`` is to be called, and once.
package struct RunningProcess: Sendable {
    /// Its number, until it was waited for.
    package let identifier: pid_t

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: the program, by its path or to be found in `PATH`, and its arguments.
    ///   - environment: this process's own unless given.
    ///   - folder: where it works; here unless given.
    ///   - input: what it reads from; nothing comes unless given.
    ///   - output: where it writes to; it is lost unless given.
    ///   - errors: the same for its messages.
    package init(
        _ arguments: [String], environment: [String: String]? = nil, in folder: URL? = nil, input: FileHandle? = nil,
        output: FileHandle? = nil, errors: FileHandle? = nil
    ) throws {
        var words = ["/usr/bin/env"] + arguments
        if let folder { words = ["/bin/sh", "-c", #"cd "$0" && exec /usr/bin/env "$@""#, folder.path(percentEncoded: false)] + arguments }
        let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0.key)=\($0.value)" }
        var actions = SpawnActions()
        defer { actions.end() }
        for (target, handle) in [input, output, errors].enumerated() { actions.set(Int32(target), to: handle?.fileDescriptor) }
        identifier = try actions.run(words, variables)
    }

    /// Waits for its end without holding a thread of the task pool.
    ///
    /// - Returns: its exit status; 128 and the signal's number where a signal has ended it, as shells say it.
    package func end() async throws -> Int32 {
        try await onOwnThread { [identifier] in Self.wait(for: identifier) }
    }

    /// Ends it, whatever it does.
    package func kill() {
        Foundation.kill(identifier, SIGKILL)
        // That is a matter of moments, but where the system is at a device; the descriptors are closed by then.
        Thread.detachNewThread { [identifier] in _ = Self.wait(for: identifier) }
    }

    private static func wait(for identifier: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1 { guard errno == EINTR else { return -1 } }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : 128 + signal
    }
}
#endif
