import Foundation
import TestSupport
import Testing
import WebServiceTesting

/// The path of the `curl` program. Without it, the tests that need another HTTP client are skipped.
private let curl = ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"].first(where: FileManager.default.isExecutableFile)

/// The server as seen by the HTTP client of another program.
@Suite(.enabled(if: curl != nil, "there is no curl program here")) struct CurlTests {
    private func run(_ arguments: String...) async throws -> String {
        let fixed = [try #require(curl), "--silent", "--show-error", "--max-time", "120", "--noproxy", "*"]
        return try await ChildProcess.run(fixed + arguments).text
    }

    @Test func connectionsAreKept() async throws {
        let server = try LoopbackServer { $0.get("/:n") { request in .text(request.parameters["n"] ?? "") } }
        #expect(try await run("\(server.url)/1", "\(server.url)/2", "\(server.url)/3") == "123")
        #expect(server.connectionCount == 1)
    }

    @Test func formsUploadsAndMethodsArrive() async throws {
        let server = try LoopbackServer { routes in
            routes.on("POST", "/form") { request in .text(request.formItems.map { "\($0.name):\($0.value ?? "")" }.joined(separator: ",")) }
            routes.on("PUT", "/chunked") { request in .text("\(request.bodyLength) \(request.fields["Transfer-Encoding"] ?? "")") }
        }
        #expect(try await run("\(server.url)/form", "--data-urlencode", "a=1 2&", "--data-urlencode", "b=é") == "a:1 2&,b:é")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        try Data(repeating: 1, count: 3_000_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(
            try await run("\(server.url)/chunked", "-T", file.path, "-H", "Transfer-Encoding: chunked", "-H", "Expect: 100-continue")
                == "3000000 chunked")
    }

    @Test func headersTrailersAndFaultsAreSeenAsMeant() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/trailers") { _ in .pieces([.init("a"), .init("b")]).trailing(["X-End": "yes"]).informing(103, ["X-Early": "1"]) }
            routes.get("/cut") { _ in .text("abc").framed(.contentLength(99)) }
            routes.get("/reset") { _ in .text("abc").failing(.reset(afterBytes: 0)) }
            routes.get("/empty") { _ in .drop }
            routes.get("/from") { _ in .redirect(to: "/trailers") }
        }
        let text = try await run("-i", "\(server.url)/trailers")
        // Newer versions of curl print trailers after the body.
        #expect(text.contains("103 Early Hints") && text.contains("X-Early: 1"))
        #expect(text.contains("\r\n\r\nab"))
        #expect(try await run("\(server.url)/cut").contains("curl: (18)"))
        #expect(try await run("\(server.url)/reset").contains("curl: (56)"))
        #expect(try await run("\(server.url)/empty").contains("curl: (52)"))
        #expect(try await run("-L", "\(server.url)/from") == "ab")
    }

    @Test func aBasicGuardWorksWithAnothersClient() async throws {
        let server = try LoopbackServer { routes in
            routes.guarded(by: .basicAuthentication(user: "ada", password: "pä ss", realm: "r")) { $0.get("/") { _ in .text("in") } }
        }
        #expect(try await run("-u", "ada:pä ss", "\(server.url)/") == "in")
        #expect(try await run("-u", "ada:no", "-o", "/dev/null", "-w", "%{http_code}", "\(server.url)/") == "401")
    }
}
