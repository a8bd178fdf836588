#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

/// The programs that tests start, by what they find.
struct RunningProcessTests {
    @Test func `a program says what it does and how it ends`() async throws {
        let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        let said = try await ChildProcess.run(["sh", "-c", "cat; pwd -P; echo no >&2; exit 7"], input: Data("in\n".utf8), in: folder)
        #expect(said.status == 7)
        #expect(String(decoding: said.output, as: UTF8.self).split(separator: "\n").first == "in")
        #expect(
            String(decoding: said.output, as: UTF8.self).split(separator: "\n").last.map { URL(filePath: String($0)).lastPathComponent }
                == folder.lastPathComponent)
        #expect(String(decoding: said.errors, as: UTF8.self) == "no\n")
        #expect(try await ChildProcess.run(["sh", "-c", "kill -TERM $$"]).status == 128 + SIGTERM)
        #expect(try await ChildProcess.run(["no-such-program-\(UUID().uuidString)"]).status == 127)
    }

    @Test func `it has its environment, and no signal is kept from it`() async throws {
        let output = Pipe()
        let lines = output.fileHandleForWriting
        let process = try RunningProcess(
            ["sh", "-c", "echo $COLOR; kill -PIPE $$; echo late"], environment: ["COLOR": "red"], output: lines)
        #expect(try await process.end() == 128 + SIGPIPE)
        try lines.close()
        #expect(String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self) == "red\n")
    }

    #if os(Linux)
    @Test func `it inherits nothing that is open here`() async throws {
        let pipe = Pipe()
        let found = try await ChildProcess.run(["sh", "-c", "ls /proc/$$/fd"])
        #expect(String(decoding: found.output, as: UTF8.self).split(separator: "\n") == ["0", "1", "2"])
        try pipe.fileHandleForWriting.close()
    }
    #endif

    @Test func `tests may have as many descriptors open as the system lets them, up to ten thousand`() async throws {
        // What a shell was given when it was started from here is what this process has.
        let limits = try await ChildProcess.run(["sh", "-c", "ulimit -Sn; ulimit -Hn"]).output
        let numbers = String(decoding: limits, as: UTF8.self).split(separator: "\n").map { Int($0) ?? .max }
        try #require(numbers.count == 2)
        #expect(numbers[0] >= min(numbers[1], 10_240))
    }
}
#endif
