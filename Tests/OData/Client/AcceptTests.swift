import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Requested media types, and other types in responses (Protocol 4.01, section 8.2.1).
@Suite struct AcceptTests {
    struct Item: Codable, Sendable { var Id: Int }

    private let stub = StubTransport()
    private var accept: String? { stub.requests.last?.request.headers[.accept] }

    @Test(arguments: ODataVersion.allCases) func `raw values and media accept any media type`(version: ODataVersion) async throws {
        let client = stub.client(version)
        stub.fallback(.text("1"))
        let key = FetchRequest<Item>(from: "E").key("a/b?$value")
        for resource in [
            ResourcePath("E(1)/$value"), ResourcePath(entitySet: "E").key(1).value(),
            ResourcePath(entitySet: "E").key(1).property("Name").value(),
            key.resource.value(), ResourcePath("$metadata"), ResourcePath(entitySet: "E").key("x?y").property("P").value(),
        ] {
            _ = try await client.fetch(EntityRequest<Data>(resource: resource))
            #expect(accept == "*/*")
            _ = try await client.evaluate(resource) as String
            #expect(accept == "*/*")
            _ = try await client.fetch(EntityRequest<Int>(resource: resource))
            #expect(accept == "*/*")
            try await client.setRawValue(at: resource, to: Data([1]), contentType: "image/png")
            #expect(accept == "*/*")
        }
        for stream in [ResourcePath(entitySet: "E").key(1).property("Thumb"), ResourcePath("Photo")] {
            try await client.setRawValue(at: stream, to: Data([1]), contentType: "image/png")
            #expect(accept == "*/*" && stub.requests.last?.request.headers[.contentType] == "image/png")
        }
        _ = try await client.count(of: FetchRequest<Item>(from: "E"))
        #expect(accept == "text/plain, */*;q=0.1")
        _ = try await client.evaluate(ResourcePath(entitySet: "E").count()) as Int
        #expect(accept == "text/plain, */*;q=0.1")
        try await client.delete(FetchRequest<Item>(from: "E").key(1))
        #expect(accept?.hasPrefix("application/json") == true)
    }

