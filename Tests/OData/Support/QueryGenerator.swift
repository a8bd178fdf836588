import Foundation
import OData
import TestSupport

/// Generates random queries of every kind, reproducible by seed: trees like the parser's, so that printed queries can be compared.
struct QueryGenerator {
    var random: SeededGenerator
    /// Whether the queries are for the grammar's judge. They are then smaller, without key segments (which it can't distinguish from
    /// properties), without escaped quotes in JSON (which it miscounts), and without U+007F in texts: `%7F` is valid in a URL, but the
    /// grammar omits it inside literals, as it does `%7B` to `%7D`.
    let isForJudge: Bool

    init(seed: UInt64, isForJudge: Bool = false) {
        self.isForJudge = isForJudge
        random = SeededGenerator(seed: seed)
    }

    mutating func below(_ bound: Int) -> Int {
        Int.random(in: 0..<bound, using: &random)
    }

    mutating func isOne(in chances: Int) -> Bool {
        below(chances) == 0
    }

    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[below(choices.count)]
    }

    mutating func list<Element>(_ range: ClosedRange<Int>, _ make: (inout QueryGenerator) throws -> Element) rethrows -> [Element] {
        var result: [Element] = []
        for _ in 0..<(range.lowerBound + below(range.count)) { result.append(try make(&self)) }
        return result
    }

    mutating func text() -> String {
        let pieces = [
            "'", "''", "&", "+", "%", "%27", "%2F", "/", "?", "#", "\"", "<", ">", "\\", "^", "`", " ", "{", "|", "}", "[", "]", ";", ",",
            "=", "$", "@", "(", ")", ":", "!", "*", "~", "a", "B", "9", "ä", "ß", "漢", "🎈", "e\u{301}", "'\u{301}", "\u{0}", "\n", "\r\n",
            "\t", "\u{7F}", "\u{200B}", "null", " or 1 eq 1", "%%1%%", "../", "%00", "&$top=1",
        ]
        let text = list(0...8) { $0.pick(pieces) }.joined()
        return isForJudge ? text.replacing("\u{7F}", with: "") : text
    }

    mutating func name() -> String {
        pick([
            "Name", "Age", "x1", "x2", "City", "Größe", "_a", "null", "INF", "not", "true", "any", "eq", "date", "Trips", "duration",
            "time",
        ])
    }

    mutating func type() -> String {
        pick(["Ns.Type", "A.B.C", "Edm.String", "Edm.Int64"])
    }

    mutating func annotation() -> String {
        pick(["@Measures.Currency", "@Core.Messages", "@Ns.Term#Qualifier"])
    }

    private mutating func digits() -> String {
        "\(below(1_000_000)).\(below(1_000_000))"
    }

    /// Returns a value whose literal determines its type.
    mutating func value() -> EdmValue {
        switch below(19) {
        case 0: return .null
        case 1: return .boolean(isOne(in: 2))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3: return .integer(Int64(below(100)) - 50)
        case 4:
            let text = digits()
            guard let number = Decimal(string: text), number.description == text else { return .number(text) }
            return .decimal(number)
        case 5:
            let number = Double(bitPattern: random.next())
            // Other values are read as decimals, and NaN isn't equal to itself.
            return number.isFinite && number.description.contains("e") ? .double(number) : .double(.infinity)
        case 6: return .double(pick([.infinity, -.infinity, 1e21, 1e-7, .greatestFiniteMagnitude, .leastNonzeroMagnitude]))
        case 7: return .guid(UUID(uuid: (UInt8(below(256)), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(below(256)))))
        case 8: return timestamp()
        case 9: return EdmDate(year: below(30_000) - 10_000, month: 1 + below(12), day: 1 + below(28)).edmValue
        case 10:
            let time = EdmTimeOfDay(hour: below(24), minute: below(60), second: below(60), picosecond: Int64(below(1_000_000_000_000)))
            return time.edmValue
        case 11: return .duration(.milliseconds(below(1_000_000_000) - 500_000_000))
        case 12: return .binary(Data(list(0...9) { UInt8($0.below(256)) }))
        case 13: return .enumeration(type: pick(["Ns.Colour", "A.B.C"]), member: pick(["Red", "Red,Blue"]))
        case 14: return .number(pick(["1234567890123456789012345678901234567890123.5", "99999999999999999999", "1.50", "-0.0", "1e30000"]))
        case 15: return .spatial(spatial())
        default: return .string(text())
        }
    }

    private mutating func timestamp() -> EdmValue {
        guard let date = EdmDate(year: below(12_000) - 1_000, month: 1 + below(12), day: 1 + below(28)),
            let value = EdmDateTimeOffset(
                date: date, hour: below(24), minute: below(60), second: below(61), picosecond: Int64(below(1_000)) * 1_000_000_007,
                offset: below(2_879) - 1_439)
        else { return .null }
        return .timestamp(value)
    }

    private mutating func spatial() -> EdmSpatial {
        EdmSpatial(pick([.geography, .geometry]), srid: pick([0, 4326, 99_999]), shape(1))
    }

    private mutating func position() -> EdmSpatial.Position {
        func number(_ generator: inout QueryGenerator) -> Double { Double(generator.below(360_000)) / 1_000 - 180 }
        var position = EdmSpatial.Position(x: number(&self), y: number(&self))
        if isOne(in: 3) { position.z = number(&self) }
        if position.z != nil, isOne(in: 2) { position.m = number(&self) }
        return position
    }

    private mutating func shape(_ depth: Int) -> EdmSpatial.Shape {
        switch below(depth > 0 ? 7 : 6) {
        case 0: .point(position())
        case 1: .line(list(2...4) { $0.position() })
        case 2: .polygon(list(1...2) { $0.list(1...4) { $0.position() } })
        case 3: .points(list(0...2) { $0.position() })
        case 4: .lines(list(0...2) { $0.list(2...3) { $0.position() } })
        case 5: .polygons(list(0...2) { $0.list(1...2) { $0.list(1...3) { $0.position() } } })
        default: .collection(list(1...3) { $0.shape(depth - 1) })
        }
    }
}

