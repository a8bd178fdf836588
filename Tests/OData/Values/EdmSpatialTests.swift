import Foundation
import Testing

@testable import OData

@Suite struct EdmSpatialTests {
    @Test func `unboundedly nested collections can be built, compared, hashed and released, and are refused when written`() async {
        await onSmallStack {
            func build(_ levels: Int) -> EdmSpatial {
                var shape = EdmSpatial.Shape.point(.init(x: 1, y: 2))
                for _ in 0..<levels { shape = .collection([shape]) }
                return EdmSpatial(.geometry, srid: 0, shape)
            }
            let (one, other) = (build(50_000), build(50_000))
            #expect(one == other && one.hashValue == other.hashValue && one != build(3))
            #expect(throws: ODataQueryError.tooDeep(limit: 128)) { try QueryPrinter().text(of: .spatial(one)) }
            #expect(throws: EncodingError.self) { try ODataEncoder().encode(one) }
            #expect(throws: EncodingError.self) { try JSONEncoder().encode(one) }
            #expect((try? QueryPrinter().text(of: .spatial(build(100)))) != nil)
        }
    }

    @Test func `a part of unboundedly nested collections can't be written either`() {
        var shape = EdmSpatial.Shape.point(.init(x: 1, y: 2))
        for _ in 0..<5_000 { shape = .collection([shape]) }
        while case .collection(let shapes) = shape, let inner = shapes.first {
            #expect(throws: ODataQueryError.self) { try QueryPrinter().text(of: .spatial(EdmSpatial(.geometry, srid: 0, shape))) }
            shape = inner
        }
        #expect(throws: EncodingError.self) { try ODataEncoder().encode(EdmSpatial(.geometry, srid: 0, shape)) }
    }
}
