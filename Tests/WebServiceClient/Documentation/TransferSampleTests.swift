import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on transfers.

private final class Library: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        ["scan(id:)": .get("/scans/%%id%%"), "begin(title:)": .post("/films").query("title", .argument(0))]
    }

    struct Film: Codable, Sendable {
        var id: String
    }

    func scan(id: Int) async throws -> Data { try await call(id) }
    func begin(title: String) async throws -> Film { try await call(title) }
}

@Suite struct TransferSampleTests {
    private let folder = TemporaryFolder()

    @Test func `the samples about downloads`() async throws {
        let server = try LoopbackServer { routes in
            routes.get("/scans/7") { _ in LoopbackResponse(fields: ["ETag": "\"1\""], body: .data(Data("hello".utf8))) }
        }
        let library = Library(serviceRoot: server.url.absoluteString)
        #expect(Library.verify().isEmpty)
        let archive = folder.url.appending(path: "archive")
        do {
            let file = try await library.transfers.download(to: archive) { try await $0.scan(id: 7) }
            print(file.length, file.received)
        }
        try FileManager.default.removeItem(at: archive)
        do {
            let file = try await library.http.get("/scans/%%0%%", 7).download(to: archive)
            #expect(file.length == 5)
        }
        if let partial = PartialDownload(to: archive) {
            print("\(partial.completed) bytes of \(partial.url)")
            try partial.discard()
        }
        try FileManager.default.removeItem(at: archive)
        let sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        let options = DownloadOptions(segments: 4, checksum: .sha256(sum), retry: .standard)
        _ = try await library.transfers.download(to: archive, options: options) { try await $0.scan(id: 7) }
        try FileManager.default.removeItem(at: archive)
        func show(_ fraction: Double?) {}
        let call = library.start { try await $0.transfers.download(to: archive) { try await $0.scan(id: 7) } }
        for await progress in call.downloadProgress { show(progress.fraction) }
        let file = try await call.value
        #expect(try String(contentsOf: file.file, encoding: .utf8) == "hello")
    }

    @Test func `the samples about uploads`() async throws {
        let server = try LoopbackServer { routes in
            routes.on("POST", "/films") { _ in LoopbackResponse(fields: ["Location": "/films/1"]) }
            routes.on("PUT", "/films/1") { _ in .json(#"{"id":"f"}"#) }
        }
        let library = Library(serviceRoot: server.url.absoluteString)
        let film = folder.url.appending(path: "film")
        let kept = folder.url.appending(path: "kept")
        try Data("film".utf8).write(to: film)
        var options = UploadOptions(sessionFile: kept)
        options.changedFile = .startOver
        let stored = try await library.transfers.upload(film, by: .google, options: options) { try await $0.begin(title: "Film") }
        print(stored.value.id)
        #expect(server.requests.last?.fields["Content-Range"] == "bytes 0-3/4" && folder.names == ["film"])
    }
}
