/// Ranges that contain a term. A range is at most two comparisons, however many values it has.
///
/// Some overloads are disfavored because `.alias("name")` could be any of them.
extension ClosedRange where Bound: EdmConvertible {
    /// Returns whether the term's value is between the bounds: `ge` and `le`.
    public func contains(_ term: QueryTerm<Bound>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound, through: upperBound)
    }

    /// Returns whether the optional value is between the bounds, which null isn't.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<Bound?>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound, through: upperBound)
    }

    /// Returns whether the value of a term known only by name is between the bounds.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<AnyEdm>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound, through: upperBound)
    }
}

extension Range where Bound: EdmConvertible {
    /// Returns whether the term's value is in the range: `ge` and `lt`.
    public func contains(_ term: QueryTerm<Bound>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound, upTo: upperBound)
    }

    /// Returns whether the optional value is in the range, which null isn't.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<Bound?>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound, upTo: upperBound)
    }

    /// Returns whether the value of a term known only by name is in the range.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<AnyEdm>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound, upTo: upperBound)
    }
}

extension PartialRangeFrom where Bound: EdmConvertible {
    /// Returns whether the term's value is the bound or more: `ge`.
    public func contains(_ term: QueryTerm<Bound>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound)
    }

    /// Returns whether the optional value is the bound or more, which null isn't.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<Bound?>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound)
    }

    /// Returns whether the value of a term known only by name is the bound or more.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<AnyEdm>) -> QueryTerm<Bool> {
        .isInRange(term, from: lowerBound)
    }
}

extension PartialRangeThrough where Bound: EdmConvertible {
    /// Returns whether the term's value is the bound or less: `le`.
    public func contains(_ term: QueryTerm<Bound>) -> QueryTerm<Bool> {
        .isInRange(term, through: upperBound)
    }

    /// Returns whether the optional value is the bound or less, which null isn't.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<Bound?>) -> QueryTerm<Bool> {
        .isInRange(term, through: upperBound)
    }

    /// Returns whether the value of a term known only by name is the bound or less.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<AnyEdm>) -> QueryTerm<Bool> {
        .isInRange(term, through: upperBound)
    }
}

extension PartialRangeUpTo where Bound: EdmConvertible {
    /// Returns whether the term's value is less than the bound: `lt`.
    public func contains(_ term: QueryTerm<Bound>) -> QueryTerm<Bool> {
        .isInRange(term, upTo: upperBound)
    }

    /// Returns whether the optional value is less than the bound, which null isn't.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<Bound?>) -> QueryTerm<Bool> {
        .isInRange(term, upTo: upperBound)
    }

    /// Returns whether the value of a term known only by name is less than the bound.
    @_disfavoredOverload
    public func contains(_ term: QueryTerm<AnyEdm>) -> QueryTerm<Bool> {
        .isInRange(term, upTo: upperBound)
    }
}

extension QueryTerm where Value: EdmConvertible & Comparable {
    /// Returns whether the value is between the bounds: `ge` and `le`.
    public func isIn(_ range: ClosedRange<Value>) -> QueryTerm<Bool> {
        range.contains(self)
    }

    /// Returns whether the value is in the range: `ge` and `lt`.
    public func isIn(_ range: Range<Value>) -> QueryTerm<Bool> {
        range.contains(self)
    }

    /// Returns whether the value is the bound or more: `ge`.
    public func isIn(_ range: PartialRangeFrom<Value>) -> QueryTerm<Bool> {
        range.contains(self)
    }
}

extension QueryTerm where Value == Bool {
    fileprivate static func isInRange<Bound: EdmConvertible>(
        _ term: some QueryOperand, from lower: Bound? = nil, through last: Bound? = nil, upTo end: Bound? = nil
    ) -> QueryTerm {
        let bounds: [(BinaryOperator, Bound?)] = [(.greaterOrEqual, lower), (.lessOrEqual, last), (.less, end)]
        let comparisons = bounds.compactMap { operation, bound in
            bound.map { QueryExpression.binary(operation, term.queryExpression, $0.queryExpression) }
        }
        // A range has a bound.
        let all = comparisons.dropFirst().reduce(comparisons.first ?? .literal(.boolean(true))) { .binary(.and, $0, $1) }
        return QueryTerm(all)
    }
}
