public import Foundation

/// Marks types whose terms support arithmetic.
public protocol ODataNumber {}

extension Int: ODataNumber {}
extension Int8: ODataNumber {}
extension Int16: ODataNumber {}
extension Int32: ODataNumber {}
extension Int64: ODataNumber {}
extension UInt8: ODataNumber {}
extension UInt16: ODataNumber {}
extension UInt32: ODataNumber {}
extension UInt64: ODataNumber {}
extension UInt: ODataNumber {}
extension Double: ODataNumber {}
extension Float: ODataNumber {}
extension Decimal: ODataNumber {}
extension EdmDecimal: ODataNumber {}
extension Optional: ODataNumber where Wrapped: ODataNumber {}

/// A number operand: a number, or a term whose value is a number.
public protocol QueryNumberOperand: QueryOperand {}

extension Int: QueryNumberOperand {}
extension EdmDecimal: QueryNumberOperand {}
extension QueryTerm: QueryNumberOperand where Value: ODataNumber {}

/// The rule for rounding a number.
public enum QueryRounding: String, Sendable, Hashable, CaseIterable {
    /// `round`: the nearest whole number, halves away from zero.
    case toNearest = "round"
    /// `floor`.
    case down = "floor"
    /// `ceiling`.
    case up = "ceiling"
}

extension QueryTerm {
    fileprivate func arithmetic(_ operation: BinaryOperator, _ right: any QueryOperand) -> QueryTerm {
        QueryTerm(.binary(operation, queryExpression, right.queryExpression))
    }
}

extension QueryTerm where Value: ODataNumber & EdmConvertible {
    /// `add`.
    public static func + (left: QueryTerm, right: Value) -> QueryTerm {
        left.arithmetic(.add, right)
    }

    /// `add` of two terms.
    public static func + (left: QueryTerm, right: QueryTerm) -> QueryTerm {
        left.arithmetic(.add, right)
    }

    /// `sub`.
    public static func - (left: QueryTerm, right: Value) -> QueryTerm {
        left.arithmetic(.subtract, right)
    }

    /// `sub` of two terms.
    public static func - (left: QueryTerm, right: QueryTerm) -> QueryTerm {
        left.arithmetic(.subtract, right)
    }

    /// `mul`.
    public static func * (left: QueryTerm, right: Value) -> QueryTerm {
        left.arithmetic(.multiply, right)
    }

    /// `mul` of two terms.
    public static func * (left: QueryTerm, right: QueryTerm) -> QueryTerm {
        left.arithmetic(.multiply, right)
    }

    /// `div`: integer division if both operands are integers.
    public static func / (left: QueryTerm, right: Value) -> QueryTerm {
        left.arithmetic(.divide, right)
    }

    /// `div` of two terms: integer division if both are integers.
    public static func / (left: QueryTerm, right: QueryTerm) -> QueryTerm {
        left.arithmetic(.divide, right)
    }

    /// `divby`: division with a fractional result, also for integers. Version 4.01.
    public func divided(exactlyBy other: some QueryNumberOperand) -> QueryTerm<Double> {
        QueryTerm<Double>(.binary(.divideBy, queryExpression, other.queryExpression))
    }

    /// `mod`.
    public static func % (left: QueryTerm, right: Value) -> QueryTerm {
        left.arithmetic(.modulo, right)
    }

    /// `mod` of two terms.
    public static func % (left: QueryTerm, right: QueryTerm) -> QueryTerm {
        left.arithmetic(.modulo, right)
    }

    /// Arithmetic negation.
    public static prefix func - (operand: QueryTerm) -> QueryTerm {
        QueryTerm(.unary(.negate, operand.queryExpression))
    }

    /// `round`, `floor` or `ceiling`.
    public func rounded(_ rule: QueryRounding = .toNearest) -> QueryTerm {
        QueryTerm(calling(rule.rawValue))
    }
}

/// Operators with a value on the left.
extension QueryTerm where Value: ODataNumber & EdmConvertible {
    /// `add`.
    public static func + (left: Value, right: QueryTerm) -> QueryTerm {
        QueryTerm(.binary(.add, left.queryExpression, right.queryExpression))
    }

    /// `sub`.
    public static func - (left: Value, right: QueryTerm) -> QueryTerm {
        QueryTerm(.binary(.subtract, left.queryExpression, right.queryExpression))
    }

    /// `mul`.
    public static func * (left: Value, right: QueryTerm) -> QueryTerm {
        QueryTerm(.binary(.multiply, left.queryExpression, right.queryExpression))
    }

    /// `div`: integer division if both operands are integers.
    public static func / (left: Value, right: QueryTerm) -> QueryTerm {
        QueryTerm(.binary(.divide, left.queryExpression, right.queryExpression))
    }

    /// `mod`.
    public static func % (left: Value, right: QueryTerm) -> QueryTerm {
        QueryTerm(.binary(.modulo, left.queryExpression, right.queryExpression))
    }
}

extension QueryTerm where Value == AnyEdm {
    /// `add`.
    public func adding(_ other: some QueryOperand) -> QueryTerm {
        arithmetic(.add, other)
    }

    /// `sub`.
    public func subtracting(_ other: some QueryOperand) -> QueryTerm {
        arithmetic(.subtract, other)
    }

    /// `mul`.
    public func multiplied(by other: some QueryOperand) -> QueryTerm {
        arithmetic(.multiply, other)
    }

    /// `div`.
    public func divided(by other: some QueryOperand) -> QueryTerm {
        arithmetic(.divide, other)
    }

    /// `divby`: division with a fractional result, also for integers. Version 4.01.
    public func divided(exactlyBy other: some QueryOperand) -> QueryTerm {
        arithmetic(.divideBy, other)
    }

    /// `mod`.
    public func modulo(_ other: some QueryOperand) -> QueryTerm {
        arithmetic(.modulo, other)
    }

    /// `round`, `floor` or `ceiling`.
    public func rounded(_ rule: QueryRounding = .toNearest) -> QueryTerm {
        QueryTerm(calling(rule.rawValue))
    }
}
