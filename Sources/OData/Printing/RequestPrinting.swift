import Foundation

extension QueryPrinter {
    /// Returns the URL of a query to send. Function arguments that aren't allowed in a path are passed as aliases.
    ///
    /// - Throws: ``ODataQueryError`` if a part can't be expressed, or if an alias in the path has no value: a service would treat it as
    ///   null.
    func request(_ query: ODataQuery) throws(ODataQueryError) -> String {
        let asked = query.withoutUselessSelection(version)
        let query = version == .v2 ? asked : asked.aliasingArguments(by: self)
        let defined = Set(query.options.aliases.map(\.name))
        if let name = query.resource.aliasNames.first(where: { !defined.contains($0) }) {
            throw .invalidOption("@\(name)", reason: "the path uses it, but it has no value; define it with alias(_:_:)")
        }
        return try text(of: query)
    }
}

extension ODataQuery {
    /// Removes the default selection where services reject one: for a raw value, a count, references, `$metadata`, `$batch` and `$links`,
    /// and in version 2 for any path with a function.
    fileprivate func withoutUselessSelection(_ version: ODataVersion) -> ODataQuery {
        guard options.selection == .decoded else { return self }
        let isUseless =
            switch resource.segments.last {
            case .value, .count, .ref, .metadata, .batch: true
            case .raw(let text):
                ["$value", "$count", "$ref", "$metadata", "$batch"].contains(text.split(separator: "/").last ?? "")
                    || text.split(separator: "/").contains("$links")
            default: false
            }
        let isOfFunction = version == .v2 && resource.segments.contains { if case .function = $0 { true } else { false } }
        guard isUseless || isOfFunction else { return self }
        var copy = self
        copy.options.selection = .all
        return copy
    }

    /// Moves function arguments to the query, except literals, raw text and aliases: `Best(of=@arg)?@arg=[…]` (URL Conventions, section
    /// 4.5.1).
    fileprivate func aliasingArguments(by printer: QueryPrinter) -> ODataQuery {
        guard resource.segments.contains(where: { if case .function = $0 { true } else { false } }) else { return self }
        var copy = self
        var taken: Set<String>?
        // Counts on from the last alias, since a function may have many arguments.
        var number = 0
        func freeAlias(besides names: Set<String>) -> String {
            while true {
                number += 1
                let name = number == 1 ? "arg" : "arg\(number)"
                if !names.contains(name) { return name }
            }
        }
        for (position, segment) in resource.segments.enumerated() {
            guard case .function(let name, var parameters) = segment else { continue }
            for index in parameters.indices {
                switch parameters[index].value.kind {
                case .literal, .invalid, .raw: continue
                case .path(let path):
                    if case .alias = path.root, path.segments.isEmpty { continue }
                default: break
                }
                let names = taken ?? mentionedAliases(by: printer).union(options.aliases.map(\.name))
                taken = names
                let alias = freeAlias(besides: names)
                copy.options.aliases.append(ParameterAlias(alias, parameters[index].value))
                parameters[index].value = .path(QueryPath(root: .alias(alias), segments: []))
            }
            copy.resource.segments[position] = .function(name, parameters)
        }
        return copy
    }

    /// Returns all aliases in the query, including undefined ones, which services treat as null: a generated alias mustn't take their
    /// names.
    private func mentionedAliases(by printer: QueryPrinter) -> Set<String> {
        var names = Set(resource.aliasNames)
        // Scans the printed text, which includes aliases in raw text; unprintable parts fail later anyway.
        func note(_ text: String?) {
            for part in (text ?? "").unicodeScalars.split(separator: "@", omittingEmptySubsequences: false).map(String.init).dropFirst() {
                let text = part.removingPercentEncoding ?? part
                names.insert(String(text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }))
            }
        }
        note(try? printer.text(of: options))
        for segment in resource.segments {
            switch segment {
            case .raw(let text): note(text)
            case .filter(let condition): note(try? printer.text(of: condition))
            case .function(_, let parameters): for parameter in parameters { note(try? printer.text(of: parameter.value)) }
            default: continue
            }
        }
        return names
    }
}

