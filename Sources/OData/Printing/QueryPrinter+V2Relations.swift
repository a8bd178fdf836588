/// `$select` and `$expand` of V2, which have no parentheses: what is nested is written as paths (`$select=Name,Trips/Name&$expand=Trips`).
extension QueryPrinter {
    private struct Relations {
        var selected: [QueryPath] = []
        /// Whether anything says what is selected; else a `$select` would say what goes without saying.
        var isSelective = false
        var expanded: [QueryPath] = []
    }

    func writeV2Relations(_ options: QueryOptions, to list: inout OptionList) throws(ODataQueryError) {
        var relations = Relations()
        try collect(options, below: [], said: [], into: &relations, depth: 0)
        if relations.isSelective {
            list.begin("$select=")
            try writeList(relations.selected, to: &list.text) { path, text throws(ODataQueryError) in
                try writePlain(path, for: "$select", to: &text)
            }
        }
        if !relations.expanded.isEmpty {
            list.begin("$expand=")
            try writeList(relations.expanded, to: &list.text) { path, text throws(ODataQueryError) in
                try writePlain(path, for: "$expand", to: &text)
            }
        }
    }

    /// Whether something within the expansions is selected by name.
    private func isSelective(within options: QueryOptions, depth: Int) -> Bool {
        guard depth < Self.depthLimit else { return false }
        return options.expansions.contains { expansion in
            switch expansion.options.selection {
            case .items(let items) where !items.isEmpty: true
            case .decoded where expansion.options.decodedNames?.isEmpty == false: true
            default: isSelective(within: expansion.options, depth: depth + 1)
            }
        }
    }

    /// - Parameter said: what the selections around name.
    private func collect(
        _ options: QueryOptions, below prefix: [QueryPath.Segment], said: [QueryPath], into relations: inout Relations, depth: Int
    ) throws(ODataQueryError) {
        guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
        var paths: [QueryPath]
        var said = said
        // Where a selection around says what of the relation is wanted, only a selection of its own says more.
        var addsNothing = !prefix.isEmpty && said.contains { $0.segments.starts(with: prefix) }
        switch options.selection {
        case .items(let items):
            guard items.allSatisfy({ $0.nested.isEmpty && $0.parameters == nil }) else {
                throw .unsupported("options in $select", version: version)
            }
            paths = items.map(\.path)
            said += items.map { QueryPath(root: $0.path.root, segments: prefix + $0.path.segments) }
            // Of what a V2 URL expands, it selects itself what is wanted.
            addsNothing = items.isEmpty && !prefix.isEmpty
        case .decoded:
            let expanded = Set(options.expansions.compactMap(\.path.singleName))
            paths = (options.decodedNames ?? []).filter { !expanded.contains($0) }.map { QueryPath(segments: [.property($0)]) }
        case .all:
            paths = []
        }
        if paths.isEmpty { paths = [QueryPath(segments: [.all])] } else if !addsNothing { relations.isSelective = true }
        for path in paths where !addsNothing {
            // Behind an expanded relation the path alone means all of it, also of what is expanded within: there `*` stands for its properties.
            let isAll = path.segments == [.all] && !prefix.isEmpty && !isSelective(within: options, depth: depth)
            let full = QueryPath(root: path.root, segments: isAll ? prefix : prefix + path.segments)
            if !relations.selected.contains(full) { relations.selected.append(full) }
        }
        for expansion in options.expansions {
            guard expansion.path.root == .entity else { throw .invalidOption("$expand", reason: "a property is needed") }
            if expansion.path.segments.contains(.all) { throw .unsupported("$expand=*", version: version) }
            let path = QueryPath(segments: prefix + expansion.path.segments)
            guard !relations.expanded.contains(path) else {
                throw .invalidOption("$expand", reason: "a relation is expanded twice; give all its options in one expand")
            }
            let nested = expansion.options
            if nested.filter != nil || nested.search != nil || !nested.order.isEmpty || nested.top != nil || nested.skip != nil
                || nested.includesCount || !nested.custom.isEmpty || !nested.rare.isEmpty
            {
                throw .unsupported("options in $expand", version: version)
            }
            relations.expanded.append(path)
            try collect(nested, below: path.segments, said: said, into: &relations, depth: depth + 1)
        }
    }
}
