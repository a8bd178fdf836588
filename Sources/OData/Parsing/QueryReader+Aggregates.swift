extension QueryReader {
    /// One item of `aggregate(…)` (Data Aggregation ABNF, "aggregateExpr").
    mutating func aggregate(needsAlias: Bool) throws(QueryParsingError) -> AggregateExpression {
        var item: AggregateExpression
        if isNext("$count"), !isWordByte(at: index + 6) {
            index += 6
            item = .count()
        } else {
            item = AggregateExpression(try aggregated())
        }
        if skipWord("with") {
            guard !item.isCount else { throw expected("' as ' or ' from ' behind a count") }
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

    /// What is aggregated: an expression, or a path that may end with a cast and lead through collections.
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
