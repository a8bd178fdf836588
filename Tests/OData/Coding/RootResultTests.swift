import Foundation
import Testing

@testable import OData

/// Results of functions and actions, and single properties, which are values at a payload's root.
@Suite struct RootResultTests {
    enum Colour: String, Codable, Sendable { case red = "Red" }
    struct Number: RawRepresentable, Codable, Equatable { let rawValue: Int }
    struct Partner: Codable, Equatable, Sendable { let Ticket: String? }
    struct Holder: Codable, Equatable { let Partner: Partner }
    struct Setting: Codable, Equatable { let value: Int }

    private func decode<Value: Decodable>(_ json: String, as type: Value.Type = Value.self) throws -> Value {
        try ODataDecoder().decode(type, from: Data(json.utf8))
    }

    /// Tests a value in each version's root, and without an envelope.
    private func read<Value: Decodable & Equatable>(_ four: String, _ two: String? = nil, as value: Value?) throws {
        let value = try #require(value)
        #expect(try decode(#"{"@odata.context":"$metadata#Edm.X","value":\#(four)}"#, as: Value.self) == value)
        #expect(try decode(#"{"@context":"$metadata#Edm.X","value":\#(four)}"#, as: Value?.self) == value)
        #expect(try decode(#"{"d":{"Today":\#(two ?? four)}}"#, as: Value.self) == value)
        #expect(try decode(four, as: Value.self) == value)
        #expect(try decode(#"{"value":null}"#, as: Value?.self) == nil)
    }

    @Test func `values of every primitive type are read from the root`() throws {
        try read(#""2026-11-21""#, #""/Date(1795219200000)/""#, as: EdmDate("2026-11-21"))
        try read(#""2026-11-21T07:59:59.5+01:00""#, as: EdmDateTimeOffset("2026-11-21T07:59:59.5+01:00"))
        try read(#""07:59:59""#, as: EdmTimeOfDay("07:59:59"))
        try read(#""PT5S""#, as: EdmDuration("PT5S"))
        try read(#""AAE=""#, as: EdmBinary(Data([0, 1])))
        try read(#"{"type":"Point","coordinates":[7,50]}"#, as: EdmSpatial.point(longitude: 7, latitude: 50))
        try read(#""Red""#, as: Colour.red)
        try read(#""Blue""#, as: OpenEnumeration<Colour>.unknown("Blue"))
        try read(#""Red,Blue""#, as: EdmFlags<Colour>("Red,Blue"))
        try read("5", as: Number(rawValue: 5))
        try read(#""5.50""#, as: EdmDecimal("5.50"))
    }

    @Test func `collections are read from the root`() throws {
        #expect(try decode(#"{"value":["2026-11-21"]}"#, as: [EdmDate].self).map(\.description) == ["2026-11-21"])
        #expect(try decode(#"{"d":{"results":["Red"]}}"#, as: [Colour].self) == [.red])
    }

    @Test func `an entity with a property called value is itself`() throws {
        #expect(try decode(#"{"@odata.context":"x","value":5}"#, as: Setting.self) == Setting(value: 5))
    }

    @Test func `version 2's complex results are found inside the function's name`() throws {
        let json = #"{"d":{"Partner":{"Ticket":"1"}}}"#
        #expect(try decode(json, as: Partner.self) == Partner(Ticket: "1"))
        #expect(try decode(json, as: Partner?.self) == Partner(Ticket: "1"))
        #expect(try decode(#"{"d":{"Partner":null}}"#, as: Partner?.self) == nil)
        let entity = try decode(json, as: ODataEntity<Partner>.self)
        #expect(entity.Ticket == "1" && entity.undeclared.properties.isEmpty)
        // If the type has a property of that name or accepts any property, the member isn't an envelope.
        #expect(try decode(json, as: Holder.self) == Holder(Partner: Partner(Ticket: "1")))
        #expect(try decode(json, as: DynamicEntity.self)["Partner"]?["Ticket"]?.string == "1")
        #expect(try decode(json, as: ODataEntity<DynamicEntity>.self).value["Partner"]?["Ticket"]?.string == "1")
        #expect(try decode(json, as: [String: Partner].self) == ["Partner": Partner(Ticket: "1")])
        for json in [
            #"{"d":{"__metadata":{"uri":"x"}}}"#, #"{"d":{"Partner":{"__deferred":{"uri":"x"}}}}"#, #"{"Partner":{"Ticket":"1"}}"#,
            #"{"d":{"__metadata":{"uri":"x"},"Partner":{"Ticket":"1"}}}"#,
        ] {
            #expect(try decode(json, as: Partner.self) == Partner(Ticket: nil), "\(json)")
        }
    }

    @Test(.enabled(if: Payloads.folder != nil, "SHARED_DIRECTORY names no folder with payloads"))
    func `a function's result of a real service is read`() throws {
        struct Ticket: Decodable { let TicketName: String, CreationDate: EdmDateTimeOffset }
        let ticket = try Payloads.entity("v2-function-result.json", of: Ticket.self)
        #expect(ticket.TicketName == "TESTSUPPLIER01" && ticket.CreationDate.secondsSince1970 == 1_430_784_000)
    }
}
