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
        """, "common.json": #"{"limit": {"name": "limit", "in": "query"}}"#, "unused.yaml": "a: b",
    ]

    @Test func `References lead to the documents that the program gives`() async throws {
        let profile = try ServiceProfile(
            openAPI: Data(Self.split.utf8), from: URL(string: "https://a.test/v1/api.json"),
            documents: Self.others.mapValues { Data($0.utf8) })
        #expect(profile.endpoints.keys == ["pet(id:tag:limit:)", "toys(limit:)"], "\(profile.endpoints.keys) \(profile.notes)")
        #expect(profile.notes.count == 3, "\(profile.notes)")
        #expect(
            profile.notes.first?.hasPrefix("paths/pets.yaml#/get/parameters/1/$ref: the reference \"missing.yaml#/a\" to another") == true)
        #expect(
            profile.notes.dropFirst().first
                == "paths/pets.yaml#/get/parameters/2/$ref: nothing is at \"#/none\", so the reference is left out")
        #expect(profile.notes.last == "#: no reference that is followed leads to the document \"unused.yaml\"")
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
        #expect(profile.endpoints.keys == ["pet(id:tag:limit:)", "toys(limit:)"] && profile.notes.count == 3, "\(profile.notes)")
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
        (["a.yaml": "a: [", "b.json": "{}"], "the document \"a.yaml\" isn't YAML that can be read: line 1, column 4"),
        (["b.json": "{"], "the document \"b.json\" isn't JSON"), (["b.json#/a": "{}"], "isn't a URL without fragment"),
        (["b.json": "{}", "c/../b.json": "{}"], "have the same URL"), (["https://x.test/api.json": "{}"], "have the same URL"),
    ])
    func `Faults of other documents name them`(documents: [String: String], reason: String) {
        let error = #expect(throws: ServiceProfileError.self) {
            try ServiceProfile(
                openAPI: Data(Self.split.utf8), from: URL(string: "https://x.test/api.json"),
                documents: documents.mapValues { Data($0.utf8) })
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
}
