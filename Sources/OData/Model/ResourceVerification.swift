import Foundation
import ODataMetadata

// The path of a resource.
extension RequestVerifier {
    /// Verifies the path of a request and returns its end.
    mutating func follow(_ resource: ResourcePath) -> ModelPoint {
        let walk = walk(resource)
        guard let end = walk.end else { return .unknown(model) }
        verifyReading(end, walk.steps, at: resource.route)
        return end
    }

    /// Verifies the path of a resource.
    mutating func walk(_ resource: ResourcePath) -> ResourceWalk {
        let place = resource.route
        var walk = ResourceWalk()
        for segment in resource.segments {
            // Nothing after text in an unknown form can be verified.
            guard let more = ResourceStep.steps(of: segment) else { return ResourceWalk() }
            walk.steps += more
        }
        guard let first = walk.steps.first, var point = start(first, at: place) else { return walk }
        walk.points.append(point)
        var behindKeySegment = false
        for step in walk.steps.dropFirst() {
            guard let next = follow(step, from: point, behindKeySegment: behindKeySegment, at: place) else { break }
            if case .keySegment = step { behindKeySegment = true } else { behindKeySegment = false }
            point = next
            walk.points.append(point)
        }
        return walk
    }

    /// Returns the resource that a path begins with, or `nil` if the rest can't be verified.
    private mutating func start(_ step: ResourceStep, at place: String) -> ModelPoint? {
        switch step {
        case .name(let name, _): serviceResource(name, nil, at: place)
        case .function(let name, let parameters): serviceResource(name, .some(parameters), at: place)
        case .qualified(let name):
            // Version 2 allows the container's name before a set's.
            name.split(separator: ".").last.flatMap { serviceResource(String($0), nil, at: place) }
        default: nil
        }
    }

    /// Returns an entity set, a singleton or the result of an operation import.
    ///
    /// - Parameter parameters: The parameters of a call; `.some(nil)` for a call whose parameters aren't known, `nil` for a plain name.
    private mutating func serviceResource(_ name: String, _ parameters: [QueryPath.Parameter]??, at place: String) -> ModelPoint? {
        if parameters == nil {
            if let set = model.entitySet(name) {
                return resource(set.entityType, isCollection: true, Restrictions(model, of: set))
            }
            if let singleton = model.singleton(name) {
                return resource(singleton.type, isCollection: false, Restrictions(model, of: singleton))
            }
        }
        guard let item = model.operationImport(name) else {
            guard model.container != nil else { return nil }
            let names = model.entitySets.map(\.name) + model.singletons.map(\.name) + model.operationImports.map(\.name)
            let fix = ModelFault.fix(for: name, among: names, "resources")
            let what = parameters == nil ? "entity set, singleton or operation import" : "function import"
            report(.unknownResource, at: place, name, "the service has no \(what) '\(name)'", fix: fix)
            return nil
        }
        let overloads = model.operations(item.operation).filter { !$0.isBound }
        // The parameters of a plain name are in query options or a body.
        guard case .some(.some(let given)) = parameters else { return overloads.count == 1 ? result(of: overloads[0]) : nil }
        guard let operation = overloads.first(where: { takes($0, given.map(\.name)) }) else {
            reportParameters(name, given.map(\.name), overloads, at: place)
            return nil
        }
        verify(given.map { ($0.name, $0.value) }, of: operation, at: place)
        return result(of: operation)
    }

    private func resource(_ type: String, isCollection: Bool, _ restrictions: Restrictions) -> ModelPoint {
        var point = ModelPoint(ServiceModel.TypeReference(type, isCollection: isCollection), in: model, restrictions)
        point.isResource = true
        return point
    }

    private func result(of operation: ServiceModel.Operation) -> ModelPoint? {
        guard let type = operation.returnType?.type else { return nil }
        // Restrictions on an entity set don't necessarily apply to the result of a function.
        var point = ModelPoint(type, in: model)
        point.isResource = point.structuredType?.kind == .entity
        return point
    }

    /// Returns the resource after `$root`, and removes its steps.
    mutating func serviceResource(_ segments: inout ArraySlice<QueryPath.Segment>, at place: String) -> ModelPoint? {
        switch segments.popFirst() {
        case .property(let name)?: serviceResource(name, nil, at: place)
        case .function(let name, let parameters)?: serviceResource(name, .some(parameters), at: place)
        default: nil
        }
    }

