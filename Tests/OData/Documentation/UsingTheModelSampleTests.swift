import Foundation
import OData
import Testing
import WebServiceClient
import WebServiceTesting

// The code samples of UsingTheModel.md, letter for letter: a sample that doesn't compile here is wrong there.

private struct Guest: Decodable, Sendable, EntityType {
    static let entitySetName = "People"
    let name: String
    let age: Int
}

private struct Residence: Decodable, Sendable {
    let city: String?
}

@Suite struct UsingTheModelSampleTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Sales" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Person"><Key><PropertyRef Name="name"/></Key><Property Name="name" Type="Edm.String" Nullable="false"/>
        <Property Name="age" Type="Edm.Int32"/><Property Name="Address" Type="Sales.Address"/></EntityType>
        <ComplexType Name="Address"><Property Name="city" Type="Edm.String"/></ComplexType>
        <EntityContainer Name="Container"><EntitySet Name="People" EntityType="Sales.Person"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let stub = StubTransport()

    private func client() -> ODataClient {
        let client = stub.client()
        stub.fallback(
            .answering { request in
                guard request.request.url.absoluteString.hasSuffix("$metadata") else {
                    return .json(#"{"value":[{"name":"People","url":"People"}]}"#)
                }
                return .data(Data(Self.metadata.utf8), type: "application/xml", headers: ["ETag": "\"1\""])
            })
        return client
    }

    @Test func models() async throws {
        let client = client()
        let model = try await client.model()
        for diagnostic in model.diagnostics { print(diagnostic) }  // what the reader repaired
        let current = try await client.model(.revalidated)  // asks the service whether it has changed
        #expect(model == current)
        client.adopt(model)
        for resource in try await client.serviceDocument().resources { print(resource.kind, resource.name) }
        #expect(client.printer.version == .v4)
    }

    @Test func queries() async throws {
        let client = client()
        let model = try await client.model()
        let request = FetchRequest<DynamicEntity>(from: "People")
            .filter { $0["Adress/City"] == "Bonn" }
        for fault in request.verify(against: model) { print(fault) }
        #expect(
            request.verify(against: model).map(\.description) == [
                "$filter: 'Adress' isn't a property of Sales.Person; the nearest name is 'Address'"
            ])
        await #expect(throws: ModelFaults.self) {
            let people = try await client.fetch(request.verified(against: model))
            #expect(people.isEmpty)
        }
        #expect(throws: ModelFaults.self) {
            let sent = try request.verified(against: model, ignoring: [.restriction])
            #expect(sent == request)
        }
    }

    @Test func changes() async throws {
        let client = client()
        let model = try await client.model()
        let guest: DynamicEntity = ["name": "Ada", "age": "37"]
        let faults = try await client.verify(against: model) {
            try await $0.create(guest, in: FetchRequest<DynamicEntity>(from: "People"))
        }
        print(faults)  // [People: 'age' is Edm.Int32, not a text; use a number]
        #expect("\(faults)" == "[People: 'age' is Edm.Int32, not a text; use a number]")
        client.writeVerification = WriteVerification(against: model, ignoring: [.missingProperty])
        await #expect(throws: ServiceError.self) { try await client.create(guest, in: FetchRequest<DynamicEntity>(from: "People")) }
    }

    @Test func types() async throws {
        let model = try await client().model()
        for fault in Guest.verify(against: model) { print(fault) }
        let faults = model.verify(Residence.self, as: "Sales.Address")
        #expect(faults.isEmpty)
        #expect(
            Guest.verify(against: model).map(\.description) == [
                "Guest.age: 'Sales.Person/age' can be null, but Int can't; make it optional, or use Presence"
            ])
        #expect(throws: ModelFaults.self) { try Guest.requireFit(to: model) }
    }
}
