#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@testable import HTTPTransport

extension OpenSSL {
    /// Whether the command exists and supports the hash, which some builds omit.
    fileprivate static func knows(_ option: String) async -> Bool {
        (try? await digest(option, [], in: FileManager.default.temporaryDirectory))?.status == 0
    }

    /// Hashes files, or an empty input without files.
    fileprivate static func digest(_ option: String, _ files: [String], in folder: URL) async throws -> (status: Int32, output: String) {
        let result = try await run(["dgst", option, "-r"] + files, in: folder)
        return (result.status, String(decoding: result.output, as: UTF8.self))
    }
}

/// Compares every length from 0 to 300 bytes with the `openssl` command, with one process for each hash. Reported as skipped without the
/// command, or if it doesn't support a hash.
@Suite(.enabled(if: OpenSSL.command != nil, "needs the openssl command in PATH"))
struct OpenSSLComparisonTests {
    @Test(.enabled("needs an openssl with MD5") { await OpenSSL.knows("-md5") })
    func `MD5 agrees`() async throws {
        try await compare("-md5", MD5.self)
    }

    @Test(.enabled("needs an openssl with SHA-256") { await OpenSSL.knows("-sha256") })
    func `SHA-256 agrees`() async throws {
        try await compare("-sha256", SHA256.self)
    }

    @Test(.enabled("needs an openssl with SHA-512/256") { await OpenSSL.knows("-sha512-256") })
    func `SHA-512/256 agrees`() async throws {
        try await compare("-sha512-256", SHA512_256.self)
    }

    private func compare<Hash: HashFunction>(_ option: String, _ hash: Hash.Type) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hashes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let messages = (0...300).map { length in (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ length) } }
        for message in messages {
            try Data(message).write(to: folder.appendingPathComponent(String(message.count)))
        }
        let result = try await OpenSSL.digest(option, messages.map { String($0.count) }, in: folder)
        let lines = result.output.split(separator: "\n")
        try #require(result.status == 0 && lines.count == messages.count)
        for (line, message) in zip(lines, messages) {
            #expect(line == "\(Hash.hexadecimal(of: message)) *\(message.count)")
        }
    }
}
#endif
