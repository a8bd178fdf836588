#if os(Linux) || os(macOS)
package import Foundation

/// A process that has ended.
package struct ChildProcess: Sendable {
    /// Its exit status.
    package let status: Int32
    /// The standard output.
    package let output: Data
    /// The standard error.
    package let errors: Data

    /// Both texts, for messages.
    package var text: String { String(decoding: output + errors, as: UTF8.self) }

    /// Runs a program and waits for its end without blocking a thread.
    ///
    /// All data goes through files, so no pipe must be read at the same time, and none can fill up.
    ///
    /// - Parameters:
    ///   - arguments: The program, as a path or a name in `PATH`, and its arguments.
    ///   - input: The standard input.
    ///   - folder: The working directory; by default this process's.
    package static func run(_ arguments: [String], input: Data = Data(), in folder: URL? = nil) async throws -> ChildProcess {
        let place = FileManager.default.temporaryDirectory.appending(path: "child-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let (source, target, faults) = (place.appending(path: "in"), place.appending(path: "out"), place.appending(path: "errors"))
        try input.write(to: source)
        for file in [target, faults] { try Data().write(to: file) }
        let handles = try [
            FileHandle(forReadingFrom: source), FileHandle(forWritingTo: target), FileHandle(forWritingTo: faults),
        ]
        defer { for handle in handles { try? handle.close() } }
        let process = try RunningProcess(arguments, in: folder, input: handles[0], output: handles[1], errors: handles[2])
        let status = try await process.end()
        return try ChildProcess(status: status, output: Data(contentsOf: target), errors: Data(contentsOf: faults))
    }
}
#endif
