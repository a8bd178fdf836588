/// What paths are made of, besides names.
extension QueryReader {
    /// `@Ns.Term#Qualifier`.
    mutating func annotation() throws(QueryParsingError) -> String {
        let start = index
        try expect("@")
        _ = try qualifiedName("the name of an annotation")
        if skip("#") { _ = try name("a qualifier") }
        return try text(start..<index)
    }

    /// Whether what stands in parentheses are a function's parameters, and not a key.
    ///
    /// - Parameter isCollection: whether the model knows a collection of that name as well, whose key it may be.
    func isFunctionNext(_ name: String, hasRole: Bool, knowsNames: Bool, isCollection: Bool) -> Bool {
        var place = index + 1
        while place < bytes.count, bytes[place] == 0x20 { place += 1 }
        let isEmpty = place < bytes.count && bytes[place] == 0x29
        if knowsNames { return hasRole && (isEmpty || !isCollection) }
        if isEmpty { return true }
        // `Ns.Name(A=1)` is a function, `Set(A=1)` a key.
        var copy = self
        copy.index = place
        return name.utf8.contains(UInt8(ascii: ".")) && copy.isAtName && copy.byteBehindWord == 0x3D
    }

    /// `(name=value,…)` of a function in an expression.
    mutating func parameters() throws(QueryParsingError) -> [QueryPath.Parameter] {
        try expect("(")
        skipBlanks()
        if skip(")") { return [] }
        let items = try list { reader throws(QueryParsingError) in
            let name = try reader.name("the name of a parameter")
            try reader.expect("=")
            return QueryPath.Parameter(name, try reader.expression())
        }
        skipBlanks()
        try expect(")")
        return items
    }

    mutating func lambda(
        _ quantifier: LambdaQuantifier, over path: QueryPath, _ state: PathState
    ) throws(QueryParsingError) -> QueryExpression {
        guard state.isAny(of: .collections) else { throw expected("a property: any and all are asked of collections") }
        index += 4
        skipBlanks()
        if quantifier == .any, skip(")") { return .lambda(.any, path, LambdaVariable(number: 1), nil) }
        let variable = (name: try name("a variable"), variable: LambdaVariable.open())
        skipBlanks()
        try expect(":")
        skipBlanks()
        variables.append(variable)
        let body = try expression()
        variables.removeLast()
        skipBlanks()
        try expect(")")
        return .lambda(quantifier, over: path, variable: variable.variable, body: body)
    }
}
