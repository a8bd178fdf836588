import Foundation
import TestSupport
import Testing

@Suite("Our declarations of libcurl against the real header")
struct CurlDeclarationTests {
    private static let headers =
        ["/usr/include/curl/curl.h", "/usr/local/include/curl/curl.h"]
        + ["x86_64", "aarch64"].map { "/usr/include/\($0)-linux-gnu/curl/curl.h" }

    @Test(
        "numbers, layouts and functions are the header's",
        .enabled("curl/curl.h isn't installed (package libcurl4-openssl-dev)") {
            headers.contains { FileManager.default.fileExists(atPath: $0) }
        })
    func declarations() async throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        let result = try await ChildProcess.run([
            "clang", "-std=gnu11", "-w", "-fsyntax-only", "-DCURL_DISABLE_TYPECHECK",
            "-I", root.appending(path: "../Sources/CSystemLibraries/include").standardizedFileURL.path(),
            root.appending(path: "CSystemLibraries/curl-declarations.c").path(),
        ])
        #expect(result.status == 0, "\(result.text)")
    }
}