    @Test func `other requests accept JSON, and requests for bytes any type where JSON isn't possible`() async throws {
        let client = stub.client()
        for (version, type) in [
            (ODataVersion.v2, "application/json"), (.v4, "application/json;odata.metadata=minimal"),
            (.v401, "application/json;odata.metadata=minimal"),
        ] {
            let client = stub.client(version)
            stub.fallback(.json(#"{"value":"YWJj","Id":1}"#))
            _ = try await client.fetch(EntityRequest<String>(at: "E(1)/Name"))
            #expect(accept == type)
            _ = try await client.fetch(FetchRequest<Item>(from: "E").key("$value"))
            #expect(accept == type)
            _ = try await client.fetch(EntityRequest<Data>(at: "E(1)/Thumb"))
            #expect(accept == (version == .v2 ? type : type + ", */*;q=0.1"))
            _ = try await client.create(Item(Id: 1), in: FetchRequest<Item>(from: "E"))
            #expect(accept == type)
        }
        client.metadataLevel = .full
        client.asksForIEEE754Compatible = true
        stub.fallback(.json(#"{"value":"YWJj"}"#))
        _ = try await client.fetch(EntityRequest<Data?>(at: "E(1)/Thumb"))
        #expect(accept == "application/json;odata.metadata=full;IEEE754Compatible=true, */*;q=0.1")
        client.metadataLevel = .minimal
        _ = try await client.fetch(EntityRequest<String>(at: "E(1)/Name"))
        #expect(accept == "application/json;odata.metadata=minimal;IEEE754Compatible=true")
    }

    @Test func `the stream of a media link accepts any media type`() async throws {
        let client = stub.client()
        stub.fallback(.json(#"{"@odata.context":"../$metadata#E","@odata.mediaReadLink":"E(1)/$value","Id":1}"#))
        let metadata = try await client.entity(EntityRequest<Item>(at: "X/E(1)")).metadata
        stub.fallback(.data(Data([1]), type: "image/png"))
        let url = try #require(metadata.media?.url(of: metadata.media?.readLink))
        let response = try await client.http.request(link: url).stream()
        #expect(try await response.value.collect(upTo: 10) == Data([1]))
        #expect(accept == "*/*" && stub.requests.last?.request.url.absoluteString == "https://h.example/svc/E(1)/$value")
    }

    @Test func `nothing is selected by default where services refuse a selection`() throws {
        let function = ResourcePath(function: "Top", ["count": 3])
        let v2Printer = QueryPrinter(version: .v2)
        #expect(try EntityRequest<Item>(resource: function).relativeURL(using: v2Printer) == "Top?count=3")
        #expect(try FetchRequest<Item>(resource: function).relativeURL(using: v2Printer) == "Top?count=3")
        #expect(try FetchRequest<Item>(resource: function).top(1).relativeURL(using: v2Printer).contains("$select") == false)
        #expect(try EntityRequest<Item>(resource: function).select("Id").relativeURL(using: v2Printer).contains("$select=Id"))
        #expect(try EntityRequest<Item>(resource: ResourcePath(function: "F")).relativeURL(using: v2Printer).contains("$select") == false)
        #expect(try EntityRequest<Item>(resource: function).relativeURL() == "Top(count=3)?$select=Id")
        for printer in [v2Printer, QueryPrinter(), QueryPrinter(version: .v401)] {
            for path in ["E(1)/$value", "E/$count", "E(1)/Boss/$value"] {
                #expect(try EntityRequest<Item>(at: path).relativeURL(using: printer) == path)
            }
            #expect(
                try EntityRequest<Item>(resource: ResourcePath(entitySet: "E").key(1).value()).relativeURL(using: printer) == "E(1)/$value")
            #expect(try EntityRequest<Item>(at: "E(1)").relativeURL(using: printer) == "E(1)?$select=Id")
        }
    }

    // MARK: Answers of another type

    static let otherMediaTypes: [(type: String, body: String)] = [
        ("multipart/mixed; boundary=b_1", "--b_1\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}\r\n--b_1--"),
        ("multipart/mixed;boundary=\"x\"", "--x\r\n\r\n--x--\r\n"), ("application/xml", "<?xml version=\"1.0\"?><feed/>"),
        ("application/atom+xml;type=feed", "<feed xmlns=\"http://www.w3.org/2005/Atom\"/>"),
        ("text/html; charset=utf-8", "<!DOCTYPE html><html><title>Sign in</title>"),
        ("text/xml", "<a/>"), ("application/pdf", "%PDF-1.7"), ("image/png", "\u{89}PNG"), ("text/csv", "a,b\n1,2\n"),
        ("application/x-www-form-urlencoded", "a=1"), ("text/yaml", "a: 1"), ("application/soap+xml", "<s:Envelope/>"),
    ]

    @Test(arguments: otherMediaTypes)
    func `an answer that isn't JSON is an error with its media type`(type: String, body: String) async throws {
        let client = stub.client()
        let essence = String(type.prefix { $0 != ";" })
        for read: () async throws -> Void in [
            { _ = try await client.fetch(EntityRequest<Item>(at: "E(1)")) }, { _ = try await client.fetch(FetchRequest<Item>(from: "E")) },
            { _ = try await client.page(FetchRequest<Item>(from: "E")) },
            { let _: Int = try await client.evaluate(ResourcePath(function: "F")) },
            { for try await _ in client.entities(matching: FetchRequest<Item>(from: "E")) {} },
            { _ = try await client.create(Item(Id: 1), in: FetchRequest<Item>(from: "E")) },
        ] {
            stub.fallback(.data(Data(body.utf8), type: type))
            let error = await #expect(throws: ServiceError.self) { try await read() }
            #expect(error?.kind == .format && error?.message.contains(essence) == true, "\(String(describing: error))")
            #expect(error?.message.contains("byte 1") == false)
        }
    }

    @Test func `a long answer that isn't JSON is an error with its media type`() async throws {
        let client = stub.client()
        stub.fallback(.data(Data(("--b\r\n" + String(repeating: "x", count: 300_000)).utf8), type: "multipart/mixed; boundary=b"))
        let error = await #expect(throws: ServiceError.self) {
            for try await _ in client.entities(matching: FetchRequest<Item>(from: "E")) {}
        }
        #expect(error?.kind == .format && error?.message.contains("multipart/mixed") == true)
    }

    @Test(arguments: ["text/plain", "application/octet-stream", "text/json", "application/vnd.sap+json", ""])
    func `JSON is read although its media type isn't that of JSON`(type: String) async throws {
        // Creating a client sets the stub's fallback.
        let client = stub.client()
        stub.fallback(.data(Data(#"{"Id":1}"#.utf8), type: type))
        #expect(try await client.fetch(EntityRequest<Item>(at: "E(1)")).Id == 1)
    }
}
