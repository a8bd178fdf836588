import Foundation
import Testing

@Suite("Our declarations of the decoding libraries against the real headers")
struct CodingDeclarationTests {
    private static let folders = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"]

    private static func isInstalled(_ header: String) -> Bool {
        folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(header)") }
    }

    @Test("zlib's", .enabled("zlib.h isn't installed (package zlib1g-dev)") { isInstalled("zlib.h") })
    func zlib() throws { try check("zlib") }

    @Test("brotli's", .enabled("brotli/decode.h isn't installed (package libbrotli-dev)") { isInstalled("brotli/decode.h") })
    func brotli() throws { try check("brotli") }

    @Test("Zstandard's", .enabled("zstd.h isn't installed (package libzstd-dev)") { isInstalled("zstd.h") })
    func zstd() throws { try check("zstd") }

    private func check(_ library: String) throws {
        let tests = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        let compiler = Process()
        let output = Pipe()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "clang", "-std=gnu11", "-fsyntax-only", "-Werror=incompatible-pointer-types", "-Werror=incompatible-function-pointer-types",
            "-I", tests.appending(path: "../Sources/CSystemLibraries/include").standardizedFileURL.path(),
            tests.appending(path: "CSystemLibraries/\(library)-declarations.c").path(),
        ]
        compiler.standardError = output
        try compiler.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        compiler.waitUntilExit()
        #expect(compiler.terminationStatus == 0, "\(String(decoding: text, as: UTF8.self))")
    }
}
