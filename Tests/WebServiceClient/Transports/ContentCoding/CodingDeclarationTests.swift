import Foundation
import TestSupport
import Testing

@Suite("Our declarations of the decoding libraries against the real headers")
struct CodingDeclarationTests {
    private static let folders = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"]

    private static func isInstalled(_ header: String) -> Bool {
        folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(header)") }
    }

    @Test("zlib's", .enabled("zlib.h isn't installed (package zlib1g-dev)") { isInstalled("zlib.h") })
    func zlib() async throws { try await check("zlib") }

    @Test("brotli's", .enabled("brotli/decode.h isn't installed (package libbrotli-dev)") { isInstalled("brotli/decode.h") })
    func brotli() async throws { try await check("brotli") }

    @Test("Zstandard's", .enabled("zstd.h isn't installed (package libzstd-dev)") { isInstalled("zstd.h") })
    func zstd() async throws { try await check("zstd") }

    private func check(_ library: String) async throws {
        let tests = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        let compiler = try await ChildProcess.run([
            "clang", "-std=gnu11", "-fsyntax-only", "-Werror=incompatible-pointer-types", "-Werror=incompatible-function-pointer-types",
            "-I", tests.appending(path: "../Sources/CSystemLibraries/include").standardizedFileURL.path(),
            tests.appending(path: "CSystemLibraries/\(library)-declarations.c").path(),
        ])
        #expect(compiler.status == 0, "\(compiler.text)")
    }
}
