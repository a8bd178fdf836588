import Foundation
import Testing

@testable import WebServiceClient

/// Digest hashes and returns the bytes that the server sent: RFC 7616 §3.4 defines no charset for a realm. The digests were computed with
/// Python.
@Suite struct DigestBytesTests {
    @Test(
        arguments: [
            (
                "MD5", [0x5A, 0x75, 0x67, 0x61, 0x6E, 0x67, 0x20, 0x66, 0xFC, 0x72, 0x20, 0x47, 0xE4, 0x73, 0x74, 0x65], [0x6E, 0x31], true,
                "7defaac0586ffa31e89cdd20c2963fd9"
            ),
            (
                "SHA-256", [0x5A, 0x75, 0x67, 0x61, 0x6E, 0x67, 0x20, 0x66, 0xFC, 0x72, 0x20, 0x47, 0xE4, 0x73, 0x74, 0x65], [0x6E, 0x31],
                true, "9621b7cebe576bb6eacc8ecad8b3d402cd1df29d01aefd7ebd13e5e4c6493e7a"
            ),
            (
                "MD5", [0x5A, 0x75, 0x67, 0x61, 0x6E, 0x67, 0x20, 0x66, 0xC3, 0xBC, 0x72, 0x20, 0x47, 0xC3, 0xA4, 0x73, 0x74, 0x65],
                [0x6E, 0x31], true, "17750cd3ab06d60804be36bfa89ae599"
            ),
            (
                "MD5", [0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA, 0x82, 0xCC, 0x95, 0x5C, 0x8E, 0xA6], [0x6E, 0x31], true,
                "aa5b5a27cae97554df7aa0fe5f264f7b"
            ),
            (
                "SHA-256", [0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA, 0x82, 0xCC, 0x95, 0x5C, 0x8E, 0xA6], [0x6E, 0xE9], true,
                "ca436ba843683d59603f66bc7bf7bcd6572537b5fa4833667eabc437792ed0ac"
            ),
            ("MD5", [0x61, 0x5C, 0x22, 0x62], [0x6E, 0x31], true, "4ecee9b9de39df563382d00388a3aa87"),
            ("MD5", [0x61, 0x5C, 0x5C, 0x62], [0x6E, 0x31], true, "3c43d0213fdff402e43bf2ef4a197642"),
            ("MD5", [0x43, 0x4F, 0x52, 0x50, 0x5C, 0x75, 0x73, 0x65, 0x72, 0x73], [0x6E, 0x31], true, "5cd6c454cff4f9e5e63dce62ed049972"),
            ("MD5", [], [0x6E, 0x31], true, "24937fadaa8a12e671d52a7b6145e97c"),
            ("MD5", [0xFF, 0xFE], [0x80], true, "b0b7f140ee387ecf84f6016182d8625c"),
            (
                "MD5", [0x5A, 0x75, 0x67, 0x61, 0x6E, 0x67, 0x20, 0x66, 0xFC, 0x72, 0x20, 0x47, 0xE4, 0x73, 0x74, 0x65], [0x6E, 0x31],
                false, "83f556fa3fb3de4ddcf3c6bd814fb763"
            ),
            ("MD5", [0x61, 0x64, 0x6D, 0x69, 0x6E, 0x40, 0xF4, 0xC5, 0xD3, 0xD4], [0x6E, 0x31], true, "d5de1a2488bac643dca47d809f6f89eb"),
            ("SHA-256", [0xB9, 0xDC, 0xC0, 0xED], [0x6E, 0x31], true, "87edf9f2c461ee957baeec9eead8ba50defa100c544bbb966726d028f9f41540"),
        ] as [(String, [UInt8], [UInt8], Bool, String)])
    func `Realm and nonce are hashed and sent back byte by byte`(
        algorithm: String, realm: [UInt8], nonce: [UInt8], hasQuality: Bool, response: String
    ) async throws {
        let quality = hasQuality ? ", qop=\"auth\"" : ""
        let line =
            Array("WWW-Authenticate: Digest algorithm=\(algorithm), realm=\"".utf8) + realm + Array("\", nonce=\"".utf8) + nonce
            + Array("\"\(quality)\r\n".utf8)
        let stub = StubServer { _, number in
            number == 0
                ? TransportResponse(
                    status: 401, headers: HTTPFields(HTTPFields.Lines(line)), url: URL(fileURLWithPath: "/"), body: ResponseBody())
                : .stub(200)
        }
        let provider = DigestAuthenticationProvider(user: "Mufasa", password: "Circle of Lifé", clientNonce: { "0a4f113b" })
        #expect(try await stub.send(.stub("http://api.test/dir/index.html"), provider).status == 200)
        let sent = try #require(stub.requests.last?.headers.bytes(of: .authorization).first)
        func holds(_ bytes: [UInt8]) -> Bool { Data(sent).range(of: Data(bytes)) != nil }
        #expect(holds(Array("response=\"\(response)\"".utf8)), "\(String(decoding: sent, as: UTF8.self))")
        #expect(holds(Array(", realm=\"".utf8) + realm + Array("\", uri=".utf8)))
        #expect(holds(Array(", nonce=\"".utf8) + nonce + Array("\", ".utf8)) || holds(Array(", nonce=\"".utf8) + nonce + Array("\"".utf8)))
    }