extension QueryGenerator {
    mutating func resource() -> ResourcePath {
        switch below(12) {
        case 0: return ResourcePath(segments: [.crossjoin(["Products", "Sales"])])
        case 1: return .all(of: isOne(in: 2) ? "Ns.Type" : nil)
        case 2: return ResourcePath(segments: [.function("Top", [])]).function("Ns.Best", ["n": 5, "größe": text()])
        default: break
        }
        var path = ResourcePath(entitySet: pick(["People", "Größen"]))
        if isOne(in: 5) { path = path.cast(to: "Ns.Type") }
        if isOne(in: 2) {
            var key = key()
            // After a type, named key parts would make it a function.
            while path.segments.count > 1, key.count > 1 { key = self.key() }
            path.segments.append(.key(key))
            path = path.property(pick(["Trips", "Größe"]))
        } else if !isForJudge, isOne(in: 5) {
            path.segments.append(.keySegment(pick([.integer(5), .guid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7)))])))
            path = path.property("Trips")
        }
        if isOne(in: 5) {
            path.segments.append(.filter(predicate(2)))
            // A filtered collection is still a collection.
            return isOne(in: 2) ? path.count() : isOne(in: 2) ? path.each() : path
        }
        if isOne(in: 5) { path = path.function("Ns.Nearby", ["distance": 5, "where": text()]) }
        switch below(10) {
        case 0: return path.count()
        case 1: return path.ref()
        case 2: return path.value()
        case 3: return path.each()
        // Indices exist for collections of values only.
        case 4: return path.property("Emails").element(at: -1 - below(5))
        default: return path
        }
    }

    mutating func query() -> ODataQuery {
        ODataQuery(resource(), options: options(isForJudge ? 1 : 2, isTop: true))
    }
}

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
