import ODataMetadata

/// The use of a path. It determines what a service may exclude and where a path may lead.
enum PathUse {
    case filter, sort, select, expand, compute, aggregate, other

    /// Whether a path may lead through the elements of a collection.
    var goesThroughCollections: Bool {
        switch self {
        case .select, .expand, .aggregate: true
        case .filter, .sort, .compute, .other: false
        }
    }
}

/// The names that an expression can use: the entity, the variables of lambdas, and the names that the request defines.
struct QueryScope {
    /// The instance that the option is evaluated on.
    let entity: ModelPoint
    /// `$it`: the instance that the request's path leads to.
    var it: ModelPoint
    /// The elements of lambdas, with the path from the entity to their collection; the path is `nil` if it begins elsewhere.
    var variables: [LambdaVariable: (point: ModelPoint, path: [String]?)] = [:]
    /// The names of computed properties.
    var names: Set<String> = []
    /// Whether transformations have changed the shape of the instances, so that the model doesn't describe them.
    private(set) var isShapeUnknown = false
    /// Whether paths begin at the entity to which the restrictions apply.
    var isNested = false

    init(_ entity: ModelPoint) {
        self.entity = entity
        it = entity
    }

    mutating func forgetShape() { isShapeUnknown = true }

    /// Returns the scope of a condition on the elements of a collection.
    func inside(_ element: ModelPoint) -> QueryScope {
        var scope = QueryScope(element)
        scope.it = it
        scope.variables = variables
        scope.isNested = true
        return scope
    }
}

// Paths from an entity.
extension RequestVerifier {
    /// Verifies a path and returns its end.
    mutating func follow(_ path: QueryPath, _ scope: QueryScope, _ use: PathUse, at place: String) -> ModelPoint {
        let unknown = ModelPoint.unknown(model)
        var point: ModelPoint
        var segments = path.segments[...]
        /// The names from the entity, with those of casts; `nil` if the path begins elsewhere.
        var names: [String]? = []
        switch path.root {
        case .entity, .this:
            if scope.isShapeUnknown { return unknown }
            point = scope.entity
        case .it:
            if scope.isShapeUnknown { return unknown }
            point = scope.it
            if scope.isNested { names = nil }
        case .variable(let variable):
            guard let bound = scope.variables[variable] else { return unknown }
            (point, names) = bound
        case .root:
            guard let start = serviceResource(&segments, at: place) else { return unknown }
            point = start
            names = nil
        case .these, .alias: return unknown
        }
        if scope.isNested, path.root == .entity { names = nil }
        let isFromEntity = path.root == .entity || path.root == .this
        for (index, segment) in segments.enumerated() {
            let isFirst = index == 0 && isFromEntity
            guard
                let next = step(segment, from: point, isFirst: isFirst, scope, use, &names, at: place)
            else { return unknown }
            point = next
        }
        if let names, !names.isEmpty { entityPaths.append(names.joined(separator: "/")) }
        return point
    }

    /// Verifies one step of a path; returns `nil` if the rest can't be verified.
    private mutating func step(
        _ segment: QueryPath.Segment, from point: ModelPoint, isFirst: Bool, _ scope: QueryScope, _ use: PathUse,
        _ names: inout [String]?, at place: String
    ) -> ModelPoint? {
        switch segment {
        case .property(let name):
            if name.hasPrefix("@") || point.isUnknown { return nil }
            if isFirst, scope.names.contains(name) { return nil }
            names?.append(name)
            guard let next = property(name, from: point, scope, use, at: place) else { return nil }
            if let names { exclude(names, next, use, scope.entity.restrictions, at: place) }
            return next.point
        case .cast(let name):
            guard let next = cast(to: name, from: point, mayBeOperation: use == .select, at: place) else { return nil }
            names?.append(next.structuredType?.qualifiedName ?? name)
            return next
        case .count:
            // The path of an aggregate begins at all instances.
            if !point.isUnknown, !point.isCollection, use != .aggregate {
                reportMisplaced("$count", after: point, "isn't a collection", at: place, fix: "compare it with null")
            }
            if let names, !names.isEmpty { verifyCount(of: names, scope.entity.restrictions, at: place) }
            return ModelPoint(value: .primitive("Edm.Int64"), isCollection: false, restrictions: Restrictions(model))
        case .countWhere(let filter, _):
            if let filter { verify(filter, scope.inside(point.element), .other, at: place) }
            return ModelPoint(value: .primitive("Edm.Int64"), isCollection: false, restrictions: Restrictions(model))
        case .filter(let condition):
            verify(condition, scope.inside(point.element), .other, at: place)
            return point
        case .key(let parts):
            verifyKey(parts, of: point, at: place)
            return point.element
        case .function(let name, let parameters):
            for parameter in parameters { verify(parameter.value, scope, .other, at: place) }
            return operation(name, parameters.map { ($0.name, $0.value) }, boundTo: point, at: place, isFirst: isFirst)
        case .all, .operations, .value, .aggregate, .unresolved: return nil
        case .ref: return point
        }
    }

