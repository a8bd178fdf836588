#if os(Linux) || os(macOS)
import Foundation

/// The `openssl` program, for what it says of the same bytes.
enum OpenSSL {
    static let command: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent("openssl") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Runs it, with nothing to read.
    static func run(_ arguments: [String], in folder: URL) throws -> (status: Int32, output: Data) {
        let process = Process()
        process.executableURL = command
        process.currentDirectoryURL = folder
        process.arguments = arguments
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, data)
    }
}
#endif
