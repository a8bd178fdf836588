import Foundation
import TestSupport
import Testing
import WebServiceClient
import WebServiceTesting

// Samples of the article on replacing profiles.

private final class SampleShop: WebServiceClient, @unchecked Sendable {
    override class var endpoints: EndpointTable {
        ["product(id:)": .get("/products/%%id%%"), "order(_:)": .post("/orders").accepting([200, 201])]
    }
    override class var defaults: EndpointDefaults { EndpointDefaults(serviceRoot: "https://api.example.com/v1") }

    func product(id: Int) async throws -> String { try await call(id) }
    func order(_ order: [String: Int]) async throws { try await call(order) }
}

@Suite struct ProfileSampleTests {
    private static let file = """
        {
          "BaseURL": "https://api.example.com/v2",
          "Version": 7,
          "Expires": "2030-01-31T12:00:00Z",
          "Resources": [
            { "Name": "product(id:)", "URITemplate": "/items/{id}" },
            { "Name": "order(_:)",    "URITemplate": "/orders", "Method": "PUT" }
          ]
        }
        """

    @Test func `A client takes the profile of the article, and returns to the one before`() async throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "shop.json")
        try Data(Self.file.utf8).write(to: file)
        let shop = SampleShop()
        let profile = try ServiceProfile(contentsOf: file)
        #expect(profile.version == 7 && profile.notes.isEmpty && shop.verify(profile) == [])
        try shop.replaceProfile(profile)
        #expect(try await shop.dryRun { _ = try await $0.product(id: 1) }.url.absoluteString == "https://api.example.com/v2/items/1")
        let made = try ServiceProfile(dictionary: ["Resources": [["Name": "product(id:)", "URITemplate": "/items/{id}"]]])
        try shop.replaceProfile(made)
        #expect(try await shop.dryRun { _ = try await $0.product(id: 1) }.url.absoluteString == "https://api.example.com/v1/items/1")
        if shop.profileHistory.count > 1, try shop.rollBackProfile() == nil { print("There is no previous profile.") }
        #expect(shop.profile?.version == 7)
    }

    @Test func `A remote profile is followed`() async throws {
        let folder = TemporaryFolder()
        let (shop, file) = (SampleShop { $0.transport = StubTransport() }, folder.url.appending(path: "accepted.json"))
        let address = try #require(URL(string: "https://config.example.com/shop.json"))
        let key = Data(repeating: 1, count: 32)
        let remote: RemoteProfile
        do {
            remote = try RemoteProfile(
                of: shop, at: address, signature: .ed25519(publicKeys: key), recordedIn: file, every: .seconds(3_600),
                canary: RemoteProfile.Canary(calls: 20, failureRate: 0.5))
        } catch {
            // A system without libcrypto.
            #expect(error.message.contains("libcrypto"))
            return
        }
        let following = Task { await remote.follow() }
        following.cancel()
        await following.value
        #expect(shop.profile == nil)
    }
}

// Samples of the article on verifying tables.

@Suite struct DescriptionSampleTests {
    @Test func `A table is compared with a stored one`() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "SampleShop.json")
        try SampleShop.describe(as: .json).write(to: file, atomically: true, encoding: .utf8)
        try expectNoBreakingChanges(of: SampleShop.self, since: file)
        try expectNoBreakingChanges(of: SampleShop.self, since: file, allowing: [.deadline], refusing: [.keyAdded])
        #expect(SampleShop.describe(as: .markdown).hasPrefix("# SampleShop\n"))
    }

    @Test func `A table is exported as OpenAPI`() throws {
        let folder = TemporaryFolder()
        let file = folder.url.appending(path: "SampleShop-openapi.json")
        let document = SampleShop.describe().openAPI(version: "2.3")
        try document.write(to: file, atomically: true, encoding: .utf8)
        let read = try JSONReader().decode(JSONValue.self, from: Data(contentsOf: file))
        #expect(read["info"] == ["title": "SampleShop", "version": "2.3"])
        #expect(SampleShop.describe(as: .openAPI) == SampleShop.describe().openAPI())
    }
}
