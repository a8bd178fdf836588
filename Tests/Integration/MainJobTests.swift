import Testing
import WebServiceClient

/// A complete client: one declared endpoint, and no method body.
private final class TestService: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        ["testHTTPRequest(path:)": .get("%%0%%").raw()]
    }
}

extension IntegrationTests {
    @Suite struct MainJobTests {
        private static let basic = "basic-auth/user/passwd"

        private func client(_ server: String, _ provider: any AuthenticationProvider) throws -> TestService {
            TestService(serviceRoot: try TestServer.named(server).url) { $0.authenticationProvider = provider }
        }

        private func isGood(_ answer: String) -> Bool {
            answer.contains("\"authenticated\": true") && answer.contains("\"user\": \"user\"")
        }

        @Test(arguments: ["httpbin", "nginx-basic", "apache-basic"], [true, false])
        func `Basic, unasked and when asked`(server: String, isPreemptive: Bool) async throws {
            let provider = BasicAuthenticationProvider(user: "user", password: "passwd", isPreemptive: isPreemptive)
            let client = try client(server, provider)
            let answer: String = try await client.dynamic.testHTTPRequest(path: Self.basic)
            #expect(isGood(answer))
            #expect(provider.isSessionOpened)
        }

        @Test(arguments: ["auth", "auth-int"], ["MD5", "SHA-256"])
        func `Digest by httpbin`(quality: String, algorithm: String) async throws {
            let provider = DigestAuthenticationProvider(user: "user", password: "passwd")
            let client = try client("httpbin", provider)
            for _ in 0..<3 {
                let answer: String = try await client.dynamic.testHTTPRequest(path: "digest-auth/\(quality)/user/passwd/\(algorithm)")
                #expect(isGood(answer))
            }
            #expect(provider.isSessionOpened)
        }

        @Test func `Digest by Apache, the whole path a placeholder`() async throws {
            let client = try client("apache-digest", DigestAuthenticationProvider(user: "user", password: "passwd"))
            let answer: String = try await client.dynamic.testHTTPRequest(path: Self.basic)
            #expect(isGood(answer))
            // The same through the proxy module, with characters in the path that must be encoded: Apache checks the signed target.
            let echo: String = try await client.dynamic.testHTTPRequest(path: "anything/a b/é%41")
            #expect(echo.contains("\"method\": \"GET\""))
        }

        @Test func `a nonce that Apache calls stale is replaced`() async throws {
            let client = try client("apache-digest", DigestAuthenticationProvider(user: "user", password: "passwd"))
            let first: String = try await client.dynamic.testHTTPRequest(path: Self.basic)
            // Apache's nonces expire after two seconds of its clock.
            try await Task.sleep(for: .seconds(3))
            let second: String = try await client.dynamic.testHTTPRequest(path: Self.basic)
            #expect(isGood(first) && isGood(second))
        }

        @Test(arguments: ["lighttpd-digest-sha256", "lighttpd-digest-userhash"])
        func `Digest by lighttpd with SHA-256`(server: String) async throws {
            let client = try client(server, DigestAuthenticationProvider(user: "user", password: "passwd"))
            let echo: String = try await client.dynamic.testHTTPRequest(path: "anything/a b/c")
            #expect(echo.contains("\"method\": \"GET\""))
        }

        @Test(arguments: ["apache-digest", "lighttpd-digest-sha256", "lighttpd-digest-userhash"])
        func `nonce counts are right under many calls at once`(server: String) async throws {
            let client = try client(server, DigestAuthenticationProvider(user: "user", password: "passwd"))
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<40 { group.addTask { try await client.dynamic.testHTTPRequest(path: "anything/\(number)") } }
                var count = 0
                for try await echo in group where echo.contains("\"method\"") { count += 1 }
                #expect(count == 40)
            }
        }

        @Test(arguments: ["httpbin", "nginx-basic", "apache-basic"], [true, false])
        func `a wrong password for Basic is one error with status 401`(server: String, isPreemptive: Bool) async throws {
            let provider = BasicAuthenticationProvider(user: "user", password: "hunter2", isPreemptive: isPreemptive)
            try await isRefused(client(server, provider), path: Self.basic)
            #expect(!provider.isSessionOpened)
        }

        @Test(
            arguments: [
                ("httpbin", "digest-auth/auth/user/passwd/MD5"), ("httpbin", "digest-auth/auth-int/user/passwd/SHA-256"),
                ("apache-digest", basic), ("lighttpd-digest-sha256", "get"), ("lighttpd-digest-userhash", "get"),
            ])
        func `a wrong password for Digest is one error with status 401`(server: String, path: String) async throws {
            try await isRefused(client(server, DigestAuthenticationProvider(user: "user", password: "hunter2")), path: path)
        }

        private func isRefused(_ client: TestService, path: String) async throws {
            let error = try await serviceError { let _: String = try await client.dynamic.testHTTPRequest(path: path) }
            #expect(error.status == 401)
            #expect(error.kind == .status)
            #expect("\(error)".contains("TestService.testHTTPRequest(path:)"))
            #expect(error.message.contains("credentials"))
            #expect(!"\(error)".contains("hunter2"))
        }
    }
}
