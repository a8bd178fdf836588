import OData

extension QueryReader {
    /// Reads transformations separated by `/` (Data Aggregation ABNF, "applyExpr").
    mutating func transformations() throws(QueryParsingError) -> [Transformation] {
        try descendLevel()
        defer { depth -= 1 }
        var steps = [try transformation()]
        while skip("/") {
            try countOne()
            steps.append(try transformation())
        }
        return steps
    }

    private mutating func transformation() throws(QueryParsingError) -> Transformation {
        let start = index
        guard isAtName else { throw expected("a transformation") }
        let name = try qualifiedName("a transformation")
        if name == "identity" { return .identity }
        if name.utf8.contains(UInt8(ascii: ".")) { return .function(name, try parameters()) }
        guard skip("(") else { throw expected("a transformation", at: start) }
        skipBlanks()
        let step = try arguments(of: name, at: start)
        skipBlanks()
        try expect(")")
        return step
    }

    private mutating func arguments(of name: String, at start: Int) throws(QueryParsingError) -> Transformation {
        if let ranking = Transformation.Ranking(rawValue: name) {
            let amount = try expression()
            try comma()
            return .ranked(ranking, amount, by: try expression())
        }
        switch name {
        case "filter": return .filter(try expression())
        case "search": return .search(try search())
        case "aggregate":
            return .aggregate(try list { reader throws(QueryParsingError) in try reader.aggregate(needsAlias: true) })
        case "groupby": return try groupBy()
        case "compute":
            return .compute(try list { reader throws(QueryParsingError) in try reader.computation() })
        case "concat":
            let sequences = try list { reader throws(QueryParsingError) in try reader.transformations() }
            guard sequences.count > 1 else { throw expected("',' and a second sequence") }
            return .concat(sequences)
        case "orderby":
            return .order(try list { reader throws(QueryParsingError) in try reader.order() })
        case "top": return .top(try wholeNumber("a number"))
        case "skip": return .skip(try wholeNumber("a number"))
        case "nest":
            return .nest(try list { reader throws(QueryParsingError) in try reader.nested() })
        case "addnested":
            let path = try plainPath(.nest)
            try comma()
            return .addNested(path, try list { reader throws(QueryParsingError) in try reader.nested() })
        case "expand":
            let path = try plainPath(.nest)
            return .expand(path, try commaAndSteps())
        case "join", "outerjoin":
            let path = try plainPath(.nest)
            let alias = try alias()
            return .join(path, as: alias, try commaAndSteps(), isOuter: name == "outerjoin")
        case "ancestors", "descendants":
            let hierarchy = try hierarchy()
            try comma()
            let steps = try transformations()
            let (distance, keepsStart) = try reach()
            return name == "ancestors"
                ? .ancestors(hierarchy, steps, distance: distance, keepsStart: keepsStart)
                : .descendants(hierarchy, steps, distance: distance, keepsStart: keepsStart)
        case "traverse": return try traverse()
        default: throw expected("a transformation", at: start)
        }
    }

    private mutating func nested() throws(QueryParsingError) -> NestedTransformation {
        let steps = try transformations()
        return NestedTransformation(steps, as: try alias())
    }

    mutating func computation() throws(QueryParsingError) -> Computation {
        let expression = try expression()
        return Computation(expression, as: try alias())
    }

    /// Reads a comma with optional blanks on both sides.
    private mutating func comma() throws(QueryParsingError) {
        skipBlanks()
        try expect(",")
        skipBlanks()
    }

    /// Reads a comma, and returns whether there was one.
    private mutating func skipComma() -> Bool {
        let start = index
        skipBlanks()
        guard skip(",") else {
            index = start
            return false
        }
        skipBlanks()
        return true
    }

    private mutating func commaAndSteps() throws(QueryParsingError) -> [Transformation] {
        skipComma() ? try transformations() : []
    }

    private mutating func groupBy() throws(QueryParsingError) -> Transformation {
        try expect("(")
        skipBlanks()
        let groupings = try list { reader throws(QueryParsingError) in try reader.grouping() }
        skipBlanks()
        try expect(")")
        return .groupBy(groupings, try commaAndSteps())
    }

