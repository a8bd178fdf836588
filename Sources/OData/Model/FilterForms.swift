import ODataMetadata

/// The conditions on a property that a service accepts in a filter: `FilterExpressionType` of the Capabilities vocabulary, or SAP's
/// attribute `sap:filter-restriction`. Other values, such as the operators that Microsoft Graph lists, aren't defined and don't count.
enum FilterForm: String, CaseIterable {
    case singleValue = "SingleValue"
    case multiValue = "MultiValue"
    case singleRange = "SingleRange"
    case multiRange = "MultiRange"
    case searchExpression = "SearchExpression"
    case multiRangeOrSearchExpression = "MultiRangeOrSearchExpression"

    init?(sap text: String) {
        switch text {
        case "single-value": self = .singleValue
        case "multi-value": self = .multiValue
        case "interval": self = .singleRange
        default: return nil
        }
    }

    /// The accepted conditions, in texts.
    var shown: String {
        switch self {
        case .singleValue: "one eq"
        case .multiValue: "eq and in, combined by or"
        case .singleRange: "one comparison, or a lower and an upper bound"
        case .multiRange: "ranges combined by or, or ne combined by and"
        case .searchExpression: "startswith, endswith and contains, combined by or"
        case .multiRangeOrSearchExpression: "ranges, startswith, endswith and contains, combined by or"
        }
    }

    /// Returns whether the conditions on a property have this form.
    ///
    /// - Parameter conditions: The parts of the filter with the property, which are combined by `and`.
    fileprivate func allows(_ conditions: [QueryExpression], on path: String, _ names: FilterNames) -> Bool {
        func atom(_ expression: QueryExpression) -> FilterAtom? { FilterAtom(expression, on: path, names) }
        func isRange(_ bounds: [QueryExpression]) -> Bool { FilterAtom.areRange(bounds.map(atom)) }
        /// Whether there is one part, whose alternatives pass a test.
        func areAlternatives(_ test: (QueryExpression) -> Bool) -> Bool {
            conditions.count == 1 && conditions[0].operands(of: .or).allSatisfy(test)
        }
        /// A list of values is the union of ranges of one value each.
        func isRangeOrList(_ expression: QueryExpression) -> Bool {
            isRange(expression.operands(of: .and)) || atom(expression) == .list
        }
        switch self {
        case .singleValue: return areAlternatives { atom($0) == .comparison(.equal) } && conditions[0].operands(of: .or).count == 1
        case .multiValue: return areAlternatives { atom($0) == .comparison(.equal) || atom($0) == .list }
        case .singleRange: return isRange(conditions)
        case .multiRange:
            let excludesValues = conditions.allSatisfy { atom($0) == .comparison(.notEqual) }
            return isRange(conditions) || excludesValues || areAlternatives(isRangeOrList)
        case .searchExpression: return areAlternatives { atom($0) == .search }
        case .multiRangeOrSearchExpression:
            return isRange(conditions) || areAlternatives { isRangeOrList($0) || atom($0) == .search }
        }
    }
}

/// A condition that compares one property with constants.
private enum FilterAtom: Equatable {
    case comparison(BinaryOperator)
    /// `in` with several values.
    case list
    case search

    init?(_ expression: QueryExpression, on path: String, _ names: FilterNames) {
        func isProperty(_ operand: QueryExpression) -> Bool {
            if case .path(let operand) = operand.kind { names.name(of: operand) == path } else { false }
        }
        func isConstant(_ operand: QueryExpression) -> Bool { names.all(in: operand)?.isEmpty == true }
        switch expression.kind {
        case .binary(.isIn, let left, let right):
            guard isProperty(left), isConstant(right) else { return nil }
            self = .list
        case .binary(let operation, let left, let right):
            guard let mirrored = operation.mirrored else { return nil }
            if isProperty(left), isConstant(right) {
                self = .comparison(operation)
            } else if isProperty(right), isConstant(left) {
                self = .comparison(mirrored)
            } else {
                return nil
            }
        case .membership(let operand, let values):
            guard isProperty(operand) else { return nil }
            self = values.count < 2 ? .comparison(.equal) : .list
        case .call(let name, let arguments):
            guard arguments.count == 2 else { return nil }
            let isOwn = ["startswith", "endswith", "contains"].contains(name) && isProperty(arguments[0]) && isConstant(arguments[1])
            let isOfVersion2 = name == "substringof" && isProperty(arguments[1]) && isConstant(arguments[0])
            guard isOwn || isOfVersion2 else { return nil }
            self = .search
        default: return nil
        }
    }

