import Foundation
import OData
import Testing
import WebServiceClient
import WebServiceTesting

// The code samples of GeneratedModels.md, letter for letter but for the client: a sample that doesn't compile here is wrong there.

private typealias User = SampleGraph.User
private typealias UserModel = SampleGraph.UserModel
private typealias Group = SampleGraph.Group
private typealias DirectoryObject = SampleGraph.DirectoryObject

extension UserModel {
    fileprivate var shoe: ItemField<Int32> { .init("extension_shoe") }
}

private protocol NamedModel: ItemModel {
    var displayName: ItemField<String> { get }
}

private protocol Named {
    var name: String { get }
}

extension UserModel: NamedModel {}
extension SampleGraph.GroupModel: NamedModel {}

extension ODataItem: Named where Model: NamedModel {
    fileprivate var name: String { self.displayName.value ?? "" }
}

@Suite struct GeneratedModelsSampleTests {
    private let stub = StubTransport()

    private var client: SampleGraphClient { SampleGraphClient(serviceRoot: "https://graph.example/v1.0/") { $0.transport = stub } }

    @Test func reading() async throws {
        stub.fallback(
            .json(
                ##"""
                {"value":[{"id":"1","displayName":"Ada","ageGroup":"adult","extension_shoe":40,
                "memberOf":[{"@odata.type":"#microsoft.graph.group","displayName":"All"}]}]}
                """##))
        var lines: [String] = []
        func print(_ texts: any CustomStringConvertible...) { lines.append(texts.map(\.description).joined(separator: " ")) }
        let request = client.users
            .filter { $0.displayName == "Ada" && $0.home.city.hasPrefix("B") || $0.manager.as(User.self).displayName == "Bob" }
            .select(\.id, \.displayName, \.ageGroup, \.home)
            .expand(\.memberOf) { $0.top(3) }
        for user in try await client.fetch(request) {
            switch user.ageGroup.value {
            case .adult?: print(user.displayName.value ?? "", user.home.value?.city.value ?? "")
            default: print(user.metadata.etag ?? "", user["extension_shoe"]?.integer ?? 0)
            }
            for object in user.memberOf.elements ?? [] { print(object.as(Group.self)?.displayName.value ?? "not a group") }
            #expect(user.shoe == .value(40) && user.name == "Ada" && Group().name.isEmpty)
        }
        #expect(lines == ["Ada ", "All"])
    }

    @Test func changing() async throws {
        stub.on(.get, "/v1.0/:user", .json(#"{"@odata.etag":"\"1\"","id":"7","displayName":"Ada"}"#))
        stub.fallback(.status(204))
        var draft = EntityDraft(of: try await client.fetch(client.users.key(User.key("7"))))
        draft.displayName = .null
        draft.set(\.age, to: 6)
        draft.bind(\.manager, to: EntityReference(DirectoryObject.key("8"), in: client.directoryObjects))
        try await client.update(client.users.key(User.key("7")), with: draft)
        #expect(
            stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) }
                == #"{"displayName":null,"age":6,"manager@odata.bind":"https://graph.example/v1.0/directoryObjects('8')"}"#)

        var user = User()
        user.set(\.displayName, to: "Eve")
        try await client.create(user, in: client.users)
        #expect(stub.requests.last?.body == Data(#"{"displayName":"Eve"}"#.utf8))
    }
}
