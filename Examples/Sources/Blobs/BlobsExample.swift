import Foundation
import WebServiceClient
import WebServiceTesting

enum BlobsExample: Example {
    static let name = "blobs"
    static let summary = "a blob store: signed requests, a list in XML, transfers that continue"

    static func run() async throws {
        let service = BlobService()
        let server = try service.start()
        let store = BlobStore(root: server.url.absoluteString + "/archive", id: "AKID", key: "secret")

        // A list in pages of 100. Each page contains the marker of the next one.
        service.add(250, prefix: "logs/")
        service.add(1, prefix: "other/")
        let blobs = try await store.blobs(prefix: "logs/").reduce(into: []) { $0.append($1) }
        let size = blobs.reduce(0) { $0 + $1.size }
        ExampleRun.show("\(blobs.count) blobs with \(size) bytes in \(server.requests.count) pages of XML")
        try ExampleRun.expect(blobs.count == 250 && size == 250 * 3 && server.requests.count == 3, "250 blobs in three pages")
        try ExampleRun.expect(blobs.last?.key == "logs/0250", "the last blob, found \(blobs.last?.key ?? "none")")
        try ExampleRun.expect(blobs[0].lastModified.timeIntervalSince1970 == 1_795_694_400, "the date, found \(blobs[0].lastModified)")
        let none = try await store.blobs(prefix: "none/").reduce(into: []) { $0.append($1) }
        try ExampleRun.expect(none.isEmpty, "no blobs, found \(none.count)")

        try await ExampleRun.withFolder { folder in
            let film = folder.appending(path: "film")
            let content = Data(String(repeating: "The quick brown fox. ", count: 30_000).utf8)
            try content.write(to: film)

            // An upload that is cut within its second piece. The next one continues where the service is.
            let session = folder.appending(path: "film.session")
            service.cut(afterBytes: 400_000)
            let broken = try await ExampleRun.failure(ServiceError.self) {
                _ = try await store.upload(film, as: "films/1", session: session)
            }
            let before = service.received
            let stored = try await store.upload(film, as: "films/1", session: session)
            ExampleRun.show("upload cut after \(before) bytes (\(broken.kind)), continued with \(service.received - before) bytes")
            try ExampleRun.expect(stored.size == 630_000 && service.content(of: "films/1") == content, "the whole file")
            try ExampleRun.expect(before > 0 && service.received == 630_000, "no byte twice, found \(service.received)")

            // The same for a download. It verifies the checksum that the service sends.
            let copy = folder.appending(path: "copy")
            service.cut(afterBytes: 400_000)
            _ = try await ExampleRun.failure(ServiceError.self) { _ = try await store.download("films/1", to: copy) }
            let partial = PartialDownload(to: copy)?.completed ?? 0
            let file = try await store.download("films/1", to: copy)
            ExampleRun.show("download cut after \(partial) bytes, continued with \(file.received) bytes")
            try ExampleRun.expect(try Data(contentsOf: copy) == content, "the whole file")
            try ExampleRun.expect(partial > 0 && partial + file.received == 630_000, "no byte twice")
        }
        try ExampleRun.expect(service.badSignatures == 0, "no wrong signature, found \(service.badSignatures)")
        let stranger = BlobStore(root: server.url.absoluteString + "/archive", id: "AKID", key: "wrong")
        let error = try await ExampleRun.failure(ServiceError.self) { _ = try await stranger.blob(key: "films/1") }
        try ExampleRun.expect(error.status == 403 && service.badSignatures == 1, "a refused signature, found \(error)")
    }
}

/// A bucket that checks signatures, and that loses connections.
private final class BlobService: Sendable {
    private struct State {
        var blobs: [String: Data] = [:]
        var upload: (key: String, data: Data) = ("", Data())
        var received = 0
        /// The number of bytes after which the next connection is cut.
        var cut: Int?
        var badSignatures = 0
    }

    private let state = Guarded(State())

    var received: Int { state.withLock { $0.received } }
    var badSignatures: Int { state.withLock { $0.badSignatures } }

    func add(_ count: Int, prefix: String) {
        state.withLock { state in
            for number in 1...count { state.blobs["\(prefix)\(String(format: "%04d", number))"] = Data("tea".utf8) }
        }
    }

    func content(of key: String) -> Data? { state.withLock { $0.blobs[key] } }

    func cut(afterBytes count: Int) {
        state.withLock { $0.cut = count }
    }

