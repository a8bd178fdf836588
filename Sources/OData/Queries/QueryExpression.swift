/// An expression of a query option, such as `$filter` or `$orderby`, as a value (OData URL Conventions, section 5.1.1).
///
/// The tree is independent of the protocol version; ``QueryPrinter`` chooses the spelling. Trees are usually built with ``QueryTerm``,
/// whose operators look like Swift's.
///
/// Expressions nest at most 256 levels deep, more than the printer accepts; deeper parts become ``invalid(_:)``. Chains of one operator, `a
/// or b or c`, count as one level, regardless of their length.
public struct QueryExpression: Sendable {
    /// The kinds of expressions.
    public enum Kind: Sendable, Hashable {
        /// A literal value.
        case literal(EdmValue)
        /// A property, a lambda variable, or a path that begins with one of them.
        case path(QueryPath)
        /// `not x`, `-x`.
        case unary(UnaryOperator, QueryExpression)
        /// `a eq b`, `a add b`, `a and b` and so on.
        case binary(BinaryOperator, QueryExpression, QueryExpression)
        /// `a in (…)`; a chain of `or` in versions without `in`. An empty list means `false`.
        case membership(QueryExpression, [EdmValue])
        /// A canonical function by its name: `contains(Name,'x')`, `geo.distance(…)`, `now()`. Functions of the service have named
        /// parameters; they are ``QueryPath/Segment/function(_:_:)`` in a path.
        case call(String, [QueryExpression])
        /// `cast(x,Type)`, or `cast(Type)` for the current instance. The type is a qualified name, or `Collection(…)` around one.
        case cast(QueryExpression?, String)
        /// `isof(x,Type)`, or `isof(Type)` for the current instance.
        case isOf(QueryExpression?, String)
        /// `case(condition:value,…)`: the value of the first true condition, or null. Version 4.01.
        case conditional([Branch])
        /// `[…]`: a collection written as JSON.
        case array([QueryExpression])
        /// `{…}`: a complex value or an entity written as JSON.
        case object([Member])
        /// `path/any(x:…)`, `path/all(x:…)`. Without a predicate, `any()` tests whether the collection has an element.
        case lambda(LambdaQuantifier, QueryPath, LambdaVariable, QueryExpression?)
        /// Text in OData syntax; only characters that a URL can't contain are percent-encoded.
        case raw(String)
        /// An expression that can't be sent, and the reason: printing it throws this error.
        case invalid(ODataQueryError)
    }

    /// One condition of a `case` and its value.
    public struct Branch: Sendable, Hashable {
        /// The condition.
        public var condition: QueryExpression
        /// The value if the condition is the first true one.
        public var value: QueryExpression

        /// Creates a branch from its parts.
        public init(when condition: QueryExpression, _ value: QueryExpression) {
            self.condition = condition
            self.value = value
        }
    }

    /// One member of a JSON object.
    public struct Member: Sendable, Hashable {
        /// The name of a property, or control information such as `@odata.id`.
        public var name: String
        /// The value.
        public var value: QueryExpression

        /// Creates a member from its parts.
        public init(_ name: String, _ value: QueryExpression) {
            self.name = name
            self.value = value
        }
    }

    package var node: QueryNode

    /// Creates an expression of a kind.
    public init(_ kind: Kind) {
        node = QueryNode(kind)
    }

    /// The kind of the expression.
    public var kind: Kind { node.kind }
}

extension QueryExpression {
    /// Returns a literal value.
    public static func literal(_ value: EdmValue) -> QueryExpression {
        QueryExpression(.literal(value))
    }

    /// Returns a property, a lambda variable, or a path that begins with one of them.
    public static func path(_ path: QueryPath) -> QueryExpression {
        QueryExpression(.path(path))
    }

    /// `not x`, `-x`.
    public static func unary(_ operation: UnaryOperator, _ operand: QueryExpression) -> QueryExpression {
        QueryExpression(.unary(operation, operand))
    }

    /// `a eq b`, `a add b`, `a and b` and so on.
    public static func binary(_ operation: BinaryOperator, _ left: QueryExpression, _ right: QueryExpression) -> QueryExpression {
        QueryExpression(.binary(operation, left, right))
    }

    /// `a in (…)`; a chain of `or` in versions without `in`. An empty list means `false`.
    public static func membership(_ operand: QueryExpression, _ values: [EdmValue]) -> QueryExpression {
        QueryExpression(.membership(operand, values))
    }

    /// Calls a canonical function by its name: `contains(Name,'x')`, `geo.distance(…)`, `now()`. Functions of the service have named
    /// parameters; they are ``QueryPath/Segment/function(_:_:)`` in a path.
    public static func call(_ name: String, _ arguments: [QueryExpression]) -> QueryExpression {
        QueryExpression(.call(name, arguments))
    }

    /// `cast(x,Type)`, or `cast(Type)` for the current instance. The type is a qualified name, or `Collection(…)` around one.
    public static func cast(_ operand: QueryExpression?, _ type: String) -> QueryExpression {
        QueryExpression(.cast(operand, type))
    }

    /// `isof(x,Type)`, or `isof(Type)` for the current instance.
    public static func isOf(_ operand: QueryExpression?, _ type: String) -> QueryExpression {
        QueryExpression(.isOf(operand, type))
    }

    /// `case(condition:value,…)`: the value of the first true condition, or null. Version 4.01.
    public static func conditional(_ branches: [Branch]) -> QueryExpression {
        QueryExpression(.conditional(branches))
    }

    /// `[…]`: a collection written as JSON.
    public static func array(_ items: [QueryExpression]) -> QueryExpression {
        QueryExpression(.array(items))
    }

    /// `{…}`: a complex value or an entity written as JSON.
    public static func object(_ members: [Member]) -> QueryExpression {
        QueryExpression(.object(members))
    }

    /// `path/any(x:…)`, `path/all(x:…)`. Without a predicate, `any()` tests whether the collection has an element.
    public static func lambda(
        _ quantifier: LambdaQuantifier, _ path: QueryPath, _ variable: LambdaVariable, _ predicate: QueryExpression?
    ) -> QueryExpression {
        QueryExpression(.lambda(quantifier, path, variable, predicate))
    }

    /// Returns text in OData syntax; only characters that a URL can't contain are percent-encoded.
    public static func raw(_ text: String) -> QueryExpression {
        QueryExpression(.raw(text))
    }

    /// Returns an expression that can't be sent, and the reason: printing it throws this error.
    public static func invalid(_ error: ODataQueryError) -> QueryExpression {
        QueryExpression(.invalid(error))
    }
}

extension QueryExpression.Kind {
    /// Visits the direct parts of the expression: its paths and subexpressions, including those inside paths.
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
    /// Visits the direct parts of the expression.
    func visit(paths: (QueryPath) -> Void, children: (QueryExpression) -> Void) {
        kind.visit(paths: paths, children: children)
    }

    /// Returns the expression with every path in it changed.
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
            // Long chains of left operands are iterated to avoid deep recursion.
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
    /// Visits the expressions inside the path's segments.
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

    /// Returns the path with every path in the expressions inside its segments changed.
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
