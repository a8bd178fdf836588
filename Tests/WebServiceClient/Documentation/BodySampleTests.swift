import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on bodies, and of the later ones in the article on forms.

private final class SampleStore: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "ingest(batch:)": .post("/batches").compressed(.gzip),
            "upload(file:)": .put("/backups/today").expectingContinue(),
            "store(document:)": .put("/document").sendingDigest(),
            "document()": .get("/document").verifyingDigests(.required, wanting: [.sha256]),
            "upload(_:)": .post("/photos").accepting(.created),
        ]
    }

    func ingest(batch: Data) async throws { try await call(batch) }
    func upload(file: RequestBody) async throws { try await call(file) }
    func store(document: Data) async throws { try await call(document) }
    func document() async throws -> Data { try await call() }
    func upload(_ form: MultipartForm) async throws { try await call(form) }
}

@Suite struct BodySampleTests {
    private let stub = StubTransport()

    private func store() -> SampleStore { SampleStore(serviceRoot: "https://store.test") { $0.transport = stub } }

    @Test func `The table is verified, and its calls are sent as described`() async throws {
        #expect(SampleStore.verify().isEmpty)
        stub.fallback(.status(200))
        try await store().ingest(batch: Data(count: 5_000))
        try await store().upload(file: RequestBody(Data(count: 2_000_000)))
        try await store().store(document: Data())
        #expect(stub.requests[0].request.headers[.contentEncoding] == "gzip")
        #expect(stub.requests[1].request.headers[.expect] == "100-continue")
        #expect(stub.requests[2].request.headers[.contentDigest] == "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")
        stub["document()"] = .text("x", headers: [.contentDigest: ContentDigest.fieldValue(of: [.of(Data("x".utf8))])])
        #expect(try await store().document() == Data("x".utf8))
    }

    @Test func `A download has its published checksum`() async throws {
        let store = store()
        stub.fallback(.text("tool"))
        let published = MessageDigest.hexadecimal(MessageDigest.sha256(of: "tool".utf8))
        let file = FileManager.default.temporaryDirectory.appending(component: "tool-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let response = try await store.with(.expectedDigest(sha256: published)) { try await $0.http.get("/tool.tar.gz").stream() }
        try await response.value.write(to: file)
        #expect(try Data(contentsOf: file) == Data("tool".utf8))
    }

    @Test func `Forms with generated parts, and related parts`() async throws {
        stub["upload(_:)"] = .status(201)
        let (lines, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(Data("line\n".utf8))
        continuation.finish()
        let (details, part) = (["a": 1], Data([1]))
        try await store().upload(
            MultipartForm([
                .text("name", "Grüße", in: .isoLatin1),
                .value("details", details),
                .body("log", RequestBody(chunks: lines), fileName: "today.log"),
                .data("part", part).header("X-Checksum", "17"),
            ]))
        let body = String(decoding: stub.requests[0].body ?? Data(), as: UTF8.self)
        #expect(body.contains("filename=\"today.log\"\r\n") && body.contains("\r\n\r\nline\n\r\n") && body.contains("X-Checksum: 17"))
        let photo = FileManager.default.temporaryDirectory.appending(component: "photo-\(UUID().uuidString).jpg")
        defer { try? FileManager.default.removeItem(at: photo) }
        try Data([0xFF, 0xD8]).write(to: photo)
        let metadata = ["title": "Alps"]
        try await store().upload(
            MultipartForm([try .value("", metadata), .part(.file(photo), contentType: "image/jpeg", contentID: "photo")], as: .related()))
        let type = stub.requests[1].request.headers[.contentType]
        #expect(type?.hasPrefix("multipart/related; boundary=") == true && type?.hasSuffix("type=\"application/json\"") == true)
    }
}
