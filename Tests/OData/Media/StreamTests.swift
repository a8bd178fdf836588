import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Streams by their paths and by links: where they are read and written, with which headers, and what of the answers counts.
@Suite struct StreamTests {
    struct Photo: Codable, Sendable, EntityType {
        static let entitySetName = "Photos"
        var Id: Int
        var Name: String?
        var Thumbnail: EdmStream
        var Raw: EdmStream?
    }

    private let stub = StubTransport()
    private let photo = FetchRequest<Photo>().key(7)
    private let png = Data([0x89, 0x50, 0x4E, 0x47, 0, 255])

    private func client(_ version: ODataVersion = .v4) -> ODataClient { stub.client(version) }

    private var last: ServiceRequest? { stub.requests.last?.request }
    private var url: String? { last?.url.absoluteString }

    private func entity(_ json: String) async throws -> ODataEntity<Photo> {
        let stub = StubTransport()
        stub.fallback(.json(json))
        let client = ODataClient(serviceRoot: "https://h.example/svc/") { $0.transport = stub }
        return try await client.entity(photo)
    }

    // MARK: Reading

    @Test(arguments: ODataVersion.allCases)
    func `the bytes of a stream are read with any media type`(version: ODataVersion) async throws {
        let client = client(version)
        for type in ["image/png", "application/json", "text/html", "text/plain; charset=utf-16", "application/atom+xml"] {
            stub.fallback(.data(png, type: type, headers: ["ETag": "\"m1\"", "Content-Disposition": "inline; filename=a.png"]))
            let content = try await client.content(of: StreamReference(mediaOf: photo))
            #expect(content.data == png && content.contentType == type && content.etag == "\"m1\"")
            #expect(content.offset == 0 && content.length == 6)
            #expect(content.headers["Content-Disposition"] == "inline; filename=a.png")
            #expect(url == "https://h.example/svc/Photos(7)/$value" && last?.headers["Accept"] == "*/*" && last?.method == .get)
        }
    }

    @Test func `a service may answer a written stream with the stream`() async throws {
        let client = client()
        for (type, text) in [("text/html", "<html></html>"), ("application/json", #"{"error":{"code":"a","message":"b"}}"#)] {
            stub.fallback(.data(Data(text.utf8), type: type, headers: ["ETag": "\"m2\""]))
            let tag = try await client.setContent(
                of: StreamReference(mediaOf: photo), to: RequestBody(Data(text.utf8)), contentType: type)
            #expect(tag == "\"m2\"")
            await #expect(throws: ServiceError.self) {
                try await client.setContent(of: StreamReference(mediaOf: photo), to: RequestBody(png), contentType: "image/png")
            }
        }
    }

