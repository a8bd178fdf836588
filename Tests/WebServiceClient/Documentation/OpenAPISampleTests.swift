import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on OpenAPI documents.

private struct Pet: Codable, Sendable, Equatable {
    var id: Int
}

private final class Petstore: WebServiceClient, @unchecked Sendable {
    func listPets(limit: Int) async throws -> [Pet] { try await call(limit) }
}

@Suite struct OpenAPISampleTests {
    private static let document = """
        {
          "openapi": "3.1.0", "servers": [{"url": "https://{region}.pets.test/v1", "variables": {"region": {"default": "us"}}}],
          "security": [{"api_key": []}],
          "paths": {
            "/pets": {
              "get": {"operationId": "listPets", "parameters": [{"name": "limit", "in": "query"}, {"name": "tags", "in": "query"}]}
            },
            "/odata/Pets": {
              "get": {"operationId": "pets/list", "parameters": [{"name": "$filter", "in": "query"}, {"name": "$top", "in": "query"}]}
            },
            "/pets/{id}": {
              "parameters": [{"name": "id", "in": "path", "required": true}],
              "get": {"operationId": "getPet"},
              "patch": {
                "operationId": "patchPet",
                "requestBody": {"content": {"application/json": {}, "application/merge-patch+json": {}}}
              }
            }
          },
          "components": {
            "securitySchemes": {
              "api_key": {"type": "apiKey", "name": "X-Key", "in": "header"}, "login": {"type": "http", "scheme": "basic"},
              "oauth": {"type": "oauth2"}, "certificate": {"type": "mutualTLS"}
            }
          }
        }
        """

    @Test func `The operations of the article are called`() async throws {
        let (data, url, key) = (Data(Self.document.utf8), URL(string: "https://pets.test/openapi.json"), "sesame")
        let stub = StubTransport()
        stub["listPets"] = .json(#"[{"id": 1}]"#)
        stub["petsList"] = .json(#"[{"id": 2}]"#)
        stub["getPet"] = .json(#"{"id": 7}"#)
        stub["patchPet"] = .status(204)
        let petstore = try ServiceProfile(openAPI: data, from: url)
        #expect(petstore.notes.isEmpty && petstore.securitySchemes.map(\.name) == ["api_key", "login", "oauth", "certificate"])
        let client = Petstore(profile: petstore) {
            $0.credentials["api_key"] = .key(key)
            $0.transport = stub
        }
        let pets: [Pet] = try await client.dynamic.listPets(limit: 10)
        let pet: Pet = try await client.dynamic.getPet(7)
        let found: [Pet] = try await client.dynamic.listPets(tags: ["cat", "small"], limit: 5)
        let cats: [Pet] = try await client.dynamic["pets/list"](["$filter": "kind eq 'cat'", "$top": 5])
        let change = ["id": 8]
        try await client.dynamic.patchPet(id: 7, body: change, as: "application/merge-patch+json")
        #expect(pets == [Pet(id: 1)] && pet == Pet(id: 7) && found == pets && cats == [Pet(id: 2)])
        #expect(try await client.listPets(limit: 3) == pets)
        let sent = stub.requests.map(\.request)
        #expect(sent.allSatisfy { $0.headers["X-Key"] == "sesame" })
        #expect(sent[3].url.absoluteString == "https://us.pets.test/v1/odata/Pets?%24filter=kind%20eq%20%27cat%27&%24top=5")
        #expect(sent[4].headers[.contentType] == "application/merge-patch+json")
    }

    @Test func `Other documents are given as in the article`() throws {
        let data = Data(#"{"openapi": "3.1.0", "paths": {"/pets": {"$ref": "paths/pets.yaml"}}}"#.utf8)
        let pets = Data("get: {operationId: listPets, parameters: [{$ref: ../common.yaml#/limit}]}".utf8)
        let (common, url) = (Data("limit: {name: limit, in: query}".utf8), URL(string: "https://pets.test/openapi.json"))
        let files = ["paths/pets.yaml": pets, "common.yaml": common]
        let petstore = try ServiceProfile(openAPI: data, from: url, documents: files)
        #expect(petstore.endpoints.keys == ["listPets(limit:)"], "\(petstore.notes)")
    }

    @Test func `Variables and credentials are set as in the article`() async throws {
        let (data, url, password, token) = (Data(Self.document.utf8), URL(string: "https://pets.test/openapi.json"), "pw", "t")
        let profile = try ServiceProfile(openAPI: data, from: url, variables: ["region": "eu"])
        let client = Petstore(profile: profile) {
            $0.credentials["login"] = .basic(user: "ada", password: password)
            $0.credentials["oauth"] = .provider(BearerTokenProvider(token: token))
            $0.credentials["certificate"] = .sentElsewhere
        }
        let request = try await client.dryRun { _ = try await $0.listPets(limit: 1) }
        #expect(request.url.absoluteString == "https://eu.pets.test/v1/pets?limit=1")
        #expect(profile.endpoints.keys.first == "listPets(limit:tags:)")
    }
}
