import ODataMetadata
import WebServiceClient

/// Compares a request with the model of a service: first the path of the resource, then each option, beginning at the end of that path.
struct RequestVerifier {
    let model: ServiceModel
    private(set) var faults: [ModelFault] = []
    /// The depth of nested options and expressions, bounded as in printing.
    var depth = 0
    /// The paths of properties from the entity in the last expression: `Address/City`.
    var entityPaths: [String] = []

    init(_ model: ServiceModel) {
        self.model = model
    }

    /// Verifies a request.
    static func faults(in query: ODataQuery, _ model: ServiceModel) -> [ModelFault] {
        var verifier = RequestVerifier(model)
        let reached = verifier.follow(query.resource)
        verifier.verify(query.options, at: reached, place: "")
        var seen: Set<ModelFault> = []
        return verifier.faults.filter { seen.insert($0).inserted }
    }

    mutating func report(_ kind: ModelFault.Kind, at place: String, _ offender: String, _ problem: String, fix: String) {
        faults.append(ModelFault(kind, at: place, offender, problem, fix: fix))
    }

    /// Reports a name that isn't a property of a type.
    mutating func reportUnknown(_ name: String, of type: ServiceModel.StructuredType, at place: String, besides more: Set<String> = []) {
        let fix = ModelFault.fix(for: name, among: model.memberNames(of: type) + more, "properties")
        report(.unknownProperty, at: place, name, "'\(name)' isn't a property of \(type.qualifiedName)", fix: fix)
    }

    mutating func reportRestriction(_ what: String, at place: String, _ offender: String, by source: String, fix: String) {
        report(.restriction, at: place, offender, "the service excludes \(what) by \(source)", fix: fix)
    }

    /// Runs a step one level deeper, unless the request nests too deeply.
    mutating func deeper(at place: String, _ step: (inout RequestVerifier) -> Void) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Nesting.queryLimit else {
            report(
                .undetermined, at: place, place, "the request nests its parts more than \(Nesting.queryLimit) deep",
                fix: "split the request; it can't be sent either")
            return
        }
        step(&self)
    }
}

// The options of a request or an expansion.
extension RequestVerifier {
    /// Verifies options.
    ///
    /// - Parameters:
    ///   - point: The end of the path that the options apply to.
    ///   - place: The expansion that has the options: `$expand=Trips`, or empty for the request.
    mutating func verify(_ options: QueryOptions, at point: ModelPoint, place: String) {
        deeper(at: place) { verifier in
            func at(_ option: String) -> String { place.isEmpty ? option : "\(place)(\(option))" }
            var scope = QueryScope(point.element)
            // Within an expansion, `$it` is an instance of the request's own resource.
            if !place.isEmpty { scope.it = .unknown(verifier.model) }
            for item in options.compute {
                verifier.verify(item.expression, scope, .compute, at: at("$compute"))
                scope.names.insert(item.name)
            }
            if !options.apply.isEmpty { verifier.verify(options.apply, &scope, at: at("$apply")) }
            for alias in options.aliases { verifier.verify(alias.value, scope, .other, at: at("@" + alias.name)) }
            verifier.verifyFilter(options, point, scope, at: at("$filter"))
            for item in options.order { verifier.verifyOrder(item, scope, at: at("$orderby")) }
            verifier.verifySelection(options, scope, at: at("$select"))
            for item in options.expansions { verifier.verify(item, scope, place: place) }
            verifier.verifyPaging(options, point, at)
        }
    }

    private mutating func verifyFilter(_ options: QueryOptions, _ point: ModelPoint, _ scope: QueryScope, at place: String) {
        let restrictions = point.restrictions
        guard let filter = options.filter else {
            // Only collections can be filtered.
            guard point.isCollection else { return }
            if let name = restrictions.filterRequirement {
                report(.restriction, at: place, "$filter", "\(restrictions.name) requires a filter by \(name)", fix: "add one")
            }
            return
        }
        if let found = restrictions.annotation("FilterRestrictions"), found.isFalse("Filterable") {
            reportRestriction("filters", at: place, "$filter", by: found.name, fix: "filter the entities in Swift")
        }
        entityPaths = []
        verify(filter, scope, .filter, at: place)
        let used = Set(entityPaths.map(Restrictions.withoutCasts))
        verifyForms(of: filter, point.structuredType, scope, at: place)
        guard point.isCollection, !scope.isShapeUnknown else { return }
        for (path, name) in restrictions.requiredFilterProperties(of: point.structuredType) where !used.contains(path) {
            report(.restriction, at: place, path, "a filter must contain '\(path)' by \(name)", fix: "add a condition for it")
        }
    }

