import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

/// A client without an endpoint table.
private final class Documented: WebServiceClient, @unchecked Sendable {}

/// A client with typed methods, whose endpoints the document has.
private final class Typed: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable { ["pet(id:)": .get("/class/%%0%%").attribute(CookiePolicy.off), "own()": .get("/own")] }

    func pet(id: Int) async throws -> JSONValue { try await call(id) }
    func pets(limit: Int, tags: [String]) async throws -> JSONValue { try await call(limit, tags) }
    func pets() async throws -> JSONValue { try await call() }
    func own() async throws { try await call() }
}

@Suite struct OpenAPIReaderTests {
    private static let petstore = """
        {
          "openapi": "3.1.0", "servers": [{"url": "https://pets.test/v1"}],
          "paths": {
            "/pets": {
              "parameters": [{"name": "X-Team", "in": "header"}, {"name": "limit", "in": "query", "style": "form"}],
              "get": {
                "operationId": "pets", "parameters": [
                  {"name": "limit", "in": "query"}, {"$ref": "#/components/parameters/tags"}, {"name": "$filter", "in": "query"}
                ],
                "responses": {"200": {"description": "", "content": {"application/json": {}}}, "default": {"description": ""}}
              },
              "post": {
                "operationId": "pets/create", "deprecated": true, "requestBody": {"required": true, "content": {"application/json": {}}},
                "responses": {"201": {"description": ""}}
              }
            },
            "/pets/{pet-id}": {
              "get": {"operationId": "pet", "parameters": [{"name": "pet-id", "in": "path", "required": true}]},
              "delete": {"parameters": [{"name": "pet-id", "in": "path", "required": true}]}
            }
          },
          "components": {"parameters": {"tags": {"name": "tags", "in": "query", "explode": false}}}
        }
        """

    private func profile(_ text: String = petstore, from url: String? = nil, _ variables: [String: String] = [:]) throws -> ServiceProfile {
        try ServiceProfile(openAPI: Data(text.utf8), from: url.flatMap { URL(string: $0) }, variables: variables)
    }

    private func faults(_ text: String, _ variables: [String: String] = [:]) -> [String] {
        do {
            _ = try profile(text, variables)
            return []
        } catch {
            return (error as? ServiceProfileError)?.faults ?? ["\(error)"]
        }
    }

    /// A document with one operation.
    private static func document(_ operation: String, path: String = "/x", _ more: String = "") -> String {
        #"{"openapi": "3.0.3", "servers": [{"url": "https://a.test"}], "paths": {"\#(path)": {"get": {"operationId": "x"\#(operation)}}}\#(more)}"#
    }

    // MARK: Calls

