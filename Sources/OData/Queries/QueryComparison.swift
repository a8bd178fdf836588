extension QueryTerm {
    func binary(_ operation: BinaryOperator, _ right: any QueryOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.binary(operation, queryExpression, right.queryExpression))
    }
}

extension QueryTerm where Value == Bool {
    fileprivate static func of(_ left: some QueryOperand, _ operation: BinaryOperator, _ right: some QueryOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.binary(operation, left.queryExpression, right.queryExpression))
    }
}

extension QueryTerm where Value: EdmConvertible {
    /// `eq`; `nil` is null.
    public static func == (left: QueryTerm, right: Value?) -> QueryTerm<Bool> {
        left.binary(.equal, right)
    }

    /// `eq` between two terms.
    public static func == (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        left.binary(.equal, right)
    }

    /// `ne`; `nil` is null.
    public static func != (left: QueryTerm, right: Value?) -> QueryTerm<Bool> {
        left.binary(.notEqual, right)
    }

    /// `ne` between two terms.
    public static func != (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        left.binary(.notEqual, right)
    }

    /// `lt`.
    public static func < (left: QueryTerm, right: Value) -> QueryTerm<Bool> {
        left.binary(.less, right)
    }

    /// `lt` between two terms.
    public static func < (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        left.binary(.less, right)
    }

    /// `le`.
    public static func <= (left: QueryTerm, right: Value) -> QueryTerm<Bool> {
        left.binary(.lessOrEqual, right)
    }

    /// `le` between two terms.
    public static func <= (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        left.binary(.lessOrEqual, right)
    }

    /// `gt`.
    public static func > (left: QueryTerm, right: Value) -> QueryTerm<Bool> {
        left.binary(.greater, right)
    }

    /// `gt` between two terms.
    public static func > (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        left.binary(.greater, right)
    }

    /// `ge`.
    public static func >= (left: QueryTerm, right: Value) -> QueryTerm<Bool> {
        left.binary(.greaterOrEqual, right)
    }

    /// `ge` between two terms.
    public static func >= (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        left.binary(.greaterOrEqual, right)
    }

    /// Whether the value is one of these: `in`, or a chain of `or` where the version has no `in`. `nil` among them is null.
    public func isIn(_ values: some Sequence<Value>) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.membership(queryExpression, values.map(\.edmValue)))
    }

    /// Whether the value of an enumeration has these flags.
    public func has(_ flags: Value) -> QueryTerm<Bool> {
        binary(.has, flags)
    }
}

extension QueryTerm where Value == AnyEdm {
    /// `eq`.
    public static func == (left: QueryTerm, right: some QueryOperand) -> QueryTerm<Bool> {
        left.binary(.equal, right)
    }

    /// `eq null`.
    public static func == (left: QueryTerm, right: _OptionalNilComparisonType) -> QueryTerm<Bool> {
        left.binary(.equal, EdmValue.null)
    }

    /// `ne`.
    public static func != (left: QueryTerm, right: some QueryOperand) -> QueryTerm<Bool> {
        left.binary(.notEqual, right)
    }

    /// `ne null`.
    public static func != (left: QueryTerm, right: _OptionalNilComparisonType) -> QueryTerm<Bool> {
        left.binary(.notEqual, EdmValue.null)
    }

    /// `lt`.
    public static func < (left: QueryTerm, right: some QueryOperand) -> QueryTerm<Bool> {
        left.binary(.less, right)
    }

    /// `le`.
    public static func <= (left: QueryTerm, right: some QueryOperand) -> QueryTerm<Bool> {
        left.binary(.lessOrEqual, right)
    }

    /// `gt`.
    public static func > (left: QueryTerm, right: some QueryOperand) -> QueryTerm<Bool> {
        left.binary(.greater, right)
    }

    /// `ge`.
    public static func >= (left: QueryTerm, right: some QueryOperand) -> QueryTerm<Bool> {
        left.binary(.greaterOrEqual, right)
    }

    /// Whether the value is one of these: `in`, or a chain of `or` where the version has no `in`.
    public func isIn(_ values: [any EdmConvertible]) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.membership(queryExpression, values.map(\.edmValue)))
    }

    /// Whether the value of an enumeration has these flags: `EdmValue.enumeration(type:member:)`.
    public func has(_ flags: some EdmConvertible) -> QueryTerm<Bool> {
        binary(.has, flags)
    }
}

