/// What can stand as an operand or argument in an expression: a Swift value that has a literal, or a ``QueryTerm``.
public protocol QueryOperand {
    /// The operand as a part of the tree.
    var queryExpression: QueryExpression { get }
}

/// A text operand: a string, or a term whose value is text.
public protocol QueryTextOperand: QueryOperand {}

/// A number operand: a number, or a term whose value is a number.
public protocol QueryNumberOperand: QueryOperand {}

extension String: QueryTextOperand {}
extension QueryTerm: QueryTextOperand where Value: ODataText {}
extension Int: QueryNumberOperand {}
extension EdmDecimal: QueryNumberOperand {}
extension QueryTerm: QueryNumberOperand where Value: ODataNumber {}
