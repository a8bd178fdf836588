import Foundation
import TestSupport

/// Programs of the system that read this module's output.
enum Tool {
    /// Whether a program is available.
    static func exists(_ name: String) async -> Bool {
        (try? await ChildProcess.run(["sh", "-c", "command -v \(name)"]).status) == 0
    }

    /// The folder of judges and test data outside the project; tests that need it are skipped without it.
    static var sharedDirectory: URL? {
        ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { URL(filePath: $0) }
    }
}
