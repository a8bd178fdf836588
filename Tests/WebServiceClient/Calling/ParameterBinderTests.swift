import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

private final class Searched: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        [
            "search(text:page:size:)": .get("/search").query("q", .argument("text")).query("page", .argument("page"))
                .query("size", .argument("size")).optional("page", "size"),
            "search(tag:)": .get("/tags/%%tag%%"),
            "tasks(fields:filter:raw:)": .get("/tasks").query("opt_fields", .argument(0), arrays: .comma).query(
                "q", .argument(1), as: .json
            )
            .query("r", .argument(2), keepingReserved: true),
            "pets(tag:)": .get(uriTemplate: "/pets{;pet%2Dtag*}").alias("pet-tag", of: "tag"),
            "send(tags:session:)": .post("/send").header("X-Tags", .argument(0)).cookie("sid", .argument(1)).withoutBody(),
            "upload(file:)": .post("/assets").body(.argument(0)).serviceRoot("/upload/"),
            "twice(a:a:)": .get("/twice/%%0%%/%%1%%"),
        ]
    }

    func search(text: String) async throws -> JSONValue { try await call(text) }
    func search(size: Int, text: String) async throws -> JSONValue { try await call(size, text) }
    func search(tag: String) async throws -> JSONValue { try await call(tag) }
    func search(text: String, page: Int?, size: Int?) async throws -> JSONValue { try await call(text, page, size) }
    func tasks(fields: [String], filter: [String: Int], raw: String) async throws -> JSONValue { try await call(fields, filter, raw) }
    func pets(tag: [String]) async throws -> JSONValue { try await call(tag) }
    func send(tags: [String], session: String) async throws { try await call(tags, session) }
    func upload(file: Data) async throws { try await call(file) }
}

private struct Address: Encodable, Sendable {
    var streetName = "A"
    var since = Date(timeIntervalSince1970: 5)
}

/// A structure, a list of structures, and a text.
private struct Person: Encodable, Sendable {
    var homeAddress = Address()
    var otherHomes = [Address(streetName: "B")]
    var fullName = "Ada"
}

/// A value with a text that its encoder refuses.
private struct Level: Encodable, Sendable, TextRepresentable {
    var text: String { "high" }

    func encode(to encoder: any Encoder) throws { throw Refusal() }
}

private final class Forms: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        let multipart = EndpointDescriptor.post("/form").body(.argument(0)).bodyTypes("multipart/form-data")
        return [
            "snake(_:)": multipart.attribute(FieldReflection.KeyStrategy.snakeCase)
                .attribute(FieldReflection.DateStrategy.custom { _ in "day" }),
            "followed(_:)": multipart.serializer(FormSerializer()),
            "fields(_:)": .post("/form").body(.argument(0)).bodyTypes("application/x-www-form-urlencoded")
                .attribute(FieldReflection.KeyStrategy.snakeCase)
                .with { $0.bodyTypes?.encodings = ["application/x-www-form-urlencoded": ["home_address": Self.json]] },
            "files(_:)": multipart.with { $0.bodyTypes?.encodings = ["multipart/form-data": ["icon": Self.png]] },
            "json(_:)": .get("/find").query("q", .argument(0), as: .json).header("X-Q", .argument(0), as: .json)
                .cookie("q", .argument(0), as: .json).attribute(FieldReflection.KeyStrategy.snakeCase)
                .attribute(FieldReflection.DateStrategy.custom { _ in "day" }),
        ]
    }

    private static let json = PropertyEncoding(contentType: "application/json")
    fileprivate static let png = PropertyEncoding(contentType: "image/png")
}

@Suite struct ParameterBinderTests {
    private let forms = Forms(serviceRoot: "https://a.test") {
        $0.serializer = JSONSerializer(keys: .snakeCase)
        $0.transport = StubTransport()
    }

    private func text(_ call: (Forms) async throws -> Void) async throws -> String {
        let request = try await forms.dryRun { try await call($0) }
        return String(decoding: request.body?.data ?? Data(), as: UTF8.self)
    }

    private let client = Searched(serviceRoot: "https://a.test/v1") { $0.transport = StubTransport() }

