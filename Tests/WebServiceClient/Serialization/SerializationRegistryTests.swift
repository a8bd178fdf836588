import Foundation
import TestSupport
import Testing
import WebServiceClient

@Suite struct SerializationRegistryTests {
    struct Item: Codable, Equatable { var a: Int }
    enum Level: String, Codable { case low, high }

    private func decode<Value: Decodable>(
        _ type: Value.Type, _ body: String, _ contentType: String?, at path: [String] = [], registry: SerializationRegistry = .standard,
        forced: (any SerializationDelegate)? = nil, fallback: any SerializationDelegate = JSONSerializer()
    ) throws -> Value {
        try registry.decode(type, body: Data(body.utf8), contentType: contentType, path: path, forced: forced, fallback: fallback)
    }

    @Test(
        "JSON is known by many names",
        arguments: [
            "application/json", "Application/JSON;charset=utf-8", "application/vnd.github+json", "application/problem+json; charset=utf-8",
            "text/json",
            "text/plain", "nonsense", "", nil,
        ] as [String?])
    func json(contentType: String?) throws {
        #expect(try decode(Item.self, #"{"a":1}"#, contentType) == Item(a: 1))
        #expect(try decode(Int.self, #"{"a":1}"#, contentType, at: ["a"]) == 1)
    }

    @Test func `The lookup goes from the exact to the general`() throws {
        var registry = SerializationRegistry()
        func found(_ type: String) -> String? { MediaType(type).flatMap { registry.delegate(for: $0) }?.contentType }
        #expect(found("a/b") == nil)
        registry.register(RawDataSerializer(contentType: "any/any"), for: "*/*")
        registry.register(RawDataSerializer(contentType: "text/any"), for: "Text/*")
        registry.register(RawDataSerializer(contentType: "text/x"), for: "text/x; charset=utf-8")
        registry.register(RawDataSerializer(contentType: "suffix"), for: "application/json")
        #expect(found("a/b") == "any/any")
        #expect(found("text/y") == "text/any")
        #expect(found("TEXT/X;a=b") == "text/x")
        #expect(found("text/y+json") == "suffix")
        #expect(registry.mediaTypes == ["*/*", "application/json", "text/*", "text/x"])
        #expect(registry.remove("text/x")?.contentType == "text/x")
        #expect(registry.remove("text/x") == nil)
        #expect(found("text/x") == "text/any")
        #expect(registry.registering(PlainTextSerializer(), for: "text/x").mediaTypes.count == 4)
    }

    @Test func `A registration that can't work is a fault, and refuses to decode`() {
        var registry = SerializationRegistry.standard
        registry.register(JSONSerializer(), for: "json")
        registry.register(JSONSerializer(), for: "*/json")
        #expect(registry.faults.count == 2)
        let error = #expect(throws: SerializationError.self) { try decode(Item.self, "{}", nil, registry: registry) }
        #expect(error?.kind == .registration)
        #expect(error?.message.contains("“json”") == true)
    }

    @Test func `Data and String are the body itself, whatever its type`() throws {
        let html = "<html>ä</html>"
        for type in ["text/html", "application/json", "application/x-own", nil] {
            #expect(try decode(String.self, html, type) == html)
            #expect(try decode(String?.self, html, type) == html)
            #expect(try decode(Data.self, html, type) == Data(html.utf8))
            #expect(try decode(Data?.self, html, type) == Data(html.utf8))
        }
        let latin = try SerializationRegistry.standard.decode(
            String.self, body: Data([0xE9]), contentType: "application/json; charset=iso-8859-1", fallback: JSONSerializer())
        #expect(latin == "é")
        #expect(try decode(String.self, #"{"a":"b"}"#, "application/json", at: ["a"]) == "b")
        #expect(try decode(Data.self, #"{"a":"AAE="}"#, "application/json", at: ["a"]) == Data([0, 1]))
    }

    @Test func `A forced serializer reads whatever comes, and off means the client's own`() throws {
        #expect(try decode(Item.self, #"{"a":1}"#, "text/html", forced: JSONSerializer()) == Item(a: 1))
        #expect(try decode(Item.self, #"{"a":1}"#, "application/x-own", registry: .off) == Item(a: 1))
        #expect(try decode(Item.self, "a=1", "application/json", registry: .off, fallback: FormSerializer()) == Item(a: 1))
        #expect(try decode(Item.self, "a=1", nil, fallback: FormSerializer()) == Item(a: 1))
        #expect(try decode(Item.self, "a=1", "application/x-www-form-urlencoded") == Item(a: 1))
    }