extension ResourcePath {
    /// The parameter aliases in keys and functions of the path. Aliases in the expression of a `$filter(…)` segment don't count: they may
    /// stay undefined, as null.
    fileprivate var aliasNames: [String] {
        var names: [String] = []
        for segment in segments {
            switch segment {
            case .key(let parts):
                for part in parts { if case .alias(let name) = part.value { names.append(name) } }
            case .function(_, let parameters):
                for parameter in parameters {
                    if case .path(let path) = parameter.value.kind, case .alias(let name) = path.root { names.append(name) }
                }
            default: continue
            }
        }
        return names
    }
}

extension QueryPrinter {
    /// Returns a query as a URL relative to the service's root, percent-encoded.
    ///
    /// - Throws: ``ODataQueryError`` if a part can't be expressed.
    public func text(of query: ODataQuery) throws(ODataQueryError) -> String {
        var list = OptionList(separator: "&")
        try write(query.resource, to: &list.text)
        try checkPair(query)
        let path = list.text.count
        list.text.syntax("?")
        let start = list.text.count
        if version == .v2 { try writeV2Parameters(of: query.resource, to: &list) }
        try write(query.options, to: &list)
        if list.text.count == start { list.text.cut(to: path) }
        return list.text.text
    }

    /// Returns the path of a resource, percent-encoded.
    ///
    /// - Throws: ``ODataQueryError`` if a part can't be expressed.
    public func text(of resource: ResourcePath) throws(ODataQueryError) -> String {
        var text = QueryText()
        try write(resource, to: &text)
        return text.text
    }

    private func checkPair(_ query: ODataQuery) throws(ODataQueryError) {
        let isEntity = query.resource.segments.first == .entity
        if isEntity, query.options.entityID == nil { throw .invalidOption("$entity", reason: "it needs $id") }
        // After `$ref`, `$id` identifies the reference (Protocol, section 11.4.6.2).
        if !isEntity, query.options.entityID != nil, query.resource.segments.last != .ref {
            throw .invalidOption("$id", reason: "it is only allowed with $entity or after $ref")
        }
    }

    private func write(_ resource: ResourcePath, to text: inout QueryText) throws(ODataQueryError) {
        guard !resource.segments.isEmpty else { throw .invalidPath("", reason: "it is empty") }
        let link = version == .v2 ? Self.linked(resource.segments) : nil
        if link == 0 { throw .unsupported("$ref of a whole entity set", version: version) }
        for (index, segment) in resource.segments.enumerated() {
            if index > 0, segment.isOwnStep, link == nil || segment != .ref { text.syntax("/") }
            if index == link { text.syntax("$links/") }
            try write(segment, isFirst: index == 0, isLinked: link != nil, to: &text)
        }
    }

    /// Returns the position of `$links` in V2: before the relation whose references are requested.
    private static func linked(_ segments: [ResourcePath.Segment]) -> Int? {
        guard segments.last == .ref else { return nil }
        return segments.lastIndex { if case .name = $0 { true } else { false } }
    }

