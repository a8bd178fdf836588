#if os(Linux) || os(macOS)
package import Foundation
import WebServiceClient

/// A started process. It inherits only the three descriptors that it is given.
///
/// Foundation's `Process` isn't used: on Linux its `run()` reads past the end of a buffer and sometimes crashes if many descriptors are
/// open (swift-corelibs-foundation #5472, fixed after Swift 6.3.1), and the process inherits descriptors that other threads open at the
/// same time.
///
/// A thread always waits for the end: a process that has ended but isn't reaped keeps the exit tests busy.
package struct RunningProcess: Sendable {
    /// The process identifier, which may be reused after the end.
    package let identifier: pid_t
    private let isGone = Locked(false)
    private let ending: Task<Int32, any Error>

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program, as a path or a name in `PATH`, and its arguments.
    ///   - environment: The environment; by default this process's.
    ///   - folder: The working directory; by default this process's.
    ///   - input: The standard input; by default empty.
    ///   - output: The standard output; by default discarded.
    ///   - errors: The standard error; by default discarded.
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

    /// Waits for the end without blocking a thread of the task pool.
    ///
    /// - Throws: `POSIXError` if the system doesn't report the status.
    /// - Returns: The exit status, or 128 plus the number of the signal that ended the process, as in shells.
    package func end() async throws -> Int32 { try await ending.value }

    /// Kills the process if it hasn't ended. The process may take a moment to end.
    package func kill() {
        isGone.withLock { isGone in
            if !isGone { _ = Foundation.kill(identifier, SIGKILL) }
        }
    }

    private static func status(of identifier: pid_t, _ isGone: Locked<Bool>) throws -> Int32 {
        // Looks before reaping: afterwards the number may belong to another process, which must not be killed.
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
