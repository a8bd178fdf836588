#if os(Linux) || os(macOS)
import Foundation
import Testing

@testable import WebServiceClient

private enum OpenSSL {
    static let command: URL? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent("openssl") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()
}

/// Every length from 0 to 300 bytes against the `openssl` command, one process for each hash. Where the machine has no such command
/// the suite says that it was skipped.
@Suite(.enabled(if: OpenSSL.command != nil, "needs the openssl command in PATH"))
struct OpenSSLComparisonTests {
    @Test func `MD5 agrees`() throws {
        try compare("-md5", MD5.self)
    }

    @Test func `SHA-256 agrees`() throws {
        try compare("-sha256", SHA256.self)
    }

    @Test func `SHA-512/256 agrees`() throws {
        try compare("-sha512-256", SHA512_256.self)
    }

    private func compare<Hash: HashFunction>(_ option: String, _ hash: Hash.Type) throws {
        let command = try #require(OpenSSL.command)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hashes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let messages = (0...300).map { length in (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ length) } }
        for message in messages {
            try Data(message).write(to: folder.appendingPathComponent(String(message.count)))
        }

        let process = Process()
        process.executableURL = command
        process.currentDirectoryURL = folder
        process.arguments = ["dgst", option, "-r"] + messages.map { String($0.count) }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()

        let lines = text.split(separator: "\n")
        try #require(lines.count == messages.count)
        for (line, message) in zip(lines, messages) {
            #expect(line == "\(Hash.hexadecimal(of: message)) *\(message.count)")
        }
    }
}
#endif
