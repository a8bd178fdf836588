import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// The seam for signatures: AWS Signature Version 4, compared with the published vectors and with botocore.
@Suite struct SigningTests {
    private static let folder = ProcessInfo.processInfo.environment["SHARED_DIRECTORY"].map { $0 + "/conformance/aws-sigv4" }
    private static let cases: [String] = {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.filter { !$0.contains(".") }.sorted()
    }()

    private struct Context: Decodable {
        struct Credentials: Decodable {
            let access_key_id: String
            let secret_access_key: String
            let token: String?
        }
        let credentials: Credentials
        let normalize: Bool
        let omit_session_token: Bool?
        let region: String
        let service: String
        let sign_body: Bool
        let timestamp: Date
        let expiration_in_seconds: Int
    }

    private static func text(_ name: String, _ file: String) throws -> String {
        try String(contentsOfFile: "\(folder ?? "")/\(name)/\(file)", encoding: .utf8)
    }

    /// Reads a request; a line that begins with a blank continues the field before it.
    private static func request(_ text: String) throws -> ServiceRequest {
        let parts = text.replacing("\r\n", with: "\n").split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        var lines = parts[0].split(separator: "\n")
        let first = lines.removeFirst()
        let words = [first.prefix { $0 != " " }, first.drop { $0 != " " }.dropFirst().dropLast(" HTTP/1.1".count)]
        var fields: [(String, String)] = []
        for line in lines {
            if line.first?.isWhitespace == true, let last = fields.popLast() {
                fields.append((last.0, last.1 + " " + line.drop { $0.isWhitespace }))
            } else {
                let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                fields.append((String(halves[0]), String(halves.last ?? "").trimmingCharacters(in: .whitespaces)))
            }
        }
        let host = try #require(fields.first { $0.0.lowercased() == "host" }?.1)
        let url = try #require(URL(string: "https://\(host)" + URLText.repaired(String(words[1]))))
        let body = parts.count > 1 ? String(parts[1]) : ""
        return ServiceRequest(
            method: .init(rawValue: String(words[0])), url: url,
            headers: HTTPFields(fields.map { HTTPFields.Field(name: HTTPFields.Name($0.0), value: $0.1) }),
            body: body.isEmpty ? nil : RequestBody(Data(body.utf8)))
    }

    private static func send(
        _ request: ServiceRequest, _ provider: SignatureV4, _ answer: @escaping StubServer.Answer = { _, _ in .stub(200) }
    ) async throws -> StubServer {
        let server = StubServer(answer)
        _ = try await server.send(request, provider, context: .stub(origin: request.origin?.description))
        return server
    }

