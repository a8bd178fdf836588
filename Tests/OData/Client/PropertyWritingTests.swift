import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Single properties and raw values.
@Suite struct PropertyWritingTests {
    struct Address: Codable, Sendable, Equatable { var City: String }
    struct Person: Codable, Sendable, EntityType {
        static let entitySetName = "People"
        var Address: Address?
        var Emails: [String]
        var Place: EdmSpatial
    }

    private let stub = StubTransport()
    private let ada = FetchRequest<Person>().key(5)

    private func client(_ version: ODataVersion = .v4) -> ODataClient { stub.client(version) }

    private var body: String? { stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) } }

    @Test(arguments: [ODataVersion.v4, .v401])
    func `a complex property is written as its members, others as value`(version: ODataVersion) async throws {
        let client = client(version)
        try await client.set(\.Address, of: ada, to: Address(City: "Bonn"))
        #expect(body == #"{"City":"Bonn"}"#)
        try await client.set(\.Emails, of: ada, to: ["a"])
        #expect(body == #"{"value":["a"]}"#)
        try await client.set(\.Place, of: ada, to: .point(longitude: 7, latitude: 50))
        #expect(body == #"{"value":{"type":"Point","coordinates":[7.0,50.0]}}"#)
        try await client.set(\.Address, of: ada, to: nil)
        #expect(body == nil && stub.requests.last?.request.method == .delete)
    }

    @Test func `version 2 names the property, whatever its type`() async throws {
        try await client(.v2).set(\.Address, of: ada, to: Address(City: "Bonn"))
        #expect(body == #"{"Address":{"City":"Bonn"}}"#)
    }

    @Test(arguments: ODataVersion.allCases)
    func `bytes and posted queries state version 4`(version: ODataVersion) async throws {
        let client = client(version)
        let wanted = version == .v2 ? nil : version.rawValue
        try await client.setRawValue(at: ada.resource.value(), to: Data("x".utf8), contentType: "image/png")
        #expect(stub.requests.last?.request.headers["OData-Version"] == wanted)
        guard version != .v2 else { return }
        stub.fallback(.json(#"{"value":[]}"#))
        client.longQueries = .post(beyond: 5)
        _ = try await client.fetch(FetchRequest<DynamicEntity>(from: "People").top(1))
        #expect(stub.requests.last?.request.method == .post && stub.requests.last?.request.headers["OData-Version"] == wanted)
    }
}
