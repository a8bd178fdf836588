import Foundation
import OData
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// The code samples of Media.md, letter for letter: a sample that doesn't compile here is wrong there.

private struct Photo: Codable, Sendable, EntityType {
    static let entitySetName = "Photos"
    var Id: Int
    var Title: String?
    var Thumbnail: EdmStream
}

private struct DriveItem: Codable, Sendable { var id: String }

private final class Player {
    var bytes = Data()
    func append(_ piece: Data) { bytes += piece }
}

@Suite struct MediaSampleTests {
    private let stub = StubTransport()
    private let places = TemporaryFolder()

    private var client: ODataClient { ODataClient(serviceRoot: "https://h.example/") { $0.transport = stub } }

    @Test func streams() async throws {
        let bytes = Data("0123456789".utf8)
        stub.on(.get, "/Photos(7)/$value", .data(bytes, type: "image/jpeg", headers: ["ETag": "\"1\""]))
        stub.on(.get, "/Photos(7)/Thumbnail", .data(bytes, type: "image/png"))
        stub.on(.get, "/Photos(7)", .json(#"{"@odata.id":"Photos(7)","@odata.mediaEtag":"\"1\"","Id":7}"#))
        stub.fallback(.status(204, headers: ["ETag": "\"2\""]))
        let (client, player) = (client, Player())
        let (picture, destination) = (places.url.appending(path: "picture"), places.url.appending(path: "copy"))
        try bytes.write(to: picture)
        let photo = FetchRequest<Photo>().key(7)
        let image = try await client.content(of: StreamReference(mediaOf: photo))  // Photos(7)/$value
        let thumbnail = try await client.content(of: StreamReference(\.Thumbnail, of: photo))  // Photos(7)/Thumbnail
        print(image.contentType ?? "", thumbnail.data.count)
        let entity = try await client.entity(photo)
        var media = StreamReference(mediaOf: entity.metadata)
        let video = try await client.openContent(of: media)
        for try await piece in video.value { player.append(piece) }
        let header = try await client.content(of: media, in: 0..<1_024)
        let file = try await client.download(media, to: destination)
        if let changed = try await client.content(of: media, unlessVersion: image.etag) { print(changed.data.count) }
        #expect(player.bytes == bytes && header.data == bytes && file.length == 10)
        media.etag = try await client.setContent(of: media, to: RequestBody(file: picture), contentType: "image/jpeg")
        try await client.deleteContent(of: StreamReference(\.Thumbnail, of: photo))
        #expect(media.etag == "\"2\"")
        var properties: DynamicEntity = ["Title": "Harbour"]
        try properties.setStream("Thumbnail", to: thumbnail.data, contentType: "image/png")
        #expect(properties.count == 3)
    }

    @Test func creating() async throws {
        stub.on(.post, "/Photos", .json(#"{"Id":7}"#, status: 201, headers: ["Location": "/Photos(7)"]))
        stub.fallback(.status(204))
        let (client, picture) = (client, places.url.appending(path: "picture"))
        try Data("0123456789".utf8).write(to: picture)
        let created = try await client.createMedia(
            RequestBody(file: picture), contentType: "image/jpeg", slug: "Harbour.jpg", in: FetchRequest<Photo>(),
            setting: ["Title": "Harbour"])
        #expect(created.location?.path() == "/Photos(7)")
    }

    @Test func sessions() async throws {
        let session = places.url.appending(path: "session")
        let (client, picture) = (client, places.url.appending(path: "picture"))
        try Data("0123456789".utf8).write(to: picture)
        stub.fallback(
            .answering { request in
                request.request.method == .put
                    ? .json(#"{"id":"1"}"#, status: 201) : .json(#"{"uploadUrl":"https://up.example/session"}"#)
            })
        let folder = ResourcePath("me/drive/root:/video.mp4:")
        let item = try await client.upload(
            picture, inSessionOf: ODataQuery(folder.action("createUploadSession")),
            ["item": ["@microsoft.graph.conflictBehavior": "rename"] as DynamicEntity], as: DriveItem.self,
            options: UploadOptions(sessionFile: session))
        #expect(item.entity?.value.id == "1")
        #expect(stub.requests.last?.request.headers["Content-Range"] == "bytes 0-9/10")
    }
}
