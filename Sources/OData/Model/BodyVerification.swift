import Foundation
import ODataMetadata
import WebServiceClient

/// An object in a change's body that isn't verified yet. A list of such objects replaces recursion, because values nest deeply.
struct BodyPart {
    /// The effect of the change on the object.
    enum Use {
        case creation, update
        /// It replaces an entity as a whole.
        case replacement
        /// It may be new or exist, as in an upsert, a delta, or inside of an updated entity.
        case whole
        /// It is an argument, or an element of a collection of complex values: a change replaces the whole collection.
        case element

        init(_ kind: WriteOperation.Kind) {
            switch kind {
            case .creation: self = .creation
            case .update: self = .update
            case .replacement: self = .replacement
            case .upsert, .delta, .deletion, .value, .reference, .action: self = .whole
            }
        }
    }

    let object: DynamicEntity
    /// The declared type, from which the object's own may be derived.
    let type: ServiceModel.StructuredType
    let use: Use
    let place: String
    /// The complex properties from the entity.
    let steps: [PathStep]
    /// The restrictions on the entity; those of no resource for a related one inside of it.
    let restrictions: Restrictions
    /// The key with which the entity is addressed.
    var key: [ResourcePath.KeyPart] = []
    /// Whether the object is inside of another entity.
    var isInner = false
}

// Bodies with entities.
extension WriteVerifier {
    /// Verifies the body of an entity or of a complex value.
    mutating func verifyBody(
        _ object: DynamicEntity, _ use: BodyPart.Use, _ type: ServiceModel.StructuredType, _ restrictions: Restrictions,
        steps: [PathStep] = [], key: [ResourcePath.KeyPart] = []
    ) {
        verify([
            BodyPart(object: object, type: type, use: use, place: place, steps: steps, restrictions: restrictions, key: key)
        ])
    }

    /// Verifies the value of one property; `nil` if it has no payload.
    mutating func verifyProperty(
        _ property: ServiceModel.Property, _ value: ODataValue?, _ steps: [PathStep], _ restrictions: Restrictions, at place: String
    ) {
        verifyAccess(to: property, value, .update, steps, restrictions, at: place)
        guard let value else { return }
        let part = BodyPart(
            object: DynamicEntity(), type: ServiceModel.StructuredType(kind: .complex, namespace: "", name: ""), use: .update, place: place,
            steps: steps, restrictions: restrictions)
        var rest: [BodyPart] = []
        verify(value, property.type, property.name, in: part, steps, &rest)
        verify(rest)
    }

    /// Verifies objects and those inside of them.
    mutating func verify(_ parts: [BodyPart]) {
        var rest = parts
        while let part = rest.popLast() { verify(part, &rest) }
    }

    private mutating func verify(_ part: BodyPart, _ rest: inout [BodyPart]) {
        let (type, isKnown) = statedType(of: part)
        for position in 0..<part.object.count {
            let (name, value) = (part.object.name(at: position), part.object.value(at: position))
            guard ControlInformation.isProperty(name) else {
                verifyControl(name, value, type, part, &rest)
                continue
            }
            if let property = model.property(name, of: type.qualifiedName) {
                let steps = part.steps + [PathStep(property, of: type, part.type)]
                verifyAccess(to: property, value, part.use, steps, part.restrictions, key: part.key, at: part.place)
                if value.isNull, part.use == .creation, model.accessLimit(of: property) != nil { continue }
                verify(value, property.type, name, in: part, steps, &rest)
            } else if let relation = model.navigationProperty(name, of: type.qualifiedName) {
                verify(value, relation, type, part, &rest)
            } else if isKnown, !model.isOpen(type) {
                base.reportUnknown(name, of: type, at: part.place)
            }
        }
        verifyPresence(in: part, type)
    }

    /// Returns the type that an object states, or else its declared type.
    ///
    /// - Returns: The type, and whether it is the object's own. The model may not include that, and then it is a base type.
    private mutating func statedType(of part: BodyPart) -> (type: ServiceModel.StructuredType, isKnown: Bool) {
        guard let name = ItemControl.typeName(of: part.object) else {
            if part.use == .creation, part.type.isAbstract {
                let types = model.derivedTypes(of: part.type.qualifiedName).filter { !$0.isAbstract }.map { "'\($0.qualifiedName)'" }
                base.report(
                    .wrongType, at: part.place, part.type.qualifiedName,
                    "\(part.type.qualifiedName) is abstract, so that it has no entities",
                    fix: "state a derived type (\(types.prefix(8).joined(separator: ", "))), as the client's types do")
            }
            return (part.type, true)
        }
        guard let type = model.structuredType(name) else {
            if base.isKnownNamespace(of: name) {
                let names = model.derivedTypes(of: part.type.qualifiedName).map(\.qualifiedName)
                base.report(
                    .unknownType, at: part.place, name, "the model has no type '\(name)'",
                    fix: ModelFault.fix(for: name, among: [part.type.qualifiedName] + names, "types"))
            }
            return (part.type, false)
        }
        guard model.isType(type.qualifiedName, derivedFrom: part.type.qualifiedName) else {
            // The path may have a cast to a derived type.
            if !model.isType(part.type.qualifiedName, derivedFrom: type.qualifiedName) {
                base.report(
                    .wrongType, at: part.place, name, "'\(name)' isn't derived from \(part.type.qualifiedName)",
                    fix: "write an entity or a value of that type")
            }
            return (part.type, false)
        }
        return (type, true)
    }

