#if os(Linux) || os(macOS)
import Foundation
import TestSupport

/// The `openssl` program, as a reference implementation.
enum OpenSSL {
    static let command: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent("openssl") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Runs the program with empty input.
    static func run(_ arguments: [String], in folder: URL) async throws -> ChildProcess {
        try await ChildProcess.run([command?.path ?? "openssl"] + arguments, in: folder)
    }
}
#endif
