extension QueryTerm {
    package func binary(_ operation: BinaryOperator, _ right: any QueryOperand) -> QueryTerm<Bool> {
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

    /// Returns whether the value is one of these: `in`, or a chain of `or` in versions without `in`. A `nil` element is null.
    public func isIn(_ values: some Sequence<Value>) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.membership(queryExpression, values.map(\.edmValue)))
    }

    /// Returns whether the enumeration value has these flags.
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

    /// Returns whether the value is one of these: `in`, or a chain of `or` in versions without `in`.
    public func isIn(_ values: [any EdmConvertible]) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.membership(queryExpression, values.map(\.edmValue)))
    }

    /// Returns whether the enumeration value has these flags: `EdmValue.enumeration(type:member:)`.
    public func has(_ flags: some EdmConvertible) -> QueryTerm<Bool> {
        binary(.has, flags)
    }
}

/// Operators with a value on the left.
extension QueryTerm where Value: EdmConvertible {
    /// `eq` with a value on the left; `nil` is null.
    public static func == (left: Value?, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .equal, right)
    }

    /// `ne` with a value on the left; `nil` is null.
    public static func != (left: Value?, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .notEqual, right)
    }

    /// `lt` with a value on the left.
    public static func < (left: Value, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .less, right)
    }

    /// `le` with a value on the left.
    public static func <= (left: Value, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .lessOrEqual, right)
    }

    /// `gt` with a value on the left.
    public static func > (left: Value, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greater, right)
    }

    /// `ge` with a value on the left.
    public static func >= (left: Value, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greaterOrEqual, right)
    }
}

/// Operators with a value or a term on the left of a term known only by name.
extension QueryTerm where Value == AnyEdm {
    /// `eq` between two terms.
    public static func == (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .equal, right)
    }

    /// `eq` with a value or a typed term on the left.
    public static func == (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .equal, right)
    }

    /// `ne` between two terms.
    public static func != (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .notEqual, right)
    }

    /// `ne` with a value or a typed term on the left.
    public static func != (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .notEqual, right)
    }

    /// `lt` between two terms.
    public static func < (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .less, right)
    }

    /// `lt` with a value or a typed term on the left.
    public static func < (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .less, right)
    }

    /// `le` between two terms.
    public static func <= (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .lessOrEqual, right)
    }

    /// `le` with a value or a typed term on the left.
    public static func <= (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .lessOrEqual, right)
    }

    /// `gt` between two terms.
    public static func > (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greater, right)
    }

    /// `gt` with a value or a typed term on the left.
    public static func > (left: some QueryOperand, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greater, right)
    }

    /// `ge` between two terms.
    public static func >= (left: QueryTerm, right: QueryTerm) -> QueryTerm<Bool> {
        .of(left, .greaterOrEqual, right)
    }

    /// `ge` with a value or a typed term on the left.
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

/// Comparison with null for types without literals: to-one relations and complex values.
extension QueryTerm {
    /// `eq null`: returns whether the related entity or complex value is missing.
    @_disfavoredOverload
    public static func == <Wrapped>(left: QueryTerm, right: _OptionalNilComparisonType) -> QueryTerm<Bool> where Value == Wrapped? {
        .of(left, .equal, EdmValue.null)
    }

    /// `null eq`: returns whether the related entity or complex value is missing.
    @_disfavoredOverload
    public static func == <Wrapped>(left: _OptionalNilComparisonType, right: QueryTerm) -> QueryTerm<Bool> where Value == Wrapped? {
        .of(EdmValue.null, .equal, right)
    }

    /// `ne null`: returns whether the related entity or complex value exists.
    @_disfavoredOverload
    public static func != <Wrapped>(left: QueryTerm, right: _OptionalNilComparisonType) -> QueryTerm<Bool> where Value == Wrapped? {
        .of(left, .notEqual, EdmValue.null)
    }

    /// `null ne`: returns whether the related entity or complex value exists.
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

/// Comparisons of a value with an optional one. They are disfavored because `.alias("name")` could be either.
extension QueryTerm where Value: EdmConvertible {
    /// `eq` between two terms.
    @_disfavoredOverload
    public static func == (left: QueryTerm, right: QueryTerm<Value?>) -> QueryTerm<Bool> {
        left.binary(.equal, right)
    }

    /// `eq` between two terms.
    @_disfavoredOverload
    public static func == (left: QueryTerm<Value?>, right: QueryTerm) -> QueryTerm<Bool> {
        left.binary(.equal, right)
    }

    /// `ne` between two terms.
    @_disfavoredOverload
    public static func != (left: QueryTerm, right: QueryTerm<Value?>) -> QueryTerm<Bool> {
        left.binary(.notEqual, right)
    }

    /// `ne` between two terms.
    @_disfavoredOverload
    public static func != (left: QueryTerm<Value?>, right: QueryTerm) -> QueryTerm<Bool> {
        left.binary(.notEqual, right)
    }
}

extension Sequence where Element: EdmConvertible {
    /// Returns whether the term's value is one of these: `in`, or a chain of `or` in versions without `in`.
    public func contains(_ term: QueryTerm<Element>) -> QueryTerm<Bool> {
        term.isIn(self)
    }

    /// Returns whether the value of a term known only by name is one of these.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<AnyEdm>) -> QueryTerm<Bool> {
        term.isIn(map { $0 })
    }
}