    // MARK: Access

    /// Verifies that a property can be set.
    private mutating func verifyAccess(
        to property: ServiceModel.Property, _ value: ODataValue?, _ use: BodyPart.Use, _ steps: [PathStep], _ restrictions: Restrictions,
        key: [ResourcePath.KeyPart] = [], at place: String
    ) {
        let (name, path) = (property.name, steps.path)
        func excluded(_ term: String, _ list: String) -> String? {
            guard let found = restrictions.annotation(term), found.lists(steps, in: list, model) else { return nil }
            return "\(found.name) (\(list))"
        }
        let leaveOut = "leave it out"
        switch use {
        case .creation:
            if value?.isNull == true { return }
            if let source = excluded("InsertRestrictions", "NonInsertableProperties") {
                return exclude("'\(path)' from new entities", at: place, path, by: source, fix: leaveOut)
            }
            guard let limit = model.accessLimit(of: property), limit.kind != .immutable else { return }
            base.report(
                .notSettable, at: place, name, "\(limit.problem(name)) by \(limit.source)",
                fix: limit.kind == .notCreatable ? "set it by an update of the created entity" : leaveOut)
        case .update, .replacement:
            if let source = excluded("UpdateRestrictions", "NonUpdatableProperties") {
                return exclude("'\(path)' from updates", at: place, path, by: source, fix: leaveOut)
            }
            guard use == .update else { return }
            if let limit = model.accessLimit(of: property), limit.kind != .notCreatable {
                return base.report(.notSettable, at: place, name, "\(limit.problem(name)) by \(limit.source)", fix: leaveOut)
            }
            guard steps.count == 1, let type = model.structuredType(steps[0].type),
                model.key(of: type).contains(where: { $0.path == name }), !isSame(value, name, key)
            else { return }
            base.report(
                .notSettable, at: place, name, "'\(name)' is part of the key of \(type.qualifiedName) and can't be changed",
                fix: "leave it out, or create another entity")
        case .whole, .element: return
        }
    }

    /// Returns whether a key's property in the body is certainly that of the path.
    private func isSame(_ value: ODataValue?, _ name: String, _ key: [ResourcePath.KeyPart]) -> Bool {
        guard let value, let part = key.count == 1 ? key.first : key.first(where: { $0.name == name }), part.name ?? name == name,
            case .literal(let literal) = part.value
        else { return false }
        switch literal {
        case .string(let text): return value.string == text
        case .guid(let id): return value.string?.lowercased() == id.uuidString.lowercased()
        case .integer(let number), .int64(let number): return value.integer == number
        default: return false
        }
    }

    /// Verifies that nothing is missing in an object.
    private mutating func verifyPresence(in part: BodyPart, _ type: ServiceModel.StructuredType) {
        guard !part.isInner || part.use == .creation, part.steps.isEmpty else { return }
        let key = Set(model.key(of: type).map { String($0.path.prefix { $0 != "/" }) })
        let isNew: Bool
        switch part.use {
        case .creation: isNew = true
        case .update, .replacement: isNew = false
        case .whole, .element: return
        }
        if !part.isInner, let found = part.restrictions.annotation(isNew ? "InsertRestrictions" : "UpdateRestrictions") {
            for path in (found.value?["RequiredProperties"]?.elements ?? []).compactMap(\.text)
            where !part.object.has(path, type, model) && (isNew || !key.contains(path)) {
                base.report(
                    .restriction, at: part.place, path, "the service requires '\(path)' by \(found.name) (RequiredProperties)",
                    fix: "set it")
            }
        }
        guard isNew, type.kind == .entity else { return }
        let constrained = self.constrained(type, part)
        for property in model.properties(of: type) where part.object.position(of: property.name) == nil {
            guard !key.contains(property.name), !constrained.contains(property.name), needsValue(property, type, part) else { continue }
            base.report(
                .missingProperty, at: part.place, property.name,
                "'\(property.name)' is missing, which can't be null and has no default (Nullable of \(property.target))", fix: "set it")
        }
    }

