import Foundation
import TestSupport

/// The headers of the system's libraries, as far as they are installed: what our own declarations have to agree with.
enum SystemHeader {
    private static let folders =
        ["/usr/include", "/usr/local/include", "/opt/homebrew/include"] + ["x86_64", "aarch64"].map { "/usr/include/\($0)-linux-gnu" }

    /// Whether a header is there.
    static func isInstalled(_ header: String) -> Bool {
        folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(header)") }
    }

    /// Lets the compiler look at a file of `Tests/CSystemLibraries`; where ours and the header's differ, it doesn't compile.
    static func compile(_ name: String, _ options: [String]) async throws -> ChildProcess {
        let tests = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
        return try await ChildProcess.run(
            ["clang", "-std=gnu11", "-fsyntax-only"] + options + [
                "-I", tests.appending(path: "../Sources/CSystemLibraries/include").standardizedFileURL.path(),
                tests.appending(path: "CSystemLibraries/\(name)-declarations.c").path(),
            ])
    }
}
