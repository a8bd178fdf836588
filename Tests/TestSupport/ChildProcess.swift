#if os(Linux) || os(macOS)
package import Foundation

/// A program of the system that ran to its end.
package struct ChildProcess: Sendable {
    /// Its exit status.
    package let status: Int32
    /// What it wrote to standard output.
    package let output: Data
    /// What it wrote to standard error.
    package let errors: Data

    /// Both texts, for messages.
    package var text: String { String(decoding: output + errors, as: UTF8.self) }

    /// Runs a program and waits for its end without blocking a thread.
    ///
    /// Everything goes through files: nobody has to read a pipe meanwhile, and no pipe can fill up.
    ///
    /// - Parameters:
    ///   - arguments: the program, by its path or to be found in `PATH`, and its arguments.
    ///   - input: what it reads from standard input.
    ///   - folder: where it works; here unless given.
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
