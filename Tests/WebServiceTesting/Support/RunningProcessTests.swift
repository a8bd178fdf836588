#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

/// The processes that tests start, checked by what they see.
struct RunningProcessTests {
    private func lines(_ data: Data) -> [Substring] { String(decoding: data, as: UTF8.self).split(separator: "\n") }

    @Test func `a program reports its output and how it ended`() async throws {
        let folder = FileManager.default.temporaryDirectory
        let said = try await ChildProcess.run(["sh", "-c", "cat; pwd; echo no >&2; exit 7"], input: Data("in\n".utf8), in: folder)
        #expect(said.status == 7)
        let output = lines(said.output)
        try #require(output.count == 2)
        #expect(output[0] == "in")
        #expect(URL(filePath: String(output[1])).lastPathComponent == folder.lastPathComponent)
        #expect(lines(said.errors) == ["no"])
        #expect(try await ChildProcess.run(["sh", "-c", "kill -TERM $$"]).status == 128 + SIGTERM)
        #expect(try await ChildProcess.run(["no-such-program-\(UUID().uuidString)"]).status == 127)
    }

    @Test func `a program has its environment, and unblocked signals`() async throws {
        let pipe = Pipe()
        let output = pipe.fileHandleForWriting
        let process = try await onOwnThread {
            var blocked = sigset_t()
            sigemptyset(&blocked)
            sigaddset(&blocked, SIGUSR1)
            pthread_sigmask(SIG_BLOCK, &blocked, nil)
            return try RunningProcess(
                ["sh", "-c", "echo $COLOR; kill -USR1 $$; echo late"], environment: ["COLOR": "red"], output: output)
        }
        #expect(try await process.end() == 128 + SIGUSR1)
        try output.close()
        #expect(lines(try await onOwnThread { try pipe.fileHandleForReading.readToEnd() ?? Data() }) == ["red"])
    }

    @Test func `a program can be ended twice`() async throws {
        let process = try RunningProcess(["sleep", "3600"])
        process.kill()
        #expect(try await process.end() == 128 + SIGKILL)
        process.kill()
        #expect(try await process.end() == 128 + SIGKILL)
    }

    @Test func `a descriptor that isn't open is an error`() {
        #expect(throws: POSIXError.self) { try RunningProcess(["true"], output: FileHandle(fileDescriptor: -1)) }
    }

    #if os(Linux)
    @Test func `a program inherits no open descriptors`() async throws {
        let pipe = Pipe()
        // The shell itself is inspected, since some shells let the last command replace them.
        let found = try await ChildProcess.run(["sh", "-c", "ls /proc/$$/fd; exit 0"])
        #expect(lines(found.output) == ["0", "1", "2"])
        try pipe.fileHandleForWriting.close()
    }
    #endif

    @Test func `tests may open as many descriptors as the system allows, up to ten thousand`() async throws {
        // A process that is started from here has the limits of this process.
        let limits = lines(try await ChildProcess.run(["sh", "-c", "ulimit -Sn; ulimit -Hn"]).output).map { Int($0) ?? .max }
        try #require(limits.count == 2)
        #expect(limits[0] >= min(limits[1], 10_240))
    }
}
#endif
