/// Marks the types whose terms have the geographic functions.
public protocol ODataSpatial {}

extension EdmSpatial: ODataSpatial {}
extension AnyEdm: ODataSpatial {}
extension Optional: ODataSpatial where Wrapped: ODataSpatial {}

/// A spatial operand: a value, or a term whose value is one.
public protocol QuerySpatialOperand: QueryOperand {}

extension EdmSpatial: QuerySpatialOperand {}
extension QueryTerm: QuerySpatialOperand where Value: ODataSpatial {}

extension QueryTerm where Value: ODataSpatial {
    /// `geo.distance`: the shortest distance, in the unit of the reference system, which is metres for WGS 84.
    public func distance(to other: some QuerySpatialOperand) -> QueryTerm<Double> {
        QueryTerm<Double>(calling("geo.distance", other))
    }

    /// `geo.intersects`: whether a point lies within a polygon.
    public func intersects(_ other: some QuerySpatialOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("geo.intersects", other))
    }

    /// `geo.length`: the length of a line.
    public var lineLength: QueryTerm<Double> {
        QueryTerm<Double>(calling("geo.length"))
    }
}