    private mutating func follow(
        _ step: ResourceStep, from point: ModelPoint, behindKeySegment: Bool, at place: String
    ) -> ModelPoint? {
        switch step {
        case .name(let name, let isText):
            if point.isUnknown { return nil }
            guard let type = point.structuredType else {
                reportMisplaced(name, after: point, "has no properties", at: place, fix: "end the path before '\(name)'")
                return nil
            }
            if point.isCollection || behindKeySegment {
                // Text may contain a key as a segment: `users/ada`.
                if isText, point.isCollection { return point.element }
                if isText, model.property(name, of: type.qualifiedName) == nil,
                    model.navigationProperty(name, of: type.qualifiedName) == nil
                {
                    return point
                }
            }
            if point.isCollection {
                reportMisplaced(name, after: point, "is a collection", at: place, fix: "choose one of its members by key")
                return nil
            }
            // Version 4.01 accepts operations without their namespace.
            if model.property(name, of: type.qualifiedName) == nil, model.navigationProperty(name, of: type.qualifiedName) == nil,
                let operation = boundOperations(to: point).first(where: { $0.name == name })
            {
                return result(of: operation)
            }
            return member(name, of: type, from: point, at: place)?.point
        case .qualified(let name):
            if model.structuredType(name) == nil, !model.operations(name).isEmpty {
                return operation(name, nil, boundTo: point, at: place, isFirst: false)
            }
            return cast(to: name, from: point, mayBeOperation: true, at: place)
        case .operation(let name): return operation(name, nil, boundTo: point, at: place, isFirst: false)
        case .function(let name, let parameters):
            return operation(name, parameters?.map { ($0.name, $0.value) }, boundTo: point, at: place, isFirst: false)
        case .key(let parts):
            // In text, the parentheses may contain the parameters of a function.
            guard let parts else { return point.element }
            if !point.isUnknown, !point.isCollection {
                reportMisplaced("a key", after: point, "isn't a collection", at: place, fix: "remove the key")
                return nil
            }
            verifyKey(parts, of: point, at: place)
            return point.element
        case .keySegment(let value):
            if let found = point.restrictions.containerAnnotation("KeyAsSegmentSupported"), found.isFalse() {
                reportRestriction("keys as segments", at: place, "a key", by: found.name, fix: "use key(_:)")
            }
            if !behindKeySegment, let type = point.structuredType, model.key(of: type).count == 1 {
                verifyKey([ResourcePath.KeyPart(.literal(value))], of: point, at: place)
            }
            return point.element
        case .filter(let condition):
            verify(condition, QueryScope(point.element), .filter, at: place)
            return point
        case .index: return point.element
        case .count:
            if !point.isUnknown, !point.isCollection {
                reportMisplaced("$count", after: point, "isn't a collection", at: place, fix: "remove it")
            }
            if point.steps.isEmpty {
                verifyCount(point.restrictions, at: place)
            } else {
                verifyCount(of: point.steps.map(\.name), point.restrictions, at: place)
            }
            return point
        case .each, .value, .other: return point
        }
    }

    /// Verifies that the service allows reading the resource.
    private mutating func verifyReading(_ point: ModelPoint, _ steps: [ResourceStep], at place: String) {
        if steps.count == 1, point.isResource, point.restrictions.sapExcludes("addressable") {
            reportRestriction(
                "direct access", at: place, point.restrictions.name, by: "sap:addressable of \(point.restrictions.name)",
                fix: "reach the entities by a navigation property")
        }
        guard point.isResource, let found = point.restrictions.annotation("ReadRestrictions") else { return }
        let byKey = point.isCollection ? nil : found.value?["ReadByKeyRestrictions"]?["Readable"]?.boolValue
        guard byKey == false || byKey == nil && found.isFalse("Readable") else { return }
        reportRestriction("reading", at: place, point.restrictions.name, by: found.name, fix: "read a resource that leads there")
    }
}

// Keys and operations.
extension RequestVerifier {
    /// Verifies that a key is the entity type's key or an alternate one, and that its values have the properties' types.
    mutating func verifyKey(_ parts: [ResourcePath.KeyPart], of point: ModelPoint, at place: String) {
        guard let type = point.structuredType, type.kind == .entity else { return }
        if let found = point.restrictions.annotation("IndexableByKey"), found.isFalse() {
            reportRestriction("access by key", at: place, "a key", by: found.name, fix: "filter by the key's properties")
        }
        let key = model.key(of: type)
        guard !key.isEmpty else { return }
        let named = parts.compactMap(\.name)
        var references: [ServiceModel.KeyReference] = []
        if named.isEmpty, parts.count == 1, key.count == 1 {
            references = key
        } else if named.count == parts.count {
            let candidates = [key] + alternateKeys(of: type, point)
            references = candidates.first { $0.count == named.count && Set($0.map(\.name)) == Set(named) } ?? []
        }
        guard !references.isEmpty else {
            let keys = ([key] + alternateKeys(of: type, point)).map { $0.map(\.name).joined(separator: ", ") }
            let given = named.isEmpty ? "a key of one value" : "'\(named.joined(separator: ", "))'"
            report(
                .key, at: place, named.joined(separator: ","), "\(given) isn't a key of \(type.qualifiedName)",
                fix: "the keys are: " + keys.joined(separator: "; "))
            return
        }
        for part in parts {
            guard case .literal(let value) = part.value,
                let reference = part.name.flatMap({ name in references.first { $0.name == name } }) ?? references.first,
                let property = keyProperty(reference.path, of: type)
            else { continue }
            verify(value, against: ModelPoint(property.type, in: model), "'\(reference.name)'", at: place)
        }
    }