    /// Returns whether a new entity lacks a value without this property.
    private func needsValue(_ property: ServiceModel.Property, _ type: ServiceModel.StructuredType, _ part: BodyPart) -> Bool {
        guard !property.type.isNullable, !property.type.isCollection, property.defaultValue == nil, !model.hasComputedDefault(property),
            // The services of SAP's gateway have an initial value for each property.
            !property.extensions.attributes.contains(where: { $0.namespace == ServiceModel.Extensions.sap })
        else { return false }
        if let limit = model.accessLimit(of: property), limit.kind != .immutable { return false }
        if let found = part.restrictions.annotation("InsertRestrictions") {
            let step = PathStep(property, of: type, part.type)
            if found.lists([step], in: "NonInsertableProperties", model) { return false }
        }
        switch ModelPoint(property.type, in: model).value {
        case .primitive(let name): return name != "Edm.Stream"
        case .enumeration: return true
        case .structured, .unknown: return false
        }
    }

    /// The properties whose values come from a related entity: one that is written or bound with the entity, or that contains it.
    private func constrained(_ type: ServiceModel.StructuredType, _ part: BodyPart) -> Set<String> {
        let isRelated = part.isInner || !part.restrictions.steps.isEmpty
        var names: Set<String> = []
        for relation in model.navigationProperties(of: type) where !relation.referentialConstraints.isEmpty {
            let isWritten = [relation.name, relation.name + "@odata.bind"].contains { part.object.position(of: $0) != nil }
            if isRelated || isWritten { names.formUnion(relation.referentialConstraints.map(\.property)) }
        }
        return names
    }

    // MARK: Relations

    private mutating func verifyControl(
        _ name: String, _ value: ODataValue, _ type: ServiceModel.StructuredType, _ part: BodyPart, _ rest: inout [BodyPart]
    ) {
        guard let mark = name.firstIndex(of: "@"), mark > name.startIndex else { return }
        let owner = String(name[..<mark])
        let control = ControlInformation.name(name[mark...])
        guard control == "bind" || control == "delta" else { return }
        guard let relation = model.navigationProperty(owner, of: type.qualifiedName) else {
            if model.property(owner, of: type.qualifiedName) != nil {
                base.report(
                    .misplaced, at: part.place, owner, "'\(owner)' isn't a navigation property, so that no entity can be bound to it",
                    fix: "set it as a value")
            } else if !model.isOpen(type) {
                base.reportUnknown(owner, of: type, at: part.place)
            }
            return
        }
        if control == "delta" { return verify(value, relation, type, part, &rest) }
        verifyBinding(relation, [PathStep(relation, of: type, part.type)], part)
        switch value {
        case .array(let elements):
            verifyCount(isMany: true, relation, part)
            for element in elements { if let url = element.string { verifyTarget(url, of: relation, at: part.place) } }
        case .string(let url):
            verifyCount(isMany: false, relation, part)
            verifyTarget(url, of: relation, at: part.place)
        case .null: verifyNull(relation, part)
        case .boolean, .integer, .decimal, .object: return
        }
    }

    private mutating func verifyCount(isMany: Bool, _ relation: ServiceModel.NavigationProperty, _ part: BodyPart) {
        guard isMany != relation.isCollection else { return }
        base.report(
            .wrongType, at: part.place, relation.name,
            "'\(relation.name)' leads to \(relation.isCollection ? "many entities" : "one entity")",
            fix: relation.isCollection ? "write an array of entities, or bind(_:toAll:)" : "write one entity, or bind(_:to:)")
    }

    private mutating func verifyNull(_ relation: ServiceModel.NavigationProperty, _ part: BodyPart) {
        guard !relation.isCollection, !relation.isNullable else { return }
        base.report(
            .nullability, at: part.place, relation.name, "'\(relation.name)' can't be without an entity (Nullable of \(relation.target))",
            fix: "bind an entity")
    }

    /// Verifies that a relation can be set.
    private mutating func verifyBinding(_ relation: ServiceModel.NavigationProperty, _ last: [PathStep], _ part: BodyPart) {
        if part.use == .update || part.use == .replacement { verifyRebinding(part.steps + last, part.restrictions) }
        guard part.use != .whole, !model.permitsWriting(relation) else { return }
        exclude(
            "changes of '\(relation.name)'", at: part.place, relation.name, by: "Core.Permissions of \(relation.target)",
            fix: "leave the relation out")
    }

