import Foundation
import TestSupport
import Testing

@testable import WebServiceClient

@Suite struct DigestAuthenticationProviderTests {
    private func provider(_ password: String = "Circle of Life", responseBodyLimit: Int = 1_000) -> DigestAuthenticationProvider {
        DigestAuthenticationProvider(user: "Mufasa", password: password, responseBodyLimit: responseBodyLimit)
    }

    private func stub(_ server: DigestServer) -> StubServer {
        StubServer { request, _ in try await server.respond(to: request) }
    }

    /// Returns a parameter of each request's credentials; "-" if it is missing.
    private func sent(_ name: String, _ stub: StubServer) -> [String] {
        stub.authorizations.map { AuthenticationChallenge.challenges(in: [$0]).first?[name] ?? "-" }
    }

    @Test(
        arguments: ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess"], ["auth", "auth-int"])
    func `the first request waits for the challenge, later ones don't`(algorithm: String, quality: String) async throws {
        let server = DigestServer(.init(algorithm: algorithm, quality: quality, proof: quality))
        let stub = stub(server)
        let provider = provider()
        #expect(!provider.isSessionOpened)
        for body in ["one", "two", nil] {
            let request = ServiceRequest.stub(method: .put, body: body.map { RequestBody(Data($0.utf8)) })
            let response = try await stub.send(request, provider)
            #expect(response.status == 200)
            #expect(try await response.body.collect(upTo: 100) == DigestServer.answer)
        }
        #expect(sent("nc", stub) == ["-", "00000001", "00000002", "00000003"])
        #expect(server.counts == ["nonce0": [1, 2, 3]])
        #expect(sent("opaque", stub).last == "o")
        #expect(sent("uri", stub).last == "/a?b=c")
        #expect(Set(sent("cnonce", stub).dropFirst()).count == (algorithm.hasSuffix("-sess") ? 1 : 3))
        #expect(provider.isSessionOpened)
    }

    @Test func `servers of RFC 2069 get no counts`() async throws {
        let stub = stub(DigestServer(.init(algorithm: nil, quality: nil)))
        let provider = provider()
        for _ in 0..<2 {
            #expect(try await stub.send(.stub(), provider).status == 200)
        }
        #expect(sent("response", stub).count == 3)
        for parameter in ["nc", "cnonce", "qop", "algorithm"] {
            #expect(sent(parameter, stub) == ["-", "-", "-"])
        }
    }

    @Test func `a stale nonce is replaced without counting as a wrong password`() async throws {
        let server = DigestServer(.init(usesOfNonce: 2))
        let stub = stub(server)
        let provider = provider()
        for _ in 0..<5 {
            #expect(try await stub.send(.stub(), provider).status == 200)
        }
        #expect(server.counts == ["nonce0": [1, 2], "nonce1": [1, 2], "nonce2": [1]])
        #expect(sent("nc", stub) == ["-", "1", "2", "3", "1", "2", "3", "1"].map { $0 == "-" ? $0 : "0000000" + $0 })
    }

    @Test func `a server that finds every nonce stale doesn't keep us for ever`() async throws {
        let stub = StubServer { _, number in .stub(401, ["WWW-Authenticate": "Digest realm=r, nonce=n\(number), qop=auth, stale=true"]) }
        #expect(try await stub.send(.stub(), provider()).status == 401)
        #expect(stub.requests.count == 4)
    }

    @Test func `a wrong password is tried once in a call, and the refusal delivered`() async throws {
        let stub = stub(DigestServer(.init(hasFreshNonces: true)))
        let provider = provider("wrong")
        for call in 1...2 {
            #expect(try await stub.send(.stub(), provider).status == 401)
            #expect(stub.requests.count == 2 * call)
            #expect(!provider.isSessionOpened)
        }
        #expect(sent("nc", stub) == ["-", "00000001", "-", "00000001"])
    }

    @Test func `a server that lost its nonces and doesn't call them stale gets another answer`() async throws {
        let server = DigestServer(.init(saysStale: false))
        let stub = stub(server)
        let provider = provider()
        #expect(try await stub.send(.stub(), provider).status == 200)
        server.restart()
        #expect(try await stub.send(.stub(), provider).status == 200)
        #expect(sent("nonce", stub) == ["-", "nonce0", "nonce0", "nonce1"])
    }

    @Test(arguments: ["SHA-256", "MD5-sess"])
    func `the next nonce is used, with a count of its own`(algorithm: String) async throws {
        // A -sess key depends on the first nonce, which this server doesn't implement, so only the sent values are checked.
        let stub =
            algorithm.hasSuffix("-sess")
            ? StubServer { request, number in
                request.headers[.authorization] == nil
                    ? .stub(401, ["WWW-Authenticate": "Digest realm=r, nonce=nonce0, qop=auth, algorithm=\(algorithm)"])
                    : .stub(200, ["Authentication-Info": "nextnonce=\"nonce\(number)\""])
            } : stub(DigestServer(.init(algorithm: algorithm, namesNextNonce: true)))
        let provider = provider()
        for _ in 0..<3 {
            #expect(try await stub.send(.stub(), provider).status == 200)
        }
        #expect(sent("nonce", stub) == ["-", "nonce0", "nonce1", "nonce2"])
        #expect(sent("nc", stub) == ["-", "00000001", "00000001", "00000001"])
    }

    @Test func `a -sess key stays that of the session's first nonces`() async throws {
        let user = UserCredentials(name: "Mufasa", password: "p")
        let stub = StubServer { request, number in
            request.headers[.authorization] == nil
                ? .stub(401, ["WWW-Authenticate": "Digest realm=r, nonce=first, qop=auth, algorithm=SHA-256-sess"])
                : .stub(200, ["Authentication-Info": "nextnonce=second"])
        }
        let provider = DigestAuthenticationProvider(user: "Mufasa", password: "p", clientNonce: { "mine" })
        for _ in 0..<2 { _ = try await stub.send(.stub(), provider) }
        let key = DigestExchange.sessionKey(
            algorithm: DigestAlgorithm(.sha256, isSession: true), user: user, realm: "r", nonce: "first", clientNonce: "mine")
        let exchange = DigestExchange(
            function: .sha256, sessionKey: key, nonce: "second", nonceCount: 1, clientNonce: "mine", quality: .authentication,
            target: "/a?b=c")
        #expect(sent("response", stub).last == exchange.response(method: "GET", bodyDigest: ""))
    }

    @Test func `a wrong proof is an error that says what it means`() async throws {
        let stub = StubServer { request, _ in
            request.headers[.authorization] == nil
                ? .stub(401, ["WWW-Authenticate": "Digest realm=r, nonce=n, qop=auth"])
                : .stub(200, ["Authentication-Info": "rspauth=\"00112233445566778899aabbccddeeff\", qop=auth"])
        }
        let provider = provider()
        let error = await #expect(throws: AuthenticationError.self) { try await stub.send(.stub(), provider) }
        #expect(error?.kind == .serverNotProven)
        #expect(error?.message.contains("failed to prove that it knows the password") == true)
        // A word after "password:" would be masked.
        #expect(error.map { SecretMask.text($0.message) } == error?.message)
        #expect(!provider.isSessionOpened)
        // Requests to such a server aren't signed preemptively.
        _ = try? await stub.send(.stub(), provider)
        #expect(sent("nc", stub)[2] == "-")
    }

    @Test func `a body that was changed on its way fails its proof`() async throws {
        let settings = DigestServer.Settings(quality: "auth-int", proof: "auth-int")
        let stub = stub(DigestServer(settings) { $0 + Data("!".utf8) })
        let error = await #expect(throws: AuthenticationError.self) { try await stub.send(.stub(), provider()) }
        #expect(error?.kind == .serverNotProven)
        #expect(stub.requests.last?.headers[.acceptEncoding] == "identity")
    }

    @Test func `a body over the bound can't be verified`() async throws {
        let stub = stub(DigestServer(.init(quality: "auth-int", proof: "auth-int")))
        let error = await #expect(throws: AuthenticationError.self) { try await stub.send(.stub(), provider(responseBodyLimit: 5)) }
        #expect(error?.kind == .responseTooLarge)
        #expect(error?.message.contains("raise responseBodyLimit") == true)
    }

    @Test(arguments: ["gzip", "nonsense"])
    func `a body that was decoded or changed behind a coding's name fails its proof`(coding: String) async throws {
        func stub(_ server: DigestServer) -> StubServer {
            StubServer { request, _ in
                var response = try await server.respond(to: request)
                response.headers[.contentEncoding] = coding
                return response
            }
        }
        let settings = DigestServer.Settings(quality: "auth-int", proof: "auth-int")
        let changed = stub(DigestServer(settings) { _ in Data("decoded".utf8) })
        let error = await #expect(throws: AuthenticationError.self) { try await changed.send(.stub(), provider()) }
        #expect(error?.kind == .serverNotProven && error?.message.contains("'\(coding)'") == true)
        // The proof covers the bytes as sent.
        #expect(try await stub(DigestServer(settings)).send(.stub(), provider()).status == 200)
    }

    @Test func `bodies of files and replayable streams are signed`() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("digest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(repeating: 7, count: 200_000).write(to: file)
        let stub = stub(DigestServer(.init(quality: "auth-int")))
        let provider = provider()
        let stream = RequestBody(isReplayable: true) {
            .init {
                $0.yield(Data("a".utf8)); $0.yield(Data("b".utf8)); $0.finish()
            }
        }
        for body in [try RequestBody(file: file), stream] {
            #expect(try await stub.send(.stub(method: .post, body: body), provider).status == 200)
        }
        #expect(stub.requests.count == 3)
    }

    @Test func `a stream that can be read only once can't be signed`() async throws {
        let stub = stub(DigestServer(.init(quality: "auth-int")))
        let provider = provider()
        // The first request is signed after the challenge, the second preemptively.
        for requests in 1...2 {
            let error = await #expect(throws: AuthenticationError.self) {
                try await stub.send(.stub(method: .post, body: .once()), provider)
            }
            #expect(error?.kind == .bodyNotReplayable)
            #expect(error?.message.contains("replayable stream") == true)
            #expect(stub.requests.count == 1, "call \(requests)")
        }
    }

