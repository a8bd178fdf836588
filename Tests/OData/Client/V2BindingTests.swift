import Foundation
import Testing
import WebServiceClient
import WebServiceTesting

@testable import OData

/// Links to existing entities in written entities of version 2.
@Suite struct V2BindingTests {
    private let stub = StubTransport()
    private let rooms = FetchRequest<DynamicEntity>(from: "Rooms")

    private func body(
        _ entity: DynamicEntity = ["Name": "a"], _ spelling: V2BindingSpelling? = nil, _ bindings: EntityBinding...
    ) async throws -> String? {
        let client = stub.client(.v2)
        if let spelling { client.v2Bindings = spelling }
        _ = try await client.create(entity, in: rooms, binding: bindings)
        return stub.requests.last?.body.map { String(decoding: $0, as: UTF8.self) }
    }

    private func one(_ id: String) -> EntityBinding { EntityBinding("Building", to: EntityReference(id: id)) }
    private func many(_ ids: String...) -> EntityBinding { EntityBinding("Seats", toAll: ids.map { EntityReference(id: $0) }) }

    @Test func `bindings are deferred links by default`() async throws {
        #expect(try await body([:], nil, one("B(1)")) == #"{"Building":{"__deferred":{"uri":"B(1)"}}}"#)
        #expect(try await body([:], nil, one("A"), one("B(1)")) == #"{"Building":{"__deferred":{"uri":"B(1)"}}}"#)
        #expect(try await body([:], nil, many("S(1)")) == #"{"Seats":{"__deferred":{"uri":"S(1)"}}}"#)
        #expect(
            try await body([:], nil, many("S(1)", "S(2)")) == #"{"Seats":[{"__deferred":{"uri":"S(1)"}},{"__deferred":{"uri":"S(2)"}}]}"#)
        #expect(
            try await body([:], nil, many("S(1)"), many("S(2)"))
                == #"{"Seats":[{"__deferred":{"uri":"S(1)"}},{"__deferred":{"uri":"S(2)"}}]}"#)
        #expect(try await body([:], nil, many()) == #"{"Seats":[]}"#)
        #expect(try await body([:], nil, EntityBinding(clearing: "Building")) == #"{"Building":null}"#)
        #expect(try await body(["Seats": [["Id": 1]]], nil, many("S(2)")) == #"{"Seats":[{"Id":1},{"__deferred":{"uri":"S(2)"}}]}"#)
        #expect(try await body(["Building": .null], nil, one("B(1)")) == #"{"Building":{"__deferred":{"uri":"B(1)"}}}"#)
        let absolute = EntityBinding("Building", to: EntityReference(ResourcePath(entitySet: "B").key("a b")))
        #expect(try await body([:], nil, absolute) == #"{"Building":{"__deferred":{"uri":"https://h.example/svc/B('a%20b')"}}}"#)
    }

    @Test func `bindings are entities with a URI by a setting`() async throws {
        #expect(try await body([:], .metadata, one("B(1)")) == #"{"Building":{"__metadata":{"uri":"B(1)"}}}"#)
        #expect(try await body([:], .metadata, many("S(1)")) == #"{"Seats":[{"__metadata":{"uri":"S(1)"}}]}"#)
        #expect(
            try await body([:], .metadata, many("S(1)", "S(2)"))
                == #"{"Seats":[{"__metadata":{"uri":"S(1)"}},{"__metadata":{"uri":"S(2)"}}]}"#)
        #expect(try await body([:], .metadata, many()) == #"{"Seats":[]}"#)
    }

    @Test func `an update writes bindings in the same form, and later versions ignore the setting`() async throws {
        var draft = EntityDraft(of: ["Name": "a"] as DynamicEntity)
        draft.bind("Building", to: EntityReference(id: "B(1)"))
        let client = stub.client(.v2)
        for (spelling, name) in [(V2BindingSpelling.deferred, "__deferred"), (.metadata, "__metadata")] {
            client.v2Bindings = spelling
            _ = try await client.update(rooms.key(1), with: draft)
            #expect(stub.requests.last?.body == Data(#"{"Building":{"\#(name)":{"uri":"B(1)"}}}"#.utf8))
        }
        let four = stub.client(.v4)
        four.v2Bindings = .metadata
        _ = try await four.update(rooms.key(1), with: draft)
        #expect(stub.requests.last?.body == Data(#"{"Building@odata.bind":"B(1)"}"#.utf8))
    }
}