    /// Verifies a relation whose entities are inside of the body.
    private mutating func verify(
        _ value: ODataValue, _ relation: ServiceModel.NavigationProperty, _ type: ServiceModel.StructuredType, _ part: BodyPart,
        _ rest: inout [BodyPart]
    ) {
        let steps = part.steps + [PathStep(relation, of: type, part.type)]
        var entities: [DynamicEntity] = []
        var isBound = false
        func add(_ object: DynamicEntity) {
            guard let link = object.link else { return entities.append(object) }
            isBound = true
            verifyTarget(link, of: relation, at: part.place)
        }
        func reportWrong(_ value: ODataValue) {
            base.report(
                .wrongType, at: part.place, relation.name, "'\(relation.name)' leads to \(relation.targetType), not \(value.kind)",
                fix: "bind an entity, or write one")
        }
        func addAll(_ elements: some Sequence<ODataValue>) {
            for element in elements { if case .object(let object) = element { add(object) } else { reportWrong(element) } }
        }
        switch value {
        case .null: return verifyNull(relation, part)
        case .array(let elements):
            verifyCount(isMany: true, relation, part)
            addAll(elements)
        case .object(let object):
            if let results = object["results"]?.array, relation.isCollection {
                addAll(results)
            } else {
                // Olingo accepts the link of one entity in place of a list.
                if object.link == nil { verifyCount(isMany: false, relation, part) }
                add(object)
            }
        case .boolean, .integer, .decimal, .string: return reportWrong(value)
        }
        if isBound { verifyBinding(relation, [PathStep(relation, of: type, part.type)], part) }
        guard !entities.isEmpty else { return }
        verifyDepth(relation, steps, part)
        guard let target = model.structuredType(relation.targetType) else { return }
        for entity in entities where entity["@removed"] == nil {
            rest.append(
                BodyPart(
                    object: entity, type: target, use: part.use == .creation ? .creation : .whole, place: part.place + "/" + relation.name,
                    steps: [], restrictions: Restrictions(model), isInner: true))
        }
    }

    /// Verifies that an entity can contain related ones when it is created or updated.
    private mutating func verifyDepth(_ relation: ServiceModel.NavigationProperty, _ steps: [PathStep], _ part: BodyPart) {
        let isNew = part.use == .creation
        let what = isNew ? "new entities of '\(steps.path)' inside of new ones" : "entities of '\(steps.path)' inside of changed ones"
        let fix = isNew ? "create them in the relation, after the entity" : "change them separately"
        func exclude(by source: String) { self.exclude(what, at: part.place, steps.path, by: source, fix: fix) }
        if isNew, let found = part.restrictions.annotation("InsertRestrictions"),
            found.lists(steps, in: "NonInsertableNavigationProperties", model)
        {
            exclude(by: "\(found.name) (NonInsertableNavigationProperties)")
        }
        let term = isNew ? "DeepInsertSupport" : "DeepUpdateSupport"
        if let found = part.restrictions.annotation(term) ?? part.restrictions.containerAnnotation(term), found.isFalse("Supported") {
            exclude(by: found.name)
        }
        if isNew, relation.sapExcludes("creatable") { exclude(by: "sap:creatable of \(relation.target)") }
    }
}

extension PathStep {
    init(_ property: ServiceModel.Property, of type: ServiceModel.StructuredType, _ declared: ServiceModel.StructuredType) {
        self.init(
            name: property.name, type: type.qualifiedName, declaringType: property.declaringType,
            isCast: type.qualifiedName != declared.qualifiedName)
    }

    init(_ relation: ServiceModel.NavigationProperty, of type: ServiceModel.StructuredType, _ declared: ServiceModel.StructuredType) {
        self.init(
            name: relation.name, type: type.qualifiedName, declaringType: relation.declaringType,
            isCast: type.qualifiedName != declared.qualifiedName)
    }
}

extension ServiceModel.AccessLimit {
    /// The beginning of a sentence that names the annotation at its end.
    fileprivate func problem(_ name: String) -> String {
        switch kind {
        case .computed: "the service sets '\(name)' itself"
        case .readOnly: "'\(name)' can only be read"
        case .immutable: "'\(name)' can be set only when the entity is created"
        case .notCreatable: "'\(name)' can't be set when the entity is created"
        }
    }
}

extension DynamicEntity {
    /// The link of a reference to an existing entity, which has no properties; `nil` for other objects.
    fileprivate var link: String? {
        if let link = PayloadDecoder.deferredLink(self) { return link }
        let id = self["@id"] ?? self["@odata.id"] ?? self["__metadata"]?["uri"]
        return names.contains { ControlInformation.isProperty($0) } ? nil : id?.string
    }

    /// Returns whether the object has a property by its path. A path with a cast to another type isn't required.
    fileprivate func has(_ path: String, _ type: ServiceModel.StructuredType, _ model: ServiceModel) -> Bool {
        var object: DynamicEntity? = self
        var isTop = true
        for segment in path.split(separator: "/").map(String.init) {
            if isTop, object?.position(of: segment) == nil, segment.contains(".") {
                if !model.isType(type.qualifiedName, derivedFrom: segment) { return true }
                continue
            }
            isTop = false
            guard let value = object?[segment] else { return object == nil }
            object = value.object
        }
        return true
    }
}
