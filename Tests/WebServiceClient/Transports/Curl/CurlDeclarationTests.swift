import Foundation
import TestSupport
import Testing

@Suite("Our declarations of libcurl and of OpenSSL against the real headers")
struct CurlDeclarationTests {
    private static func isInstalled(_ header: String) -> Bool {
        (["/usr/include", "/usr/local/include"] + ["x86_64", "aarch64"].map { "/usr/include/\($0)-linux-gnu" }).contains {
            FileManager.default.fileExists(atPath: "\($0)/\(header)")
        }
    }

    /// Lets the compiler look at a file of `Tests/CSystemLibraries`; where ours and the header's differ, it doesn't compile.
    private func check(_ name: String) async throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        let result = try await ChildProcess.run([
            "clang", "-std=gnu11", "-w", "-Werror=incompatible-function-pointer-types", "-fsyntax-only", "-DCURL_DISABLE_TYPECHECK",
            "-I", root.appending(path: "../Sources/CSystemLibraries/include").standardizedFileURL.path(),
            root.appending(path: "CSystemLibraries/\(name)").path(),
        ])
        #expect(result.status == 0, "\(result.text)")
    }

    @Test(
        "numbers, layouts and functions are the header's",
        .enabled("curl/curl.h isn't installed (package libcurl4-openssl-dev)") { isInstalled("curl/curl.h") })
    func declarations() async throws {
        try await check("curl-declarations.c")
    }

    @Test(
        "the functions of OpenSSL are the header's",
        .enabled("openssl/ssl.h isn't installed (package libssl-dev)") { isInstalled("openssl/ssl.h") })
    func openSSL() async throws {
        try await check("openssl-declarations.c")
    }
}
