import Foundation
import TestSupport
import Testing
import WebServiceTesting

@_spi(Fuzzing) @testable import HTTPTransport
@testable import WebServiceClient

@Suite struct BodySettingsTests {
    private static let hash = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    private final class Store: WebServiceClient, @unchecked Sendable {
        override class var endpoints: EndpointTable {
            [
                "coded(_:)": .put("/coded").compressed(.gzip, above: 10),
                "signed(_:)": .put("/signed").compressed(.gzip, above: 10).sendingDigest(.sha512, .sha256),
                "represented(_:)": .put("/represented").sendingDigest(in: .representation),
                "large(_:)": .put("/large").expectingContinue(above: 10),
            ]
        }

        func coded(_ body: RequestBody) async throws { try await call(body) }
        func signed(_ body: RequestBody) async throws { try await call(body) }
        func represented(_ body: RequestBody) async throws { try await call(body) }
        func large(_ body: RequestBody) async throws { try await call(body) }
    }

    private let stub = StubTransport()
    private static let text = Data(String(repeating: "compressible ", count: 500).utf8)

    private func store(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> Store {
        stub.fallback(.status(200))
        return Store(serviceRoot: "https://store.test") {
            $0.transport = stub
            configure(&$0)
        }
    }

    private static func stream(_ data: Data, isReplayable: Bool = true) -> RequestBody {
        RequestBody(isReplayable: isReplayable) {
            AsyncThrowingStream { continuation in
                continuation.yield(data)
                continuation.finish()
            }
        }
    }

    private func decoded(_ bytes: Data?) throws -> Data {
        var decoder = ContentDecoder([.gzip], host: "example.com")
        decoder.give(try #require(bytes))
        decoder.completeInput()
        var whole = Data()
        while case .piece(let piece) = try decoder.next() { whole.append(piece) }
        return whole
    }

    // MARK: Compression

    @Test func `Bodies are compressed, and say so`() async throws {
        try await store().coded(RequestBody(Self.text, contentType: "text/plain"))
        try await store().coded(Self.stream(Self.text))
        for recorded in stub.requests {
            #expect(recorded.request.headers[.contentEncoding] == "gzip")
            #expect(try decoded(recorded.body) == Self.text)
        }
        let (memory, stream) = (stub.requests[0].request, stub.requests[1].request)
        #expect(memory.body?.length != nil && memory.headers[.contentType] == "text/plain")
        #expect(stream.body?.length == nil)
    }

    @Test func `Small, incompressible and coded bodies are left as they are`() async throws {
        var random = SeededGenerator(seed: 4)
        let noise = Data((0..<2_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        try await store().coded(RequestBody(Data(count: 10)))
        try await store().coded(RequestBody(noise))
        #expect(stub.requests.allSatisfy { !$0.request.headers.contains(.contentEncoding) } && stub.requests[1].body == noise)
        try await store().http.put("/x").body(Self.text).describing { $0.compressed(.gzip).header(.contentEncoding, "x-own") }.send()
        #expect(stub.requests[2].request.headers[.contentEncoding] == "x-own" && stub.requests[2].body == Self.text)
        try await store().with(BodyCompression.off) { try await $0.coded(RequestBody(Self.text)) }
        #expect(!stub.requests[3].request.headers.contains(.contentEncoding))
    }

    @Test func `A redirect with the body is compressed again, one without has no coding`() async throws {
        for (status, codings) in [(307, ["gzip", "gzip"]), (303, ["gzip", nil])] {
            let store = store()
            stub.forgetRequests()
            stub.fallback(.inTurn(.redirect(to: "/other", status: status), .status(200)))
            try await store.signed(RequestBody(Self.text))
            #expect(stub.requests.map { $0.request.headers[.contentEncoding] } == codings)
            #expect(stub.requests.map { $0.request.headers.contains(.contentDigest) } == codings.map { $0 != nil })
        }
    }

    @Test func `A 415 names the coding and what the service takes`() async throws {
        let store = store()
        stub.fallback(.status(415, headers: ["Accept-Encoding": "zstd"]))
        let error = await serviceError { try await store.coded(RequestBody(Self.text)) }
        #expect(error?.message.contains("coding gzip, only zstd") == true, "\(error?.message ?? "")")
    }

    // MARK: Digests of requests

    @Test func `The digest is that of the bytes that are sent`() async throws {
        try await store().signed(RequestBody(Self.text))
        try await store().signed(Self.stream(Self.text))
        for recorded in stub.requests {
            let body = try #require(recorded.body)
            #expect(body.count < Self.text.count)
            let expected = ContentDigest.fieldValue(of: [.of(body, .sha512), .of(body)])
            #expect(recorded.request.headers[.contentDigest] == expected)
        }
        try await store().represented(RequestBody(Data()))
        #expect(stub.requests[2].request.headers[.reprDigest] == "sha-256=:\(Self.hash):")
    }

    @Test func `A stream that can be read only once has no digest ahead`() async throws {
        let error = await serviceError { try await store().represented(Self.stream(Self.text, isReplayable: false)) }
        #expect(error?.kind == .encoding && error?.message.contains("only once") == true && stub.requests.isEmpty)
    }

    // MARK: Expectations

    @Test func `Only large bodies expect 100 Continue`() async throws {
        try await store().large(RequestBody(Data(count: 10)))
        try await store().large(RequestBody(Data(count: 11)))
        try await store().large(Self.stream(Data()))
        #expect(stub.requests.map { $0.request.headers[.expect] } == [nil, "100-continue", "100-continue"])
    }

    @Test func `A 417 is repeated without the expectation, if the body can be`() async throws {
        let store = store()
        stub.fallback(.inTurn(.status(417), .status(200)))
        try await store.large(RequestBody(Data(count: 11)))
        #expect(stub.requests.map { $0.request.headers[.expect] } == ["100-continue", nil])
        stub.fallback(.inTurn(.failure(TransportError(.truncated, "417", underlying: ExpectationFailed())), .status(200)))
        try await store.large(RequestBody(Data(count: 11)))
        #expect(stub.requests.count == 4)
        stub.fallback(.status(417))
        let error = await serviceError { try await store.large(Self.stream(Data(), isReplayable: false)) }
        #expect(error?.status == 417 && stub.requests.count == 5)
        let twice = await serviceError { try await store.large(RequestBody(Data(count: 11))) }
        #expect(twice?.status == 417 && stub.requests.count == 7)
    }

    @Test(.enabled("libcurl isn't here") { (try? CurlTransport()) != nil }) func `A server refuses, accepts or ignores a large body`()
        async throws
    {
        let server = try LoopbackServer { routes in
            routes.on("PUT", "/taken") { .text("\($0.body.count)") }
            routes.on("PUT", "/refused", reading: .headOnly) { _ in .status(413).closing() }
            routes.on("PUT", "/unsupported", reading: .headOnly) { request in
                request.fields["Expect"] == nil ? .text("plain") : .text("no expectations", status: 417).closing()
            }
            routes.on("PUT", "/coded") { .data($0.body).with("X-Coding", $0.fields["Content-Encoding"] ?? "") }
        }
        defer { server.stop() }
        let client = WebServiceClient(serviceRoot: try server.url("/").absoluteString) {
            $0.transport = (try? CurlTransport()) ?? stub
            $0.timeouts.firstByte = .seconds(600)
        }
        let body = RequestBody(Data(count: 2_000_000))
        func put(_ path: String, _ body: RequestBody) async throws -> String {
            try await client.http.put(path).body(body).describing { $0.expectingContinue(above: 10) }.value()
        }
        #expect(try await put("/taken", body) == "2000000")
        let refused = await serviceError { _ = try await put("/refused", body) }
        #expect(refused?.status == 413)
        #expect(try await put("/unsupported", body) == "plain")
        let coded: Data = try await client.http.put("/coded").body(Self.stream(Self.text)).describing { $0.compressed(.gzip) }.value()
        #expect(try decoded(coded) == Self.text)
    }

    @Test func `A transport that can't wait refuses an expectation, of the table or of a call`() async {
        let lacking = StubTransport(capabilities: [])
        lacking.fallback(.status(200))
        let table = await serviceError { try await store { $0.transport = lacking }.large(RequestBody(Data(count: 11))) }
        #expect(table?.kind == .table)
        let client = WebServiceClient(serviceRoot: "https://store.test") { $0.transport = lacking }
        let call = await serviceError {
            _ = try await client.with(ContinueExpectation(above: 10)) { try await $0.http.put("/").body(Data(count: 11)).send() }
        }
        #expect(call?.kind == .transport && call?.message.contains("100 Continue") == true && lacking.requests.isEmpty)
    }

    // It takes the second that the transport waits.
    @Test(.enabled("libcurl isn't here") { (try? CurlTransport()) != nil }) func `A server that ignores the expectation gets the body`()
        async throws
    {
        let server = try RawServer { connection in
            while let request = connection.readRequest() {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Length: \(request.body.count)\r\n\r\n")
            }
        }
        let request = try server.request(.put, "/", headers: [.expect: "100-continue"], body: RequestBody(Data(count: 5_000)))
        let response = try await watched { try await CurlTransport().send(request) }
        #expect(response.status == 200 && response.headers["X-Length"] == "5000")
    }

    // MARK: Tables

    @Test func `Settings that make no sense are faults`() {
        final class Faulty: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                [
                    "a()": .get("/").compressed(.gzip), "b()": .post("/").withoutBody().expectingContinue(),
                    "c()": .get("/").sendingDigest(),
                    "d()": .post("/").compressed(.gzip, above: -1), "e()": .post("/").expectingContinue(above: -1),
                    "f()": .get("/").expectingDigest(sha256: "abc"), "g()": .put("/").sendingDigest(.sha256, .sha256),
                    "h()": .get("/").verifyingDigests(wanting: [.sha512, .sha512]),
                    "ok()": .post("/").compressed(.gzip).expectingContinue().sendingDigest().verifyingDigests(
                        .required, wanting: [.sha256]),
                ]
            }
        }
        let faults = Faulty.verify()
        #expect(faults.compactMap(\.key) == ["a()", "b()", "c()", "d()", "e()", "f()", "g()", "h()"])
        #expect(faults.allSatisfy { $0.kind == .badPolicy && !$0.fix.isEmpty })
        for coding in ContentCoding.allCases {
            let fault = BodyCompression(coding).faults.first
            #expect((fault == nil) == coding.canEncode)
        }
        let lacking = Faulty.verify(for: []).filter { $0.kind == .missingCapability }
        #expect(lacking.compactMap(\.key) == ["b()", "e()", "ok()"])
        let described = Faulty.describe().endpoints.last
        #expect(described?.requires == ["waiting for 100 Continue"])
        #expect(described?.attributes.count == 4)
    }

    @Test func `The settings of the class hold, and the endpoint's override them`() async throws {
        final class Class: WebServiceClient, @unchecked Sendable {
            override class var defaults: EndpointDefaults {
                EndpointDefaults().attribute(BodyCompression(.gzip, above: 1)).attribute(ContinueExpectation(above: 1))
            }
            override class var endpoints: EndpointTable {
                ["plain(_:)": .put("/").attribute(BodyCompression.off).attribute(ContinueExpectation.off)]
            }
            func plain(_ body: Data) async throws { try await call(body) }
        }
        stub.fallback(.status(200))
        let client = Class(serviceRoot: "https://store.test") { $0.transport = stub }
        try await client.http.put("/").body(Self.text).send()
        try await client.plain(Self.text)
        #expect(stub.requests.map { $0.request.headers[.contentEncoding] } == ["gzip", nil])
        #expect(stub.requests.map { $0.request.headers[.expect] } == ["100-continue", nil])
    }
}
