// Prints the system query option `$apply` (Data Aggregation, section 3).
extension QueryPrinter {
    func write(_ steps: [Transformation], to text: inout QueryText, depth: Int = 0) throws(ODataQueryError) {
        guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
        guard !steps.isEmpty else { throw .invalidOption("$apply", reason: "a sequence of transformations is empty; use identity") }
        for (index, step) in steps.enumerated() {
            if index > 0 { text.syntax("/") }
            try write(step, to: &text, depth)
        }
    }

    private func write(_ step: Transformation, to text: inout QueryText, _ depth: Int) throws(ODataQueryError) {
        switch step.kind {
        case .identity:
            text.syntax("identity")
            return
        case .function(let name, let parameters):
            try write(.path(QueryPath(segments: [.function(name, parameters)])), isNested: false, to: &text)
            return
        case .raw(let raw):
            guard !raw.isEmpty else { throw .invalidOption("$apply", reason: "raw text is empty") }
            text.raw(raw)
            return
        case .invalid(let error):
            throw error
        default:
            text.syntax(step.name)
            text.syntax("(")
            try writeArguments(of: step, to: &text, depth)
            text.syntax(")")
        }
    }

    private func writeArguments(of step: Transformation, to text: inout QueryText, _ depth: Int) throws(ODataQueryError) {
        switch step.kind {
        case .filter(let condition):
            try write(condition, isNested: false, to: &text)
        case .search(let search):
            try write(search, to: &text)
        case .aggregate(let items):
            guard !items.isEmpty else { throw .invalidOption("$apply", reason: "aggregate has nothing to aggregate") }
            try writeList(items, to: &text) { item, text throws(ODataQueryError) in
                var scope = PrintingScope(root: item.source, isNested: false)
                try write(item, needsAlias: true, in: &scope, to: &text)
            }
        case .groupBy(let groupings, let steps):
            text.syntax("(")
            guard !groupings.isEmpty else { throw .invalidOption("$apply", reason: "groupby has nothing to group by") }
            try writeList(groupings, to: &text) { item, text throws(ODataQueryError) in try write(item, to: &text, depth) }
            text.syntax(")")
            if !steps.isEmpty {
                text.syntax(",")
                try write(steps, to: &text, depth: depth + 1)
            }
        case .compute(let items):
            guard !items.isEmpty else { throw .invalidOption("$apply", reason: "compute has nothing to compute") }
            try writeList(items, to: &text) { item, text throws(ODataQueryError) in try write(item, isNested: false, to: &text) }
        case .concat(let sequences):
            guard sequences.count > 1 else { throw .invalidOption("$apply", reason: "concat needs at least two sequences") }
            try writeList(sequences, to: &text) { steps, text throws(ODataQueryError) in try write(steps, to: &text, depth: depth + 1) }
        case .ranked(_, let amount, let key):
            try write(amount, isNested: false, to: &text)
            text.syntax(",")
            try write(key, isNested: false, to: &text)
        case .order(let items):
            guard !items.isEmpty else { throw .invalidOption("$apply", reason: "orderby has nothing to sort by") }
            try write(items, isNested: false, to: &text)
        case .top(let number), .skip(let number):
            guard number >= 0 else { throw .invalidOption("$apply", reason: "\(number) is negative") }
            text.number(number)
        case .expand(let path, let steps):
            try writePlain(path, for: "$apply", to: &text)
            guard !steps.isEmpty else { return }
            text.syntax(",")
            try write(steps, to: &text, depth: depth + 1)
        case .nest(let items):
            try write(items, of: step.name, to: &text, depth)
        case .addNested(let path, let items):
            try writePlain(path, for: "$apply", to: &text)
            text.syntax(",")
            try write(items, of: step.name, to: &text, depth)
        case .join(let path, let name, let steps, _):
            try writePlain(path, for: "$apply", to: &text)
            try writeAlias(as: name, to: &text)
            guard !steps.isEmpty else { return }
            text.syntax(",")
            try write(steps, to: &text, depth: depth + 1)
        case .ancestors(let hierarchy, let steps, let distance, let keepsStart),
            .descendants(let hierarchy, let steps, let distance, let keepsStart):
            try write(hierarchy, to: &text)
            text.syntax(",")
            try write(steps, to: &text, depth: depth + 1)
            if let distance {
                guard distance >= 0 else { throw .invalidOption("$apply", reason: "the distance \(distance) is negative") }
                text.syntax(",")
                text.number(distance)
            }
            if keepsStart { text.syntax(",keep start") }
        case .traverse(let hierarchy, let isPreorder, let steps, let order):
            try write(hierarchy, to: &text)
            text.syntax(isPreorder ? ",preorder" : ",postorder")
            if !steps.isEmpty {
                text.syntax(",")
                try write(steps, to: &text, depth: depth + 1)
            }
            guard !order.isEmpty else { return }
            text.syntax(",")
            try write(order, isNested: false, to: &text)
        case .identity, .function, .raw, .invalid:
            return
        }
    }

