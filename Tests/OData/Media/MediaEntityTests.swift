import Foundation
import HTTPTransport
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Media entities over the loopback interface: created by their bytes, with properties, downloaded in parts and uploaded in pieces.
@Suite struct MediaEntityTests {
    struct Photo: Codable, Sendable, EntityType, Equatable {
        static let entitySetName = "Photos"
        var Id: Int
        var Title: String?
    }

    /// A service of photos in memory.
    private final class Gallery: Sendable {
        struct Item: Sendable {
            var title = ""
            var bytes = Data()
            var type = ""
            var version = 1
            var mediaVersion = 1
        }

        struct State: Sendable {
            var items: [Int: Item] = [:]
            var refusesUpdates = false
            /// The number of bytes after which a read is cut; `nil` for none.
            var cut: Int?
            var session = Data()
        }

        let state = Locked(State())

        func start() throws -> LoopbackServer {
            try LoopbackServer { routes in
                routes.fallback { self.respond($0) }
            }
        }

        private func answer(_ id: Int, _ item: Item, status: Int = 200) -> LoopbackResponse {
            let text = """
                {"@odata.context":"$metadata#Photos/$entity","@odata.etag":"W/\\"\(item.version)\\"","@odata.mediaEtag":"\\"m\(item.mediaVersion)\\"",
                "@odata.mediaContentType":"\(item.type)","@odata.id":"Photos(\(id))","Id":\(id),"Title":"\(item.title)"}
                """
            return .json(text, status: status).with("ETag", "W/\"\(item.version)\"")
        }

