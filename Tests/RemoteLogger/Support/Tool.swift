import Foundation

/// Runs a program of the system and gives its exit status and what it printed.
enum Tool {
    /// Whether a program is there.
    static func exists(_ name: String) -> Bool {
        (try? run(["sh", "-c", "command -v \(name)"]).status) == 0
    }

    /// The project's judges and test data that are not part of it; tests that need them say so.
    static var sharedDirectory: URL? {
        ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { URL(filePath: $0) }
    }

    static func run(_ arguments: [String]) throws -> (status: Int32, output: Data) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }

    /// Runs a body with the bytes in a file.
    static func withFile<Result>(_ bytes: Data, _ body: (String) throws -> Result) throws -> Result {
        let file = FileManager.default.temporaryDirectory.appending(path: "remote-logger-\(UUID().uuidString)")
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path(percentEncoded: false))
    }
}
