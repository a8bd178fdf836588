import Foundation
import Testing
import WebServiceClient

private final class Documented: WebServiceClient, @unchecked Sendable {}

/// References between documents.
@Suite struct OpenAPIDocumentTests {
    private static let split = #"""
        {"openapi": "3.1.0", "servers": [{"url": "https://a.test"}], "paths": {
            "/pets/{id}": {"$ref": "paths/pets.yaml"}, "/toys": {"get": {"operationId": "toys", "parameters": [
                {"$ref": "common.json#/limit"}, {"$ref": "./paths/../common.json#/limit"}]}}
        }, "components": {"parameters": {"id": {"name": "id", "in": "path"}}}}
        """#
    private static let others = [
        "paths/pets.yaml": """
        parameters:
        - $ref: ../api.json#/components/parameters/id
        - $ref: '#/x-shared'
        get: {operationId: pet, parameters: [{$ref: ../common.json#/limit}, {$ref: missing.yaml#/a}, {$ref: '#/none'}]}
        x-shared: {name: tag, in: query}
        """, "common.json": #"{"limit": {"name": "limit", "in": "query"}}"#, "unused.yaml": "a: !!set {b}",
    ]

    @Test func `byte order marks of documents are skipped`() throws {
        func data(_ text: String, _ mark: String) -> Data { Data((mark + text).utf8) }
        let keys = try ["", "\u{FEFF}"].map { mark in
            try ServiceProfile(openAPI: data(Self.split, mark), documents: Self.others.mapValues { data($0, mark) }).endpoints.keys
        }
        #expect(keys[0] == keys[1] && !keys[0].isEmpty)
    }

    @Test func `References lead to the documents that the program gives`() async throws {
        let profile = try ServiceProfile(
            openAPI: Data(Self.split.utf8), from: URL(string: "https://a.test/v1/api.json"),
            documents: Self.others.mapValues { Data($0.utf8) })
        #expect(profile.endpoints.keys == ["pet(id:tag:limit:)", "toys(limit:)"], "\(profile.endpoints.keys) \(profile.notes)")
        #expect(profile.notes.count == 2, "\(profile.notes)")
        #expect(
            profile.notes.first?.hasPrefix("paths/pets.yaml#/get/parameters/1/$ref: the reference \"missing.yaml#/a\" to another") == true)
        #expect(
            profile.notes.dropFirst().first
                == "paths/pets.yaml#/get/parameters/2/$ref: nothing is at \"#/none\", so the reference is left out")
        let client = Documented(profile: profile)
        let request = try await client.dryRun { try await $0.dynamic.pet(id: 7, limit: 1, tag: "a") }
        #expect(request.url.absoluteString == "https://a.test/pets/7?tag=a&limit=1")
    }

    @Test func `The main document can be among those that it refers to`() throws {
        // Its URL isn't known, and it isn't the one that its own name says.
        var documents = Self.others.mapValues { Data($0.utf8) }
        #expect(
            try ServiceProfile(openAPI: Data(Self.split.utf8), documents: documents).notes.contains { $0.contains("api.json#/components") })
        documents["api.json"] = Data(Self.split.utf8)
        let profile = try ServiceProfile(openAPI: Data(Self.split.utf8), documents: documents)
        #expect(profile.endpoints.keys == ["pet(id:tag:limit:)", "toys(limit:)"] && profile.notes.count == 2, "\(profile.notes)")
        let whole = Data(##"{openapi: 3.1.0, paths: {/a: {$ref: 'a.yaml#/'}, /b: {$ref: 'b.yaml#/'}},}"##.utf8)
        let (a, b) = (Data("{get: {operationId: a}}".utf8), Data("'': {get: {operationId: b}}".utf8))
        #expect(try ServiceProfile(openAPI: whole, documents: ["a.yaml": a, "b.yaml": b]).endpoints.keys == ["a()", "b()"])
        // Parents of the main document's folder stay apart.
        let main = Data(##"{"openapi": "3.1.0", "paths": {"/a": {"$ref": "../a.json"}, "/b": {"$ref": "a.json"}}}"##.utf8)
        let (above, here) = (Data(#"{"get": {"operationId": "above"}}"#.utf8), Data(#"{"get": {"operationId": "here"}}"#.utf8))
        #expect(
            try ServiceProfile(openAPI: main, documents: ["../a.json": above, "a.json": here]).endpoints.keys == ["above()", "here()"])
    }

    @Test(arguments: [
        (
            ["paths/pets.yaml": "a: ["],
            "#/paths/~1pets~1{id}/$ref: the document \"paths/pets.yaml\" isn't YAML that can be read: line 1, column 4"
        ),
        (["common.json": "{"], "parameters/0/$ref: the document \"common.json\" isn't JSON"),
        (["b.json#/a": "{}"], "isn't a URL without fragment"), (["": "{}"], "isn't a URL without fragment"),
        (["b.json": "{}", "c/../b.json": "{"], "the documents \"b.json\" and \"c/../b.json\" have the same URL"),
    ])
    func `Faults of other documents name them`(documents: [String: String], reason: String) {
        let error = #expect(throws: ServiceProfileError.self) {
            try ServiceProfile(openAPI: Data(Self.split.utf8), documents: documents.mapValues { Data($0.utf8) })
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }

    @Test func `A whole folder can be given, and secrets of its names aren't shown`() throws {
        let url = URL(string: "https://a.test/v1/api.json")
        var documents = Self.others.mapValues { Data($0.utf8) }
        documents["api.json"] = Data("{".utf8)
        documents["broken.yaml"] = Data("{".utf8)
        #expect(try ServiceProfile(openAPI: Data(Self.split.utf8), from: url, documents: documents).endpoints.keys.count == 2)
        // A document of version 3.2 states its own URL.
        let own = Self.split.replacing("\"3.1.0\",", with: #""3.2.0", "$self": "/v1/api.json","#)
        let there = try ServiceProfile(openAPI: Data(own.utf8), from: URL(string: "https://a.test/copies/1"), documents: documents)
        #expect(there.endpoints.keys == ["pet(id:tag:limit:)", "toys(limit:)"], "\(there.notes)")
        let error = #expect(throws: ServiceProfileError.self) {
            try ServiceProfile(openAPI: Data(Self.split.utf8), documents: ["https://ada:hush@a.test/x#y": Data("{}".utf8)])
        }
        #expect(error?.description.contains("@a.test/x") == true && error?.description.contains("hush") == false, "\(error as Any)")
    }
}