    private func alternateKeys(of type: ServiceModel.StructuredType, _ point: ModelPoint) -> [[ServiceModel.KeyReference]] {
        let ofTypes = ([type] + model.baseTypes(of: type)).flatMap { model.alternateKeys(of: $0) }
        return ofTypes + (point.restrictions.set.map { model.alternateKeys(of: $0) } ?? [])
    }

    private func keyProperty(_ path: String, of type: ServiceModel.StructuredType) -> ServiceModel.Property? {
        var owner = type.qualifiedName
        var found: ServiceModel.Property?
        for name in path.split(separator: "/") {
            found = model.property(String(name), of: owner)
            guard let next = found?.type.name else { return nil }
            owner = next
        }
        return found
    }

    func boundOperations(to point: ModelPoint) -> [ServiceModel.Operation] {
        point.reference.map { model.operations(boundTo: $0.name, isCollection: $0.isCollection) } ?? []
    }

    /// Verifies a call of a bound operation and returns its result, or `nil` if nothing more can be verified.
    ///
    /// - Parameter parameters: The parameters in the path; `nil` if they aren't known or are elsewhere.
    mutating func operation(
        _ name: String, _ parameters: [(name: String, value: QueryExpression)]?, boundTo point: ModelPoint, at place: String, isFirst: Bool
    ) -> ModelPoint? {
        let isQualified = name.utf8.contains(UInt8(ascii: "."))
        let bound = boundOperations(to: point)
        let overloads = bound.filter { isQualified ? $0.qualifiedName == model.qualifiedName(name) : $0.name == name }
        guard !overloads.isEmpty else {
            // At the beginning of an expression's path, services also accept an unbound operation.
            if point.isUnknown || isFirst && (!model.operations(name).isEmpty || model.operationImport(name) != nil) { return nil }
            guard isKnownNamespace(of: name) else { return nil }
            let exists = !model.operations(name).isEmpty
            report(
                .unknownOperation, at: place, name,
                exists ? "'\(name)' isn't bound to \(point.typeName)" : "the model has no operation '\(name)'",
                fix: ModelFault.fix(
                    for: name, among: Array(Set(bound.map { isQualified ? $0.qualifiedName : $0.name })), "operations of \(point.typeName)")
            )
            return nil
        }
        guard let parameters else { return overloads.count == 1 ? result(of: overloads[0]) : nil }
        guard let operation = overloads.first(where: { takes($0, parameters.map(\.name)) }) else {
            reportParameters(name, parameters.map(\.name), overloads, at: place)
            return nil
        }
        verify(parameters, of: operation, at: place)
        return result(of: operation)
    }

    /// Returns whether an overload has these parameters.
    private func takes(_ operation: ServiceModel.Operation, _ names: [String]) -> Bool {
        let declared = operation.callParameters
        return Set(names).isSubset(of: declared.map(\.name))
            && declared.allSatisfy {
                // Version 2 omits null parameters.
                names.contains($0.name) || model.annotation("Org.OData.Core.V1.OptionalParameter", of: $0) != nil
                    || model.version < .v4 && $0.type.isNullable
            }
    }

    private mutating func reportParameters(
        _ name: String, _ given: [String], _ overloads: [ServiceModel.Operation], at place: String
    ) {
        let lists = overloads.map { "(" + $0.callParameters.map(\.name).joined(separator: ", ") + ")" }
        report(
            .unknownOperation, at: place, name, "'\(name)' has no overload with the parameters (\(given.joined(separator: ", ")))",
            fix: lists.isEmpty ? "the model has no such operation" : "the parameters are " + lists.joined(separator: " or "))
    }

    /// Verifies the literals of a call's parameters.
    private mutating func verify(
        _ parameters: [(name: String, value: QueryExpression)], of operation: ServiceModel.Operation, at place: String
    ) {
        for parameter in parameters {
            guard case .literal(let value) = parameter.value.kind,
                let declared = operation.parameters.first(where: { $0.name == parameter.name })
            else { continue }
            verify(value, against: ModelPoint(declared.type, in: model), "'\(parameter.name)'", at: place)
        }
    }
}
