import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Bodies of calls in their records, when enabled.
@Suite struct CallBodyTests {
    private let sink = CollectingSink()

    private func request(_ body: RequestBody, _ headers: HTTPFields = ["Content-Type": "application/json"]) throws -> ServiceRequest {
        ServiceRequest(method: .post, url: try #require(URL(string: "https://api.test/orders")), headers: headers, body: body)
    }

    /// Makes a call and returns the metadata of its record.
    private func call(
        _ request: ServiceRequest, answer: ResponseBody = ResponseBody(), type: String = "application/json", limit: Int = 1_000,
        _ attribute: LoggingAttribute? = nil, reads: Bool = true
    ) async throws -> LogMetadata {
        let logger = RemoteLogger(label: "calls", pipeline: LogPipeline(sinks: [sink], clock: ManualLogClock()), minimumLevel: .trace)
        var attributes = EndpointAttributes()
        attributes[LoggingAttribute.self] = attribute
        let context = CallContext(identity: CallIdentity(client: "Shop", key: "place(_:)", route: "/orders"), attributes: attributes)
        let response = try await CallLogger(logger, bodyLimit: limit).intercept(request, context: context) { request, _ in
            TransportResponse(status: 200, headers: ["Content-Type": type], url: request.url, body: answer)
        }
        if reads { for try await _ in response.body {} }
        return try #require(sink.records.last).metadata
    }

    private func streamed(_ pieces: [Data]) -> ResponseBody {
        let left = Locked(pieces[...])
        return ResponseBody(expectedLength: nil, next: { left.withLock { $0.popFirst() } }, cancel: {})
    }

    @Test func `bodies are logged on demand only`() async throws {
        let request = try request(RequestBody(Data(#"{"order":7}"#.utf8)))
        let silent = try await call(request, answer: ResponseBody(Data("{}".utf8)), limit: 0)
        #expect(silent["http.request.body.content"] == nil && silent["http.response.body.content"] == nil)
        #expect(silent["http.request.body.size"] == 11 && silent["http.response.body.size"] == 2)
        let asked = try await call(request, answer: ResponseBody(Data("{}".utf8)))
        #expect(asked["http.request.body.content"] == #"{"order":7}"# && asked["http.response.body.content"] == "{}")
    }

    @Test func `the endpoint says how much of its bodies is logged`() async throws {
        let request = try request(RequestBody(Data("0123456789".utf8)), ["Content-Type": "text/plain"])
        #expect(try await call(request, limit: 0, .debug.withBodies(upTo: 4))["http.request.body.content"] == "0123…")
        #expect(try await call(request, limit: 8, .debug)["http.request.body.content"] == "01234567…")
        #expect(try await call(request, limit: 8, .debug.withBodies(upTo: 0))["http.request.body.content"] == nil)
        #expect(try await call(request, limit: 8, .debug.withBodies(upTo: -1))["http.request.body.content"] == nil)
    }

    @Test func `no secret of a body is in the record`() async throws {
        let secrets = [
            #"{"user":"ada","password":"hunter2-secret","list":[{"api_key":"hunter2-secret"}]}"#, "a=1&client_secret=hunter2-secret&b=2",
            "Authorization: Bearer hunter2-secret-hunter2-secret",
        ]
        for (secret, type) in zip(secrets, ["application/json", "application/x-www-form-urlencoded", "text/plain"]) {
            let metadata = try await call(
                request(RequestBody(Data(secret.utf8)), ["Content-Type": type]), answer: streamed(secret.utf8.map { Data([$0]) }),
                type: type)
            let text = metadata.description
            #expect(!text.contains("hunter2") && text.contains("<masked>"), "\(text)")
        }
    }

    @Test func `a secret that the bound cuts in two is masked as a whole`() async throws {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
        let body = Data(("token " + token + String(repeating: " and so on", count: 1_000)).utf8)
        for limit in 7..<60 {
            let metadata = try await call(
                request(RequestBody(body), ["Content-Type": "text/plain"]), answer: streamed([body]), type: "text/plain", limit: limit)
            for name in ["http.request.body.content", "http.response.body.content"] {
                let text = try #require(metadata[name]).description
                #expect(!text.contains("eyJ") && text.hasSuffix("…") && text.utf8.count <= limit + 3)
            }
        }
    }

    @Test func `no half of a secret is shown where masks have made the text before it short`() async throws {
        let token = "eyJhbGciOiJIUzI1NiJ9." + String(repeating: "eyJzdWIiOiIxMjM0NTY3ODkwIn0", count: 100) + ".dozjgNryP4J3jVmNHl0w5N"
        // The excerpt reads up to its limit and margin; the cut moves through the second secret.
        for filling in stride(from: 5_096 - token.utf8.count - 90, through: 5_096 - token.utf8.count, by: 3) {
            let text = token + String(repeating: " ", count: filling)
            let body = Data((text + "gh" + "p_abcdefGHIJKL0123456789abcdefGHIJKL01 and so on").utf8)
            let metadata = try await call(
                request(RequestBody(body), ["Content-Type": "text/plain"]), answer: streamed([body]), type: "text/plain", limit: 1_000)
            for name in ["http.request.body.content", "http.response.body.content"] {
                let text = try #require(metadata[name]).description
                #expect(!text.contains("gh" + "p") && text.hasSuffix("…"), "\(text)")
            }
        }
    }

    @Test func `what isn't text in UTF-8 is left out, and nothing is cut within a character`() async throws {
        for bytes in [
            Data([0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3, 4]), Data("gr\u{FC}n und wei\u{DF} und so".unicodeScalars.map { UInt8($0.value) }),
            Data([0x68, 0, 0x75, 0]),
        ] {
            let metadata = try await call(request(RequestBody(bytes)), answer: streamed([bytes]))
            #expect(metadata["http.request.body.content"] == nil && metadata["http.response.body.content"] == nil)
        }
        for limit in 1...12 {
            let text = try #require(try await call(request(RequestBody(Data("🦊Ωé🦊".utf8))), limit: limit)["http.request.body.content"])
                .description
            #expect("🦊Ωé🦊".hasPrefix(text.dropLast(text.hasSuffix("…") ? 1 : 0)) && text.utf8.count <= limit + 3)
        }
        let encoded = try request(RequestBody(Data("text".utf8)), ["Content-Encoding": "x"])
        #expect(try await call(encoded)["http.request.body.content"] == nil)
    }

    @Test func `a long body is neither kept nor changed`() async throws {
        let pieces = (0..<200).map { number in Data(repeating: UInt8(97 + number % 26), count: 10_000) }
        let request = try request(RequestBody(segments: pieces.map { .data($0) }))
        let metadata = try await call(request, answer: streamed(pieces), limit: .max)
        for name in ["http.request.body.content", "http.response.body.content"] {
            #expect(metadata[name]?.description.utf8.count == (64 << 10) + 3)
        }
        #expect(metadata["http.response.body.size"] == 2_000_000)
        let stream = RequestBody { AsyncThrowingStream { $0.finish() } }
        #expect(try await call(self.request(stream))["http.request.body.content"] == nil)
    }

    @Test func `of a body that is left there is what came`() async throws {
        let metadata = try await call(request(RequestBody(Data())), answer: streamed([Data("ab".utf8)]))
        #expect(metadata["http.response.body.content"] == "ab" && metadata["http.request.body.content"] == nil)
    }
}
