#if os(Linux) || os(macOS)
import Foundation
import TestSupport

/// The `openssl` program, for what it says of the same bytes.
enum OpenSSL {
    static let command: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent("openssl") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Runs it, with nothing to read.
    static func run(_ arguments: [String], in folder: URL) async throws -> ChildProcess {
        try await ChildProcess.run([command?.path ?? "openssl"] + arguments, in: folder)
    }
}
#endif
