import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct SessionFileTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url.appending(path: "own/session.json") }

    private func client(root: String = "https://api.test") -> Store { Store.stubbed(root: root).client }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return (error as? SessionError)?.message ?? "\(error)"
        }
    }

    @Test func `a session survives in a file, without its secrets unless asked`() throws {
        let client = client()
        #expect(try !client.session.load(from: file), "there is no file yet")
        try client.session.update {
            $0.headers = ["X-Tenant": "5", "X-Session": "s3cret", "Authorization": "Bearer s3cret"]
            $0.headers.append("X-Tenant", "6")
            $0.secretHeaders = ["X-Session"]
            $0.query = [.init("locale", "dä"), .init("flag", nil), .init("access_token", "s3cret")]
        }
        #expect(try client.session.save(to: file) == ["Authorization", "X-Session", "access_token"])
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("s3cret"))
        let other = self.client()
        #expect(try other.session.load(from: file))
        #expect(other.session.state.headers[values: "X-Tenant"] == ["5", "6"] && other.session.state.headers.count == 2)
        #expect(other.session.state.query == [.init("locale", "dä"), .init("flag", nil)])
        #expect(try client.session.save(to: file, including: .secrets).isEmpty)
        #expect(try other.session.load(from: file))
        #expect(other.session.state == client.session.state)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "own").path(percentEncoded: false)).count == 1)
    }

    @Test func `the client's rules name secrets too`() throws {
        let client = client()
        client.configure { $0.headerRules.secret = ["X-Plain"] }
        try client.session.update { $0.headers = ["X-Plain": "s3cret"] }
        #expect(try client.session.save(to: file) == ["X-Plain"])
    }

    @Test func `a session can be encoded as a value`() throws {
        var state = SessionState()
        state.headers = ["X-A": "1"]
        state.secretHeaders = ["X-A"]
        state[query: "b"] = "2"
        state[query: "b"] = "3"
        let data = try JSONEncoder().encode(state)
        #expect(try JSONDecoder().decode(SessionState.self, from: data) == state)
        #expect(state[query: "b"] == "3" && state.query.count == 1 && state.withoutSecrets.headers.isEmpty)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SessionState.self, from: Data(#"{"headers":[{"name":"A B","value":"1"}]}"#.utf8))
        }
    }

    @Test func `a damaged file is an error that names it, and changes nothing`() throws {
        let client = client()
        try client.session.update { $0.headers = ["X-A": "1"] }
        try client.session.save(to: file, including: [.secrets, .challenges])
        let whole = try Data(contentsOf: file)
        var damaged = [
            Data(), Data("{}".utf8), Data("[1]".utf8), Data(#"{"version":2,"other":1}"#.utf8), Data(#"{"version":1}"#.utf8),
            Data([0xFF, 0xFE, 0x00]), Data(#"{"version":1,"session":{"headers":[{"name":"X","value":"a\u000d"}]}}"#.utf8),
            Data(#"{"version":1e999}"#.utf8), Data(repeating: UInt8(ascii: "["), count: 100_000),
            Data(#"{"version":1,"origin":"https://api.test","session":{},"challenges":[{"realm":"x"}]}"#.utf8),
        ]
        for length in stride(from: 1, to: whole.count - 2, by: max(1, whole.count / 40)) { damaged.append(whole.prefix(length)) }
        for data in damaged {
            try PrivateFile(file).replace(with: data)
            let message = message { try client.session.load(from: file) }
            #expect(message.hasPrefix("The session file session.json "), "\(message)")
            #expect(client.session.state.headers == ["X-A": "1"])
        }
        try PrivateFile(file).replace(with: Data(#"{"version":2}"#.utf8))
        #expect(message { try client.session.load(from: file) }.contains("has the version 2, and this program reads version 1"))
    }

    @Test func `a file of others, of another service, or that isn't one, is refused`() throws {
        let client = client()
        try client.session.update { $0.headers = ["X-A": "1"] }
        try client.session.save(to: file)
        let other = self.client(root: "https://other.test/v1")
        #expect(
            message { try other.session.load(from: file) }
                .contains("session.json belongs to https://api.test, and the client's service is https://other.test"))
        #expect(other.session.state.isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path(percentEncoded: false))
        #expect(message { try client.session.load(from: file) }.contains("chmod 600"))
        #expect(message { try client.session.load(from: folder.url) }.contains("isn't a regular file"))
        #expect(message { try client.session.save(to: folder.url) }.contains("can't be replaced"))
        #expect(folder.names == ["own"], "no unfinished file stays")
        try PrivateFile(file).replace(with: Data(repeating: 32, count: 2 << 20))
        #expect(message { try client.session.load(from: file) }.contains("at most 1024 KiB"))
    }

    // MARK: Challenges

    private func digestClient(_ server: DigestServer, _ provider: DigestAuthenticationProvider) -> (Store, StubTransport) {
        Store.stubbed(StubAnswer { try await server.respond(to: $0.request) }, root: "http://api.test") {
            $0.authenticationProvider = provider
        }
    }

    // A -sess key depends on the first nonce, which this server doesn't implement for next nonces.
    @Test(arguments: [("MD5", false), ("SHA-256-sess", false), ("SHA-512-256", false), ("MD5", true), ("SHA-512-256", true)])
    func `the first call after a restart needs no 401`(algorithm: String, namesNextNonce: Bool) async throws {
        let server = DigestServer(.init(algorithm: algorithm, namesNextNonce: namesNextNonce))
        let user = { DigestAuthenticationProvider(user: "Mufasa", password: "Circle of Life") }
        let (first, _) = digestClient(server, user())
        for _ in 0..<3 { try await first.http.get("/a").send() }
        try first.session.save(to: file, including: .challenges)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.contains("firstNonce") && !text.contains("Mufasa") && !text.contains("Circle"))
        let (second, stub) = digestClient(server, user())
        #expect(try second.session.load(from: file))
        for _ in 0..<2 { try await second.http.get("/a").send() }
        #expect(stub.requests.count == 2, "no request was refused")
        // Without challenges in the file, a restart costs one.
        try first.session.save(to: file)
        let (third, other) = digestClient(server, user())
        #expect(try third.session.load(from: file))
        try await third.http.get("/a").send()
        #expect(other.requests.count == 2)
    }

    @Test func `a restored -sess session keeps the key of its first nonces`() async throws {
        let stub = StubServer { request, number in
            request.headers[.authorization] == nil
                ? .stub(401, ["WWW-Authenticate": "Digest realm=r, nonce=first, qop=auth, algorithm=SHA-256-sess"])
                : .stub(200, ["Authentication-Info": "nextnonce=second"])
        }
        let first = DigestAuthenticationProvider(user: "Mufasa", password: "p", clientNonce: { "mine" })
        for _ in 0..<3 { _ = try await stub.send(.stub(), first) }
        let second = DigestAuthenticationProvider(user: "Mufasa", password: "p", clientNonce: { "other" })
        second.restore(first.preservedChallenges)
        _ = try await stub.send(.stub(), second)
        let key = DigestExchange.sessionKey(
            algorithm: DigestAlgorithm(.sha256, isSession: true), user: UserCredentials(name: "Mufasa", password: "p"), realm: "r",
            nonce: "first", clientNonce: "mine")
        // The third use of the second nonce: two were sent before.
        let exchange = DigestExchange(
            function: .sha256, sessionKey: key, nonce: "second", nonceCount: 3, clientNonce: "mine", quality: .authentication,
            target: "/a?b=c")
        let sent = try #require(AuthenticationChallenge.challenges(in: [stub.authorizations.last ?? ""]).first)
        #expect(sent["response"] == exchange.response(method: "GET", bodyDigest: "") && sent["nc"] == "00000003")
        #expect(stub.requests.count == 5)
    }

    @Test func `preserved challenges lose to newer ones and to a stronger minimum`() async throws {
        let server = DigestServer(.init(algorithm: "MD5"))
        let first = DigestAuthenticationProvider(user: "Mufasa", password: "Circle of Life")
        try await digestClient(server, first).0.http.get("/a").send()
        let kept = first.preservedChallenges
        #expect(!kept.isEmpty && "\(kept)" == "challenges of http://api.test")
        #expect(try JSONDecoder().decode(PreservedChallenges.self, from: JSONEncoder().encode(kept)) == kept)
        let strong = DigestAuthenticationProvider(user: "Mufasa", password: "Circle of Life", minimumHash: .sha256)
        strong.restore(kept)
        #expect(strong.preservedChallenges.isEmpty)
        // A server that has restarted sends a new challenge.
        server.restart()
        let second = DigestAuthenticationProvider(user: "Mufasa", password: "Circle of Life")
        second.restore(kept)
        let (client, stub) = digestClient(server, second)
        try await client.http.get("/a").send()
        #expect(stub.requests.count == 2)
        let newer = second.preservedChallenges
        second.restore(kept)
        #expect(second.preservedChallenges == newer && newer != kept)
    }

    @Test func `challenges that can't be sent back are damage`() throws {
        let kept = PreservedChallenges([
            .init(
                origin: "http://api.test", realm: Data("r".utf8), nonce: Data("n".utf8), firstNonce: Data("n".utf8), opaque: nil,
                algorithm: "MD5", quality: "auth", hashesUserName: false, announcesUTF8: false, clientNonce: nil, count: 1,
                strongestHash: nil)
        ])
        #expect(try JSONDecoder().decode(PreservedChallenges.self, from: JSONEncoder().encode(kept)) == kept)
        let changes: [(inout PreservedChallenges.Entry) -> Void] = [
            { $0.realm = Data("a\r\nb".utf8) }, { $0.nonce = Data([0]) }, { $0.origin = "nothing" }, { $0.algorithm = "SHA-1" },
            { $0.quality = "auth-other" }, { $0.algorithm = "MD5-sess" }, { $0.clientNonce = "\n" }, { $0.firstNonce = Data([10]) },
        ]
        for change in changes {
            var bad = kept
            change(&bad.entries[0])
            let data = try JSONEncoder().encode(bad)
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(PreservedChallenges.self, from: data) }
        }
    }
}
