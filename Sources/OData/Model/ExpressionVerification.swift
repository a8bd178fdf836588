import ODataMetadata

// Verifies the names in expressions, and the types that they compare.
extension RequestVerifier {
    /// The value of an expression, if it is known.
    private enum Operand {
        case point(ModelPoint)
        case literal(EdmValue)
        case unknown

        static func primitive(_ name: String, _ model: ServiceModel) -> Operand {
            .point(ModelPoint(value: .primitive(name), isCollection: false, restrictions: Restrictions(model)))
        }
    }

    /// Verifies an expression.
    mutating func verify(_ expression: QueryExpression, _ scope: QueryScope, _ use: PathUse, at place: String) {
        _ = operand(expression, scope, use, at: place)
    }

    private mutating func operand(_ expression: QueryExpression, _ scope: QueryScope, _ use: PathUse, at place: String) -> Operand {
        var result = Operand.unknown
        deeper(at: place) { result = $0.evaluated(expression, scope, use, at: place) }
        return result
    }

    private mutating func evaluated(_ expression: QueryExpression, _ scope: QueryScope, _ use: PathUse, at place: String) -> Operand {
        switch expression.kind {
        case .literal(let value): return .literal(value)
        case .path(let path):
            let point = follow(path, scope, use, at: place)
            return point.isUnknown ? .unknown : .point(point)
        case .unary(let operation, let inner):
            let operand = operand(inner, scope, use, at: place)
            return operation == .not ? .primitive("Edm.Boolean", model) : operand
        case .binary: return chain(expression, scope, use, at: place)
        case .membership(let inner, let values):
            let operand = operand(inner, scope, use, at: place)
            for value in values { compare(operand, .literal(value), inner, at: place) }
            return .primitive("Edm.Boolean", model)
        case .call(let name, let arguments): return call(name, arguments, scope, use, at: place)
        case .cast(let inner, let type):
            if let inner { verify(inner, scope, use, at: place) }
            return converted(to: type, at: place)
        case .isOf(let inner, let type):
            if let inner { verify(inner, scope, use, at: place) }
            _ = converted(to: type, at: place)
            return .primitive("Edm.Boolean", model)
        case .conditional(let branches):
            for branch in branches {
                verify(branch.condition, scope, use, at: place)
                verify(branch.value, scope, use, at: place)
            }
        case .array(let items): for item in items { verify(item, scope, use, at: place) }
        case .object(let members): for member in members { verify(member.value, scope, use, at: place) }
        case .lambda(_, let path, let variable, let predicate):
            lambda(over: path, variable, predicate, scope, use, at: place)
            return .primitive("Edm.Boolean", model)
        case .raw, .invalid: break
        }
        return .unknown
    }

    /// Verifies a chain of operators. Left operands are iterated, because chains may be long.
    private mutating func chain(_ expression: QueryExpression, _ scope: QueryScope, _ use: PathUse, at place: String) -> Operand {
        var first = expression
        var links: [(operation: BinaryOperator, right: QueryExpression)] = []
        while case .binary(let operation, let left, let right) = first.kind {
            links.append((operation, right))
            first = left
        }
        var left = operand(first, scope, use, at: place)
        var leftExpression = first
        for link in links.reversed() {
            let right = operand(link.right, scope, use, at: place)
            switch link.operation {
            case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .has:
                compare(left, right, leftExpression, link.right, at: place)
                left = .primitive("Edm.Boolean", model)
            case .and, .or, .isIn: left = .primitive("Edm.Boolean", model)
            case .add, .subtract, .multiply, .divide, .divideBy, .modulo: left = .unknown
            }
            leftExpression = link.right
        }
        return left
    }

    private mutating func lambda(
        over path: QueryPath, _ variable: LambdaVariable, _ predicate: QueryExpression?, _ scope: QueryScope, _ use: PathUse,
        at place: String
    ) {
        let before = entityPaths.count
        var point = follow(path, scope, use, at: place)
        if !point.isUnknown, !point.isCollection {
            report(
                .misplaced, at: place, path.shown, "'\(path.shown)' is \(point.typeName), not a collection",
                fix: "use its properties without any or all")
            point = .unknown(model)
        }
        guard let predicate else { return }
        let steps = entityPaths.count > before ? entityPaths.last?.split(separator: "/").map(String.init) : nil
        var inner = scope
        inner.variables[variable] = (point.isUnknown ? .unknown(model) : point.element, steps)
        verify(predicate, inner, use, at: place)
    }

