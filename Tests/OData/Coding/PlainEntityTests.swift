import Foundation
import Testing
import WebServiceClient

@testable import OData

/// Entities without an envelope are decoded from the text, and all else from a tree of the whole payload: with the same results.
@Suite struct PlainEntityTests {
    struct Person: Codable, Hashable, Sendable {
        var ID: Int
        var Name: String?
        var Seen: EdmDateTimeOffset?
        var Boss: ToOne<Friend>?
        var Pals: ToMany<Friend>?
    }

    struct Friend: Codable, Hashable, Sendable {
        var ID: Int
    }

    private static let payloads = [
        #"{"@odata.context":"https://h.example/$metadata#People/$entity","@odata.etag":"1","ID":1,"Name":"a"}"#,
        #"{"@odata.context":"../../$metadata#People","ID":1,"Name":"a","Boss@odata.navigationLink":"Boss(1)","Pals@odata.navigationLink":"Pals"}"#,
        #"{"@context":"https://h.example/v2/$metadata#P","ID":1,"Name":null,"Boss":{"@context":"x/$metadata","ID":2},"Pals":[{"ID":3}]}"#,
        #"{"ID":"5","Name":"a","Seen":"2026-11-27T10:00:00Z"}"#, #"{"ID":1,"Name":"a","Seen":"2026-11-27T10:00:00"}"#,
        #"{"odata.metadata":"https://h.example/$metadata#P","ID":1,"Name":"a","Seen":"2026-11-27T10:00:00"}"#,
        #"{"ID":1,"Boss":null}"#, #"{"ID":1,"Boss":{"__deferred":{"uri":"b"}},"Name":"a"}"#, #"{"ID":1.5,"Name":"a"}"#, #"{"ID":1}"#,
        #"{"Name":"a","Other":[1,{"x":null}],"@Core.Note":"n","Name@Core.Note":"n"}"#, #"{"ID":1,"ID":2,"Name":"a"}"#,
        #"{"error":{"code":"1","message":"m"}}"#, #"{"ID":1,"Name":"a","error":{"code":"1","message":"m"}}"#,
        #"{"ID":1,"Name":"a","error":"none"}"#, #"{"value":{"ID":1,"Name":"a"}}"#, #"{"value":7,"count":8}"#, #"{"value":[1,2]}"#,
        #"{"d":{"ID":1,"Name":"a"}}"#, #"{"d":{"ID":1},"ID":2}"#, #"{"results":[{"ID":1}],"ID":1}"#,
        #"{"@odata.null":true,"@odata.context":"x"}"#, #"{"@odata.context":"https://h.example/$metadata#Edm.Null"}"#, "null", "[]", "7",
        #"{"type":"Point","coordinates":[1,2]}"#, "\u{FEFF}" + #"{"ID":1,"Name":"a"}"#, #"{"ID":1,"Name":"a"#, "",
        #"{"ID":1,"Name":"a","Deep":"# + String(repeating: "[", count: 600) + String(repeating: "]", count: 600) + "}",
    ]

    /// Returns a value, or the text of an error.
    private func outcome<Value>(_ body: () throws -> Value) -> (value: Value?, error: String?) {
        do {
            return (try body(), nil)
        } catch {
            return (nil, "\(error)")
        }
    }

    private func expectSame<Value: Decodable & Equatable>(_ type: Value.Type, _ payload: String, _ version: ODataVersion?) {
        var decoder = ODataDecoder()
        decoder.url = URL(string: "https://h.example/svc/a/People(1)")
        decoder.version = version
        let data = Data(payload.utf8)
        let found = outcome { try decoder.decode(type, from: data) }
        let expected = outcome { try decoder.decodeTree(type, from: data, at: []) }
        #expect(found.value == expected.value && found.error == expected.error, "\(type) from \(payload.prefix(200))")
    }

    @Test(arguments: payloads, [ODataVersion.v4, .v2]) func `an entity is the same as from a tree`(payload: String, version: ODataVersion) {
        expectSame(Person.self, payload, version)
        expectSame(Person?.self, payload, version)
        expectSame(DynamicEntity.self, payload, version)
        expectSame(ODataEntity<Person>.self, payload, version)
        expectSame(ODataEntity<DynamicEntity>?.self, payload, version)
        expectSame([String: ODataValue].self, payload, version)
        expectSame([Int].self, payload, version)
        expectSame(Int.self, payload, version)
        expectSame(EdmSpatial.self, payload, version)
        expectSame(ODataValue.self, payload, version)
    }

    @Test(arguments: payloads) func `the links of an entity have the same base as from a tree`(payload: String) throws {
        var decoder = ODataDecoder()
        decoder.url = URL(string: "https://h.example/svc/a/People(1)")
        let data = Data(payload.utf8)
        let found = try? decoder.decode(ODataEntity<Person>.self, from: data)
        let expected = try? decoder.decodeTree(ODataEntity<Person>.self, from: data, at: [])
        #expect(found?.metadata.linkBase.url() == expected?.metadata.linkBase.url())
        #expect(found?.value.Pals?.url(of: "x") == expected?.value.Pals?.url(of: "x"))
    }
}