    @Test func `The client's own type needs no registration`() throws {
        let own = JSONSerializer(contentType: "application/x-own; v=1")
        #expect(try decode(Item.self, #"{"a":1}"#, "application/x-own; v=2", fallback: own) == Item(a: 1))
    }

    @Test(
        "A page where data was expected is told by its title",
        arguments: ["text/html; charset=utf-8", "application/json", "text/plain", "application/xhtml+xml", nil] as [String?])
    func page(contentType: String?) {
        let html = " <!DOCTYPE html>\n<HTML><head><Title lang=en>\n Sign\n in </title></head><body>secret</body></HTML>"
        let error = #expect(throws: SerializationError.self) { try decode(Item.self, html, contentType) }
        #expect(error?.kind == .format)
        #expect(error?.message.contains("“Sign in”") == true)
        #expect(error?.message.contains("application/json is expected") == true)
        if let contentType { #expect(error?.message.contains(contentType) == true) }
        #expect(throws: SerializationError.self) { try decode(Int.self, html, contentType) }
        #expect(throws: SerializationError.self) { try decode(Level.self, html, contentType) }
        #expect(throws: SerializationError.self) { try decode(Item.self, html, contentType, forced: JSONSerializer()) }
        #expect(throws: SerializationError.self) { try decode(Item.self, html, contentType, registry: .off) }
    }

    @Test(
        "A type that nobody reads, and one that has no structure",
        arguments: ["application/x-own", "application/octet-stream", "text/csv", "image/png", "application/xml"])
    func unregistered(contentType: String) {
        let error = #expect(throws: SerializationError.self) { try decode(Item.self, "a;b;c\n1;2;3", contentType) }
        #expect(error?.kind == .format)
        #expect(error?.message.contains(contentType) == true)
        #expect(error?.message.contains("a;b;c 1;2;3") == true)
    }

    @Test func `A plain text that isn't what the client expects`() {
        let error = #expect(throws: SerializationError.self) { try decode(Item.self, "Service unavailable", "text/plain") }
        #expect(error?.kind == .format)
        #expect(error?.message.contains("Service unavailable") == true)
        #expect(throws: DecodingError.self) { try decode(Item.self, "Service unavailable", "application/json") }
        #expect(throws: DecodingError.self) { try decode(Item.self, #"{"a":"x"}"#, "text/plain") }
    }

    @Test(arguments: ["text/plain; charset=utf-8", "application/octet-stream"])
    func `A forced serializer's error names the type of a plain text`(contentType: String) {
        let error = #expect(throws: SerializationError.self) {
            try decode(Item.self, "\r\n upstream unavailable", contentType, forced: JSONSerializer())
        }
        #expect(error?.kind == .format)
        #expect(error?.message.contains("of the type “\(contentType)” (it begins with “upstream unavailable”)") == true)
        // A broken object is the service's own.
        #expect(throws: DecodingError.self) { try decode(Item.self, #" {"a":"#, contentType, forced: JSONSerializer()) }
    }

    @Test func `Simple values are read from plain text`() throws {
        #expect(try decode(Int.self, "42\n", "text/plain") == 42)
        #expect(try decode(Bool.self, "true", "text/plain; charset=us-ascii") == true)
        let error = #expect(throws: SerializationError.self) { try decode(Int.self, "many", "text/plain") }
        #expect(error?.kind == .value)
    }

    @Test func `A property list in XML is no page`() throws {
        let data = try PropertyListSerializer().encode(Item(a: 3))
        let item = try SerializationRegistry.standard.decode(
            Item.self, body: data, contentType: "application/x-plist", fallback: JSONSerializer())
        #expect(item == Item(a: 3))
        #expect(throws: DecodingError.self) {
            try SerializationRegistry.standard.decode(
                [String].self, body: data, contentType: "application/x-plist", fallback: JSONSerializer())
        }
    }

    @Test func `Bytes that are no text are told by their number`() {
        let error = #expect(throws: SerializationError.self) {
            try SerializationRegistry.standard.decode(
                Item.self, body: Data([0, 1, 2]), contentType: "image/png", fallback: JSONSerializer())
        }
        #expect(error?.message.contains("3 bytes") == true)
    }

    @Test func `Any header is borne`() {
        var seed = SerializationSeed(9)
        for _ in 0..<1000 {
            _ = try? decode(Item.self, #"{"a":1}"#, seed.text(upTo: 20))
            _ = try? decode(Item.self, seed.text(upTo: 20), "application/json; charset=" + seed.text(upTo: 4))
        }
    }
}
