import Foundation
import Testing
import WebServiceClient

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