    private mutating func verifyOrder(_ item: QueryOptions.Order, _ scope: QueryScope, at place: String) {
        let restrictions = scope.entity.restrictions
        let found = restrictions.annotation("SortRestrictions")
        if let found, found.isFalse("Sortable") {
            reportRestriction("sorting", at: place, "$orderby", by: found.name, fix: "sort the entities in Swift")
        }
        entityPaths = []
        verify(item.expression, scope, .sort, at: place)
        guard let found else { return }
        let list = item.isDescending ? "AscendingOnlyProperties" : "DescendingOnlyProperties"
        for path in entityPaths where found.lists(path, in: list) {
            reportRestriction(
                "this direction for '\(path)'", at: place, path, by: "\(found.name) (\(list))", fix: "sort in the other direction")
        }
    }

    private mutating func verifySelection(_ options: QueryOptions, _ scope: QueryScope, at place: String) {
        var items: [SelectItem] = []
        switch options.selection {
        case .all: return
        case .items(let given): items = given
        case .decoded:
            // The client sends the names that the Swift type decodes.
            let names = options.selectedNames(model.version < .v4 ? .v2 : .v4) ?? []
            guard options.apply.isEmpty else { return }
            items = names.map { SelectItem(QueryPath(segments: [.property($0)])) }
        }
        if !items.isEmpty, let found = scope.entity.restrictions.annotation("SelectSupport"), found.isFalse("Supported") {
            reportRestriction("a selection of properties", at: place, "$select", by: found.name, fix: "use selectAll()")
        }
        for item in items {
            let reached = follow(item.path, scope, .select, at: place)
            guard item.options != QueryOptions() else { continue }
            verify(item.options, at: reached, place: "\(place)=\(item.path.shown)")
        }
    }

    private mutating func verify(_ item: Expansion, _ scope: QueryScope, place: String) {
        let own = "$expand=\(item.path.shown)"
        let place = place.isEmpty ? own : "\(place)(\(own))"
        let found = scope.entity.restrictions.annotation("ExpandRestrictions")
        if let found {
            if found.isFalse("Expandable") {
                reportRestriction("expansions", at: place, "$expand", by: found.name, fix: "request the relation by a path of its own")
            }
            if let limit = found.value?["MaxLevels"]?.intValue, limit >= 0, Int64(item.levelCount) > limit {
                reportRestriction(
                    "more than \(limit) levels", at: place, "$expand", by: "\(found.name) (MaxLevels)",
                    fix: "request the deeper relations by paths of their own")
            }
        }
        var path = item.path
        let isCount = path.segments.last?.isCount ?? false
        if isCount { path.segments.removeLast() }
        let reached = follow(path, scope, .expand, at: place)
        if isCount { verifyCount(reached.restrictions, at: place) }
        // Version 4.01 expands streams, too.
        if !reached.isUnknown, !reached.isResource, !reached.isStream {
            report(
                .misplaced, at: place, item.path.shown, "'\(item.path.shown)' isn't a navigation property and can't be expanded",
                fix: "select it instead")
            return
        }
        if !scope.isShapeUnknown { verify(item.options, at: reached, place: place) }
    }

    private mutating func verifyPaging(_ options: QueryOptions, _ point: ModelPoint, _ at: (String) -> String) {
        let restrictions = point.restrictions
        if let search = options.search { verify(search, restrictions, at: at("$search")) }
        if options.includesCount { verifyCount(restrictions, at: at("$count")) }
        for (name, isSet, term) in [("$top", options.top != nil, "TopSupported"), ("$skip", options.skip != nil, "SkipSupported")]
        where isSet {
            if let found = restrictions.annotation(term), found.isFalse() {
                reportRestriction(name, at: at(name), name, by: found.name, fix: "follow the next links of the pages")
            } else if let attribute = ["pageable", "topable"].first(where: { restrictions.sapExcludes($0) }),
                attribute == "pageable" || name == "$top"
            {
                reportRestriction(
                    name, at: at(name), name, by: "sap:\(attribute) of \(restrictions.name)", fix: "follow the next links of the pages")
            }
        }
        if !options.compute.isEmpty, let found = restrictions.annotation("ComputeSupported"), found.isFalse() {
            reportRestriction("computed properties", at: at("$compute"), "$compute", by: found.name, fix: "compute them in Swift")
        }
    }

    /// Verifies a count of entities.
    mutating func verifyCount(_ restrictions: Restrictions, at place: String) {
        guard let source = restrictions.countExclusion else { return }
        reportRestriction("counts", at: place, "$count", by: source, fix: "count the entities of all pages")
    }

