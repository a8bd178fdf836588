extension QueryTerm {
    func binary(_ operation: BinaryOperator, _ right: any QueryOperand) -> QueryTerm<Bool> {
        QueryTerm<Bool>(.binary(operation, queryExpression, right.queryExpression))
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
