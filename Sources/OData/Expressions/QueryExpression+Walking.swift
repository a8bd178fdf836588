extension QueryExpression.Kind {
    /// Calls with what the expression is directly made of: its paths and the expressions in it, also those inside of paths.
    func visit(paths: (QueryPath) -> Void, children: (QueryExpression) -> Void) {
        switch self {
        case .literal, .raw, .invalid:
            return
        case .path(let path):
            paths(path)
            path.visit(children)
        case .unary(_, let operand), .membership(let operand, _):
            children(operand)
        case .binary(_, let left, let right):
            children(left)
            children(right)
        case .call(_, let items), .array(let items):
            for item in items { children(item) }
        case .cast(let operand, _), .isOf(let operand, _):
            if let operand { children(operand) }
        case .conditional(let branches):
            for branch in branches {
                children(branch.condition)
                children(branch.value)
            }
        case .object(let members):
            for member in members { children(member.value) }
        case .lambda(_, let path, _, let predicate):
            paths(path)
            path.visit(children)
            if let predicate { children(predicate) }
        }
    }
}

extension QueryExpression {
    /// Calls with what the expression is directly made of.
    func visit(paths: (QueryPath) -> Void, children: (QueryExpression) -> Void) {
        kind.visit(paths: paths, children: children)
    }

    /// The expression with every path in it changed.
    func mapPaths(_ change: (QueryPath) -> QueryPath) -> QueryExpression {
        func map(_ path: QueryPath) -> QueryPath { change(path.mapPaths(change)) }
        switch kind {
        case .literal, .raw, .invalid:
            return self
        case .path(let path):
            return .path(map(path))
        case .unary(let operation, let operand):
            return .unary(operation, operand.mapPaths(change))
        case .binary(let operation, let left, let right):
            // The left operands of a long chain are walked, not descended.
            var first = left
            var chain = [(operation, right)]
            while case .binary(let operation, let left, let right) = first.kind {
                chain.append((operation, right))
                first = left
            }
            return chain.reversed().reduce(first.mapPaths(change)) { .binary($1.0, $0, $1.1.mapPaths(change)) }
        case .membership(let operand, let values):
            return .membership(operand.mapPaths(change), values)
        case .call(let name, let arguments):
            return .call(name, arguments.map { $0.mapPaths(change) })
        case .cast(let operand, let type):
            return .cast(operand.map { $0.mapPaths(change) }, type)
        case .isOf(let operand, let type):
            return .isOf(operand.map { $0.mapPaths(change) }, type)
        case .conditional(let branches):
            return .conditional(branches.map { Branch(when: $0.condition.mapPaths(change), $0.value.mapPaths(change)) })
        case .array(let items):
            return .array(items.map { $0.mapPaths(change) })
        case .object(let members):
            return .object(members.map { Member($0.name, $0.value.mapPaths(change)) })
        case .lambda(let quantifier, let path, let variable, let predicate):
            return .lambda(quantifier, map(path), variable, predicate.map { $0.mapPaths(change) })
        }
    }
}

extension QueryPath {
    /// Calls with the expressions inside of the path's segments.
    func visit(_ children: (QueryExpression) -> Void) {
        for segment in segments {
            switch segment {
            case .countWhere(let filter, _): if let filter { children(filter) }
            case .filter(let condition): children(condition)
            case .function(_, let parameters): for parameter in parameters { children(parameter.value) }
            case .aggregate(let aggregate): children(aggregate.source)
            case .property, .cast, .count, .key, .all, .operations, .ref, .value, .unresolved: continue
            }
        }
    }

    /// The path with every path in the expressions inside of its segments changed.
    fileprivate func mapPaths(_ change: (QueryPath) -> QueryPath) -> QueryPath {
        var copy = self
        for (index, segment) in segments.enumerated() {
            switch segment {
            case .countWhere(let filter, let search):
                copy.segments[index] = .countWhere(filter.map { $0.mapPaths(change) }, search)
            case .filter(let condition):
                copy.segments[index] = .filter(condition.mapPaths(change))
            case .function(let name, let parameters):
                copy.segments[index] = .function(name, parameters.map { Parameter($0.name, $0.value.mapPaths(change)) })
            case .aggregate(var aggregate):
                aggregate.source = aggregate.source.mapPaths(change)
                copy.segments[index] = .aggregate(aggregate)
            case .property, .cast, .count, .key, .all, .operations, .ref, .value, .unresolved:
                continue
            }
        }
        return copy
    }
}