    @Test(
        .enabled(if: !cases.isEmpty, "SHARED_DIRECTORY names no folder with conformance/aws-sigv4"), arguments: cases, ["header", "query"])
    func `the published cases`(name: String, place: String) async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let context = try decoder.decode(Context.self, from: Data(Self.text(name, "context.json").utf8))
        let request = try Self.request(Self.text(name, "request.txt"))
        let isRaw = try !Self.text(name, "request.txt").prefix { $0 != "?" && !$0.isNewline }.contains("%")
        let provider = SignatureV4(
            .init(
                keyID: context.credentials.access_key_id, secret: context.credentials.secret_access_key,
                sessionToken: context.credentials.token, signsSessionToken: context.omit_session_token != true, region: context.region,
                service: context.service, normalizes: context.normalize,
                // A path that isn't encoded yet is encoded for the URL already.
                encodesTwice: !isRaw, sendsBodyHash: context.sign_body,
                expiration: place == "query" ? context.expiration_in_seconds : nil, date: { context.timestamp }))
        let server = try await Self.send(request, provider)
        #expect(provider.canonicalRequest.withLock { $0 } == (try Self.text(name, "\(place)-canonical-request.txt")))
        #expect(provider.stringToSign.withLock { $0 } == (try Self.text(name, "\(place)-string-to-sign.txt")))
        let signature = try Self.text(name, "\(place)-signature.txt").trimmingCharacters(in: .whitespacesAndNewlines)
        let sent = place == "query" ? server.requests.first?.url.absoluteString : server.authorizations.first
        #expect(sent?.hasSuffix("Signature=" + signature) == true)
    }

    // MARK: botocore

    private struct Judged: Codable {
        var method: String
        var url: String
        var headers: [[String]]
        var body: String
        var service: String
        var token: String?
    }

    private static let program = """
        import base64, datetime, json, sys
        import botocore.auth, botocore.awsrequest, botocore.credentials
        moment = datetime.datetime(2026, 5, 17, 1, 2, 3, tzinfo=datetime.timezone.utc)
        naive = moment.replace(tzinfo=None)
        if hasattr(botocore.auth, "get_current_datetime"):
            botocore.auth.get_current_datetime = lambda *a, **k: naive
        class Clock(datetime.datetime):
            @classmethod
            def utcnow(cls): return naive
            @classmethod
            def now(cls, tz=None): return moment
        botocore.auth.datetime = type("d", (), {"datetime": Clock, "timezone": datetime.timezone})
        for case in json.load(sys.stdin):
            credentials = botocore.credentials.Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", case.get("token"))
            kind = botocore.auth.S3SigV4Auth if case["service"] == "s3" else botocore.auth.SigV4Auth
            request = botocore.awsrequest.AWSRequest(case["method"], case["url"], data=base64.b64decode(case["body"]))
            for name, value in case["headers"]: request.headers.add_header(name, value)
            kind(credentials, case["service"], "eu-north-1").add_auth(request)
            print(request.headers["Authorization"])
        """

    private static var python: String { ProcessInfo.processInfo.environment["JUDGE_PYTHON"] ?? "python3" }

    private static func hasBotocore() async -> Bool {
        for python in [python, "python3"] where (try? await ChildProcess.run([python, "-c", "import botocore"]))?.status == 0 {
            return true
        }
        return false
    }

    /// The `Authorization` of each case by botocore.
    private static func signatures(of cases: [Judged]) async throws -> [String] {
        var python = python
        if try await ChildProcess.run([python, "-c", "import botocore"]).status != 0 { python = "python3" }
        let judged = try await ChildProcess.run([python, "-c", program], input: JSONEncoder().encode(cases))
        try #require(judged.status == 0, "\(judged.text)")
        return String(decoding: judged.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test(.enabled("neither JUDGE_PYTHON nor python3 has botocore") { await hasBotocore() })
    func `a server gets what was signed, after all stages and on each hop`() async throws {
        let server = try LoopbackServer {
            $0.fallback { $0.path == "/hop" ? .redirect(to: "/x/../end?z=1&a=%20", status: 307) : .status(200) }
        }
        let date = try #require(ISO8601DateFormatter().date(from: "2026-05-17T01:02:03Z"))
        let client = WebServiceClient(serviceRoot: server.url.absoluteString) {
            $0.authenticationProvider = SignatureV4(.init(region: "eu-north-1", service: "execute-api", date: { date }))
            $0.headers["X-Client"] = "a  b"
            $0.cookies = CookieJar()
        }
        try client.session.update {
            $0[query: "tenant"] = "ä &+="
            $0.headers["X-Session"] = "1"
        }
        let long = ["text": String(repeating: "äb", count: 3_000)]
        let form = MultipartForm([.text("f", "vä"), .data("g", Data(repeating: 7, count: 3_000), fileName: "ä.bin")])
        try await client.http.post("/a%%0%%", "x/y ü").body(long).describing { $0.compressed(.gzip).sendingDigest() }.send()
        try await client.http.post("/form").body(form).send()
        try await client.http.put("/large").body(Data(repeating: 1, count: 2_000_000)).describing { $0.expectingContinue() }.send()
        try await client.http.post("/hop").body(long).send()
        try await client.http.get("/query").describing { $0.query(["b": "2", "a": "ü +&/"]) }.send()
        try await client.http.delete("/").header("X-Twice", "1").send()
        try await client.http.post("/empty").send()
        let received = server.requests
        try #require(received.count == 8)
        let cases = received.map { request in
            let names = request.fields["Authorization"]?.firstMatch(of: /SignedHeaders=([^,]*)/)?.1.split(separator: ";").map(String.init)
            // botocore adds these two itself.
            let signed = Set(names ?? []).subtracting(["host", "x-amz-date"])
            return Judged(
                method: request.method, url: server.url.absoluteString + request.target,
                headers: request.fields.filter { signed.contains($0.name.lowercased()) }.map { [$0.name, $0.value] },
                body: request.body.base64EncodedString(), service: "execute-api", token: nil)
        }
        #expect(try await Self.signatures(of: cases) == received.map { $0.fields["Authorization"] ?? "-" })
        #expect(received.first?.fields["Content-Encoding"] == "gzip" && received.first?.fields["Content-Digest"] != nil)
    }

    @Test(.enabled("neither JUDGE_PYTHON nor python3 has botocore") { await hasBotocore() })
    func `the same signatures as botocore`() async throws {
        var seed = SeededGenerator(seed: 32)
        let segments = ["a", "b%20c", "%C3%A9", "x%2Fy", "a+b", "a:b", "~", "..", ".", "", "%25", "a=b", "(1)"]
        var cases: [Judged] = []
        for _ in 0..<300 {
            let service = ["s3", "execute-api"].randomElement(using: &seed) ?? ""
            let path = (0..<Int.random(in: 0...4, using: &seed)).map { _ in segments.randomElement(using: &seed) ?? "" }
            let query = (0..<Int.random(in: 0...3, using: &seed)).map { _ in
                (["a", "b", "A", "%C3%A9", "a-b"].randomElement(using: &seed) ?? "") + "="
                    + (["", "1", "%20", "%2B", "z%3D", "~"].randomElement(using: &seed) ?? "")
            }
            let hasBody = Bool.random(using: &seed)
            let length = hasBody ? Int.random(in: 1...200, using: &seed) : 0
            let body = Data((0..<length).map { _ in UInt8.random(in: 0...255, using: &seed) })
            let target = path.joined(separator: "/") + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
            var headers = [["X-Amz-Target", "Service.\(Int.random(in: 0...9, using: &seed))"], ["X-Blanks", "a   b"]]
            if hasBody { headers += [["Content-Type", "application/json"], ["Content-Length", "\(body.count)"]] }
            cases.append(
                Judged(
                    method: hasBody ? "POST" : "GET",
                    url: "https://example.amazonaws.com/" + target, headers: headers, body: body.base64EncodedString(), service: service,
                    token: Bool.random(using: &seed) ? "tok" : nil))
        }
        let date = try #require(ISO8601DateFormatter().date(from: "2026-05-17T01:02:03Z"))
        var own: [String] = []
        for one in cases {
            let isS3 = one.service == "s3"
            let provider = SignatureV4(
                .init(
                    sessionToken: one.token, region: "eu-north-1", service: one.service, normalizes: !isS3, encodesTwice: !isS3,
                    sendsBodyHash: isS3, date: { date }))
            let body = try #require(Data(base64Encoded: one.body))
            let request = ServiceRequest(
                method: .init(rawValue: one.method), url: try #require(URL(string: one.url)),
                headers: HTTPFields(one.headers.map { HTTPFields.Field(name: HTTPFields.Name($0[0]), value: $0[1]) }),
                body: body.isEmpty ? nil : RequestBody(body))
            own.append(try await Self.send(request, provider).authorizations.first ?? "")
        }
        let theirs = try await Self.signatures(of: cases)
        for (index, (ours, theirs)) in zip(own, theirs).enumerated() {
            #expect(ours == theirs, "\(cases[index])")
        }
        #expect(theirs.count == cases.count)
    }

    // MARK: The seam

    @Test func `a signature covers the body as it is sent, in memory, in a file or as a replayable stream`() async throws {
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "body")
        try bytes.write(to: file)
        let stream = RequestBody(isReplayable: true) {
            .init { continuation in
                for start in stride(from: 0, to: bytes.count, by: 10_000) { continuation.yield(bytes[start..<start + 10_000]) }
                continuation.finish()
            }
        }
        let expected = MessageDigest.hexadecimal(MessageDigest.sha256(of: bytes))
        for body in [RequestBody(bytes), try RequestBody(file: file), stream] {
            let attempt = AuthenticationAttempt(request: .stub(method: .post, body: body), target: .origin)
            #expect(try await attempt.bodySHA256().map(MessageDigest.hexadecimal) == expected)
        }
        let once = AuthenticationAttempt(request: .stub(method: .post, body: .once()), target: .origin)
        #expect(try await once.bodySHA256() == nil)
        let none = AuthenticationAttempt(request: .stub(), target: .origin)
        #expect(try await none.bodySHA256() == MessageDigest.sha256(of: []))
    }

    @Test func `a body that can be read once is an error, or sent with the mark of an unsigned one`() async throws {
        let refusing = SignatureV4(.init())
        let error = await #expect(throws: AuthenticationError.self) {
            try await Self.send(.stub("https://a.test/", method: .put, body: .once()), refusing)
        }
        #expect(error?.kind == .bodyNotReplayable)
        let allowing = SignatureV4(.init(sendsBodyHash: true, allowsUnsignedBodies: true))
        let server = try await Self.send(.stub("https://a.test/", method: .put, body: .once()), allowing)
        #expect(server.requests.first?.headers["X-Amz-Content-SHA256"] == "UNSIGNED-PAYLOAD")
    }

    @Test func `the fields as sent include those that the transport derives`() {
        var body = RequestBody(Data("abc".utf8), contentType: "text/plain")
        var request = ServiceRequest.stub("https://a.test:8443/x", method: .post, body: body)
        var fields: HTTPFields { AuthenticationAttempt(request: request, target: .origin).sentFields }
        #expect(fields[.host] == "a.test:8443" && fields[.contentType] == "text/plain" && fields[.contentLength] == "3")
        request.headers[.contentType] = "text/csv"
        request.headers[.host] = "b.test"
        #expect(fields[.host] == "b.test" && fields[.contentType] == "text/csv")
        body.contentTypeIsBinding = true
        request.body = body
        #expect(fields[.contentType] == "text/plain")
        request.body = .once()
        #expect(fields[.contentLength] == nil)
        #expect(fields[.contentType] == "text/csv")
    }

    @Test func `each attempt is signed anew, and a skewed clock is learnt from a 403`() async throws {
        let stub = StubTransport()
        let skewed = StubAnswer.status(
            403, headers: ["Date": "Sun, 17 May 2026 01:02:03 GMT", "X-Amzn-ErrorType": "RequestTimeTooSkewed"])
        stub.fallback(.inTurn(skewed, .status(503), .status(200)))
        let client = WebServiceClient(serviceRoot: "https://a.test") {
            $0.transport = stub
            $0.retry = RetryPolicy(attempts: 2, backoff: Backoff(base: .zero))
            $0.authenticationProvider = SignatureV4(.init(date: { Date(timeIntervalSince1970: 1_000_000_000) }))
        }
        try await client.http.request(.get, "/x").send()
        let dates = stub.requests.map { $0.request.headers["X-Amz-Date"] ?? "" }
        #expect(dates == ["20010909T014640Z", "20260517T010203Z", "20260517T010203Z"])
    }

    @Test func `the hash functions`() {
        #expect(
            MessageDigest.hexadecimal(MessageDigest.hmacSHA256(of: "what do ya want for nothing?".utf8, key: "Jefe".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            MessageDigest.hexadecimal(MessageDigest.sha256(of: "abc".utf8))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