    @Test func `without its location, a new media entity can't get its properties`() async throws {
        let client = client()
        let photos = FetchRequest<DynamicEntity>(from: "Photos")
        stub.fallback(.json(#"{"Id":9}"#, status: 201))
        let error = await #expect(throws: ServiceError.self) {
            try await client.createMedia(RequestBody(png), contentType: "image/png", in: photos, setting: ["Title": "t"])
        }
        #expect(error?.cause is MediaCreationError && error?.message.contains("Location") == true && stub.requests.count == 1)
        // Without properties the location isn't needed.
        let created = try await client.createMedia(RequestBody(png), contentType: "image/png", in: photos)
        #expect(created.entity?.value["Id"] == 9 && created.location == nil)
    }

    @Test func `references print the path of their stream`() async throws {
        let client = client()
        stub.fallback(.data(png))
        let user = client.userRequest
        let paths: [(StreamReference, String)] = [
            (StreamReference(\.Thumbnail, of: photo), "Photos(7)/Thumbnail"), (StreamReference(\.Raw, of: photo), "Photos(7)/Raw"),
            (StreamReference(property: "Cover", of: photo), "Photos(7)/Cover"),
            (StreamReference(ResourcePath("Logo/$value")), "Logo/$value"), (StreamReference(\.photo, of: user), "users('ada')/photo"),
            (StreamReference(mediaOf: photo.option("tenant", "x")), "Photos(7)/$value?tenant=x"),
        ]
        for (reference, path) in paths {
            _ = try await client.content(of: reference)
            #expect(url == "https://h.example/svc/" + path && last?.headers["Accept"] == "*/*")
        }
        _ = try await client.content(of: StreamReference(mediaOf: photo.header("Accept", "image/webp").preferring("x")))
        #expect(last?.headers["Accept"] == "image/webp" && last?.headers["Prefer"] == "x")
        let error = await serviceError { _ = try await client.content(of: StreamReference(mediaOf: photo.select(\.Name))) }
        #expect(error?.kind == .query && error?.message.contains("$select") == true)
    }

    @Test func `media links are followed, and links of the entity get $value`() async throws {
        let client = client()
        stub.fallback(.data(png))
        let cases: [(String, String, String)] = [
            (#""@odata.mediaReadLink":"media/7","@odata.mediaEditLink":"edit/7""#, "media/7", "edit/7"),
            (#""@odata.mediaEditLink":"edit/7""#, "edit/7", "edit/7"), (#""@odata.mediaReadLink":"media/7""#, "media/7", "media/7"),
            (#""@odata.readLink":"read(7)","@odata.editLink":"edit(7)?x=1""#, "read(7)/$value", "edit(7)/$value?x=1"),
            (#""@odata.id":"Photos(%277%2F%27)""#, "Photos(%277%2F%27)/$value", "Photos(%277%2F%27)/$value"),
        ]
        for (control, read, edit) in cases {
            let metadata = try await entity(#"{"@odata.context":"$metadata#Photos/$entity",\#(control),"Id":7}"#).metadata
            let reference = StreamReference(mediaOf: metadata)
            _ = try await client.content(of: reference)
            #expect(url == "https://h.example/svc/" + read)
            try await client.setContent(of: reference, to: RequestBody(png), contentType: "image/png")
            #expect(url == "https://h.example/svc/" + edit && last?.method == .put)
        }
        let none = try await entity(#"{"Id":7}"#)
        for reference in [StreamReference(mediaOf: none.metadata), StreamReference(none.value.Thumbnail)] {
            let error = await serviceError { _ = try await client.content(of: reference) }
            #expect(error?.kind == .link && error?.message.contains("metadataLevel") == true)
            let written = await serviceError { try await client.deleteContent(of: reference) }
            #expect(written?.kind == .link)
        }
    }

    @Test func `links to another origin need the policy, and get no credentials`() async throws {
        let client = stub.client()
        client.configure { $0.authenticationProvider = BasicAuthenticationProvider(user: "ada", password: "secret") }
        stub.fallback(.data(png))
        let photo = try await entity(
            #"{"Id":7,"Thumbnail@odata.mediaReadLink":"https://cdn.example/t?sig=hidden","Thumbnail@odata.mediaEditLink":"up/7"}"#)
        let reference = StreamReference(photo.value.Thumbnail)
        let error = await serviceError { _ = try await client.content(of: reference) }
        #expect(error?.kind == .link && error?.description.contains("hidden") == false && stub.requests.isEmpty)
        client.foreignLinks = .followWithoutCredentials
        let content = try await client.content(of: reference)
        #expect(content.data == png && url == "https://cdn.example/t?sig=hidden" && last?.headers["Authorization"] == nil)
        try await client.setContent(of: reference, to: RequestBody(png), contentType: "image/png")
        #expect(url == "https://h.example/svc/up/7" && last?.headers["Authorization"] != nil)
        #expect(!"\(reference)".contains("hidden"))
    }

    @Test func `null, missing and unchanged streams`() async throws {
        let client = client()
        let reference = StreamReference(\.Thumbnail, of: photo)
        stub.fallback(.status(204))
        let error = await serviceError { _ = try await client.content(of: reference) }
        #expect(error?.kind == .emptyBody)
        #expect(try await client.contentIfPresent(of: reference) == nil)
        stub.fallback(.json(#"{"error":{"code":"x","message":"no such photo"}}"#, status: 404))
        #expect(try await client.contentIfPresent(of: reference) == nil)
        let missing = await serviceError { _ = try await client.content(of: reference) }
        #expect(missing?.status == 404 && missing?.description.contains("no such photo") == true)
        stub.fallback(.status(304))
        #expect(try await client.content(of: reference, unlessVersion: "\"m1\"") == nil)
        #expect(last?.headers["If-None-Match"] == "\"m1\"")
        stub.fallback(.data(Data(), type: "image/png"))
        #expect(try await client.content(of: reference, unlessVersion: "\"m1\"")?.data == Data())
        #expect(try await client.contentIfPresent(of: reference)?.data.isEmpty == true)
        stub.fallback(.data(png, status: 206, headers: ["Content-Range": "bytes 0-5/9"]))
        let partial = await serviceError { _ = try await client.content(of: reference) }
        #expect(partial?.message.contains("206") == true)
    }

    @Test func `the result of a range is the requested range`() async throws {
        let client = client()
        var reference = StreamReference(mediaOf: photo)
        stub.fallback(.data(png.prefix(4).dropFirst(2), status: 206, headers: ["Content-Range": "bytes 2-3/6"]))
        let part = try await client.content(of: reference, in: 2..<4)
        #expect(part.data == Data([0x4E, 0x47]) && part.offset == 2 && part.length == 6)
        #expect(last?.headers["Range"] == "bytes=2-3" && last?.headers["Accept-Encoding"] == "identity")
        #expect(last?.headers["If-Match"] == nil)
        reference.etag = "\"m1\""
        // At the end there are fewer, and a service without ranges sends everything.
        stub.fallback(.data(png.dropFirst(5), status: 206, headers: ["Content-Range": "bytes 5-5/*"]))
        let end = try await client.content(of: reference, in: 5..<Int64.max)
        #expect(end.data == Data([255]) && end.length == nil && last?.headers["If-Match"] == "\"m1\"")
        #expect(last?.headers["Range"] == "bytes=5-\(Int64.max - 1)")
        stub.fallback(.data(png))
        let cut = try await client.content(of: reference, in: 3..<Int64.max)
        #expect(cut.data == Data([0x47, 0, 255]) && cut.offset == 3 && cut.length == 6)
        let behind = await serviceError { _ = try await client.content(of: reference, in: 6..<7) }
        #expect(behind?.message.contains("6 bytes") == true)
        for field in ["bytes 0-1/6", "bytes 2-4/6", "bytes 2-2/6", "items 2-3/6", "bytes 2-3/3", ""] {
            stub.fallback(.data(png.prefix(2), status: 206, headers: ["Content-Range": field]))
            let error = await serviceError { _ = try await client.content(of: reference, in: 2..<4) }
            #expect(error?.message.contains("another range") == true, "\(field)")
        }
        for range in [-1..<3, 4..<4] as [Range<Int64>] {
            let error = await serviceError { _ = try await client.content(of: reference, in: range) }
            #expect(error?.stage == .binding)
        }
        stub.fallback(.status(416, headers: ["Content-Range": "bytes */6"]))
        #expect(await serviceError { _ = try await client.content(of: reference, in: 9..<10) }?.status == 416)
    }

    @Test func `a stream is opened, and its failure has the service's error`() async throws {
        let client = client()
        stub.fallback(.pieces([png, png], headers: ["Content-Type": "video/mp4"]))
        let opened = try await client.openContent(of: StreamReference(mediaOf: photo))
        var bytes = Data()
        for try await piece in opened.value { bytes += piece }
        #expect(bytes == png + png && opened.headers[.contentType] == "video/mp4" && last?.headers["Accept"] == "*/*")
        stub.fallback(.json(#"{"error":{"code":"x","message":"gone"}}"#, status: 410))
        let error = await serviceError { _ = try await client.openContent(of: StreamReference(mediaOf: photo)) }
        #expect(error?.status == 410 && (error?.errorBody as? ODataErrorBody)?.message == "gone")
        stub.fallback(.data(png, headers: ["OData-Version": "9.0"]))
        let version = await serviceError { _ = try await client.openContent(of: StreamReference(mediaOf: photo)) }
        #expect(version?.kind == .version)
    }

    // MARK: Writing

    @Test(arguments: ODataVersion.allCases)
    func `a stream is written with its own version`(version: ODataVersion) async throws {
        let client = client(version)
        stub.fallback(.status(204, headers: ["ETag": "\"m2\""]))
        var reference = StreamReference(mediaOf: photo)
        let etag = try await client.setContent(of: reference, to: RequestBody(png), contentType: "image/png")
        #expect(etag == "\"m2\"" && stub.requests.last?.body == png && last?.headers[.contentType] == "image/png")
        #expect(last?.headers["If-Match"] == nil && last?.method == .put && last?.headers["Accept"] == "*/*")
        reference.etag = etag
        try await client.setContent(of: reference, to: RequestBody(png), contentType: "image/png")
        #expect(last?.headers["If-Match"] == "\"m2\"")
        try await client.deleteContent(of: reference)
        #expect(last?.headers["If-Match"] == "\"m2\"" && last?.method == .delete && stub.requests.last?.body == nil)
        try await client.setContent(of: reference, to: RequestBody(png), contentType: "image/png", if: .absent)
        #expect(last?.headers["If-None-Match"] == "*" && last?.headers["If-Match"] == nil)
        try await client.deleteContent(of: reference, if: .none)
        #expect(last?.headers["If-Match"] == nil)
    }

    @Test func `bytes need a media type, and a stream isn't created twice`() async throws {
        let client = client()
        var reference = StreamReference(\.Thumbnail, of: photo)
        for type in ["", "image", "image/", "a/b\r\nX: y"] {
            let error = await serviceError { try await client.setContent(of: reference, to: RequestBody(png), contentType: type) }
            #expect(error?.stage == .binding && stub.requests.isEmpty, "\(type)")
        }
        stub.fallback(.status(201))
        try await client.setContent(of: reference, to: RequestBody(png), contentType: "image/png")
        reference.etag = "\"m1\""
        let error = await serviceError { try await client.setContent(of: reference, to: RequestBody(png), contentType: "image/png") }
        #expect(error?.cause as? ODataStatusError == .created(at: nil))
    }

    // MARK: Inline

    @Test func `inline streams are read from the entity`() async throws {
        let json = """
            {"Id":7,"Thumbnail@mediaContentType":"image/png","Thumbnail":"iVBORwD_","Raw@mediaContentType":"application/json","Raw":{"a":1},
            "@mediaContentType":"text/plain","$value":"x"}
            """
        let photo = try await entity(json)
        #expect(photo.value.Thumbnail.data == png && photo.value.Thumbnail.contentType == "image/png")
        #expect(photo.value.Raw?.data == Data(#"{"a":1}"#.utf8) && photo.metadata.media?.data == Data("x".utf8))
        let bare = try await entity(#"{"Id":7,"Thumbnail":null,"Raw":"iVBORw=="}"#)
        #expect(bare.value.Thumbnail.isEmpty && bare.value.Raw?.data == png.prefix(4))
        let error = await serviceError { _ = try await entity(#"{"Id":7,"Thumbnail@mediaContentType":"image/png","Thumbnail":"?"}"#) }
        #expect(error?.kind == .decoding && error?.description.contains("image/png") == true)
        let user = try ODataDecoder().decode(
            SampleGraph.User.self, from: Data(#"{"photo@mediaContentType":"image/png","photo":"iVBORwD_"}"#.utf8))
        #expect(user.photo.data == png)
    }

    @Test func `inline streams are written by their media type`() throws {
        var entity = DynamicEntity()
        try entity.setStream("A", to: png, contentType: "image/png")
        try entity.setStream("B", to: Data(#"{"b":1}"#.utf8), contentType: "application/json")
        try entity.setStream("C", to: Data("ä".utf8), contentType: "text/plain")
        let text = String(decoding: try ODataEncoder(PayloadFormat(version: .v401)).encode(entity), as: UTF8.self)
        #expect(
            text == #"{"A@mediaContentType":"image/png","A":"iVBORwD_","B@mediaContentType":"application/json","B":{"b":1},"#
                + #""C@mediaContentType":"text/plain","C":"ä"}"#)
        #expect(throws: EncodingError.self) { try entity.setStream("D", to: Data("{".utf8), contentType: "application/json") }
        #expect(throws: EncodingError.self) { try entity.setStream("D", to: Data([255]), contentType: "text/plain") }
        #expect(throws: EncodingError.self) { try entity.setStream("D", to: png, contentType: "png") }
    }

    @Test func `an entity is created with its inline streams, without other control information`() async throws {
        let client = client(.v401)
        stub.fallback(.json(#"{"Id":7}"#, status: 201))
        var entity: DynamicEntity = ["@id": "Photos(1)", "Raw@mediaContentType": "image/png", "Raw@mediaEtag": "x"]
        try entity.setStream("Thumbnail", to: png, contentType: "image/png")
        try await client.create(entity, in: FetchRequest<DynamicEntity>(from: "Photos"))
        let body = stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) }
        #expect(body == #"{"Thumbnail@mediaContentType":"image/png","Thumbnail":"iVBORwD_"}"#)
    }

    @Test func `version 2 has its links in the metadata`() async throws {
        guard Payloads.folder != nil else { return print("skipped: SHARED_DIRECTORY isn't set") }
        let stub = StubTransport()
        let client = stub.client(.v2, root: "http://localhost:8080/ReferenceScenario.svc/")
        stub.fallback(.data(try Payloads.data("v2-media-entity.json"), type: "application/json"))
        let employee = try await client.entity(EntityRequest<DynamicEntity>(at: "Employees('1')"))
        let reference = StreamReference(mediaOf: employee.metadata)
        stub.fallback(.data(png, type: "image/jpeg"))
        #expect(try await client.content(of: reference).data == png)
        #expect(stub.requests.last?.request.url.absoluteString == "http://localhost:8080/ReferenceScenario.svc/Employees('1')/$value")
        try await client.setContent(of: reference, to: RequestBody(png), contentType: "image/jpeg")
        #expect(stub.requests.last?.request.headers["DataServiceVersion"] == "2.0")
    }
}

extension ODataClient {
    fileprivate var userRequest: EntityRequest<SampleGraph.User> { FetchRequest<SampleGraph.User>(from: "users").key("ada") }
}