    /// Verifies a property or a navigation property.
    private mutating func property(
        _ name: String, from point: ModelPoint, _ scope: QueryScope, _ use: PathUse, at place: String
    ) -> (point: ModelPoint, element: (any ServiceModel.Element)?)? {
        if point.isCollection, !use.goesThroughCollections {
            reportMisplaced(name, after: point, "is a collection", at: place, fix: "use any or all, or its $count")
            return nil
        }
        guard let type = point.structuredType else {
            reportMisplaced(name, after: point, "has no properties", at: place, fix: "end the path before '\(name)'")
            return nil
        }
        return member(name, of: type, from: point, at: place, besides: scope.names)
    }

    /// Returns the end of a property or a navigation property of a type. Reports a name that doesn't exist, unless the type is open.
    mutating func member(
        _ name: String, of type: ServiceModel.StructuredType, from point: ModelPoint, at place: String, besides more: Set<String> = []
    ) -> (point: ModelPoint, element: (any ServiceModel.Element)?)? {
        func steps(_ declaringType: String) -> [PathStep] {
            point.steps + [PathStep(name: name, type: type.qualifiedName, declaringType: declaringType, isCast: point.isCast)]
        }
        if let property = model.property(name, of: type.qualifiedName) {
            var next = ModelPoint(property.type, in: model, point.restrictions)
            next.isCollection = next.isCollection || point.isCollection
            next.steps = steps(property.declaringType)
            return (next, property)
        }
        if let property = model.navigationProperty(name, of: type.qualifiedName) {
            var next = ModelPoint(
                ServiceModel.TypeReference(property.targetType, isCollection: property.isCollection || point.isCollection), in: model,
                point.restrictions.following(property, steps: steps(property.declaringType)))
            next.isResource = true
            return (next, property)
        }
        if !model.isOpen(type) { reportUnknown(name, of: type, at: place, besides: more) }
        return nil
    }

    /// Reports the restrictions of the service on a path.
    private mutating func exclude(
        _ names: [String], _ next: (point: ModelPoint, element: (any ServiceModel.Element)?), _ use: PathUse, _ restrictions: Restrictions,
        at place: String
    ) {
        let path = names.joined(separator: "/")
        switch use {
        case .filter:
            guard let source = restrictions.filterExclusion(of: path, next.element) else { return }
            reportRestriction("'\(path)' from filters", at: place, path, by: source, fix: "filter by it in Swift")
        case .sort:
            guard let source = restrictions.sortExclusion(of: path, next.element) else { return }
            reportRestriction("'\(path)' from sorting", at: place, path, by: source, fix: "sort by it in Swift")
        case .expand:
            guard next.point.isResource, let source = restrictions.expandExclusion(of: path) else { return }
            reportRestriction(
                "'\(path)' from expansion", at: place, path, by: source, fix: "request the relation by a path of its own")
        case .select, .compute, .aggregate, .other: return
        }
    }

    /// Verifies a cast to a type.
    mutating func cast(to name: String, from point: ModelPoint, mayBeOperation: Bool, at place: String) -> ModelPoint? {
        guard let type = model.structuredType(name) else {
            if model.type(name) != nil { return nil }
            if mayBeOperation, !model.operations(name).isEmpty { return nil }
            let derived = point.structuredType.map { model.derivedTypes(of: $0.qualifiedName).map(\.qualifiedName) } ?? []
            // The service may know a type of a document that wasn't read.
            if !derived.isEmpty || isKnownNamespace(of: name) {
                let fix = ModelFault.fix(for: name, among: derived.isEmpty ? allTypeNames : derived, "types derived from it")
                report(.unknownType, at: place, name, "the model has no type '\(name)'", fix: fix)
            }
            return nil
        }
        if let from = point.structuredType, !model.isType(type.qualifiedName, derivedFrom: from.qualifiedName),
            !model.isType(from.qualifiedName, derivedFrom: type.qualifiedName)
        {
            report(
                .misplaced, at: place, name, "'\(name)' isn't derived from \(from.qualifiedName)",
                fix: ModelFault.fix(
                    for: name, among: model.derivedTypes(of: from.qualifiedName).map(\.qualifiedName), "types derived from it"))
            return nil
        }
        var next = point
        next.value = .structured(type)
        next.isCast = true
        return next
    }

    private var allTypeNames: [String] {
        model.schemas.flatMap { ($0.entityTypes + $0.complexTypes).map(\.qualifiedName) }
    }

    /// Whether the model has the schema of a qualified name.
    func isKnownNamespace(of name: String) -> Bool {
        let full = model.qualifiedName(name)
        guard let dot = full.utf8.lastIndex(of: UInt8(ascii: ".")) else { return true }
        return model.schema(String(full[..<dot])) != nil
    }

    mutating func reportMisplaced(_ name: String, after point: ModelPoint, _ problem: String, at place: String, fix: String) {
        report(.misplaced, at: place, name, "'\(name)' can't follow \(point.typeName), which \(problem)", fix: fix)
    }
}
