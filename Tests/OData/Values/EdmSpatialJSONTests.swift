import Foundation
import Testing

@testable import OData

@Suite struct EdmSpatialJSONTests {
    private static let shapes = [
        #"{"type":"Point","coordinates":[142.1,64.1]}"#,
        #"{"type":"Point","coordinates":[1.5,2.5,3.5,4.5],"crs":{"type":"name","properties":{"name":"EPSG:3857"}}}"#,
        #"{"type":"LineString","coordinates":[[1.5,2.5],[3.5,4.5]]}"#,
        #"{"type":"Polygon","coordinates":[[[0.5,0.5],[1.5,0.5],[1.5,1.5],[0.5,0.5]]]}"#,
        #"{"type":"MultiPoint","coordinates":[]}"#,
        #"{"type":"MultiLineString","coordinates":[[[1.5,2.5],[3.5,4.5]]]}"#,
        #"{"type":"MultiPolygon","coordinates":[[[[0.5,0.5],[1.5,0.5],[1.5,1.5],[0.5,0.5]]]]}"#,
        #"{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1.5,2.5]},{"type":"MultiPoint","coordinates":[[1.5,2.5]]}]}"#,
    ]

    @Test(arguments: shapes)
    func `GeoJSON is written as it was read`(json: String) throws {
        let value = try ODataDecoder().decode(EdmSpatial.self, from: Data(json.utf8))
        #expect(value.space == .geography)
        #expect(try String(decoding: ODataEncoder().encode(value), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode(EdmSpatial.self, from: JSONEncoder().encode(value)) == value)
    }

    @Test func `the reference system and the declared type distinguish geometry and geography`() throws {
        struct Place: Decodable { let a, b, c: EdmSpatial }
        let json = #"""
            {"a@odata.type":"#GeometryPoint","a":{"type":"Point","coordinates":[1,2]},"b":{"type":"Point","coordinates":[1,2]},
            "c":{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"EPSG:0"}}}}
            """#
        let place = try ODataDecoder().decode(Place.self, from: Data(json.utf8))
        #expect(place.a.space == .geometry && place.a.srid == 0)
        #expect(place.b.space == .geography && place.b.srid == 4326)
        #expect(place.c.space == .geometry)
    }

    @Test(arguments: [
        #"{"type":"Circle","coordinates":[1,2]}"#, #"{"type":"Point","coordinates":[1]}"#, #"{"type":"Point","coordinates":[1,2,3,4,5]}"#,
        #"{"type":"Point","coordinates":[1,2],"crs":{"type":"name","properties":{"name":"x"}}}"#, #"{"coordinates":[1,2]}"#, "[]", "null",
    ])
    func `other JSON than GeoJSON is an error`(json: String) {
        #expect(throws: DecodingError.self) { try ODataDecoder().decode(EdmSpatial.self, from: Data(json.utf8)) }
    }
}
