import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite struct RequestBodyTests {
    @Test func `Lengths that nobody can add are no length, and no crash`() {
        let file = URL(filePath: "/nowhere")
        #expect(RequestBody(segments: [.file(file, length: .max), .file(file, length: .max)]).length == nil)
        #expect(RequestBody(segments: [.file(file, length: .max), .data(Data([1])), .data(Data([1]))]).length == nil)
        #expect(RequestBody(segments: [.file(file, length: -5), .data(Data([1]))]).length == 1)
        #expect(RequestBody(segments: []).length == 0)
    }

    @Test(arguments: ["stub", "libcurl", "URLSession"])
    func `A negative length is an error when the body is sent`(engine: String) async throws {
        let transports: [String: (any Transport)?] = [
            "stub": StubTransport(), "libcurl": CurlTransport.shared, "URLSession": URLSessionTransport.shared,
        ]
        guard let transport = transports[engine] ?? nil else { return }
        let server = try RawServer { while $0.readRequest() != nil {} }
        let body = RequestBody(length: -5) { AsyncThrowingStream { $0.finish() } }
        let request = try server.request(.post, "/", body: body)
        if engine != "stub" {
            let direct = await #expect(throws: TransportError.self) { try await watched { _ = try await transport.send(request) } }
            #expect(direct?.code == .badRequest && direct?.message.contains("-5") == true, "\(String(describing: direct))")
        }
        let client = WebServiceClient(serviceRoot: try #require(request.origin).description) { $0.transport = transport }
        let error = try #require(await serviceError { try await watched { _ = try await client.http.post("/").body(body).send() } })
        #expect(error.message.contains("-5") && error.message.contains("length"), "\(error)")
    }

    @Test func `A pipe is no file: its length would say that it is empty`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bodies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appending(path: "pipe")
        #expect(mkfifo(pipe.path(percentEncoded: false), 0o600) == 0)
        let error = #expect(throws: RequestBodyError.self) { try RequestBody(file: pipe) }
        #expect(error?.message.contains("stream") == true)
        #expect(throws: RequestBodyError.self) { try RequestBody(file: folder) }
    }
}