    private func write(
        _ items: [NestedTransformation], of name: String, to text: inout QueryText, _ depth: Int
    ) throws(ODataQueryError) {
        guard !items.isEmpty else { throw .invalidOption("$apply", reason: "\(name) has no sequence") }
        try writeList(items, to: &text) { item, text throws(ODataQueryError) in
            try write(item.steps, to: &text, depth: depth + 1)
            try writeAlias(as: item.name, to: &text)
        }
    }

    private func write(_ grouping: Grouping, to text: inout QueryText, _ depth: Int) throws(ODataQueryError) {
        switch grouping {
        case .property(let path):
            try writePlain(path, for: "$apply", to: &text)
        case .rollup(let paths):
            guard !paths.isEmpty else { throw .invalidOption("$apply", reason: "rollup has nothing to group by") }
            text.syntax("rollup(")
            try writeList(paths, to: &text) { path, text throws(ODataQueryError) in try writePlain(path, for: "$apply", to: &text) }
            text.syntax(")")
        case .rollupRecursive(let hierarchy, let steps):
            text.syntax("rolluprecursive(")
            try write(hierarchy, to: &text)
            if !steps.isEmpty {
                text.syntax(",")
                try write(steps, to: &text, depth: depth + 1)
            }
            text.syntax(")")
        }
    }

    private func write(_ hierarchy: RecursiveHierarchy, to text: inout QueryText) throws(ODataQueryError) {
        guard hierarchy.nodes.root == .root else { throw .invalidOption("$apply", reason: "a hierarchy's nodes must begin at $root") }
        guard ODataName.isIdentifier(hierarchy.qualifier) else { throw .invalidName(hierarchy.qualifier, role: "a hierarchy's qualifier") }
        try write(.path(hierarchy.nodes), isNested: false, to: &text)
        text.syntax(",")
        text.value(hierarchy.qualifier)
        text.syntax(",")
        try writePlain(hierarchy.node, for: "$apply", to: &text)
    }
}

extension Transformation {
    /// The name before the parentheses.
    package var name: String {
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

// Prints aggregate expressions: `Amount with sum from Customer with average as Total`.
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
                throw .invalidOption("$apply", reason: "an aggregated expression needs a method such as sum")
            }
        }
        for from in aggregate.from {
            guard !from.groupings.isEmpty else { throw .invalidOption("$apply", reason: "'from' has nothing to group by") }
            text.syntax(" from ")
            try writeList(from.groupings, to: &text) { path, text throws(ODataQueryError) in try writePlain(path, for: "$apply", to: &text)
            }
            if let method = from.method {
                try writeWith(method, to: &text)
            } else if aggregate.method != nil || aggregate.isCount {
                throw .invalidOption("$apply", reason: "'from' needs a method such as sum, except after a custom aggregate")
            }
        }
        if let alias = aggregate.alias {
            guard needsAlias else { throw .invalidOption("aggregate", reason: "an aggregate inside an expression can't have a name") }
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
    /// A Boolean value that indicates whether the expression counts instances.
    package var isCount: Bool {
        guard method == nil, case .path(let path) = source.kind else { return false }
        return path.segments.last == .count
    }
}
