/// An expression of a query option as a value: what `$filter` and `$orderby` are made of (OData URL Conventions, section 5.1.1).
///
/// The tree says what is meant, not how a version of the protocol spells it; ``QueryPrinter`` does that. It is usually built through
/// ``QueryTerm``, whose operators look like Swift's.
public indirect enum QueryExpression: Sendable, Hashable {
    /// A value, written by the one literal writer.
    case literal(EdmValue)
    /// A property, a lambda variable, or what is reached from one of them.
    case path(QueryPath)
    /// `not x`, `-x`.
    case unary(UnaryOperator, QueryExpression)
    /// `a eq b`, `a add b`, `a and b` and so on.
    case binary(BinaryOperator, QueryExpression, QueryExpression)
    /// `a in (…)`; versions without `in` get a chain of `or`. No values at all means `false`.
    case membership(QueryExpression, [EdmValue])
    /// A function by its name, which may be qualified: `contains(Name,'x')`, `geo.distance(…)`.
    case call(String, [QueryExpression])
    /// `path/any(x:…)`, `path/all(x:…)`. Without a predicate, `any()` asks whether there is an element at all.
    case lambda(LambdaQuantifier, QueryPath, LambdaVariable, QueryExpression?)
    /// Text in OData's own spelling, taken as it is except that characters a URL can't hold are percent-encoded.
    case raw(String)
    /// What can't be sent, and why: printing it throws this error.
    case invalid(ODataQueryError)
}

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
    /// Addition.
    case add
    /// Subtraction.
    case subtract = "sub"
    /// Multiplication.
    case multiply = "mul"
    /// Division; of integers, integer division.
    case divide = "div"
    /// Division with a fractional result; version 4.01 only.
    case divideBy = "divby"
    /// Remainder.
    case modulo = "mod"
}

/// Which elements of a collection a lambda's predicate must hold for.
public enum LambdaQuantifier: String, Sendable, Hashable, CaseIterable {
    /// At least one.
    case any
    /// Every one.
    case all
}
