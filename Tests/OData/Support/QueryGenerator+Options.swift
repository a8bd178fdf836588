import Foundation

@testable import OData

extension QueryGenerator {
    private mutating func order() -> [QueryOptions.Order] {
        list(1...3) { QueryOptions.Order($0.operand(2, []), isDescending: $0.isOne(in: 2)) }
    }

    mutating func options(_ depth: Int, isTop: Bool) -> QueryOptions {
        var options = QueryOptions()
        if below(3) > 0 { options.filter = predicate(below(isForJudge ? 3 : 4)) }
        if isOne(in: 4) { options.search = search(2) }
        if isOne(in: 3) { options.selection = .items(list(1...3) { $0.selectItem(depth) }) }
        if depth > 0, isOne(in: 2) {
            var targets = ["Trips", "Friends", "Photo", "Größen"]
            options.expansions = list(1...3) { $0.expansion(targets.remove(at: $0.below(targets.count)), depth) }
        }
        if isOne(in: 3) { options.order = order() }
        if isOne(in: 3) { options.top = below(100) }
        if isOne(in: 3) { options.skip = below(100) }
        options.includesCount = isOne(in: 4)
        if isOne(in: 5) { options.compute = list(1...2) { Computation($0.operand(2, []), as: $0.pick(["Total", "Größe"])) } }
        if isOne(in: 8) { options.aliases = [ParameterAlias("p", json(2)), ParameterAlias("größe", operand(2, []))] }
        if isTop, isOne(in: 4) { options.apply = steps(2) }
        if !isTop, isOne(in: 5) { options.levels = isOne(in: 2) ? .max : .levels(1 + below(9)) }
        guard isTop else { return options }
        if isOne(in: 10) { options.format = pick(["json", "application/json"]) }
        if isOne(in: 10) { options.schemaVersion = pick(["*", "1.42.2"]) }
        if isOne(in: 10) { options.index = below(9) - 5 }
        if isOne(in: 10) { options.skipToken = "a" + text() }
        if isOne(in: 10) { options.temporal = [TemporalBound(.at, .literal(.date(EdmDate("2026-11-21") ?? .zero)))] }
        if isOne(in: 4) { options.custom = [.init(name: "sap-client", value: text())] }
        return options
    }

    private mutating func selectItem(_ depth: Int) -> SelectItem {
        switch below(8) {
        case 0: return .all
        case 1: return SelectItem(QueryPath(pick(["Ns.*", "Ns.Type/Name", "@Core.Messages", "Ns.Operation"])))
        case 2: return SelectItem(function: "Ns.Function", parameters: ["a", "größe"])
        case 3 where depth > 0:
            var nested = options(0, isTop: false)
            nested.levels = nil
            return SelectItem(QueryPath("Emails"), options: nested)
        default: return SelectItem(QueryPath(pick(["A", "B/C", "Größe"])))
        }
    }

    private mutating func expansion(_ name: String, _ depth: Int) -> Expansion {
        switch below(8) {
        case 0:
            var nested = QueryOptions()
            nested.filter = predicate(2)
            nested.top = 5
            return Expansion(path: QueryPath(name + "/$ref"), options: nested)
        case 1:
            var nested = QueryOptions()
            nested.search = search(2)
            return Expansion(path: QueryPath(name + "/$count"), options: nested)
        case 2: return Expansion(path: QueryPath("Ns.Type/" + name + "/Ns.Other"), options: options(depth - 1, isTop: false))
        default: return Expansion(path: QueryPath(name), options: options(depth - 1, isTop: false))
        }
    }

    // MARK: Transformations

    mutating func steps(_ depth: Int) -> [Transformation] {
        list(1...3) { $0.step(depth) }
    }

    private mutating func step(_ depth: Int) -> Transformation {
        let sales = QueryPath("Sales")
        let hierarchy = RecursiveHierarchy(
            nodes: QueryPath(root: .root, segments: [.property("Nodes")]), qualifier: "Tree", node: QueryPath("Node/ID"))
        switch below(depth > 0 ? 20 : 8) {
        case 0: return .filter(predicate(2))
        case 1: return .search(search(1))
        case 2: return .identity
        case 3: return .order(order())
        case 4: return isOne(in: 2) ? .top(below(99)) : .skip(below(99))
        case 5: return .ranked(pick(Transformation.Ranking.allCases), operand(1, []), by: operand(1, []))
        case 6: return .compute([Computation(operand(2, []), as: "Total")])
        case 7: return .aggregate(list(1...3) { $0.aggregate() })
        case 8, 9, 10, 11: return .groupBy(list(1...3) { $0.grouping(depth) }, isOne(in: 2) ? [] : steps(depth - 1))
        case 12: return .concat(list(2...3) { $0.steps(depth - 1) })
        case 13: return .nest([NestedTransformation(steps(depth - 1), as: "Nested")])
        case 14: return .addNested(sales, [NestedTransformation(steps(depth - 1), as: "Nested")])
        case 15: return .join(sales, as: "Sale", isOne(in: 2) ? [] : steps(depth - 1), isOuter: isOne(in: 2))
        case 16: return .ancestors(hierarchy, [.filter(predicate(1))], distance: isOne(in: 2) ? 2 : nil, keepsStart: isOne(in: 2))
        case 17: return .descendants(hierarchy, [.identity], distance: isOne(in: 2) ? 2 : nil, keepsStart: isOne(in: 2))
        case 18: return .traverse(hierarchy, isPreorder: isOne(in: 2), isOne(in: 2) ? [] : [.identity], isOne(in: 2) ? [] : order())
        default: return .function("Ns.Condense", [QueryPath.Parameter("n", .literal(.integer(5)))])
        }
    }

    private mutating func grouping(_ depth: Int) -> Grouping {
        let hierarchy = RecursiveHierarchy(
            nodes: QueryPath(root: .root, segments: [.property("Nodes")]), qualifier: "Tree", node: QueryPath("ID"))
        switch below(6) {
        case 0: return .rollup([QueryPath("Customer/Country"), QueryPath("Customer/ID")])
        case 1: return .rollupRecursive(hierarchy, isOne(in: 2) ? [] : [.filter(predicate(1))])
        default: return .property(QueryPath(pick(["Customer/Name", "Größe", "Ns.Type/Name"])))
        }
    }

    private mutating func aggregate() -> AggregateExpression {
        let from = isOne(in: 4) ? [AggregateExpression.From([QueryPath("Time"), QueryPath("A/B")], with: .average)] : []
        switch below(6) {
        case 0: return AggregateExpression(.path(QueryPath("$count")), from: from, as: "Count")
        case 1: return AggregateExpression(.path(QueryPath("Sales/$count")), from: from, as: "Count")
        case 2: return AggregateExpression(.path(QueryPath("Sales/Forecast")))
        case 3: return AggregateExpression(.path(QueryPath("Forecast")), from: [.init([QueryPath("Time")])], as: "Größe")
        default:
            let method = pick([.sum, .minimum, .maximum, .average, .countDistinct, AggregateExpression.Method(rawValue: "Custom.median")])
            return AggregateExpression(.binary(.multiply, .path(QueryPath("A")), operand(1, [])), with: method, from: from, as: "Total")
        }
    }
}

extension EdmDate {
    fileprivate static var zero: EdmDate {
        EdmDate(year: 0, month: 1, day: 1) ?? .zero
    }
}
