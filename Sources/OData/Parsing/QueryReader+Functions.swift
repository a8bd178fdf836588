/// Functions whose arguments have no names.
extension QueryReader {
    mutating func call(_ name: String, _ arity: ClosedRange<Int>, at start: Int) throws(QueryParsingError) -> QueryExpression {
        try expect("(")
        skipBlanks()
        var arguments: [QueryExpression] = []
        if !isNext(")") { arguments = try list { reader throws(QueryParsingError) in try reader.expression() } }
        skipBlanks()
        guard arity.contains(arguments.count) else {
            let needed = arity.count == 1 ? "\(arity.lowerBound)" : "\(arity.lowerBound) to \(arity.upperBound)"
            throw expected("\(needed) arguments of \(name)", at: arguments.count > arity.upperBound ? start : nil)
        }
        try expect(")")
        if name == "substringof" { return .call("contains", arguments.reversed()) }
        return .call(name, arguments)
    }

    mutating func typed(isCast: Bool) throws(QueryParsingError) -> QueryExpression {
        try expect("(")
        skipBlanks()
        let start = index
        if let type = try? typeName() {
            skipBlanks()
            if skip(")") { return isCast ? .cast(nil, type) : .isOf(nil, type) }
        }
        index = start
        let operand = try expression()
        skipBlanks()
        try expect(",")
        skipBlanks()
        let type = try typeName()
        skipBlanks()
        try expect(")")
        return isCast ? .cast(operand, type) : .isOf(operand, type)
    }

    mutating func conditional() throws(QueryParsingError) -> QueryExpression {
        try expect("(")
        skipBlanks()
        let branches = try list { reader throws(QueryParsingError) in
            let condition = try reader.expression()
            reader.skipBlanks()
            try reader.expect(":")
            reader.skipBlanks()
            return QueryExpression.Branch(when: condition, try reader.expression())
        }
        skipBlanks()
        try expect(")")
        return .conditional(branches)
    }
}
