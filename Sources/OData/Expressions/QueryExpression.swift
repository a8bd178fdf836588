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
    /// A canonical function by its name: `contains(Name,'x')`, `geo.distance(…)`, `now()`. Functions of the service's own have named
    /// parameters, and are ``QueryPath/Segment/function(_:_:)`` in a path.
    case call(String, [QueryExpression])
    /// `cast(x,Type)`, or `cast(Type)` of the current instance. The type is a qualified name, or `Collection(…)` of one.
    case cast(QueryExpression?, String)
    /// `isof(x,Type)`, or `isof(Type)` of the current instance.
    case isOf(QueryExpression?, String)
    /// `case(condition:value,…)`: the value behind the first condition that is true, else null. Version 4.01.
    case conditional([Branch])
    /// `[…]`: a collection written as JSON.
    case array([QueryExpression])
    /// `{…}`: a complex value or an entity written as JSON.
    case object([Member])
    /// `path/any(x:…)`, `path/all(x:…)`. Without a predicate, `any()` asks whether there is an element at all.
    case lambda(LambdaQuantifier, QueryPath, LambdaVariable, QueryExpression?)
    /// Text in OData's own spelling, taken as it is except that characters a URL can't hold are percent-encoded.
    case raw(String)
    /// What can't be sent, and why: printing it throws this error.
    case invalid(ODataQueryError)

    /// One condition of a `case` and its value.
    public struct Branch: Sendable, Hashable {
        /// The condition.
        public var condition: QueryExpression
        /// The value where the condition is the first to be true.
        public var value: QueryExpression

        /// A branch from its parts.
        public init(when condition: QueryExpression, _ value: QueryExpression) {
            self.condition = condition
            self.value = value
        }
    }

    /// One member of a JSON object.
    public struct Member: Sendable, Hashable {
        /// The name: a property's, or control information such as `@odata.id`.
        public var name: String
        /// The value.
        public var value: QueryExpression

        /// A member from its parts.
        public init(_ name: String, _ value: QueryExpression) {
            self.name = name
            self.value = value
        }
    }
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
    /// Is an element of a collection; lists of literals are ``QueryExpression/membership(_:_:)``. Version 4.01.
    case isIn = "in"
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