    private func write(
        _ segment: ResourcePath.Segment, isFirst: Bool, isLinked: Bool, to text: inout QueryText
    ) throws(ODataQueryError) {
        switch segment {
        case .raw(let raw):
            try Self.check(raw)
            text.raw(raw)
        case .name(let name):
            guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of a resource") }
            text.value(name)
        case .cast(let name), .operation(let name):
            guard ODataName.isQualified(name) else { throw .invalidName(name, role: "the name of a type or an operation") }
            try require(.v4, "types and bound operations in paths")
            text.value(name)
        case .function(let name, let parameters):
            try write(function: name, parameters, isFirst: isFirst, to: &text)
        case .key(let parts):
            guard !isFirst else { throw .invalidPath("(…)", reason: "a key must follow a collection") }
            text.syntax("(")
            try write(parts, to: &text)
            text.syntax(")")
        case .keySegment(let value):
            try require(.v4, "keys as segments")
            try writeKeySegment(value, to: &text)
        case .index(let index):
            try require(.v401, "the index of an element")
            text.number(index)
        case .filter(let condition):
            try require(.v401, "$filter in paths")
            text.syntax("$filter(")
            try write(condition, isNested: false, to: &text)
            text.syntax(")")
        case .each: try writeWord("$each", since: .v401, to: &text)
        case .count: text.syntax("$count")
        case .value: text.syntax("$value")
        case .ref: if !isLinked { try writeWord("$ref", since: .v4, to: &text) }
        case .query: try writeWord("$query", since: .v401, to: &text)
        case .allEntities: try writeWord("$all", since: .v4, to: &text)
        case .entity: try writeWord("$entity", since: .v4, to: &text)
        case .metadata: text.syntax("$metadata")
        case .batch: text.syntax("$batch")
        case .crossjoin(let names):
            try writeWord("$crossjoin", since: .v4, to: &text)
            guard !names.isEmpty else { throw .invalidPath("$crossjoin", reason: "it has no entity set") }
            text.syntax("(")
            try writeList(names, to: &text) { name, text throws(ODataQueryError) in
                guard ODataName.isIdentifier(name) else { throw .invalidName(name, role: "the name of an entity set") }
                text.value(name)
            }
            text.syntax(")")
        case .invalid(let error):
            throw error
        }
    }

    private func writeWord(_ word: String, since: ODataVersion, to text: inout QueryText) throws(ODataQueryError) {
        try require(since, word)
        text.syntax(word)
    }
}

/// `$select` and `$expand` of V2, which have no parentheses: nested selections and expansions are written as paths
/// (`$select=Name,Trips/Name&$expand=Trips`); other nested options are refused.
extension QueryPrinter {
    /// Paths in their order, each once. There may be thousands.
    private struct PathList {
        private(set) var all: [QueryPath] = []
        private var known: Set<QueryPath> = []

        /// Returns whether the path is new.
        @discardableResult mutating func append(_ path: QueryPath) -> Bool {
            guard known.insert(path).inserted else { return false }
            all.append(path)
            return true
        }
    }

    private struct Relations {
        var selected = PathList()
        /// A Boolean value that indicates whether anything restricts the selection; if not, `$select` is redundant.
        var isSelective = false
        var expanded = PathList()
        /// For each path, how many paths in enclosing selections equal it or begin with it.
        private var named: [[QueryPath.Segment]: Int] = [:]

        func areNamed(below prefix: [QueryPath.Segment]) -> Bool { named[prefix, default: 0] > 0 }

        /// Adds the paths of a selection, or removes them with a change of -1.
        mutating func name(_ paths: [QueryPath], below prefix: [QueryPath.Segment], change: Int) {
            for path in paths {
                var segments = prefix
                for segment in path.segments {
                    segments.append(segment)
                    named[segments, default: 0] += change
                }
            }
        }
    }

    func writeV2Relations(_ options: QueryOptions, to list: inout OptionList) throws(ODataQueryError) {
        var relations = Relations()
        try collect(options, below: [], into: &relations, depth: 0)
        if relations.isSelective {
            list.begin("$select=")
            try writeList(relations.selected.all, to: &list.text) { path, text throws(ODataQueryError) in
                try writePlain(path, for: "$select", to: &text)
            }
        }
        if !relations.expanded.all.isEmpty {
            list.begin("$expand=")
            try writeList(relations.expanded.all, to: &list.text) { path, text throws(ODataQueryError) in
                try writePlain(path, for: "$expand", to: &text)
            }
        }
    }

    /// Returns whether an expansion, at any depth, selects properties by name.
    private func isSelective(within options: QueryOptions, depth: Int) -> Bool {
        guard depth < Self.depthLimit else { return false }
        return options.expansions.contains { expansion in
            switch expansion.options.selection {
            case .items(let items) where !items.isEmpty: true
            case .decoded where expansion.options.selectedNames(.v2)?.isEmpty == false: true
            default: isSelective(within: expansion.options, depth: depth + 1)
            }
        }
    }