    private mutating func grouping() throws(QueryParsingError) -> Grouping {
        if skip("rollup(") {
            skipBlanks()
            let paths = try list { reader throws(QueryParsingError) in try reader.plainPath(.group) }
            skipBlanks()
            try expect(")")
            return .rollup(paths)
        }
        if skip("rolluprecursive(") {
            skipBlanks()
            let hierarchy = try hierarchy()
            let steps = try commaAndSteps()
            skipBlanks()
            try expect(")")
            return .rollupRecursive(hierarchy, steps)
        }
        return .property(try plainPath(.group))
    }

    private mutating func hierarchy() throws(QueryParsingError) -> RecursiveHierarchy {
        guard isNext("$root/"), case .path(let nodes) = try path().kind else { throw expected("$root and a collection") }
        try comma()
        let qualifier = try name("the qualifier of a hierarchy")
        try comma()
        return RecursiveHierarchy(nodes: nodes, qualifier: qualifier, node: try plainPath(.nest))
    }

    private mutating func reach() throws(QueryParsingError) -> (Int?, Bool) {
        var distance: Int?
        let start = index
        if skipComma() {
            if let next = byte(), (0x30...0x39).contains(next) { distance = try wholeNumber("a distance") } else { index = start }
        }
        guard skipComma() else { return (distance, false) }
        guard skip("keep start") else { throw expected("'keep start'") }
        return (distance, true)
    }

    private mutating func traverse() throws(QueryParsingError) -> Transformation {
        let hierarchy = try hierarchy()
        try comma()
        let isPreorder = skip("preorder")
        guard isPreorder || skip("postorder") else { throw expected("preorder or postorder") }
        var steps: [Transformation] = []
        var order: [QueryOptions.Order] = []
        if skipComma() {
            // Steps differ from sort expressions by their parentheses.
            let start = index
            if let found = try? transformations() { steps = found } else { index = start }
            if steps.isEmpty || skipComma() { order = try list { reader throws(QueryParsingError) in try reader.order() } }
        }
        return .traverse(hierarchy, isPreorder: isPreorder, steps, order)
    }
}

extension QueryReader {
    /// Reads one item of `aggregate(…)` (Data Aggregation ABNF, "aggregateExpr").
    mutating func aggregate(needsAlias: Bool) throws(QueryParsingError) -> AggregateExpression {
        var item: AggregateExpression
        if isNext("$count"), !isWordByte(at: index + 6) {
            index += 6
            item = .count()
        } else {
            item = AggregateExpression(try aggregated())
        }
        if skipWord("with") {
            guard !item.isCount else { throw expected("' as ' or ' from ' after a count") }
            item.method = try method()
        } else if !item.isCount {
            guard case .path(let path) = item.source.kind, case .property? = path.segments.last else {
                throw expected("' with ' and a method")
            }
        }
        while skipWord("from") {
            skipBlanks()
            let groupings = try list { reader throws(QueryParsingError) in try reader.plainPath(.group) }
            var from = AggregateExpression.From(groupings)
            if skipWord("with") {
                from.method = try method()
            } else if item.method != nil || item.isCount {
                throw expected("' with ' and a method")
            }
            item.from.append(from)
        }
        guard needsAlias else { return item }
        let isCustom = item.method == nil && !item.isCount
        if isCustom, item.from.isEmpty {
            let start = index
            guard skipWord("as") else { return item }
            index = start
        }
        item.alias = try alias()
        return item
    }

    /// Reads the source of an aggregate: an expression, or a path that may end with a cast and lead through collections.
    private mutating func aggregated() throws(QueryParsingError) -> QueryExpression {
        let start = index
        let mark = variables.count
        if isAtName || isNext("$") || isNext("@"), byteBehindWord != 0x27,
            let path = try? path(allowsLoneCast: true, throughCollections: true)
        {
            let end = index
            if isNext(")") || isNext(",") { return path }
            if skipWord("with") || skipWord("from") || skipWord("as") {
                index = end
                return path
            }
        }
        variables.removeLast(variables.count - mark)
        index = start
        return try expression()
    }

    private mutating func method() throws(QueryParsingError) -> AggregateExpression.Method {
        skipBlanks()
        let start = index
        let name = try qualifiedName("a method such as sum")
        let known = ["sum", "min", "max", "average", "countdistinct"]
        guard known.contains(name) || name.utf8.contains(UInt8(ascii: ".")) else { throw expected("a method such as sum", at: start) }
        return AggregateExpression.Method(rawValue: name)
    }
}