    @Test func `Operations become keys with the labels of their arguments`() throws {
        let profile = try profile()
        #expect(profile.baseURL == "https://pets.test/v1" && profile.notes.isEmpty)
        #expect(
            profile.endpoints.keys == [
                "pets(XTeam:limit:tags:filter:)", "petsCreate(body:XTeam:limit:)", "pet(petId:)", "deletePetsPetId(petId:)",
            ])
        let created = profile.endpoints["petsCreate(body:XTeam:limit:)"]
        #expect(created?.method == .post && created?.settings.statuses == .created)
        let info = created?.settings.attributes[OperationInfo.self]
        #expect(info?.operationID == "pets/create" && info?.isDeprecated == true && info?.pointer == "#/paths/~1pets/post")
    }

    @Test func `Dynamic calls leave out arguments and have any order`() async throws {
        let client = Documented(profile: try profile()) { $0.transport = StubTransport() }
        #expect(client.verify() == [])
        func url(_ call: (Documented) async throws -> Void) async throws -> String {
            try await client.dryRun { try await call($0) }.url.absoluteString
        }
        #expect(try await url { try await $0.dynamic.pets() } == "https://pets.test/v1/pets")
        #expect(
            try await url { try await $0.dynamic.pets(tags: ["a", "b,c"], limit: 3) } == "https://pets.test/v1/pets?limit=3&tags=a,b%2Cc")
        #expect(try await url { try await $0.dynamic.pets("core", 3) } == "https://pets.test/v1/pets?limit=3")
        #expect(try await url { try await $0.dynamic.pets(3, XTeam: "core") } == "https://pets.test/v1/pets?limit=3")
        #expect(try await url { try await $0.dynamic.pet(petId: 7) } == "https://pets.test/v1/pets/7")
        #expect(try await url { try await $0.dynamic.pet(7) } == "https://pets.test/v1/pets/7")
        #expect(
            try await url { try await $0.dynamic["pets"](["$filter": "age gt 2", "limit": 1]) }
                == "https://pets.test/v1/pets?limit=1&%24filter=age%20gt%202")
        #expect(try await url { try await $0.dynamic["pet"](["pet-id": 7]) } == "https://pets.test/v1/pets/7")
        let created = try await client.dryRun { try await $0.dynamic["pets/create"](["body": ["name": "Ada"], "x-team": "core"]) }
        #expect(created.method == .post && created.headers["X-Team"] == "core" && created.headers[.contentType] == "application/json")
        #expect(created.body?.data == Data(#"{"name":"Ada"}"#.utf8))
        #expect(created.identity?.key == "petsCreate")
    }

    @Test func `Calls that don't fit name the argument and the nearest`() async throws {
        let client = Documented(profile: try profile()) { $0.transport = StubTransport() }
        func message(_ call: (Documented) async throws -> Void) async -> String {
            await serviceError { _ = try await client.dryRun { try await call($0) } }?.message ?? ""
        }
        #expect(await message { try await $0.dynamic.pets(limt: 3) }.contains(#"pets has no argument "limt"; did you mean "limit"?"#))
        #expect(await message { try await $0.dynamic.pet() }.contains(#"pet requires the argument "petId""#))
        #expect(await message { try await $0.dynamic.pet(petId: nil) }.contains("it is nil, and the endpoint requires it"))
        #expect(await message { try await $0.dynamic.pet(1, 2) }.contains("takes 1 arguments"))
        #expect(await message { try await $0.dynamic.pets(limit: 1, limit: 2) }.contains(#""limit" is passed twice"#))
        #expect(await message { try await $0.dynamic["pets"](["$fliter": 1]) }.contains(#"did you mean "$filter"?"#))
        #expect(await message { try await $0.dynamic.pest() }.contains("no entry"))
        #expect(await message { try await $0.dynamic["pest"]() }.contains("no entry"))
    }

    @Test func `Typed methods call the operations with their base names`() async throws {
        let client = Typed(profile: try profile()) { $0.transport = StubTransport() }
        #expect(client.verify().map(\.description).joined().contains(#"pet has no argument "id"; its arguments are: "petId""#))
        let text = Self.petstore.replacing("pet-id", with: "id")
        let typed = Typed(profile: try profile(text)) { $0.transport = StubTransport() }
        #expect(typed.verify() == [])
        let one = try await typed.dryRun { _ = try await $0.pet(id: 7) }
        #expect(one.url.absoluteString == "https://pets.test/v1/pets/7")
        #expect(try await typed.dryRun { _ = try await $0.pets(limit: 1, tags: ["a"]) }.url.query() == "limit=1&tags=a")
        #expect(try await typed.dryRun { _ = try await $0.pets() }.url.path() == "/v1/pets")
        #expect(try await typed.dryRun { try await $0.own() }.url.path() == "/v1/own")
        // The attributes of the class's endpoint stay, and those of the document are added.
        let endpoint = try typed.state.endpoint(for: "pet(id:)")
        #expect(endpoint.settings.attributes[CookiePolicy.self] == .off && endpoint.settings.attributes[OperationInfo.self] != nil)
    }

    @Test func `Arguments with one name are told apart by their place`() async throws {
        let text = Self.document(
            #", "parameters": [{"name": "path", "in": "path"}, {"name": "path", "in": "query"}, {"name": "a-b", "in": "query"}, {"name": "aB", "in": "cookie"}]"#,
            path: "/x/{path}")
        let profile = try profile(text)
        #expect(profile.endpoints.keys == ["x(pathPath:queryPath:queryAB:cookieAB:)"])
        let client = Documented(profile: profile)
        let request = try await client.dryRun { try await $0.dynamic.x(pathPath: "p", queryPath: "q", cookieAB: "c d") }
        #expect(request.url.absoluteString == "https://a.test/x/p?path=q" && request.headers["Cookie"] == "aB=c%20d")
        let error = await serviceError { _ = try await client.dryRun { try await $0.dynamic["x"](["path": 1]) } }
        #expect(error?.message.contains("path") == true)
    }

    // MARK: Bodies

    @Test func `Properties of forms have encodings of their own`() async throws {
        struct Search: Encodable, Sendable {
            struct Range: Encodable, Sendable {
                let from = 1
                let to: Int?
            }
            let ids = [1, 2]
            let tags = ["a b", "c"]
            let range = Range(to: 2)
            let meta = Range(to: nil)
            let none: Int? = nil
        }
        func sent(_ type: String, _ encoding: String) async throws -> (String, [String]) {
            let text =
                #"{"openapi": "3.0.0", "servers": [{"url": "https://a.test"}], "paths": {"/x": {"post": {"operationId": "x", "requestBody": {"content": {"\#(type)": {"encoding": {\#(encoding)}}}}}}}}"#
            let profile = try profile(text)
            let client = Documented(profile: profile)
            let request = try await client.dryRun { try await $0.dynamic.x(body: Search()) }
            return (String(decoding: request.body?.data ?? Data(), as: UTF8.self), profile.notes)
        }
        let form = try await sent(
            "application/x-www-form-urlencoded",
            #""ids": {"style": "form", "explode": false}, "tags": {"style": "deepObject"}, "range": {"style": "deepObject", "explode": true}, "meta": {"contentType": "application/json"}"#
        )
        #expect(form.0 == "ids=1,2&tags%5B%5D=a+b&tags%5B%5D=c&range%5Bfrom%5D=1&range%5Bto%5D=2&meta=%7B%22from%22%3A1%7D")
        #expect(form.1.isEmpty, "\(form.1)")
        let parts = try await sent(
            "multipart/form-data", #""ids": {"contentType": "application/json"}, "tags": {"contentType": "text/csv", "headers": {"X": {}}}"#
        )
        let text = parts.0
        #expect(text.contains("name=\"ids\"\r\nContent-Type: application/json\r\n\r\n[1,2]\r\n"), "\(text)")
        #expect(text.components(separatedBy: "Content-Type: text/csv").count == 3, "\(text)")
        // Structures are JSON by default.
        #expect(text.contains("name=\"range\"\r\nContent-Type: application/json\r\n\r\n{\"from\":1,\"to\":2}\r\n"), "\(text)")
        #expect(!text.contains("none") && parts.1.count == 1 && parts.1[0].contains("/encoding/tags: the fields of the part"), "\(parts.1)")
    }

    @Test func `The media type of a body is chosen`() async throws {
        let types = [
            "application/xml", "application/merge-patch+json", "multipart/form-data", "application/x-www-form-urlencoded", "image/*",
            "text/plain",
        ]
        let content = types.map { "\"\($0)\": {}" }.joined(separator: ", ")
        let text =
            #"{"openapi": "3.0.0", "servers": [{"url": "https://a.test"}], "paths": {"/x": {"patch": {"operationId": "x", "requestBody": {"content": {\#(content)}}}}}}"#
        let profile = try profile(text)
        #expect(profile.endpoints.keys == ["x(body:as:)"])
        let client = Documented(profile: profile)
        func sent(_ body: any Sendable, as type: String? = nil) async throws -> (type: String?, text: String) {
            let request = try await client.dryRun { try await $0.dynamic.x(body: body, as: type) }
            return (request.headers[.contentType], String(decoding: request.body?.data ?? Data(), as: UTF8.self))
        }
        #expect(try await sent(["a": 1]) == ("application/merge-patch+json", #"{"a":1}"#))
        #expect(try await sent(["a": "b c"], as: "application/x-www-form-urlencoded") == ("application/x-www-form-urlencoded", "a=b+c"))
        #expect(try await sent("hello", as: "text/plain").text == "hello")
        #expect(try await sent(Data("png".utf8), as: "image/png") == ("image/png", "png"))
        let form = try await sent(["a": "1"], as: "multipart/form-data")
        #expect(form.type?.hasPrefix("multipart/form-data; boundary=") == true && form.text.contains("name=\"a\""))
        #expect(try await sent(MultipartForm([.text("a", "b")])).type?.hasPrefix("multipart/form-data") == true)
        #expect(try await client.dryRun { try await $0.dynamic.x() }.body == nil)
        let error = await serviceError { _ = try await sent(["a": 1], as: "application/json") }
        #expect(error?.kind == .argument && error?.message.contains("isn't one of the endpoint's") == true)
        #expect(await serviceError { _ = try await sent(["a": 1], as: "image/png") }?.message.contains("no serializer") == true)
    }

    // MARK: Servers

    @Test func `Servers have variables, and may be relative`() throws {
        func root(_ server: String, from url: String? = nil, _ variables: [String: String] = [:]) throws -> String {
            try profile(#"{"openapi": "3.1.0", "servers": [\#(server)], "paths": {"/x": {"get": {}}}}"#, from: url, variables).baseURL
        }
        let variable =
            #"{"url": "{scheme}://{region}.a.test/{v}", "variables": {"scheme": {"default": "https"}, "region": {"default": "eu", "enum": ["eu", "us"]}, "v": {"default": "v1"}}}"#
        #expect(try root(variable) == "https://eu.a.test/v1")
        #expect(try root(variable, ["region": "us", "v": "v2"]) == "https://us.a.test/v2")
        #expect(try root(#"{"url": "/v2"}"#, from: "https://b.test/docs/openapi.json") == "https://b.test/v2")
        #expect(try root(#"{"url": "../v3"}"#, from: "https://b.test/docs/openapi.json") == "https://b.test/v3")
        #expect(try root(#"{"url": "/v2"}"#) == "" && root(#"{"url": "/v2"}"#, from: "file:///tmp/openapi.json") == "")
        #expect(
            try profile(#"{"openapi": "3.1.0", "paths": {"/x": {"get": {}}}}"#, from: "https://b.test/openapi.json").baseURL
                == "https://b.test/")
        let document = { (server: String) in #"{"openapi": "3.1.0", "servers": [\#(server)], "paths": {"/x": {"get": {}}}}"# }
        #expect(faults(document(variable), ["region": "asia"]).joined().contains("its values are eu, us"))
        #expect(faults(document(variable), ["regoin": "us"]).joined().contains(#"did you mean "region"?"#))
        #expect(faults(document(#"{"url": "https://{x}.test"}"#)).joined().contains("has no default"))
        #expect(faults(document(#"{"url": "https://{x.test"}"#)).joined().contains("braces"))
        #expect(faults(document(#"{"url": "ftp://a.test"}"#)).joined().contains("scheme"))
        #expect(faults(document(#"{"url": "https://ada:pw@a.test"}"#)).joined().contains("credentials"))
        #expect(!faults(document(#"{"url": "https://ada:pw@a.test"}"#)).joined().contains("pw@"))
    }

    @Test func `An operation's own server stays in the service`() async throws {
        func document(_ server: String) -> String {
            Self.document(#", "servers": [{"url": "\#(server)"}]"#)
        }
        func url(_ server: String, root: String = "", _ origins: [String] = []) async throws -> String {
            let client = Documented(profile: try profile(document(server))) {
                $0.serviceRoot = root
                $0.allowedOrigins = origins
            }
            return try await client.dryRun { try await $0.dynamic.x() }.url.absoluteString
        }
        #expect(try await url("https://a.test/upload") == "https://a.test/upload/x")
        #expect(try await url("/upload") == "https://a.test/upload/x")
        #expect(try await url("https://a.test/upload", root: "http://127.0.0.1:8080/v2?k=v") == "http://127.0.0.1:8080/upload/x?k=v")
        #expect(try await url("https://up.test/v1", ["https://up.test"]) == "https://up.test/v1/x")
        #expect(await serviceError { _ = try await url("https://up.test/v1") }?.message.contains("allowedOrigins") == true)
    }

    // MARK: Notes and faults

    @Test(arguments: [
        ("openapi: 3.1.0\npaths: []", "#/paths: it isn't an object"), ("# a comment\nopenapi: 4.0", "the version is 4.0"),
        ("---\na: b", "isn't an OpenAPI document"), ("", "isn't JSON"), ("hello", "isn't a JSON object"),
        ("openapi: 3.1.0\npaths: *p", "isn't YAML that can be read: line 2, column 8: no value before has the anchor &p"),
        ("{", "isn't JSON"),
        ("[]", "isn't a JSON object"), ("{}", "isn't an OpenAPI document"), (#"{"swagger": "2.0"}"#, "swagger2openapi"),
        (#"{"openapi": "3.3.0", "paths": {}}"#, "3.0 to 3.2"), (#"{"openapi": "2"}"#, "3.0 to 3.2"), (#"{"openapi": []}"#, "no text"),
        (#"{"openapi": "3.1.0", "paths": []}"#, "#/paths: it isn't an object"), ("<html>", "isn't JSON"),
    ])
    func `A document that can't be read says why`(text: String, reason: String) {
        #expect(faults(text).joined().contains(reason), "\(faults(text))")
    }

    @Test func `An operation whose name is taken is called by its method and path`() async throws {
        let profile = try profile(
            #"""
            {"openapi": "3.1.0", "servers": [{"url": "https://a.test"}], "paths": {
                "/a": {"get": {"operationId": "a/b"}}, "/b": {"get": {"operationId": "aB"}, "put": {"operationId": "aB"}},
                "/c/d": {"get": {}}, "/c-d": {"get": {}}, "/c.d": {"get": {"operationId": "--"}}, "/e": {"get": {"operationId": "getCD2"}}
            }}
            """#)
        #expect(
            profile.endpoints.keys == ["aB()", "getB()", "putB()", "getCD()", "getCD3()", "getCD4()", "getCD2()"],
            "\(profile.endpoints.keys)")
        #expect(
            profile.notes == [
                "#/paths/~1b/get: the operationId \"aB\" is the name of another operation: #/paths/~1a/get; it is called getB",
                "#/paths/~1b/put: the operationId \"aB\" is the name of another operation: #/paths/~1a/get; it is called putB",
                "#/paths/~1c-d/get: it has no operationId, and its name getCD is that of #/paths/~1c~1d/get; it is called getCD3",
                "#/paths/~1c.d/get: the operationId \"--\" has no letters, and its name getCD is that of #/paths/~1c~1d/get; it is called "
                    + "getCD4",
            ], "\(profile.notes)")
        let client = Documented(profile: profile)
        #expect(try await client.dryRun { try await $0.dynamic.getCD4() }.url.absoluteString == "https://a.test/c.d")
    }

    @Test func `Texts that YAML reads as numbers are texts`() throws {
        let text = """
            openapi: 3.1
            servers:
            - url: https://a.test:{port}/{on}
              variables: {port: {default: 8443, enum: [8443, 443]}, on: {default: true}}
            paths:
              /a:
                get: {operationId: 404, parameters: [{name: 1, in: query}], tags: [2, x]}
            """
        let profile = try profile(text)
        #expect(profile.baseURL == "https://a.test:8443/true" && profile.endpoints.keys == ["_404(_1:)"], "\(profile)")
        #expect(try ServiceProfile(openAPI: Data(text.utf8), variables: ["port": "443"]).baseURL == "https://a.test:443/true")
        let error = #expect(throws: ServiceProfileError.self) { try ServiceProfile(openAPI: Data(text.utf8), variables: ["port": "80"]) }
        #expect(error?.description.contains("its values are 8443, 443") == true, "\(String(describing: error))")
    }

    @Test func `What version 3.2 adds is read`() async throws {
        let profile = try profile(
            #"""
            {"openapi": "3.2.0", "servers": [{"url": "https://a.test"}], "paths": {
                "/a": {"query": {"operationId": "find", "requestBody": {"content": {"application/json": {}}}},
                    "additionalOperations": {"COPY": {"operationId": "copy"}, "LINK": {}, "PURGE": 1}},
                "/b": {"get": {"operationId": "b", "parameters": [
                    {"name": "f", "in": "querystring", "content": {"application/x-www-form-urlencoded": {}}},
                    {"name": "sid", "in": "cookie", "style": "cookie"}, {"name": "j", "in": "querystring", "content": {"application/json": {}}}
                ]}}
            }}
            """#)
        #expect(profile.endpoints.keys == ["find(body:)", "copy()", "linkA()", "b(f:sid:)"], "\(profile.endpoints.keys)")
        #expect(
            profile.notes == [
                "#/paths/~1a/additionalOperations/PURGE: it isn't an object, and is left out",
                "#/paths/~1b/get/parameters/1: the style cookie asks for no encoding, but \"sid\" is percent-encoded",
                "#/paths/~1b/get/parameters/2: the parameter \"j\" is in \"querystring\", and known places are path, query, header, "
                    + "cookie, and querystring with application/x-www-form-urlencoded; the parameter is left out",
            ], "\(profile.notes)")
        let client = Documented(profile: profile)
        let (find, copy) = (
            try await client.dryRun { try await $0.dynamic.find(body: [1]) }, try await client.dryRun { try await $0.dynamic.copy() }
        )
        #expect(find.method == "QUERY" && copy.method == "COPY" && copy.url.path == "/a")
        let b = try await client.dryRun { try await $0.dynamic.b(f: ["k": "a b", "l": "c"], sid: "x;y") }
        #expect(["k=a%20b&l=c", "l=c&k=a%20b"].contains(b.url.query(percentEncoded: true)) && b.headers[.cookie] == "sid=x%3By", "\(b)")
    }

    @Test(arguments: [
        (#", "parameters": [{"name": "q", "in": "querystring"}]"#, #"is in "querystring""#),
        (#", "parameters": [{"name": "q", "in": "query", "style": "matrix"}]"#, "its place: use form or spaceDelimited or"),
        (#", "parameters": [{"name": "q", "in": "query", "style": "deepObject", "schema": {"type": "array"}}]"#, "q[]=…"),
        (#", "parameters": [{"name": "q", "in": "query", "style": "pipeDelimited", "explode": true}]"#, "isn't defined with explode"),
        (#", "parameters": [{"name": "Accept", "in": "header"}]"#, "ignored by the specification"),
        (#", "parameters": [{"name": "a b", "in": "header"}]"#, "can't be a header's name: use"),
        (#", "parameters": [{"in": "query"}]"#, #"has no name: add "name""#), (#", "parameters": [1]"#, "isn't an object"),
        (#", "parameters": [{"name": "$", "in": "query"}]"#, "has no letters"),
        (#", "parameters": [{"$ref": "other.json#/a"}]"#, "give the document to ServiceProfile(openAPI:documents:)"),
        (##", "parameters": [{"$ref": "#/nowhere"}]"##, "nothing is at"),
        (##", "parameters": [{"$ref": "#nowhere"}]"##, "isn't a JSON pointer"), (#", "parameters": [{"$ref": 1}]"#, "isn't a text"),
        (##", "parameters": [{"$ref": "#/components/a"}]"##, "form a cycle"),
        (#", "parameters": [{"name": "id", "in": "path"}]"#, "the path has no {id}"),
        (#", "requestBody": {"content": {}}"#, "the body of a GET is left out"), (#", "callbacks": {"a": {}}"#, "callbacks are left out"),
        (#", "responses": {"200": {"links": {"a": {}}}}"#, "links are left out"),
        (#", "security": [{"k": []}]"#, "no such security scheme"),
        (#"}, "find": {"operationId": "y""#, #""find" isn't known"#),
    ])
    func `What is left out is noted with its place`(operation: String, note: String) throws {
        let components = ##", "components": {"a": {"$ref": "#/components/b"}, "b": {"$ref": "#/components/a"}}"##
        let profile = try profile(Self.document(operation, components))
        #expect(profile.notes.count >= 1 && profile.notes.contains { $0.hasPrefix("#/") && $0.contains(note) }, "\(profile.notes)")
        #expect(profile.endpoints.keys.count == 1)
    }

    @Test(arguments: [
        (#", "parameters": [{"name": "q", "in": "body", "required": true}]"#, "/x"),
        (#", "requestBody": {"required": true, "content": {}}"#, "/x"),
        ("", "/x/{id"), ("", "/x/{}"), ("", "/x#y"), ("", "/../x"),
    ])
    func `A document without an operation that can be called is a fault`(operation: String, path: String) {
        #expect(faults(Self.document(operation, path: path)).joined().contains("no operation can be called"))
    }

    @Test func `Undescribed parameters, webhooks and taken names are noted`() throws {
        let text =
            #"{"openapi": "3.1.0", "webhooks": {"a": {}}, "paths": {"/users/{id}": {"get": {}}, "/users/id": {"get": {}}, "/x-": {}, "x-y": {}, "z": {}}}"#
        let profile = try profile(text)
        #expect(profile.endpoints.keys == ["getUsersId(id:)", "getUsersId2()"])
        for note in [
            "which no parameter describes", "its name getUsersId is that of", "webhooks are left out", "doesn't begin with a slash",
            "no servers",
        ] {
            #expect(profile.notes.contains { $0.contains(note) }, "\(note)")
        }
    }

    @Test func `Deep and long documents are bounded`() {
        #expect(!faults(String(repeating: #"{"a":"#, count: 100_000)).isEmpty)
        #expect(!faults(#"{"openapi": "3.1.0", "paths": "# + String(repeating: "[", count: 5_000)).isEmpty)
        let parameters = (0..<1_001).map { #"{"name": "p\#($0)", "in": "query"}"# }.joined(separator: ",")
        #expect(faults(Self.document(#", "parameters": [\#(parameters)]"#)).joined().contains("more than 1000 parameters"))
        let notes = (0..<1_500).map { #""x\#($0)": {"get": {}}"# }.joined(separator: ",")
        let profile = try? profile(#"{"openapi": "3.1.0", "paths": {\#(notes)}}"#)
        #expect(profile?.notes.last?.contains("more parts are left out") == true && profile?.notes.count == 1_001)
    }
}