    @Test func `a stream that can be read only once is sent with what the first refusal taught`() async throws {
        let server = DigestServer()
        let stub = stub(server)
        let provider = provider()
        #expect(try await stub.send(.stub(method: .post, body: .once()), provider).status == 401)
        #expect(try await stub.send(.stub(method: .post, body: .once()), provider).status == 200)
        #expect(server.counts == ["nonce0": [1]])
    }

    @Test func `the strongest of several challenges is answered, others give up quietly`() async throws {
        let server = DigestServer(.init(algorithm: "SHA-512-256"))
        let stub = StubServer { request, _ in
            var response = try await server.respond(to: request)
            if response.status == 401 {
                response.headers.append(.wwwAuthenticate, "Digest realm=r, nonce=weak, qop=auth")
                response.headers.append(.wwwAuthenticate, "Basic realm=r")
            }
            return response
        }
        #expect(try await stub.send(.stub(), provider()).status == 200)
        #expect(sent("algorithm", stub) == ["-", "SHA-512-256"])

        let basic = StubServer { _, _ in .stub(401, ["WWW-Authenticate": "Basic realm=r, Digest realm=r, nonce=n, algorithm=X"]) }
        #expect(try await basic.send(.stub(), provider()).status == 401)
        #expect(basic.authorizations == ["-"])
    }

