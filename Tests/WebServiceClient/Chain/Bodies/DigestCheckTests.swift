import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct DigestCheckTests {
    private static let content = Data("{\"hello\": \"world\"}\n".utf8)
    private static let field = ContentDigest.fieldValue(of: [.of(content)])
    private static let other = ContentDigest.fieldValue(of: [.of(Data("other".utf8))])
    private static let hexadecimal = "44aff4ab2d7c3250525675a08f0cfa9591168cffe51791c5f5bbc417c15a6c38"

    private let stub = StubTransport()
    private let events = Locked([String]())

    private func client(_ configure: (inout WebServiceClient.Configuration) -> Void = { _ in }) -> WebServiceClient {
        WebServiceClient(serviceRoot: "https://store.test") {
            $0.transport = stub
            $0.diagnostics = Diagnostics { [events] event in events.withLock { $0.append(event.message) } }
            configure(&$0)
        }
    }

    private func get(_ setting: DigestVerification, method: ServiceRequest.Method = .get) async throws -> Data {
        let descriptor = EndpointDescriptor.endpoint(method, "/").attribute(setting).raw()
        return try await ServiceCall(client: client(), descriptor: descriptor, arguments: []).value()
    }

    /// The kind of the error with which a call ends; `nil` if it succeeds.
    private func kind(_ setting: DigestVerification, method: ServiceRequest.Method = .get) async -> DigestError.Kind? {
        let error = await serviceError { _ = try await get(setting, method: method) }
        if let error, let cause = error.cause as? DigestError {
            #expect(error.kind == .digest && error.stage == .body)
            return cause.kind
        }
        #expect(error == nil, "\(error?.message ?? "")")
        return nil
    }

    @Test(arguments: ["Content-Digest", "Repr-Digest"]) func `A body with its digest is delivered, another isn't`(name: String) async throws
    {
        let name = HTTPFields.Name(name)
        for pieces in [[Self.content], Self.content.map { Data([$0]) }] {
            stub.fallback(.pieces(pieces, headers: [name: Self.field]))
            #expect(try await get(DigestVerification(.required)) == Self.content)
            stub.fallback(.pieces(pieces, headers: [name: Self.other]))
            let error = await serviceError { _ = try await get(DigestVerification()) }
            #expect(
                error?.kind == .digest && error?.message.contains("\(name) states") == true && error?.message.contains("sha-256") == true)
            #expect((error?.cause as? DigestError)?.algorithm == .sha256)
        }
        stub.fallback(.data(Self.content, headers: [name: Self.other]))
        #expect(await kind(DigestVerification()) == .mismatch, "in memory too")
        #expect(await kind(DigestVerification(.off)) == nil)
    }

    @Test func `Every stated digest is compared`() async {
        let both = Self.field + ", " + ContentDigest.fieldValue(of: [.of(Data(), .sha512)])
        stub.fallback(.data(Self.content, headers: [.contentDigest: both]))
        #expect(await kind(DigestVerification()) == .mismatch)
        stub.fallback(.data(Self.content, headers: [.contentDigest: Self.field, .reprDigest: Self.other]))
        #expect(await kind(DigestVerification()) == .mismatch)
        stub.fallback(.data(Self.content, headers: [.contentDigest: "sha-256=:AA==:"]))
        #expect(await kind(DigestVerification()) == .mismatch, "a short digest is that of no body")
    }

    @Test(arguments: [nil, "md5=:1B2M2Y8AsgTpgAmY7PhCfg==:", "sha-256=abc", "sha-256=:RK/0", ",", "unixsum=:AA==:"])
    func `Without a usable digest the body is delivered, unless one is required`(field: String?) async {
        stub.fallback(.data(Self.content, headers: field.map { [.contentDigest: $0] } ?? [:]))
        #expect(await kind(DigestVerification()) == nil)
        #expect(await kind(DigestVerification(.required)) == .missing)
        let isInvalid = field.map { !$0.hasPrefix("md5") && !$0.hasPrefix("unixsum") } ?? false
        #expect(events.withLock { $0 }.contains { $0.contains("Content-Digest is invalid") } == isInvalid)
    }

    @Test func `A part, a body without content and a coded body`() async {
        stub.fallback(.data(Self.content, status: 206, headers: [.reprDigest: Self.other]))
        #expect(await kind(DigestVerification()) == nil)
        #expect(await kind(DigestVerification(.required)) == .missing)
        stub.fallback(.data(Self.content, status: 206, headers: [.reprDigest: Self.other, .contentDigest: Self.field]))
        #expect(await kind(DigestVerification(.required)) == nil)
        stub.fallback(.data(Data(), headers: [.reprDigest: Self.other]))
        #expect(await kind(DigestVerification(), method: .head) == nil)
        stub.fallback(.data(Self.content, headers: [.contentDigest: Self.other, .contentEncoding: "gzip"]))
        #expect(await kind(DigestVerification()) == nil)
        #expect(events.withLock { $0 }.contains { $0.contains("coded response") })
        #expect(await kind(DigestVerification(.required)) == .incomparable)
        stub.fallback(.data(Self.content, headers: [.contentDigest: Self.field, .contentEncoding: "identity"]))
        #expect(await kind(DigestVerification(.required)) == nil)
    }

    @Test func `A failure is verified, but its digest isn't required`() async {
        stub.fallback(.text("gone", status: 404))
        let error = await serviceError { _ = try await get(DigestVerification(.required)) }
        #expect(error?.status == 404 && error?.kind == .status)
        stub.fallback(.text("gone", status: 404, headers: [.contentDigest: Self.other]))
        let damaged = await serviceError { _ = try await get(DigestVerification()) }
        #expect(damaged?.kind == .digest && damaged?.status == 404)
    }

    @Test func `The request asks for an uncoded response, and for digests if wanted`() async throws {
        stub.fallback(.data(Self.content, headers: [.contentDigest: Self.field]))
        _ = try await get(DigestVerification(.required, wanting: [.sha512, .sha256]))
        _ = try await get(DigestVerification())
        _ = try await get(DigestVerification(.off, wanting: [.sha256]))
        #expect(stub.requests.map { $0.request.headers["Want-Content-Digest"] } == ["sha-512=10, sha-256=9", nil, nil])
        #expect(stub.requests.map { $0.request.headers[.acceptEncoding] } == ["identity", "identity", nil])
    }

    @Test(.enabled("libcurl isn't here") { (try? CurlTransport()) != nil }) func `Trailer fields are compared`() async throws {
        let server = try LoopbackServer { routes in
            for (path, digest) in [("/right", Self.field), ("/wrong", Self.other)] {
                routes.get(path) { _ in
                    LoopbackResponse.data(Self.content).with("Trailer", "Content-Digest").framed(.chunked).trailing([
                        "Content-Digest": digest
                    ])
                }
            }
            routes.get("/none") { _ in LoopbackResponse.data(Self.content).with("Trailer", "Content-Digest").framed(.chunked) }
        }
        defer { server.stop() }
        let client = WebServiceClient(serviceRoot: try server.url("/").absoluteString) { $0.transport = (try? CurlTransport()) ?? stub }
        func get(_ path: String) async throws -> Data {
            try await client.http.get(path).describing { $0.verifyingDigests(.required).raw() }.value()
        }
        #expect(try await get("/right") == Self.content)
        #expect(await serviceError { _ = try await get("/wrong") }?.kind == .digest)
        #expect((await serviceError { _ = try await get("/none") }?.cause as? DigestError)?.kind == .missing)
    }

    @Test func `A damaged body isn't cached`() async throws {
        let client = client { $0.cache = ResponseCache() }
        func get() async throws -> Data { try await client.http.get("/a").describing { $0.verifyingDigests(.required).raw() }.value() }
        let fresh: HTTPFields = ["Cache-Control": "max-age=600", .contentDigest: Self.field]
        stub.fallback(.inTurn(.pieces([Data("damaged".utf8)], headers: fresh), .pieces([Self.content], headers: fresh)))
        #expect(await serviceError { _ = try await get() }?.kind == .digest)
        #expect(try await get() == Self.content)
        #expect(try await get() == Self.content)
        #expect(stub.requests.count == 2)
    }

    // MARK: Expected digests

    @Test func `A download is compared with its known digest, also from the cache`() async throws {
        let client = client { $0.cache = ResponseCache() }
        func get(_ expected: ExpectedDigest) async throws -> Data {
            try await client.with(expected) { try await $0.http.get("/a").describing { $0.raw() }.value() }
        }
        stub.fallback(.pieces([Self.content], headers: ["Cache-Control": "max-age=600"]))
        #expect(try await get(.expectedDigest(sha256: Self.hexadecimal)) == Self.content)
        let wrong = await serviceError { _ = try await get(.expectedDigest(sha256: String(repeating: "0", count: 64))) }
        #expect(wrong?.kind == .digest && wrong?.message.contains("the call expects") == true)
        #expect(stub.requests.count == 1)
        let invalid = await serviceError { _ = try await get(.expectedDigest(sha512: "abc")) }
        #expect(invalid?.kind == .request && invalid?.message.contains("expected digest is invalid") == true)
        stub.fallback(.status(404))
        #expect(
            await serviceError {
                _ = try await client.with(.expectedDigest(sha256: Self.hexadecimal)) { try await $0.http.get("/b").send() }
            }?.status == 404)
        stub.fallback(.data(Self.content, status: 206))
        let part = await serviceError {
            _ = try await client.with(.expectedDigest(sha256: Self.hexadecimal)) { try await $0.http.get("/c").send() }
        }
        #expect((part?.cause as? DigestError)?.kind == .incomparable)
    }

    @Test func `A file with another digest doesn't get its name`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "digest-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        stub.fallback(.pieces([Self.content, Self.content]))
        let file = folder.appending(component: "a")
        let error = await serviceError {
            let response = try await client().with(.expectedDigest(sha256: Self.hexadecimal)) { try await $0.http.get("/a").stream() }
            _ = try await response.value.write(to: file)
        }
        #expect(error?.kind == .digest)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()).isEmpty)
    }
}
