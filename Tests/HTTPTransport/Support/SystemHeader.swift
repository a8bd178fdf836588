import Foundation
import TestSupport

/// The installed headers of the system's libraries, which the package's declarations must match.
enum SystemHeader {
    private static let folders =
        ["/usr/include", "/usr/local/include", "/opt/homebrew/include"] + ["x86_64", "aarch64"].map { "/usr/include/\($0)-linux-gnu" }

    /// Whether a header is installed.
    static func isInstalled(_ header: String) -> Bool {
        folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(header)") }
    }

    /// Compiles a file of `Tests/CSystemLibraries`. It fails if the package's declarations differ from the header's.
    static func compile(_ name: String, _ options: [String]) async throws -> ChildProcess {
        let tests = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
        return try await ChildProcess.run(
            ["clang", "-std=gnu11", "-fsyntax-only"] + options + [
                "-I", tests.appending(path: "../Sources/CSystemLibraries/include").standardizedFileURL.path(),
                tests.appending(path: "CSystemLibraries/\(name)-declarations.c").path(),
            ])
    }
}
