import Foundation
import TestSupport
import Testing

@testable import OData

/// Entities with a large number of properties, as a service may send them.
@Suite struct WideEntityTests {
    private func page(_ count: Int, _ value: String) -> Data {
        Data((#"{"value":[{"# + (0..<count).map { #""ü\#($0)":\#(value)"# }.joined(separator: ",") + "}]}").utf8)
    }

    private func check<Value: Decodable & Sendable>(_ type: Value.Type, _ value: String) throws {
        func time(_ count: Int) throws -> UInt64 {
            let data = page(count, value)
            return try threadWork {
                let read = try ODataDecoder().decode(ODataPage<[String: Value]>.self, from: data)
                #expect(read.entities.first?.count == count)
            }
        }
        // With sixteen times as many properties, quadratic work would take 256 times as long.
        let (short, long) = (try (0..<3).map { _ in try time(1_000) }.min() ?? 0, try time(16_000))
        #expect(long < short * 80, "\(type): \(short), \(long)")
    }

    @Test func `the work grows linearly with the number of properties`() throws {
        try check(Date.self, #""2026-11-21T07:59:59Z""#)
        try check(UUID.self, #""00000000-0000-4000-8000-000000000000""#)
        try check([Int].self, "[1]")
        try check(ODataValue.self, "1")
    }

    @Test(arguments: [3, 300]) func `annotations of a property are found in every entity`(count: Int) throws {
        struct Wide: Decodable, Sendable { let Place: EdmSpatial, Trips: ToMany<DynamicEntity>, Photo: EdmStream, Dé: [Int] }
        let others = (0..<count).map { #""p\#($0)":1"# }.joined(separator: ",")
        func text(_ more: String) -> Data {
            let place = ##""Place@odata.type":"#GeometryPoint","Place":{"type":"Point","coordinates":[1,2]}"##
            let trips = #""Trips":[],"Trips@odata.count":7,"Trips@nextLink":"n","Photo@mediaReadLink":"r","Photo":null"#
            return Data(("{\"value\":[{" + [place, others, trips, more].joined(separator: ",") + "}]}").utf8)
        }
        let page = try ODataDecoder().decode(ODataPage<Wide>.self, from: text(#""Dé":[1]"#))
        let wide = try #require(page.entities.first)
        #expect(wide.Place.space == .geometry && wide.Trips.count == 7 && wide.Trips.nextLink == "n" && wide.Photo.readLink == "r")
        for name in ["Dé@odata.nextLink", "Dé@nextLink", "D\\u00e9@nextLink"] {
            #expect(throws: DecodingError.self) {
                try ODataDecoder().decode(ODataPage<Wide>.self, from: text(#""Dé":[1],"\#(name)":"n""#))
            }
        }
    }
}
