/// An operator with one operand.
public enum UnaryOperator: String, Sendable, Hashable, CaseIterable {
    /// Logical negation.
    case not
    /// Arithmetic negation, written `-`.
    case negate = "-"
}

/// An operator with two operands; the raw value is its spelling.
public enum BinaryOperator: String, Sendable, Hashable, CaseIterable {
    /// Logical or.
    case or
    /// Logical and.
    case and
    /// Equal.
    case equal = "eq"
    /// Not equal.
    case notEqual = "ne"
    /// Less than.
    case less = "lt"
    /// Less than or equal.
    case lessOrEqual = "le"
    /// Greater than.
    case greater = "gt"
    /// Greater than or equal.
    case greaterOrEqual = "ge"
    /// Has the flags of an enumeration value.
    case has
    /// Is an element of a collection; for lists of literals, use ``QueryExpression/membership(_:_:)``. Version 4.01.
    case isIn = "in"
    /// Addition.
    case add
    /// Subtraction.
    case subtract = "sub"
    /// Multiplication.
    case multiply = "mul"
    /// Division; integer division if both operands are integers.
    case divide = "div"
    /// Division with a fractional result; version 4.01 only.
    case divideBy = "divby"
    /// Remainder.
    case modulo = "mod"
}

/// The number of elements for which a lambda's predicate must hold.
public enum LambdaQuantifier: String, Sendable, Hashable, CaseIterable {
    /// At least one.
    case any
    /// Every one.
    case all
}