    private mutating func converted(to name: String, at place: String) -> Operand {
        let isCollection = name.hasPrefix("Collection(") && name.hasSuffix(")")
        let type = isCollection ? String(name.dropFirst(11).dropLast()) : name
        if !type.hasPrefix("Edm."), model.type(type) == nil, isKnownNamespace(of: type) {
            let names = model.schemas.flatMap {
                ($0.entityTypes + $0.complexTypes).map(\.qualifiedName) + $0.enumTypes.map(\.qualifiedName)
            }
            report(
                .unknownType, at: place, type, "the model has no type '\(type)'", fix: ModelFault.fix(for: type, among: names, "types"))
            return .unknown
        }
        return .point(ModelPoint(ServiceModel.TypeReference(type, isCollection: isCollection), in: model))
    }

    // MARK: Comparisons

    private mutating func compare(
        _ left: Operand, _ right: Operand, _ leftExpression: QueryExpression, _ rightExpression: QueryExpression? = nil, at place: String
    ) {
        switch (left, right) {
        case (.point(let point), .literal(let value)): verify(value, against: point, leftExpression.shown, at: place)
        case (.literal(let value), .point(let point)):
            verify(value, against: point, rightExpression?.shown ?? "the value", at: place)
        case (.point(let one), .point(let other)):
            guard case .primitive(let first) = one.value, case .primitive(let second) = other.value, !one.isCollection,
                !other.isCollection, let category = LiteralCheck.category(of: first), let wanted = LiteralCheck.category(of: second),
                category != wanted
            else { return }
            let (name, otherName) = (leftExpression.shown, rightExpression?.shown ?? "the value")
            report(
                .wrongType, at: place, name, "\(name) is \(first) and can't be compared with \(otherName), which is \(second)",
                fix: "convert one of them, or compare another property")
        default: return
        }
    }

    /// Verifies that a literal can be compared with a value or used as one.
    ///
    /// - Parameter name: The value's name in texts.
    mutating func verify(_ value: EdmValue, against point: ModelPoint, _ name: String, at place: String) {
        if case .null = value { return }
        if point.isCollection {
            if !point.isUnknown {
                report(
                    .wrongType, at: place, name, "\(name) is \(point.typeName) and can't be compared with a single value",
                    fix: "use any or all")
            }
            return
        }
        switch point.value {
        case .unknown: return
        case .primitive(let type):
            guard let given = LiteralCheck.mismatch(value, type) else { return }
            report(.wrongType, at: place, name, "\(name) is \(type), not \(given)", fix: "use \(LiteralCheck.wanted(type))")
        case .enumeration(let type): verify(value, against: type, name, at: place)
        case .structured(let type):
            report(
                .wrongType, at: place, name, "\(name) is \(type.qualifiedName), which has no literals",
                fix: "compare one of its properties, or compare it with null")
        }
    }

    private mutating func verify(_ value: EdmValue, against type: ServiceModel.EnumType, _ name: String, at place: String) {
        let text: String
        switch value {
        case .enumeration(let given, let member):
            if let given, model.qualifiedName(given) != type.qualifiedName {
                report(
                    .wrongType, at: place, name, "\(name) is \(type.qualifiedName), not '\(given)'",
                    fix: "make '\(type.qualifiedName)' the edmTypeName of the Swift type")
                return
            }
            text = member
        case .string(let member):
            text = member
            // Version 4.01 accepts the member as a string.
            guard model.version < .v401 else { break }
            report(
                .wrongType, at: place, name,
                "\(name) is \(type.qualifiedName), whose members aren't strings in version \(model.version.rawValue)",
                fix: "use an EdmEnumeration, or EdmValue.enumeration(type: \"\(type.qualifiedName)\", member: …)")
        default:
            report(
                .wrongType, at: place, name, "\(name) is \(type.qualifiedName), whose literals are members",
                fix: "use an EdmEnumeration, or EdmValue.enumeration(type: \"\(type.qualifiedName)\", member: …)")
            return
        }
        // Every member of an enumeration without declared members is unknown.
        guard !type.members.isEmpty else { return }
        for part in text.split(separator: ",").map({ $0.drop { $0 == " " } }) where Int64(part) == nil {
            guard !type.members.contains(where: { $0.name == part }) else { continue }
            report(
                .unknownMember, at: place, String(part), "'\(part.prefix(60))' isn't a member of \(type.qualifiedName)",
                fix: ModelFault.fix(for: String(part), among: type.members.map(\.name), "members"))
        }
    }

