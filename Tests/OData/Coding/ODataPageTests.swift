import Foundation
import TestSupport
import Testing
import WebServiceClient

@testable import OData

@Suite struct ODataPageTests {
    private struct Item: Decodable, Sendable, Equatable {
        let id: Int
    }

    private func page<Entity>(_ json: String, of type: Entity.Type = DynamicEntity.self) throws -> ODataPage<Entity> {
        try ODataDecoder().decode(ODataPage<Entity>.self, from: Data(json.utf8))
    }

    @Test func bothShapesOfControlInformation() throws {
        let old = try page(
            #"{"@odata.context":"$metadata#A","@odata.count":"12","@odata.nextLink":"A?x","@odata.deltaLink":"A?d","value":[{"id":1}]}"#,
            of: Item.self)
        #expect(old.entities == [Item(id: 1)])
        #expect(old.count == 12 && old.nextLink == "A?x" && old.deltaLink == "A?d" && old.context == "$metadata#A")
        let new = try page(#"{"@context":"c","@count":3,"@nextLink":"B","value":[]}"#, of: Item.self)
        #expect(new.entities.isEmpty && new.count == 3 && new.nextLink == "B" && new.context == "c")
    }

    @Test(
        arguments: [("12abc", nil), ("0x10", nil), ("1..2", nil), ("", nil), ("34.95", "34.95"), ("-1e3", "-1000")] as [(String, String?)])
    func aTextIsADecimalOnlyAsAWhole(text: String, number: String?) {
        #expect(ODataValue.string(text).decimal == number.flatMap { Decimal(string: $0) })
    }

    @Test func otherPayloadsThanPagesAreErrors() {
        for (json, hint) in [("{}", "'value'"), (#"{"d":{"Id":1}}"#, "'Id'"), (#"{"value":[],"@odata.count":"x"}"#, "count")] {
            let error = #expect(throws: DecodingError.self) { try page(json) }
            #expect("\(String(describing: error))".contains(hint))
        }
        #expect(throws: (any Error).self) { try page(#"{"value":[{"id":1},"#) }
    }

    @Test func anErrorInsteadOfOrAfterThePageIsThrown() {
        let error = #expect(throws: ODataErrorBody.self) {
            try page(#"{"value":[{"id":1}],"error":{"code":"E1","message":"cut short"}}"#)
        }
        #expect(error?.code == "E1")
    }

    @Test func `a wrong entity is an error with its place`() throws {
        for (json, place) in [
            (#"{"value":[{"id":1},{"id":"seven"}]}"#, ["value", "1", "id"]),
            (#"{"d":{"results":[{"id":1},{"id":null}]}}"#, ["d", "results", "1", "id"]),
            (#"[{"id":1.5}]"#, ["0", "id"]),
        ] {
            let error = #expect(throws: DecodingError.self) { try page(json, of: Item.self) }
            let path =
                switch error {
                case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                    .dataCorrupted(let context):
                    context.codingPath
                default: [any CodingKey]()
                }
            #expect(path.map { $0.intValue.map(String.init) ?? $0.stringValue } == place, "\(String(describing: error))")
        }
    }

    @Test func `an error in the rest of a page takes precedence over a wrong entity`() throws {
        #expect(throws: ODataErrorBody.self) { try page(#"{"value":[{"id":"x"}],"error":{"code":"E1","message":"m"}}"#, of: Item.self) }
        #expect(throws: ODataErrorBody.self) { try page(#"{"value":[{"id":"x"},{"error":{"code":"E1","message":"m"}}]}"#, of: Item.self) }
        #expect(throws: ODataErrorBody.self) { try page(#"{"value":[{"id":"x"},{"error":{"code":"E1","message":"m"}}"#, of: Item.self) }
        let error = #expect(throws: DecodingError.self) { try page(#"{"value":[{"id":"x"},{"id":2]}"#, of: Item.self) }
        guard case .dataCorrupted(let context) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(context.underlyingError is JSONSyntaxError)
        // The first of two collections isn't the page's.
        #expect(try page(#"{"results":[{"id":"x"}],"value":[{"id":2}]}"#, of: Item.self).entities == [Item(id: 2)])
    }

    @Test func `the next link of version 2 may be an object`() throws {
        let shapes = [
            #"{"d":{"results":[{"id":1}],"__next":{"uri":"n"}}}"#, #"{"results":[{"id":1}],"__next":"n"}"#,
            #"{"d":{"results":[{"id":1}],"__next":{"__next":"n"},"__count":"1"}}"#,
        ]
        for shape in shapes { #expect(try page(shape, of: Item.self).nextLink == "n") }
        #expect(try page(#"{"d":[{"id":1}]}"#, of: Item.self).entities == [Item(id: 1)])
        #expect(throws: DecodingError.self) { try page(#"{"value":[],"@odata.nextLink":5}"#) }
    }

    @Test func `version 3's light form is read as well`() throws {
        let page = try page(
            #"{"odata.metadata":"http://h/$metadata#A","odata.count":"7","value":[{"odata.type":"N.A","id":1}],"odata.nextLink":"n"}"#,
            of: ODataEntity<Item>.self)
        #expect(page.count == 7 && page.nextLink == "n" && page.context == "http://h/$metadata#A")
        #expect(page.entities.first?.metadata.typeName == "N.A" && page.entities.first?.undeclared.properties.isEmpty == true)
    }

    @Test func `annotations of a page are kept`() throws {
        let page = try page(#"{"@odata.context":"c","@Core.Messages":["m"],"value":[]}"#)
        #expect(page.annotations == ["Core.Messages": ["m"]])
    }

    @Test func valuesAreReadInODatasSpelling() throws {
        struct Values: Decodable, Sendable {
            let date: Date
            let binary: Data
            let double: Double
            let decimal: Decimal
            let day: EdmDate
            let time: EdmTimeOfDay
        }
        let json = #"""
            {"value":[{"date":"2012-12-03T07:16:23.5+02:00","binary":"-_8BAg","double":"-INF","decimal":12345678901234567890.123456789,
            "day":"2012-12-03","time":"07:59"}]}
            """#
        let values = try #require(try page(json, of: Values.self).entities.first)
        #expect(values.date == Date(timeIntervalSince1970: 1_354_511_783.5))
        #expect(values.binary == Data([0xFB, 0xFF, 1, 2]))
        #expect(values.double == -.infinity)
        #expect(values.decimal.description == "12345678901234567890.123456789")
        #expect(values.day.description == "2012-12-03" && values.time.description == "07:59:00")
    }

    @Test func dateTimeTextsAreReadAndWrittenAlike() throws {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<2_000 {
            let date = Date(timeIntervalSince1970: Double(Int64.random(in: -300_000_000_000...250_000_000_000, using: &generator)))
            #expect(EdmDateTimeOffset(try LiteralText.instant(date))?.instant == date)
        }
        #expect(EdmDateTimeOffset("1970-01-01T00:00Z")?.instant == Date(timeIntervalSince1970: 0))
        for wrong in ["", "T", "1970-01-01", "1970-01-01T25:00Z", "1970-01-01T00:00+2:00", "1970-01-01T00:00+24:00"] {
            #expect(EdmDateTimeOffset(wrong) == nil)
        }
    }

    @Test func dynamicEntitiesDistinguishNullAbsentAndValue() throws {
        let json = #"{"value":[{"b":null,"a":1,"c":[true,"x",1.5,{"d":{}}],"big":9223372036854775807,"huge":1e300}]}"#
        var entity = try #require(try page(json).entities.first)
        #expect(entity["b"] == .null && entity["x"] == nil && entity["a"]?.integer == 1)
        #expect(entity["c"]?.array?.count == 4 && entity["c"]?.array?[2].decimal == Decimal(string: "1.5"))
        #expect(entity["big"]?.integer == .max && entity["huge"]?.double == 1e300)
        entity["a"] = nil
        entity["z"] = "text"
        #expect(entity.properties.map(\.name) == ["b", "c", "big", "huge", "z"])
        #expect(try ODataDecoder().decode(DynamicEntity.self, from: ODataEncoder().encode(entity)) == entity)
        // Foundation's coders keep the values, but not their order.
        let sorted = try JSONDecoder().decode(DynamicEntity.self, from: JSONEncoder().encode(entity))
        #expect(sorted.properties.map(\.name) == ["b", "big", "c", "huge", "z"])
        #expect(sorted["c"] == entity["c"])
    }

    @Test func `members of a page other than the entities are kept`() throws {
        let json = ##"""
            {"@odata.context":"c","@odata.metadataEtag":"W/1","@odata.future":{"x":1},"@Core.Messages":["hi"],"value@Core.Order":"asc",
            "#Sales.Close":{"title":"Close","target":"t"},"#Sales.Best":[{"target":"a"},{"target":"b"}],"@odata.count":1,"value":[{"a":1}],"odd":2}
            """##
        for page in [
            try ODataDecoder().decode(ODataPage<DynamicEntity>.self, from: Data(json.utf8)),
            try ODataDecoder().decodeTree(ODataPage<DynamicEntity>.self, from: Data(json.utf8), at: []),
            try JSONDecoder().decode(ODataPage<DynamicEntity>.self, from: Data(json.utf8)),
        ] {
            #expect(page.count == 1 && page.entities == [["a": 1]] && page.context == "c")
            #expect(page.operations.contains(.init(name: "Sales.Close", title: "Close", target: "t")) && page.operations.count == 3)
            #expect(page.annotations["Core.Messages"] == ["hi"] && page.annotations["value@Core.Order"] == "asc")
            #expect(page.others["@odata.metadataEtag"] == "W/1" && page.others["@odata.future"] == ["x": 1])
            #expect(page.annotations.properties.count == 2)
        }
        let page = try ODataDecoder().decode(ODataPage<DynamicEntity>.self, from: Data(json.utf8))
        #expect(page.others["odd"] == 2 && page.others.properties.count == 3)
        let two = Data(#"{"d":{"results":[],"__count":"0","__next":"n","x":1}}"#.utf8)
        #expect(try ODataDecoder().decode(ODataPage<DynamicEntity>.self, from: two).others == ["x": 1])
    }

    @Test func `members of a page other than the entities are stored once`() throws {
        let page = try page(
            ##"{"@odata.count":1,"value@odata.count":2,"value@odata.type":"#Collection(N.A)","value@N.Note":"x","@N.Note":"y","#N.Act":{},"##
                + #""@odata.future":1,"Other":3,"Other@N.Note":"z","value":[]}"#)
        #expect(page.count == 1 && page.annotations == ["N.Note": "y", "value@N.Note": "x"] && page.operations.map(\.name) == ["N.Act"])
        #expect(
            page.others == [
                "value@odata.count": 2, "value@odata.type": "#Collection(N.A)", "@odata.future": 1, "Other": 3, "Other@N.Note": "z",
            ])
    }
}
