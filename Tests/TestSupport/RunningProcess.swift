#if os(Linux) || os(macOS)
package import Foundation
import WebServiceClient

/// A program of the system that was started. It has no more of this process than the three descriptors it is given.
///
/// Not Foundation's `Process`: on Linux its `run()` reads beyond the end of a buffer and crashes now and then where many descriptors are open
/// (swift-corelibs-foundation #5472, mended after Swift 6.3.1), and what others open meanwhile is inherited.
///
/// A thread waits for its end, whoever asks for it: a process that has ended and that nobody has waited for keeps the exit tests busy.
package struct RunningProcess: Sendable {
    /// Its number, which may be another's once it has ended.
    package let identifier: pid_t
    private let isGone = Locked(false)
    private let ending: Task<Int32, any Error>

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
        let identifier = try withExtendedLifetime((input, output, errors)) {
            var actions = SpawnActions()
            defer { actions.end() }
            for (target, handle) in [input, output, errors].enumerated() {
                try actions.set(Int32(target), to: handle?.fileDescriptor)
            }
            return try actions.run(words, variables)
        }
        self.identifier = identifier
        ending = Task { [isGone] in try await onOwnThread { try Self.status(of: identifier, isGone) } }
    }

    /// Waits for its end without holding a thread of the task pool.
    ///
    /// - Throws: `POSIXError` where the system doesn't tell.
    /// - Returns: its exit status; 128 and the signal's number where a signal has ended it, as shells say it.
    package func end() async throws -> Int32 { try await ending.value }

    /// Ends it, whatever it does, if it hasn't ended. It may take a moment until it is gone.
    package func kill() {
        isGone.withLock { isGone in
            if !isGone { _ = Foundation.kill(identifier, SIGKILL) }
        }
    }

    private static func status(of identifier: pid_t, _ isGone: Locked<Bool>) throws -> Int32 {
        // First only looked at: from its reaping on, the number may be another's, who must not be killed.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        return try isGone.withLock { isGone in
            isGone = true
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1 {
                guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ECHILD) }
            }
            let signal = status & 0x7f
            return signal == 0 ? (status >> 8) & 0xff : 128 + signal
        }
    }
}
#endif