    // MARK: Functions

    private static let textFunctions: Set = [
        "contains", "startswith", "endswith", "substringof", "indexof", "length", "tolower", "toupper", "trim", "substring", "concat",
        "matchesPattern", "replace",
    ]

    /// The result types of canonical functions with one type of result.
    private static let results: [String: String] = [
        "contains": "Edm.Boolean", "startswith": "Edm.Boolean", "endswith": "Edm.Boolean", "substringof": "Edm.Boolean",
        "matchesPattern": "Edm.Boolean", "indexof": "Edm.Int32", "length": "Edm.Int32", "tolower": "Edm.String", "toupper": "Edm.String",
        "trim": "Edm.String", "replace": "Edm.String", "year": "Edm.Int32", "month": "Edm.Int32", "day": "Edm.Int32",
        "hour": "Edm.Int32", "minute": "Edm.Int32",
        "second": "Edm.Int32", "fractionalseconds": "Edm.Decimal", "totalseconds": "Edm.Decimal", "totaloffsetminutes": "Edm.Int32",
        "date": "Edm.Date", "time": "Edm.TimeOfDay", "now": "Edm.DateTimeOffset", "mindatetime": "Edm.DateTimeOffset",
        "maxdatetime": "Edm.DateTimeOffset", "geo.distance": "Edm.Double", "geo.length": "Edm.Double", "geo.intersects": "Edm.Boolean",
        "hassubset": "Edm.Boolean", "hassubsequence": "Edm.Boolean", "isdefined": "Edm.Boolean",
    ]

    /// The categories of the argument of functions of dates and times.
    private static let timeFunctions: [String: [LiteralCheck.Category]] = [
        "year": [.date, .instant], "month": [.date, .instant], "day": [.date, .instant], "hour": [.instant, .time],
        "minute": [.instant, .time], "second": [.instant, .time], "fractionalseconds": [.instant, .time], "totalseconds": [.duration],
        "totaloffsetminutes": [.instant], "date": [.instant], "time": [.instant],
    ]

    private mutating func call(
        _ name: String, _ arguments: [QueryExpression], _ scope: QueryScope, _ use: PathUse, at place: String
    ) -> Operand {
        if use == .filter, let found = scope.entity.restrictions.annotation("FilterFunctions"),
            let allowed = found.value?.elements?.compactMap(\.text), !allowed.contains(name), !scope.entity.isUnknown
        {
            reportRestriction(
                "the function '\(name)'", at: place, name, by: "\(found.name), which lists \(allowed.joined(separator: ", "))",
                fix: "use one of these, or filter in Swift")
        }
        for (index, argument) in arguments.enumerated() {
            let operand = operand(argument, scope, use, at: place)
            guard let wanted = Self.wantedCategories(name, argument: index), case .point(let point) = operand, !point.isCollection,
                case .primitive(let type) = point.value, let category = LiteralCheck.category(of: type), !wanted.contains(category)
            else { continue }
            report(
                .wrongType, at: place, argument.shown, "\(argument.shown) is \(type), which isn't an argument of '\(name)'",
                fix: "use another property, or another function")
        }
        return Self.results[name].map { .primitive($0, model) } ?? .unknown
    }

    private static func wantedCategories(_ name: String, argument: Int) -> [LiteralCheck.Category]? {
        if let times = timeFunctions[name] { return times }
        guard textFunctions.contains(name), name != "substring" || argument == 0 else { return nil }
        return [.string]
    }
}

extension QueryExpression {
    /// The expression in texts, without values.
    var shown: String {
        switch kind {
        case .path(let path): path.shown.isEmpty ? "the value" : "'\(path.shown)'"
        case .call(let name, _): "\(name)(…)"
        default: "the value"
        }
    }
}