    func start() throws -> LoopbackServer {
        try LoopbackServer { routes in
            // Pieces are read while they arrive, since a cut one counts, too. Their hash is checked by its form only.
            routes.on("PUT", "/archive/session", reading: .headOnly) { self.take($0) }
            routes.guarded(by: LoopbackGuard { self.refusal(of: $0) }) { routes in
                routes.get("/archive/") { self.list($0) }
                routes.get("/archive/:key") { self.send($0) }
                routes.on("POST", "/archive/upload") { request in
                    self.state.withLock { $0.upload = (request.queryValue("name") ?? "", Data()) }
                    return LoopbackResponse(fields: ["Location": "/archive/session"])
                }
            }
        }
    }

    private func refusal(of request: LoopbackRequest) -> LoopbackResponse? {
        let fields = request.fields
        let hash = MessageDigest.hexadecimal(MessageDigest.sha256(of: request.body))
        let text = "\(request.method)\n\(request.target)\n\(fields["X-Date"] ?? "")\n\(hash)"
        let signature = MessageDigest.hexadecimal(MessageDigest.hmacSHA256(of: text.utf8, key: "secret".utf8))
        if fields["Authorization"] == "HMAC-SHA256 Credential=AKID, Signature=\(signature)" { return nil }
        state.withLock { $0.badSignatures += 1 }
        return LoopbackResponse(
            status: 403, fields: ["Content-Type": "application/xml"], body: .data(Data("<Error><Code>Signature</Code></Error>".utf8)))
    }

    private func list(_ request: LoopbackRequest) -> LoopbackResponse {
        let (prefix, marker) = (request.queryValue("prefix") ?? "", request.queryValue("marker") ?? "")
        let blobs = state.withLock { $0.blobs.filter { $0.key.hasPrefix(prefix) && $0.key > marker } }.sorted { $0.key < $1.key }
        let page = blobs.prefix(100)
        let isTruncated = blobs.count > page.count
        let items = page.map {
            "<Contents><Key>\($0.key)</Key><LastModified>2026-11-26T12:00:00.000Z</LastModified><Size>\($0.value.count)</Size></Contents>"
        }
        let next = isTruncated ? "<NextMarker>\(page.last?.key ?? "")</NextMarker>" : ""
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>archive</Name>\
            <IsTruncated>\(isTruncated)</IsTruncated>\(next)\(items.joined())</ListBucketResult>
            """
        return .data(Data(text.utf8), type: "application/xml")
    }

    private func send(_ request: LoopbackRequest) -> LoopbackResponse {
        let (content, cut) = state.withLock { state in
            defer { state.cut = nil }
            return (state.blobs[request.parameters["key"] ?? ""], state.cut)
        }
        guard let content else { return .status(404) }
        var response = LoopbackResponse(body: .data(content)).with("ETag", "\"1\"").with("Accept-Ranges", "bytes")
            .with("Repr-Digest", "sha-256=:\(Data(MessageDigest.sha256(of: content)).base64EncodedString()):")
        if let start = request.fields["Range"].flatMap({ Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) }) {
            response.status = 206
            response.body = .data(Data(content.dropFirst(start)))
            response = response.with("Content-Range", "bytes \(start)-\(content.count - 1)/\(content.count)")
        }
        return cut.map { response.failing(.cut(afterBytes: $0)) } ?? response
    }

    /// Takes a piece of an upload, or tells the position.
    private func take(_ request: LoopbackRequest) -> LoopbackResponse {
        let range = request.fields["Content-Range"] ?? ""
        guard request.fields["X-Content-SHA256"]?.count == 64 else { return .status(403) }
        let total = range.split(separator: "/").last.flatMap { Int($0) } ?? 0
        if range.hasPrefix("bytes */") { return position(of: total) }
        let length = request.fields["Content-Length"].flatMap { Int($0) } ?? 0
        return .script { wire in
            var count = 0
            while count < length, let bytes = try wire.read() {
                count += bytes.count
                let isCut = self.state.withLock { state in
                    state.upload.data += bytes
                    state.received += bytes.count
                    guard let cut = state.cut, state.received >= cut else { return false }
                    state.cut = nil
                    return true
                }
                if isCut { return }
            }
            let answer = self.position(of: total)
            let body = if case .data(let data) = answer.body { data } else { Data() }
            let head = answer.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            try wire.write("HTTP/1.1 \(answer.status) Piece\r\n\(head)Content-Length: \(body.count)\r\n\r\n")
            try wire.write(body)
        }
    }

    private func position(of length: Int) -> LoopbackResponse {
        state.withLock { state in
            let count = state.upload.data.count
            guard count == length else {
                return LoopbackResponse(status: 308, fields: count == 0 ? [:] : ["Range": "bytes=0-\(count - 1)"])
            }
            state.blobs[state.upload.key] = state.upload.data
            return .json(#"{"name": "\#(state.upload.key)", "size": \#(count)}"#)
        }
    }
}