    @Test func `Methods and dynamic calls leave out optional arguments`() async throws {
        #expect(Searched.verify() == [])
        #expect(try await client.dryRun { _ = try await $0.search(text: "a") }.url.absoluteString == "https://a.test/v1/search?q=a")
        #expect(try await client.dryRun { _ = try await $0.search(size: 3, text: "a") }.url.query() == "q=a&size=3")
        #expect(try await client.dryRun { _ = try await $0.search(tag: "a") }.url.path() == "/v1/tags/a")
        #expect(try await client.dryRun { _ = try await $0.search(text: "a", page: nil, size: 1) }.url.query() == "q=a&size=1")
        #expect(try await client.dryRun { try await $0.dynamic.search(size: 10, text: "a") }.url.query() == "q=a&size=10")
        #expect(try await client.dryRun { try await $0.dynamic["search"](["q": "a"]) }.url.query() == "q=a")
        // An endpoint of the same base name without optional arguments.
        #expect(try await client.dryRun { try await $0.dynamic["search"](["tag": "a"]) }.url.path() == "/v1/tags/a")
        // Names can't tell the two arguments.
        #expect(await serviceError { _ = try await client.dryRun { try await $0.dynamic["twice"](["a": 1, "b": 2]) } } != nil)
        #expect(
            await serviceError { _ = try await client.dryRun { try await $0.dynamic.search(page: 1) } }?.message.contains(
                #"requires the argument "text""#) == true)
        #expect(await serviceError { _ = try await client.dryRun { try await $0.dynamic.search(text: nil) } }?.kind == .argument)
    }

    @Test func `Parameters have styles of their own`() async throws {
        let tasks = try await client.dryRun { _ = try await $0.tasks(fields: ["a", "b,c"], filter: ["z": 1, "a": 2], raw: "x/y&z") }
        #expect(tasks.url.query() == "opt_fields=a,b%2Cc&q=%7B%22a%22%3A2%2C%22z%22%3A1%7D&r=x/y%26z")
        #expect(try await client.dryRun { _ = try await $0.pets(tag: ["a", "b"]) }.url.path() == "/v1/pets;pet%2Dtag=a;pet%2Dtag=b")
        func pets(_ tag: any Sendable) async throws -> String {
            try await client.dryRun { try await $0.dynamic.pets(tag: tag) }.url.path()
        }
        #expect(try await pets(["a", 2, nil] as JSONValue) == "/v1/pets;pet%2Dtag=a;pet%2Dtag=2")
        #expect(try await pets(Set(["b", "a"])) == "/v1/pets;pet%2Dtag=a;pet%2Dtag=b")
        #expect(try await pets(["k": "a b", "l": true] as JSONValue) == "/v1/pets;k=a%20b;l=true")
        #expect(try await pets(["z": 1, "a": 2]) == "/v1/pets;a=2;z=1")
        #expect(await serviceError { _ = try await pets([[1]]) }?.kind == .argument)
        let sent = try await client.dryRun { try await $0.send(tags: ["a", "b"], session: "s 1") }
        #expect(sent.headers["X-Tags"] == "a,b" && sent.headers["Cookie"] == "sid=s%201")
        #expect(try await client.dryRun { try await $0.upload(file: Data()) }.url.absoluteString == "https://a.test/upload/assets")
    }

    @Test func `A call by names has the order of the key`() async throws {
        let tasks = try await client.dryRun { try await $0.dynamic["tasks"](["raw": "r", "opt_fields": ["a"], "q": ["z": 1]]) }
        #expect(tasks.url.query()?.removingPercentEncoding == "opt_fields=a&q={\"z\":1}&r=r", "\(tasks.url)")
        #expect(try await client.dryRun { try await $0.dynamic["pets"](["pet-tag": "a"]) }.url.path() == "/v1/pets;pet%2Dtag=a")
        let error = await serviceError { _ = try await client.dryRun { try await $0.dynamic["tasks"](["raw": "r"]) } }
        #expect(error?.message.contains("tasks(fields:filter:raw:)") == true, "\(error as Any)")
    }

    @Test func `JSON in a form has the names and dates of its fields`() async throws {
        let snake = try await text { try await $0.dynamic.snake(Person()) }
        let json = "\r\nContent-Type: application/json\r\n\r\n"
        #expect(snake.contains("name=\"home_address\"\(json){\"since\":\"day\",\"street_name\":\"A\"}\r\n"), "\(snake)")
        #expect(snake.contains("name=\"other_homes\"\(json){\"since\":\"day\",\"street_name\":\"B\"}\r\n"), "\(snake)")
        #expect(snake.contains("name=\"full_name\"\r\n\r\nAda\r\n"), "\(snake)")
        let followed = try await text { try await $0.dynamic.followed(Person()) }
        let address = "{\"since\":\"1970-01-01T00:00:05Z\",\"street_name\":\"A\"}"
        #expect(followed.contains("name=\"home_address\"\(json)\(address)\r\n"), "\(followed)")
        let fields = try await text { try await $0.dynamic.fields(["home_address": Address()]) }
        #expect(fields.removingPercentEncoding == "home_address=\(address)", "\(fields)")
    }

    @Test func `JSON in a parameter has the names and dates of the endpoint's fields`() async throws {
        let client = Forms(serviceRoot: "https://a.test") { $0.serializer = JSONSerializer(dates: .seconds) }
        let request = try await client.dryRun { try await $0.dynamic.json(Address()) }
        let json = #"{"since":"day","street_name":"A"}"#
        #expect(request.url.query()?.removingPercentEncoding == "q=" + json, "\(request.url)")
        #expect(request.headers["X-Q"] == json && request.headers[.cookie]?.removingPercentEncoding == "q=" + json, "\(request.headers)")
    }

    @Test func `Data is a file in a multipart form, and an error in others`() async throws {
        struct Upload: Encodable, Sendable {
            var icon = Data([0x89, 0x50])
            var files = [Data("a".utf8), Data("b".utf8)]
            var none: Data?
            var meta = ["hash": Data([1, 2, 3])]
        }
        let request = try await forms.dryRun { try await $0.dynamic.files(Upload()) }
        let body = String(decoding: request.body?.data ?? Data(), as: UTF8.self)
        #expect(body.contains("name=\"icon\"; filename=\"icon\"\r\nContent-Type: image/png\r\n\r\n"), "\(body)")
        for text in ["a", "b"] {
            let part = "name=\"files\"; filename=\"files\"\r\nContent-Type: application/octet-stream\r\n\r\n\(text)\r\n"
            #expect(body.contains(part), "\(body)")
        }
        #expect(body.contains("name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"hash\":\"AQID\"}\r\n"), "\(body)")
        #expect(!body.contains("none") && body.components(separatedBy: "Content-Disposition").count == 5)
        let error = await serviceError { _ = try await forms.dryRun { try await $0.dynamic.fields(Upload()) } }
        #expect(error?.message.contains("is binary and has no text") == true, "\(error as Any)")
    }

    @Test func `A form is encoded as JSON only for properties that are JSON, and none is left out`() async throws {
        struct Search: Encodable, Sendable {
            let level = Level()
            let tags = ["a", "b"]
        }
        let parts = try await text { try await $0.dynamic.followed(Search()) }
        #expect(parts.contains("name=\"level\"\r\n\r\nhigh\r\n"), "\(parts)")
        #expect(parts.components(separatedBy: "name=\"tags\"").count == 3, "\(parts)")
        // Foundation writes a dictionary with keys of an enum as an array.
        enum Kind: String, Encodable, Sendable { case home }
        let error = await serviceError { _ = try await text { try await $0.dynamic.followed([Kind.home: Address()]) } }
        #expect(error?.kind == .argument && error?.message.contains("\"home\"") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("isn't in the JSON of the whole value") == true, "\(error?.message ?? "")")
    }

    @Test func `Faults of parameters are listed`() {
        final class Faulty: WebServiceClient, @unchecked Sendable {
            override class var endpoints: EndpointTable {
                [
                    "a(x:)": .get("/").query("x", .argument(0)).optional("y"),
                    "b(x:)": .get("/").query("x", .argument(0)).alias("z", of: "y"),
                    "c()": .get("/").serviceRoot("//a.test"), "d()": .get("/").serviceRoot("nowhere"),
                    "e(x:)": .post("/").body(.argument(0)).bodyTypes("json"), "f(x:)": .get("/").cookie("a b", .argument(0)),
                    "g(x:)": .get("/").header("a b", .argument(0)),
                ]
            }
        }
        let faults = Faulty.verify()
        #expect(faults.map(\.key) == ["a(x:)", "b(x:)", "c()", "d()", "e(x:)", "f(x:)", "g(x:)"])
        #expect(
            faults.map(\.kind) == [
                .unknownArgument, .unknownArgument, .badServiceRoot, .badServiceRoot, .badParser, .badHeader, .badHeader,
            ])
    }

    @Test func `A description tells the styles of parameters`() throws {
        let description = Searched.describe()
        let search = try #require(description.endpoints.first)
        #expect(search.takesPartOfLabels == true && search.arguments?.map(\.isOptional) == [nil, true, true])
        let tasks = description.endpoints[2]
        #expect(tasks.query.map(\.style) == ["arrays comma", "json", "reserved characters kept"])
        #expect(description.endpoints[3].arguments?.first?.aliases == ["pet-tag"] && description.endpoints[5].serviceRoot == "/upload/")
        #expect(description.markdown.contains("optional") && description.markdown.contains("cookie sid"))
        let read = try JSONDecoder().decode(ClientDescription.self, from: Data(description.json.utf8))
        #expect(read == description)
    }
}