    private func collect(
        _ options: QueryOptions, below prefix: [QueryPath.Segment], into relations: inout Relations, depth: Int
    ) throws(ODataQueryError) {
        guard depth < Self.depthLimit else { throw .tooDeep(limit: Self.depthLimit) }
        var paths: [QueryPath]
        var named: [QueryPath] = []
        // If an enclosing selection already names properties of the relation, only an explicit selection adds more.
        var addsNothing = !prefix.isEmpty && relations.areNamed(below: prefix)
        switch options.selection {
        case .items(let items):
            guard items.allSatisfy({ $0.nested.isEmpty && $0.parameters == nil }) else {
                throw .unsupported("options in $select", version: version)
            }
            paths = items.map(\.path)
            named = paths
            // A parsed V2 query has an empty selection in each expansion, because its `$select` contains all paths.
            addsNothing = items.isEmpty && !prefix.isEmpty
        case .decoded:
            let expanded = Set(options.expansions.compactMap(\.path.singleName))
            paths = (options.selectedNames(.v2) ?? []).filter { !expanded.contains($0) }.map { QueryPath(segments: [.property($0)]) }
        case .all:
            paths = []
        }
        if paths.isEmpty { paths = [QueryPath(segments: [.all])] } else if !addsNothing { relations.isSelective = true }
        for path in paths where !addsNothing {
            // `Trips` includes its nested expansions; `Trips/*` only its properties.
            let isAll = path.segments == [.all] && !prefix.isEmpty && !isSelective(within: options, depth: depth)
            let full = QueryPath(root: path.root, segments: isAll ? prefix : prefix + path.segments)
            relations.selected.append(full)
        }
        relations.name(named, below: prefix, change: 1)
        for expansion in options.expansions {
            guard expansion.path.root == .entity else {
                throw .invalidOption("$expand", reason: "it must name a relation of the entity, without an alias or variable")
            }
            if expansion.path.segments.contains(.all) { throw .unsupported("$expand=*", version: version) }
            let path = QueryPath(segments: prefix + expansion.path.segments)
            guard relations.expanded.append(path) else {
                throw .invalidOption("$expand", reason: "a relation is expanded twice; give all its options in one expand")
            }
            let nested = expansion.options
            if nested.filter != nil || nested.search != nil || !nested.order.isEmpty || nested.top != nil || nested.skip != nil
                || nested.includesCount || !nested.custom.isEmpty || !nested.rare.isEmpty
            {
                throw .unsupported("options in $expand", version: version)
            }
            try collect(nested, below: path.segments, into: &relations, depth: depth + 1)
        }
        relations.name(named, below: prefix, change: -1)
    }
}

extension FetchRequest {
    /// Returns the URL relative to the service's root, percent-encoded.
    ///
    /// - Throws: ``ODataQueryError`` if a part can't be expressed, or if an alias in the path is undefined.
    public func relativeURL(using printer: QueryPrinter = QueryPrinter()) throws(ODataQueryError) -> String {
        try printer.request(query)
    }
}

extension EntityRequest {
    /// Returns the URL relative to the service's root, percent-encoded.
    ///
    /// - Throws: ``ODataQueryError`` if a part can't be expressed, if an option doesn't apply to one entity, or if an alias in the path is
    ///   undefined.
    public func relativeURL(using printer: QueryPrinter = QueryPrinter()) throws(ODataQueryError) -> String {
        let misplaced: [(String, Bool)] = [
            ("$filter", options.filter != nil), ("$search", options.search != nil), ("$orderby", !options.order.isEmpty),
            ("$top", options.top != nil), ("$skip", options.skip != nil), ("$count", options.includesCount),
            ("$apply", !options.apply.isEmpty), ("$index", options.index != nil),
        ]
        if let option = misplaced.first(where: \.1) {
            throw .invalidOption(option.0, reason: "it doesn't apply to a single entity")
        }
        return try printer.request(query)
    }
}
