import Foundation
import TestSupport

/// The programs of the system that read what this module writes.
enum Tool {
    /// Whether a program is there.
    static func exists(_ name: String) async -> Bool {
        (try? await ChildProcess.run(["sh", "-c", "command -v \(name)"]).status) == 0
    }

    /// The project's judges and test data that are not part of it; tests that need them say so.
    static var sharedDirectory: URL? {
        ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { URL(filePath: $0) }
    }
}
