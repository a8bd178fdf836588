import Testing

@Suite("Our declarations of the decoding libraries against the real headers")
struct CodingDeclarationTests {
    private func check(_ library: String) async throws {
        let result = try await SystemHeader.compile(
            library, ["-Werror=incompatible-pointer-types", "-Werror=incompatible-function-pointer-types"])
        #expect(result.status == 0, "\(result.text)")
    }

    @Test("zlib's", .enabled("zlib.h isn't installed (package zlib1g-dev)") { SystemHeader.isInstalled("zlib.h") })
    func zlib() async throws { try await check("zlib") }

    @Test(
        "brotli's",
        .enabled("brotli/decode.h isn't installed (package libbrotli-dev)") { SystemHeader.isInstalled("brotli/decode.h") })
    func brotli() async throws { try await check("brotli") }

    @Test("Zstandard's", .enabled("zstd.h isn't installed (package libzstd-dev)") { SystemHeader.isInstalled("zstd.h") })
    func zstd() async throws { try await check("zstd") }
}