    @Test(arguments: [
        #"Digest realm=, qop="auth", nonce="n""#, #"Digest realm=, nonce="n""#, #"Digest realm= , nonce="n", qop=auth"#,
        #"Digest realm=,nonce=n"#,
        #"Digest qop=, realm="", nonce="n""#, #"Digest opaque=, realm="", nonce="n""#, #"Digest realm=, , nonce="n""#,
        #"Digest realm=,, nonce = "n""#,
        #"Basic realm="b", Digest realm=, nonce="n""#, #"Digest algorithm=MD5, realm=, nonce="n""#, #"Digest realm=,nonce="n",opaque="#,
        #"Digest stale=, realm=, nonce="n", domain="#,
    ])
    func `A parameter without a value is one`(line: String) throws {
        let challenge = try #require(DigestChallenge.strongest(of: AuthenticationChallenge.challenges(in: [line])))
        #expect(challenge.realm == "" && challenge.nonce == "n")
    }

    @Test(arguments: [
        ("Negotiate YWJj=", "YWJj="), ("Negotiate YWJj==, Basic realm=\"x\"", "YWJj=="), ("NTLM YWJj=, Negotiate", "YWJj="),
        ("Negotiate abc", "abc"),
        ("Negotiate abc=, Digest realm=\"\"", "abc="),
    ])
    func `What is no parameter stays as it was`(line: String, token: String) {
        #expect(AuthenticationChallenge.challenges(in: [line]).first?.token68 == token)
    }

    // MARK: The weakest hash

    private func challenge(_ algorithms: [String]) -> TransportResponse {
        var headers = HTTPFields()
        for algorithm in algorithms {
            let name = algorithm.isEmpty ? "" : "algorithm=\(algorithm), "
            headers.append(.wwwAuthenticate, "Digest \(name)realm=\"r\", nonce=\"n\", qop=\"auth\"")
        }
        return .stub(401, headers)
    }

    @Test(arguments: [
        (["MD5"], DigestAuthenticationProvider.Hash.sha256, false), ([""], .sha256, false), (["MD5-sess"], .sha256, false),
        (["MD5", "SHA-256"], .sha256, true),
        (["SHA-256"], .sha512_256, false), (["SHA-256-sess"], .sha256, true), (["SHA-512-256"], .sha512_256, true), (["MD5"], .md5, true),
        ([""], .md5, true),
        (["SHA-256", "MD5"], .sha512_256, false), (["SHA-512-256", "MD5"], .sha256, true),
    ])
    func `A hash that is weaker than the least isn't answered`(
        algorithms: [String], least: DigestAuthenticationProvider.Hash, isAnswered: Bool
    ) async throws {
        let stub = StubServer { [challenge = challenge(algorithms)] _, number in number == 0 ? challenge : .stub(200) }
        let provider = DigestAuthenticationProvider(user: "ada", password: "s3cret-word", minimumHash: least)
        guard !isAnswered else {
            #expect(try await stub.send(.stub(), provider).status == 200)
            return
        }
        let error = await #expect(throws: AuthenticationError.self) { try await stub.send(.stub(), provider) }
        #expect(error?.kind == .weakAlgorithm && error?.message.contains("minimumHash") == true)
        #expect(error?.message.contains(least.rawValue) == true && error?.message.contains("s3cret") == false)
        #expect(stub.authorizations == ["-"])
    }

    @Test(arguments: [
        (["SHA-256"], ["MD5"], true), (["SHA-512-256"], ["SHA-256"], true), (["SHA-256"], [""], true), (["MD5"], ["MD5"], false),
        (["MD5"], ["SHA-256"], false),
        (["SHA-256", "MD5"], ["MD5"], true), (["SHA-256"], ["SHA-256-sess"], false),
    ])
    func `A weaker hash than before is told`(first: [String], second: [String], isTold: Bool) async throws {
        let told = Locked<[String]>([])
        let context = CallContext.stub(diagnostics: Diagnostics { event in told.withLock { $0.append(event.message) } })
        let stub = StubServer { [first = challenge(first), second = challenge(second)] _, number in
            number == 0 ? first : number == 2 ? second : .stub(200)
        }
        let provider = DigestAuthenticationProvider(user: "ada", password: "s3cret-word")
        for _ in 0..<2 { #expect(try await stub.send(.stub(), provider, context: context).status == 200) }
        #expect(told.withLock { $0.count } == (isTold ? 1 : 0))
        #expect(told.withLock { $0.allSatisfy { $0.contains("minimumHash") && !$0.contains("s3cret") } })
    }
}
