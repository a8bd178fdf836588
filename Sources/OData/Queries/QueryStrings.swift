public import Foundation

/// Marks types whose terms support the text functions.
public protocol ODataText {}

extension String: ODataText {}
extension AnyEdm: ODataText {}
extension Optional: ODataText where Wrapped: ODataText {}

/// A text operand: a string, or a term whose value is text.
public protocol QueryTextOperand: QueryOperand {}

extension String: QueryTextOperand {}
extension QueryTerm: QueryTextOperand where Value: ODataText {}

extension QueryTerm where Value: ODataText {
    /// `contains`.
    public func contains(_ other: some QueryTextOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("contains", other))
    }

    /// `startswith`.
    public func hasPrefix(_ prefix: some QueryTextOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("startswith", prefix))
    }

    /// `endswith`.
    public func hasSuffix(_ suffix: some QueryTextOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("endswith", suffix))
    }

    /// `matchesPattern`: returns whether an ECMAScript regular expression matches anywhere; `^` and `$` anchor it. Version 4.01.
    public func matches(pattern: some QueryTextOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("matchesPattern", pattern))
    }

    /// `tolower`.
    public func lowercased() -> QueryTerm {
        QueryTerm(calling("tolower"))
    }

    /// `toupper`.
    public func uppercased() -> QueryTerm {
        QueryTerm(calling("toupper"))
    }

    /// `trim`: removes whitespace at both ends.
    public func trimmed() -> QueryTerm {
        QueryTerm(calling("trim"))
    }

    /// `length`, in characters as the service counts them.
    public var length: QueryTerm<Int> {
        QueryTerm<Int>(calling("length"))
    }

    /// `indexof`: the zero-based position of the first occurrence, or -1.
    public func index(of other: some QueryTextOperand) -> QueryTerm<Int> {
        QueryTerm<Int>(calling("indexof", other))
    }

    /// `substring` from a zero-based position to the end.
    public func substring(from start: some QueryNumberOperand) -> QueryTerm {
        QueryTerm(calling("substring", start))
    }

    /// `substring` of at most `length` characters from a zero-based position.
    public func substring(from start: some QueryNumberOperand, length: some QueryNumberOperand) -> QueryTerm {
        QueryTerm(calling("substring", start, length))
    }

    /// `concat`.
    public static func + (left: QueryTerm, right: some QueryTextOperand) -> QueryTerm {
        QueryTerm(left.calling("concat", right))
    }

    /// `concat`.
    public static func + (left: String, right: QueryTerm) -> QueryTerm {
        QueryTerm(.call("concat", [left.queryExpression, right.queryExpression]))
    }
}

extension QueryTerm where Value == String {
    /// `length`, in characters as the service counts them.
    public var count: QueryTerm<Int> {
        length
    }

    /// `eq ''`.
    public var isEmpty: QueryTerm<Bool> {
        self == ""
    }
}

extension QueryTerm where Value == String? {
    /// `length`, in characters as the service counts them; null if the text is null.
    public var count: QueryTerm<Int> {
        length
    }

    /// `eq ''`, which isn't true of null.
    public var isEmpty: QueryTerm<Bool> {
        self == ""
    }
}

extension QueryTerm where Value: ODataText {
    /// Has another name: ``hasPrefix(_:)``.
    @available(*, unavailable, renamed: "hasPrefix")
    public func starts(with prefix: some QueryTextOperand) -> QueryTerm<Bool> { hasPrefix(prefix) }

    /// Has another name: ``trimmed()``.
    @available(*, unavailable, message: "Use trimmed(), which removes whitespace at both ends.")
    public func trimmingCharacters(in set: CharacterSet) -> QueryTerm { trimmed() }
}

/// Marks types whose terms support the geographic functions.
public protocol ODataSpatial {}

extension EdmSpatial: ODataSpatial {}
extension AnyEdm: ODataSpatial {}
extension Optional: ODataSpatial where Wrapped: ODataSpatial {}

/// A spatial operand: a spatial value, or a term with one.
public protocol QuerySpatialOperand: QueryOperand {}

extension EdmSpatial: QuerySpatialOperand {}
extension QueryTerm: QuerySpatialOperand where Value: ODataSpatial {}

extension QueryTerm where Value: ODataSpatial {
    /// `geo.distance`: the shortest distance, in the unit of the reference system, which is metres for WGS 84.
    public func distance(to other: some QuerySpatialOperand) -> QueryTerm<Double> {
        QueryTerm<Double>(calling("geo.distance", other))
    }

    /// `geo.intersects`: returns whether a point is within a polygon.
    public func intersects(_ other: some QuerySpatialOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(calling("geo.intersects", other))
    }

    /// `geo.length`: the length of a line.
    public var lineLength: QueryTerm<Double> {
        QueryTerm<Double>(calling("geo.length"))
    }
}