    @Test func `invalidated, a provider waits for a challenge again, and goes on counting`() async throws {
        let server = DigestServer()
        let stub = stub(server)
        let provider = provider()
        for _ in 0..<2 { _ = try await stub.send(.stub(), provider) }
        await provider.invalidate()
        #expect(!provider.isSessionOpened)
        #expect(try await stub.send(.stub(), provider).status == 200)
        #expect(sent("nc", stub) == ["-", "00000001", "00000002", "-", "00000003"])
    }

    @Test func `a proxy is told the absolute target, and proves itself in its own field`() async throws {
        let server = DigestServer(.init(proof: "auth", target: .proxy))
        let stub = stub(server)
        #expect(try await stub.send(.stub("http://user:secret@any.test:8080/a?b#c"), nil, proxy: provider()).status == 200)
        let value = try #require(stub.requests.last?.headers[.proxyAuthorization])
        #expect(value.contains(#"uri="http://any.test:8080/a?b""#))
        #expect(stub.authorizations == ["-", "-"])
    }

    @Test func `two servers' nonces aren't mixed up`() async throws {
        let provider = provider()
        let stubs = [stub(DigestServer()), stub(DigestServer())]
        for _ in 0..<2 {
            for (index, stub) in stubs.enumerated() {
                let root = "http://server\(index).test"
                #expect(try await stub.send(.stub(root + "/"), provider, context: .stub(origin: root)).status == 200)
            }
        }
        #expect(stubs.map { sent("nc", $0) } == Array(repeating: ["-", "00000001", "00000002"], count: 2))
    }

    @Test(arguments: [false, true], [UInt32.max, 7])
    func `counts of concurrent calls are unique and without gaps`(hasFreshNonces: Bool, usesOfNonce: UInt32) async throws {
        // With a nonce that expires after few uses, some calls need more rounds than allowed. These end with a 401.
        let server = DigestServer(.init(usesOfNonce: usesOfNonce, hasFreshNonces: hasFreshNonces))
        let calls = Sweep.rounds(ofAll: 1_000)
        let seen = Locked<[String: [UInt32]]>([:])
        let stub = StubServer { request, _ in
            if let sent = AuthenticationChallenge.challenges(in: request.headers[values: .authorization]).first, let nonce = sent["nonce"] {
                let count = UInt32(sent["nc"] ?? "", radix: 16) ?? 0
                seen.withLock { $0[nonce, default: []].append(count) }
            }
            await Task.yield()
            return try await server.respond(to: request)
        }
        let provider = provider()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<calls {
                group.addTask { try await stub.send(.stub(), provider).status }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses[200, default: 0] + statuses[401, default: 0] == calls)
        if usesOfNonce == .max { #expect(statuses[200] == calls) }
        for (nonce, counts) in seen.withLock({ $0 }) {
            #expect(counts.sorted() == Array(1...UInt32(counts.count)), "nonce \(nonce)")
        }
    }

    @Test func `descriptions and dumps hold no secrets`() async throws {
        let provider = provider()
        _ = try await stub(DigestServer()).send(.stub(), provider)
        var text = "\(provider) \(String(reflecting: provider))"
        dump(provider, to: &text)
        #expect(!text.contains("Circle of Life") && !text.contains("Mufasa") && !text.contains("nonce0"))
    }
}