        private func respond(_ request: LoopbackRequest) -> LoopbackResponse {
            state.withLock { state in
                switch (request.method, request.path) {
                case ("POST", "/Photos"):
                    let id = state.items.count + 1
                    let slug = request.fields["Slug"]?.removingPercentEncoding ?? ""
                    state.items[id] = Item(title: slug, bytes: request.body, type: request.fields["Content-Type"] ?? "")
                    return answer(id, state.items[id] ?? Item(), status: 201).with("Location", "/Photos(\(id))")
                case ("POST", "/Photos(1)/createUploadSession"):
                    return .json(#"{"uploadUrl":"http://\#(request.fields["Host"] ?? "")/session?sig=x"}"#)
                case ("PUT", "/session"):
                    guard request.fields["Authorization"] == nil, let range = ContentRange(request.fields["Content-Range"]),
                        range.bytes?.lowerBound == Int64(state.session.count)
                    else { return .status(401) }
                    state.session += request.body
                    guard Int64(state.session.count) == range.total else {
                        return .json(#"{"nextExpectedRanges":["\#(state.session.count)-"]}"#, status: 202)
                    }
                    state.items[1]?.bytes = state.session
                    return answer(1, state.items[1] ?? Item(), status: 201)
                default: return existing(request, &state)
                }
            }
        }

        private func existing(_ request: LoopbackRequest, _ state: inout State) -> LoopbackResponse {
            let parts = request.path.dropFirst("/Photos(".count).split(separator: ")", omittingEmptySubsequences: false)
            guard let id = parts.first.flatMap({ Int($0) }), var item = state.items[id] else {
                return .json(#"{"error":{"code":"404","message":"no such photo"}}"#, status: 404)
            }
            let isMedia = parts.last == "/$value"
            let tag = isMedia ? "\"m\(item.mediaVersion)\"" : "W/\"\(item.version)\""
            if let wanted = request.fields["If-Match"], wanted != "*", wanted != tag { return .status(412) }
            switch (request.method, isMedia) {
            case ("GET", false): return answer(id, item)
            case ("PATCH", false):
                guard !state.refusesUpdates else { return .json(#"{"error":{"code":"x","message":"no title"}}"#, status: 400) }
                item.title = (try? DynamicEntity(ODataValue(json: request.body).object?.properties ?? []))?["Title"]?.string ?? ""
                item.version += 1
                state.items[id] = item
                return LoopbackResponse(status: 204, fields: ["ETag": "W/\"\(item.version)\""])
            case ("DELETE", false):
                state.items[id] = nil
                return .status(204)
            case ("PUT", true):
                guard request.fields["If-Match"] != nil else { return .status(428) }
                (item.bytes, item.type) = (request.body, request.fields["Content-Type"] ?? "")
                item.mediaVersion += 1
                state.items[id] = item
                return LoopbackResponse(status: 204, fields: ["ETag": "\"m\(item.mediaVersion)\""])
            case ("GET", true): return bytes(item, tag, request, &state)
            default: return .status(405)
            }
        }

        private func bytes(_ item: Item, _ tag: String, _ request: LoopbackRequest, _ state: inout State) -> LoopbackResponse {
            var body = item.bytes
            var lines = "ETag: \(tag)\r\nContent-Type: \(item.type)\r\nAccept-Ranges: bytes\r\n"
            var status = 200
            if let text = request.fields["Range"], request.fields["If-Range"].map({ $0 == tag }) ?? true {
                let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
                guard let first = ends[0], first < body.count else { return .status(416) }
                let last = min(ends[1] ?? .max, body.count - 1)
                lines += "Content-Range: bytes \(first)-\(last)/\(body.count)\r\n"
                (status, body) = (206, Data(body[first...last]))
            }
            lines += "Content-Length: \(body.count)\r\n"
            defer { state.cut = nil }
            return .raw([UInt8](Data("HTTP/1.1 \(status) OK\r\n\(lines)\r\n".utf8) + body.prefix(state.cut ?? .max)))
        }
    }

    private let gallery = Gallery()
    private let photos = FetchRequest<Photo>()
    private let folder = TemporaryFolder()

    private func client(_ server: LoopbackServer) -> ODataClient {
        ODataClient(serviceRoot: server.url.absoluteString) {
            $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret")
            $0.retry = RetryPolicy(attempts: 4, backoff: Backoff(base: .zero, cap: .zero, jitter: .none))
        }
    }

    @Test func `a media entity is created by its bytes, and then gets its properties`() async throws {
        let server = try gallery.start()
        let client = client(server)
        let bytes = SeededGenerator.bytes(1_000)
        let plain = try await client.createMedia(RequestBody(bytes), contentType: "image/jpeg", slug: "Häfen 50%", in: photos)
        #expect(plain.entity?.value == Photo(Id: 1, Title: "Häfen 50%") && plain.status == 201 && plain.etag == "W/\"1\"")
        let creation = try #require(server.requests.last)
        #expect(creation.fields["Slug"] == "H%C3%A4fen 50%25" && creation.fields["Content-Type"] == "image/jpeg")
        #expect(creation.fields["Accept"]?.hasPrefix("application/json") == true && creation.fields["OData-Version"] == "4.0")
        let named = try await client.createMedia(
            RequestBody(bytes), contentType: "image/jpeg", in: photos, setting: ["Title": "Harbour"])
        #expect(named.status == 201 && named.etag == "W/\"2\"" && named.location?.path() == "/Photos(2)" && named.entity == nil)
        #expect(server.requests.last?.method == "PATCH" && server.requests.last?.fields["If-Match"] == "W/\"1\"")
        #expect(server.requests.last?.text == #"{"Title":"Harbour"}"#)
        #expect(gallery.state.withLock { $0.items[2]?.title } == "Harbour")
        gallery.state.withLock { $0.refusesUpdates = true }
        let error = await serviceError {
            try await client.createMedia(RequestBody(bytes), contentType: "image/jpeg", in: photos, setting: ["Title": "x"])
        }
        let cause = try #require(error?.cause as? MediaCreationError)
        #expect(cause.location?.path() == "/Photos(3)" && cause.reason.status == 400 && error?.status == 400)
        #expect(error?.description.contains("no title") == true && gallery.state.withLock { $0.items.count } == 3)
    }

    @Test func `bytes are read, changed in their version and downloaded`() async throws {
        let bytes = SeededGenerator.bytes(100_000)
        gallery.state.withLock { $0.items[1] = Gallery.Item(bytes: bytes, type: "image/jpeg") }
        let server = try gallery.start()
        defer { withExtendedLifetime(server) {} }
        let client = client(server)
        let entity = try await client.entity(photos.key(1))
        var reference = StreamReference(mediaOf: entity.metadata)
        #expect(reference.etag == "\"m1\"")
        let content = try await client.content(of: reference)
        #expect(content.data == bytes && content.contentType == "image/jpeg" && content.etag == "\"m1\"")
        let part = try await client.content(of: reference, in: 99_990..<200_000)
        #expect(part.data == bytes.suffix(10) && part.length == 100_000)
        // A download that is cut continues where it was.
        gallery.state.withLock { $0.cut = 40_000 }
        let file = folder.url.appending(path: "photo.jpg")
        let downloaded = try await client.download(reference, to: file)
        #expect(try Data(contentsOf: file) == bytes && downloaded.received == 100_000 && downloaded.requests == 2)
        let changed = SeededGenerator.bytes(50, seed: 2)
        let etag = try await client.setContent(of: reference, to: try RequestBody(file: write(changed)), contentType: "image/png")
        #expect(etag == "\"m2\"" && gallery.state.withLock { $0.items[1]?.bytes } == changed)
        let stale = await serviceError {
            try await client.setContent(of: reference, to: RequestBody(bytes), contentType: "image/png")
        }
        #expect(stale?.status == 412)
        reference.etag = nil
        let required = await serviceError {
            try await client.setContent(of: reference, to: RequestBody(bytes), contentType: "image/png")
        }
        #expect(required?.status == 428)
    }

    private func write(_ data: Data) throws -> URL {
        let file = folder.url.appending(path: "new.bin")
        try data.write(to: file)
        return file
    }

    @Test func `a file is uploaded in pieces, without credentials`() async throws {
        gallery.state.withLock { $0.items[1] = Gallery.Item() }
        let server = try gallery.start()
        let bytes = SeededGenerator.bytes(700_000)
        let result = try await client(server).upload(
            write(bytes), inSessionOf: ODataQuery(photos.key(1).resource.action("createUploadSession")),
            ["item": ["@microsoft.graph.conflictBehavior": "rename"] as DynamicEntity], as: Photo.self, pieces: 327_680)
        #expect(result.entity?.value.Id == 1 && result.status == 201)
        #expect(gallery.state.withLock { $0.items[1]?.bytes } == bytes)
        let requests = server.requests
        #expect(requests.map(\.method) == ["POST", "PUT", "PUT", "PUT"] && requests[0].fields["Authorization"] != nil)
        #expect(requests[0].text == #"{"item":{"@microsoft.graph.conflictBehavior":"rename"}}"#)
        #expect(requests[1].fields["Content-Range"] == "bytes 0-327679/700000" && requests[3].bodyLength == 44_640)
    }

    @Test func `entities are read, changed and deleted by their own links`() async throws {
        gallery.state.withLock { $0.items[1] = Gallery.Item(title: "a") }
        let server = try gallery.start()
        let client = client(server)
        let entity = try await client.entity(photos.key(1))
        var draft = EntityDraft(of: entity)
        #expect(try await client.update(at: entity.metadata, with: draft).status == nil)
        draft.Title = "b"
        let result = try await client.update(at: entity.metadata, with: draft)
        #expect(result.etag == "W/\"2\"" && server.requests.last?.fields["If-Match"] == "W/\"1\"")
        let again = try await client.entity(at: entity.metadata, as: Photo.self)
        #expect(again.value.Title == "b" && again.metadata.etag == "W/\"2\"")
        let stale = await serviceError { try await client.delete(at: entity.metadata, if: .version("W/\"1\"")) }
        #expect(stale?.status == 412)
        try await client.delete(at: again.metadata, if: .version("W/\"2\""))
        #expect(gallery.state.withLock { $0.items.isEmpty })
        let none = await serviceError { try await client.delete(at: EntityMetadata()) }
        #expect(none?.cause as? ODataLinkError == .notLoaded)
    }

    @Test func `links are sent in the service's spelling`() async throws {
        let stub = StubTransport()
        let client = stub.client()
        var metadata = EntityMetadata()
        metadata.editLink = "Products('a%2Fb')"
        metadata.readLink = "https://other.example/Products(1)"
        try await client.delete(at: metadata)
        #expect(stub.requests.last?.request.url.absoluteString == "https://h.example/svc/Products('a%2Fb')")
        let error = await serviceError { _ = try await client.entity(at: metadata, as: DynamicEntity.self) }
        #expect(error?.kind == .link && stub.requests.count == 1)
    }
}