    /// Returns whether conditions that are combined by `and` are one range: a comparison, or a lower and an upper bound.
    static func areRange(_ atoms: [FilterAtom?]) -> Bool {
        var (isLower, isUpper, isEqual) = (false, false, false)
        for atom in atoms {
            switch atom {
            case .comparison(.greater), .comparison(.greaterOrEqual): isLower = true
            case .comparison(.less), .comparison(.lessOrEqual): isUpper = true
            case .comparison(.equal): isEqual = true
            default: return false
            }
        }
        return atoms.count == 1 || atoms.count == 2 && isLower && isUpper && !isEqual
    }
}

/// Finds the properties of the filtered entities in expressions. Without recursion, since chains of operators may be long.
private struct FilterNames {
    let scope: QueryScope

    /// Returns the path of a property from the entity: `Address/City`; `nil` for another path.
    func name(of path: QueryPath) -> String? {
        switch path.root {
        case .entity, .this: break
        case .it where !scope.it.isUnknown: break
        default: return nil
        }
        var names: [String] = []
        for segment in path.segments {
            switch segment {
            case .property(let name): names.append(name)
            case .cast: continue
            default: return nil
            }
        }
        guard let first = names.first, !scope.names.contains(first) else { return nil }
        return names.joined(separator: "/")
    }

    /// Returns the properties in an expression, and an empty text for other paths; `nil` if a part of it is raw text.
    func all(in expression: QueryExpression) -> Set<String>? {
        var found: Set<String> = []
        var rest = [expression]
        while let next = rest.popLast() {
            switch next.kind {
            case .literal: continue
            case .path(let path):
                if case .alias = path.root { continue }
                found.insert(name(of: path) ?? "")
            case .unary(_, let operand), .membership(let operand, _): rest.append(operand)
            case .binary(_, let left, let right): rest += [left, right]
            case .call(_, let arguments), .array(let arguments): rest += arguments
            case .cast(let operand, _), .isOf(let operand, _):
                if let operand { rest.append(operand) } else { found.insert("") }
            case .conditional(let branches): rest += branches.flatMap { [$0.condition, $0.value] }
            case .object(let members): rest += members.map(\.value)
            case .lambda: found.insert("")
            case .raw, .invalid: return nil
            }
        }
        return found
    }
}

extension RequestVerifier {
    /// Verifies that a filter has only the conditions on single properties that the service accepts.
    ///
    /// Conditions on a property may be combined by `and` with those on other properties, and in no other way. Parts with raw text, and
    /// conditions inside of `any` and `all`, aren't verified.
    mutating func verifyForms(of filter: QueryExpression, _ type: ServiceModel.StructuredType?, _ scope: QueryScope, at place: String) {
        let restricted = scope.entity.restrictions.filterForms(of: type)
        guard !restricted.isEmpty, !scope.isShapeUnknown else { return }
        let names = FilterNames(scope: scope)
        var conditions: [String: [QueryExpression]] = [:]
        for part in filter.operands(of: .and) {
            for name in names.all(in: part) ?? [] { conditions[name, default: []].append(part) }
        }
        for (path, form, source) in restricted {
            guard let own = conditions[path], !form.allows(own, on: path, names) else { continue }
            reportRestriction(
                "conditions on '\(path)' other than \(form.shown)", at: place, path, by: source,
                fix: "use such a condition, combined with others by and, or filter in Swift")
        }
    }
}

extension Restrictions {
    /// The properties for which a filter may have only some conditions, with the name of the annotation.
    fileprivate func filterForms(of type: ServiceModel.StructuredType?) -> [(path: String, form: FilterForm, name: String)] {
        var forms: [(String, FilterForm, String)] = []
        if let found = annotation("FilterRestrictions") {
            for entry in found.value?["FilterExpressionRestrictions"]?.elements ?? [] {
                let (path, text) = (entry["Property"]?.text, entry["AllowedExpressions"]?.text ?? "")
                guard let path, let form = FilterForm(rawValue: text) else { continue }
                forms.append((path, form, "\(found.name) (\(text))"))
            }
        }
        for property in type.map({ model.properties(of: $0) }) ?? [] {
            guard let text = property.extensions["filter-restriction", in: ServiceModel.Extensions.sap], let form = FilterForm(sap: text)
            else { continue }
            forms.append((property.name, form, "sap:filter-restriction of \(property.target) (\(text))"))
        }
        return forms
    }
}

extension QueryExpression {
    /// Returns the operands of a chain of one operator, in their order.
    fileprivate func operands(of wanted: BinaryOperator) -> [QueryExpression] {
        var operands: [QueryExpression] = []
        var rest = [self]
        while let next = rest.popLast() {
            if case .binary(wanted, let left, let right) = next.kind { rest += [right, left] } else { operands.append(next) }
        }
        return operands
    }
}

extension BinaryOperator {
    /// The comparison with exchanged operands; `nil` for other operators.
    fileprivate var mirrored: BinaryOperator? {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .and, .or, .has, .isIn, .add, .subtract, .multiply, .divide, .divideBy, .modulo: nil
        }
    }
}
