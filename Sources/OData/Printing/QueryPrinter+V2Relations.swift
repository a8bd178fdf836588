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
        try collect(options, below: [], into: &relations, depth: 0)
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

    private func collect(
        _ options: QueryOptions, below prefix: [QueryPath.Segment], into relations: inout Relations, depth: Int
    ) throws(ODataQueryError) {
        guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
        var paths: [QueryPath]
        switch options.selection {
        case .items(let items):
            guard items.allSatisfy({ $0.nested.isEmpty && $0.parameters == nil }) else {
                throw .unsupported("options in $select", version: version)
            }
            paths = items.map(\.path)
        case .decoded:
            let expanded = Set(options.expansions.compactMap(\.path.singleName))
            paths = (options.decodedNames ?? []).filter { !expanded.contains($0) }.map { QueryPath(segments: [.property($0)]) }
        case .all:
            paths = []
        }
        if paths.isEmpty { paths = [QueryPath(segments: [.all])] } else { relations.isSelective = true }
        for path in paths {
            // Behind an expanded relation the path alone means all of it.
            let isAll = path.segments == [.all] && !prefix.isEmpty
            let full = QueryPath(root: path.root, segments: isAll ? prefix : prefix + path.segments)
            // Nor is there more to say where parts of it are selected already.
            let isSaid = relations.selected.contains { isAll ? $0.segments.starts(with: prefix) : $0 == full }
            if !isSaid { relations.selected.append(full) }
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
            try collect(nested, below: path.segments, into: &relations, depth: depth + 1)
        }
    }
}
