import Testing

@Suite("Our declarations of libcurl and of OpenSSL against the real headers")
struct CurlDeclarationTests {
    private func check(_ name: String) async throws {
        let result = try await SystemHeader.compile(
            name, ["-w", "-Werror=incompatible-function-pointer-types", "-DCURL_DISABLE_TYPECHECK"])
        #expect(result.status == 0, "\(result.text)")
    }

    @Test(
        "numbers, layouts and functions are the header's",
        .enabled("curl/curl.h isn't installed (package libcurl4-openssl-dev)") { SystemHeader.isInstalled("curl/curl.h") })
    func declarations() async throws { try await check("curl") }

    @Test(
        "the functions of OpenSSL are the header's",
        .enabled("openssl/ssl.h isn't installed (package libssl-dev)") { SystemHeader.isInstalled("openssl/ssl.h") })
    func openSSL() async throws { try await check("openssl") }

    @Test(
        "the functions that verify signatures are the header's",
        .enabled("openssl/evp.h isn't installed (package libssl-dev)") { SystemHeader.isInstalled("openssl/evp.h") })
    func crypto() async throws { try await check("crypto") }
}