    /// Verifies a count of the elements of a property.
    mutating func verifyCount(of path: [String], _ restrictions: Restrictions, at place: String) {
        let path = path.joined(separator: "/")
        guard let source = restrictions.countExclusion(of: path) else { return }
        reportRestriction("counts of '\(path)'", at: place, path, by: source, fix: "count its elements in Swift")
    }

    /// Verifies a search, whose operators a service may exclude.
    private mutating func verify(_ search: SearchTerm, _ restrictions: Restrictions, at place: String) {
        if restrictions.sapExcludes("searchable") {
            reportRestriction("searches", at: place, "$search", by: "sap:searchable of \(restrictions.name)", fix: "use a filter")
        }
        guard let found = restrictions.annotation("SearchRestrictions") else { return }
        if found.isFalse("Searchable") {
            reportRestriction("searches", at: place, "$search", by: found.name, fix: "use a filter")
            return
        }
        let excluded = Set((found.value?["UnsupportedExpressions"]?.text ?? "").split { $0 == "," || $0 == " " }.map(String.init))
        var used: Set<String> = []
        var rest = [search]
        while let term = rest.popLast() {
            switch term.kind {
            case .and(let terms):
                used.insert("AND")
                rest += terms
            case .or(let terms):
                used.insert("OR")
                rest += terms
            case .not(let term):
                used.insert("NOT")
                rest.append(term)
            case .phrase: used.insert("phrase")
            case .words, .text, .raw, .invalid: continue
            }
        }
        for name in used.intersection(excluded).sorted() {
            reportRestriction("'\(name)' in searches", at: place, name, by: found.name, fix: "use single words")
        }
    }
}

// Set transformations.
extension RequestVerifier {
    /// Verifies transformations up to the first one whose result has another shape. The model doesn't describe later ones.
    private mutating func verify(_ steps: [Transformation], _ scope: inout QueryScope, at place: String) {
        for step in steps where !scope.isShapeUnknown {
            switch step.kind {
            case .filter(let condition):
                verify(condition, scope, .filter, at: place)
                verifyForms(of: condition, scope.entity.structuredType, scope, at: place)
            case .order(let items): for item in items { verifyOrder(item, scope, at: place) }
            case .compute(let items):
                for item in items {
                    verify(item.expression, scope, .compute, at: place)
                    scope.names.insert(item.name)
                }
            case .ranked(_, let amount, let value):
                verify(amount, scope, .other, at: place)
                verify(value, scope, .other, at: place)
            case .groupBy(let groupings, let inner):
                for grouping in groupings { verify(grouping, scope, at: place) }
                var copy = scope
                verify(inner, &copy, at: place)
                scope.forgetShape()
            case .aggregate(let items):
                for item in items { verify(item.source, scope, .aggregate, at: place) }
                scope.forgetShape()
            case .concat(let sequences):
                for sequence in sequences {
                    var copy = scope
                    verify(sequence, &copy, at: place)
                }
                scope.forgetShape()
            case .search, .top, .skip, .identity: continue
            case .expand, .nest, .addNested, .join, .ancestors, .descendants, .traverse, .function, .raw, .invalid: scope.forgetShape()
            }
        }
    }

    private mutating func verify(_ grouping: Grouping, _ scope: QueryScope, at place: String) {
        switch grouping {
        case .property(let path): _ = follow(path, scope, .aggregate, at: place)
        // A single name in a rollup is the name of a hierarchy.
        case .rollup(let paths) where paths.count > 1: for path in paths { _ = follow(path, scope, .aggregate, at: place) }
        case .rollup, .rollupRecursive: return
        }
    }
}

extension Expansion {
    /// The number of levels of relations, including this one.
    fileprivate var levelCount: Int {
        if case .levels(let count)? = options.levels { return count }
        // The depth of options is bounded.
        return 1 + (options.expansions.map(\.levelCount).max() ?? 0)
    }
}

extension QueryPath.Segment {
    /// Whether the segment is the number of elements.
    fileprivate var isCount: Bool {
        switch self {
        case .count, .countWhere: true
        default: false
        }
    }
}

extension QueryPath {
    /// The path in texts, without values.
    var shown: String {
        segments.map { segment in
            switch segment {
            case .property(let name), .cast(let name): name
            case .count, .countWhere: "$count"
            case .filter: "$filter(…)"
            case .key: "(…)"
            case .function(let name, _): name + "(…)"
            case .aggregate: "aggregate(…)"
            case .all: "*"
            case .operations(let name): name + ".*"
            case .ref: "$ref"
            case .value: "$value"
            case .unresolved: "?"
            }
        }
        .joined(separator: "/")
    }
}
