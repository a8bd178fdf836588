extension Transformation {
    /// What stands before the parentheses.
    var name: String {
        switch kind {
        case .filter: "filter"
        case .search: "search"
        case .aggregate: "aggregate"
        case .groupBy: "groupby"
        case .compute: "compute"
        case .concat: "concat"
        case .ranked(let ranking, _, _): ranking.rawValue
        case .identity: "identity"
        case .order: "orderby"
        case .top: "top"
        case .skip: "skip"
        case .expand: "expand"
        case .nest: "nest"
        case .addNested: "addnested"
        case .join(_, _, _, let isOuter): isOuter ? "outerjoin" : "join"
        case .ancestors: "ancestors"
        case .descendants: "descendants"
        case .traverse: "traverse"
        case .function(let name, _): name
        case .raw, .invalid: ""
        }
    }
}

extension QueryPrinter {
    func writeAlias(as name: String, to text: inout QueryText) throws(ODataQueryError) {
        guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of a result") }
        text.syntax(" as ")
        text.value(name)
    }

    func write(
        _ aggregate: AggregateExpression, needsAlias: Bool, in scope: inout PrintingScope, to text: inout QueryText
    ) throws(ODataQueryError) {
        try write(aggregate.source, in: &scope, to: &text)
        if let method = aggregate.method {
            try writeWith(method, to: &text)
        } else {
            guard case .path = aggregate.source.kind else {
                throw .invalidOption("$apply", reason: "an expression is aggregated with a method such as sum")
            }
        }
        for from in aggregate.from {
            guard !from.groupings.isEmpty else { throw .invalidOption("$apply", reason: "from has nothing to group by") }
            text.syntax(" from ")
            try writeList(from.groupings, to: &text) { path, text throws(ODataQueryError) in try writePlain(path, for: "$apply", to: &text)
            }
            if let method = from.method {
                try writeWith(method, to: &text)
            } else if aggregate.method != nil || aggregate.isCount {
                throw .invalidOption("$apply", reason: "from needs a method where it isn't a custom aggregate's")
            }
        }
        if let alias = aggregate.alias {
            guard needsAlias else { throw .invalidOption("aggregate", reason: "in an expression its result has no name") }
            try writeAlias(as: alias, to: &text)
        } else if needsAlias, aggregate.method != nil || aggregate.isCount || !aggregate.from.isEmpty {
            throw .invalidOption("$apply", reason: "an aggregate needs a name for its result")
        }
    }

    private func writeWith(_ method: AggregateExpression.Method, to text: inout QueryText) throws(ODataQueryError) {
        guard ODataName.isQualified(method.rawValue) else { throw .invalidName(method.rawValue, role: "an aggregation method") }
        text.syntax(" with ")
        text.value(method.rawValue)
    }
}

extension AggregateExpression {
    /// Whether it counts instances.
    var isCount: Bool {
        guard method == nil, case .path(let path) = source.kind else { return false }
        return path.segments.last == .count
    }
}