/// Values on the left.
extension QueryTerm where Value: EdmConvertible {
    /// `eq` of a value; `nil` is null.
    public static func == (left: Value?, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .equal, right)
    }

    /// `ne` of a value; `nil` is null.
    public static func != (left: Value?, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .notEqual, right)
    }

    /// `lt` of a value.
    public static func < (left: Value, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .less, right)
    }

    /// `le` of a value.
    public static func <= (left: Value, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .lessOrEqual, right)
    }

    /// `gt` of a value.
    public static func > (left: Value, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greater, right)
    }

    /// `ge` of a value.
    public static func >= (left: Value, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greaterOrEqual, right)
    }
}

/// Values and terms on the left of terms that are known by name only.
extension QueryTerm where Value == AnyEdm {
    /// `eq` between two terms.
    public static func == (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .equal, right)
    }

    /// `eq` of a value, or of a term that has a type.
    public static func == (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .equal, right)
    }

    /// `ne` between two terms.
    public static func != (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .notEqual, right)
    }

    /// `ne` of a value, or of a term that has a type.
    public static func != (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .notEqual, right)
    }

    /// `lt` between two terms.
    public static func < (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .less, right)
    }

    /// `lt` of a value, or of a term that has a type.
    public static func < (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .less, right)
    }

    /// `le` between two terms.
    public static func <= (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .lessOrEqual, right)
    }

    /// `le` of a value, or of a term that has a type.
    public static func <= (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .lessOrEqual, right)
    }

    /// `gt` between two terms.
    public static func > (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greater, right)
    }

    /// `gt` of a value, or of a term that has a type.
    public static func > (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greater, right)
    }

    /// `ge` between two terms.
    public static func >= (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greaterOrEqual, right)
    }

    /// `ge` of a value, or of a term that has a type.
    public static func >= (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greaterOrEqual, right)
    }

    /// `null eq`.
    public static func == (left: _OptionalNilComparisonType, right: QueryTerm) -> QueryTerm<Bool> {
        .of(EdmValue.null, .equal, right)
    }

    /// `null ne`.
    public static func != (left: _OptionalNilComparisonType, right: QueryTerm) -> QueryTerm<Bool> {
        .of(EdmValue.null, .notEqual, right)
    }
}

/// Null, for what has no literal: relations to one entity, and complex values.
extension QueryTerm {
    /// `eq null`: whether there is no related entity or complex value.
    @_disfavoredOverload
    public static func == <Wrapped>(left: QueryTerm, right: _OptionalNilComparisonType) -> QueryTerm<Bool> where Value == Wrapped? {
        .of(left, .equal, EdmValue.null)
    }

    /// `null eq`: whether there is no related entity or complex value.
    @_disfavoredOverload
    public static func == <Wrapped>(left: _OptionalNilComparisonType, right: QueryTerm) -> QueryTerm<Bool> where Value == Wrapped? {
        .of(EdmValue.null, .equal, right)
    }

    /// `ne null`: whether there is a related entity or complex value.
    @_disfavoredOverload
    public static func != <Wrapped>(left: QueryTerm, right: _OptionalNilComparisonType) -> QueryTerm<Bool> where Value == Wrapped? {
        .of(left, .notEqual, EdmValue.null)
    }

    /// `null ne`: whether there is a related entity or complex value.
    @_disfavoredOverload
    public static func != <Wrapped>(left: _OptionalNilComparisonType, right: QueryTerm) -> QueryTerm<Bool> where Value == Wrapped? {
        .of(EdmValue.null, .notEqual, right)
    }
}

extension QueryTerm where Value == Bool {
    /// `and`.
    public static func && (left: QueryTerm, right: QueryTerm) -> QueryTerm {
        left.binary(.and, right)
    }

    /// `or`.
    public static func || (left: QueryTerm, right: QueryTerm) -> QueryTerm {
        left.binary(.or, right)
    }

    /// `not`.
    public static prefix func ! (operand: QueryTerm) -> QueryTerm {
        QueryTerm(.unary(.not, operand.queryExpression))
    }
}

extension Sequence where Element: EdmConvertible {
    /// Whether the term's value is one of these: `in`, or a chain of `or` where the version has no `in`.
    public func contains(_ term: QueryTerm<Element>) -> QueryTerm<Bool> {
        term.isIn(self)
    }
}
