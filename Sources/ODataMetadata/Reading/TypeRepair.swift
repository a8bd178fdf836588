/// Checks that the types in references exist, and replaces those that don't.
struct TypeRepair {
    private enum Kind {
        case entity, complex, enumeration, definition
    }

    /// The primitive and abstract types of all versions.
    private static let primitives: Set<String> = {
        let plain = [
            "Binary", "Boolean", "Byte", "Date", "DateTimeOffset", "Decimal", "Double", "Duration", "Guid", "Int16", "Int32", "Int64",
            "SByte", "Single", "Stream", "String", "TimeOfDay", "DateTime", "Time", "Untyped", "PrimitiveType", "ComplexType", "EntityType",
            "AnnotationPath", "PropertyPath", "NavigationPropertyPath", "AnyPropertyPath", "ModelElementPath", "GeographyPoint",
            "GeometryPoint",
        ]
        let shapes = ["", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "Collection"]
        return Set(plain.map { "Edm." + $0 } + shapes.flatMap { ["Edm.Geography" + $0, "Edm.Geometry" + $0] })
    }()

    /// The primitive types by their name in lowercase, because some services write `Edm.string`.
    private static let primitivesByLowercase = Dictionary(primitives.map { ($0.lowercased(), $0) }) { first, _ in first }

    private let state: ReadingState
    private var kinds: [String: Kind] = [:]
    private var operations: Set<String> = []
    /// The qualified names of containers by their simple name.
    private var containers: [String: Set<String>] = [:]
    private var definitions: [String: String] = [:]
    private let namespaces: Set<String>
    /// The namespaces that the document includes without given schemas. Their types can't be checked.
    let externalNamespaces: NamespaceNames

    init(
        state: ReadingState, schemas: [ServiceModel.Schema], included: [ServiceModel.Schema], references: [ServiceModel.Reference]
    ) {
        self.state = state
        namespaces = Set(schemas.map(\.namespace) + included.map(\.namespace))
        externalNamespaces = NamespaceNames(Set(references.flatMap(\.includes).map(\.namespace)).subtracting(namespaces))
        for schema in schemas + included {
            for type in schema.entityTypes { kinds[type.qualifiedName] = .entity }
            for type in schema.complexTypes { kinds[type.qualifiedName] = .complex }
            for type in schema.enumTypes { kinds[type.qualifiedName] = .enumeration }
            for type in schema.typeDefinitions {
                kinds[type.qualifiedName] = .definition
                definitions[type.qualifiedName] = type.underlyingType.name
            }
            operations.formUnion(schema.operations.map(\.qualifiedName))
            for container in schema.containers { containers[container.name, default: []].insert(container.qualifiedName) }
        }
    }

    /// Repairs base types and the types of properties, terms, operations and sets.
    func repair(_ schemas: inout [ServiceModel.Schema]) {
        repairBases(&schemas)
        for index in schemas.indices {
            let namespace = schemas[index].namespace
            reportNames(schemas[index])
            for type in schemas[index].entityTypes.indices { repairProperties(&schemas[index].entityTypes[type], in: namespace) }
            for type in schemas[index].complexTypes.indices { repairProperties(&schemas[index].complexTypes[type], in: namespace) }
            for type in schemas[index].enumTypes.indices { repairUnderlying(&schemas[index].enumTypes[type]) }
            for type in schemas[index].typeDefinitions.indices {
                let definition = schemas[index].typeDefinitions[type]
                if let primitive = primitive(of: definition.underlyingType.name, in: namespace) {
                    report(
                        .invalidValue,
                        "the type definition has the type '\(definition.underlyingType.name)', which isn't primitive",
                        "it is '\(primitive)'", definition.place, definition.target)
                    schemas[index].typeDefinitions[type].underlyingType.name = primitive
                } else if found(definition.underlyingType.name, in: namespace).map({ !Self.primitives.contains($0) })
                    ?? !definition.underlyingType.isPrimitive
                {
                    report(
                        .unknownType, "the type definition has the type '\(definition.underlyingType.name)', which isn't primitive",
                        "it is Edm.Untyped",
                        definition.place, definition.target)
                    schemas[index].typeDefinitions[type].underlyingType.name = "Edm.Untyped"
                } else {
                    repair(
                        &schemas[index].typeDefinitions[type].underlyingType, in: namespace, at: definition.place,
                        path: definition.target)
                }
            }
            for term in schemas[index].terms.indices {
                let (place, path) = (schemas[index].terms[term].place, schemas[index].terms[term].target)
                repair(&schemas[index].terms[term].type, in: namespace, at: place, path: path)
            }
            for operation in schemas[index].operations.indices { repair(&schemas[index].operations[operation], in: namespace) }
            for container in schemas[index].containers.indices { repair(&schemas[index].containers[container], in: namespace) }
        }
    }

    private func report(_ kind: ModelDiagnostic.Kind, _ message: String, _ assumption: String, _ place: Place, _ path: String) {
        state.report(kind, message, assuming: assumption, at: place, path: path)
    }

    func isExternal(_ name: String) -> Bool { externalNamespaces.hasPrefix(of: name) }

    /// Returns the primitive type at the end of a chain of type definitions, or `nil` if the name isn't the beginning of one.
    private func primitive(of name: String, in namespace: String) -> String? {
        var current = found(name, in: namespace) ?? name
        // CSDL allows no chain, so real ones are short.
        for _ in 0..<10 {
            guard let next = definitions[current] else { break }
            current = found(next, in: namespace) ?? next
            if Self.primitives.contains(current) { return current }
        }
        return nil
    }

    // MARK: Bases

    private func repairBases(_ schemas: inout [ServiceModel.Schema]) {
        var bases: [String: String] = [:]
        forEachType(&schemas) { type, namespace in
            guard let base = type.baseType else { return }
            let name = found(base, in: namespace) ?? base
            let kind: Kind = type.kind == .entity ? .entity : .complex
            let isRoot = name == (kind == .entity ? "Edm.EntityType" : "Edm.ComplexType")
            if kinds[name] == kind || kinds[name] == nil && (isExternal(name) || isRoot) {
                type.baseType = name
                bases[type.qualifiedName] = name
                return
            }
            report(
                .unknownBase,
                kinds[name] == nil ? "the base type '\(base)' isn't in the model" : "the base type '\(base)' is of another kind",
                "the type has no base type", type.place, type.target)
            type.baseType = nil
        }
        // A walk up the base types ends, or reaches a type of the same walk, which closes a cycle. Each type is walked once.
        var walks: [String: Int] = [:]
        var number = 0
        forEachType(&schemas) { type, _ in
            number += 1
            var current = type.qualifiedName
            while walks[current] == nil {
                walks[current] = number
                guard let next = bases[current] else { return }
                if walks[next] == number {
                    bases[current] = nil
                    return
                }
                current = next
            }
        }
        forEachType(&schemas) { type, _ in
            guard let base = type.baseType, bases[type.qualifiedName] == nil else { return }
            report(
                .inheritanceCycle, "the type is its own ancestor, by its base type '\(base)'", "the type has no base type", type.place,
                type.target)
            type.baseType = nil
        }
    }

    private func forEachType(_ schemas: inout [ServiceModel.Schema], _ body: (inout ServiceModel.StructuredType, String) -> Void) {
        for index in schemas.indices {
            let namespace = schemas[index].namespace
            for type in schemas[index].entityTypes.indices { body(&schemas[index].entityTypes[type], namespace) }
            for type in schemas[index].complexTypes.indices { body(&schemas[index].complexTypes[type], namespace) }
        }
    }

    private func reportNames(_ schema: ServiceModel.Schema) {
        guard namespaces.count > 1 else { return }
        func check(_ element: some ServiceModel.Element, _ place: Place) {
            guard namespaces.contains(element.target) else { return }
            state.report(
                .nameOfNamespace, "the type has the name of a namespace", assuming: "both are kept", at: place, path: element.target,
                severity: .noted)
        }
        for type in schema.entityTypes { check(type, type.place) }
        for type in schema.complexTypes { check(type, type.place) }
        for type in schema.enumTypes { check(type, type.place) }
        for type in schema.typeDefinitions { check(type, type.place) }
    }

    // MARK: Uses of types

    /// Returns the name of a type that exists: the name itself, or with the current namespace or `Edm` added.
    private func found(_ name: String, in namespace: String) -> String? {
        if kinds[name] != nil || Self.primitives.contains(name) { return name }
        guard !name.contains(".") else { return Self.primitivesByLowercase[name.lowercased()] }
        return [ServiceModel.qualified(name, in: namespace), "Edm." + name].first { kinds[$0] != nil || Self.primitives.contains($0) }
            ?? Self.primitivesByLowercase["edm." + name.lowercased()]
    }

    private func repair(
        _ type: inout ServiceModel.TypeReference, in namespace: String, at place: Place, path: @autoclosure () -> String
    ) {
        if let name = found(type.name, in: namespace) {
            if name != type.name {
                report(
                    .unknownType,
                    type.name.contains(".")
                        ? "the type '\(type.name)' isn't in the model" : "the type '\(type.name)' has no namespace",
                    "it is '\(name)'", place, path())
                type.name = name
            }
            // An entity in a collection is never null, and a document can't state it.
            if type.isCollection, kinds[name] == .entity || name == "Edm.EntityType" { type.isNullable = false }
        } else if !isExternal(type.name) {
            report(.unknownType, "the type '\(type.name)' isn't in the model", "it is Edm.Untyped", place, path())
            type.name = "Edm.Untyped"
        }
    }

    private func repairProperties(_ type: inout ServiceModel.StructuredType, in namespace: String) {
        for index in type.properties.indices where !Self.primitives.contains(type.properties[index].type.name) {
            let property = type.properties[index]
            repair(&type.properties[index].type, in: namespace, at: property.place, path: property.target)
        }
    }

    private func repairUnderlying(_ type: inout ServiceModel.EnumType) {
        // The designer of the Entity Framework writes `Int64`.
        let named = ReadingState.trimmed(type.underlyingType)
        if Self.ranges[named] == nil, let found = found(named, in: ""), Self.ranges[found] != nil {
            report(
                .unknownType,
                named.contains(".") ? "the type '\(named)' isn't in the model" : "the type '\(named)' has no namespace",
                "it is '\(found)'", type.place, type.target)
            type.underlyingType = found
        }
        guard let range = Self.ranges[type.underlyingType] else {
            let isSmall = type.members.allSatisfy { Int32(exactly: $0.value) != nil }
            let assumed = isSmall ? "Edm.Int32" : "Edm.Int64"
            report(
                .invalidValue, "the underlying type of an enumeration can't be '\(type.underlyingType)'", "it is \(assumed)", type.place,
                type.target)
            type.underlyingType = assumed
            return
        }
        for member in type.members where !range.contains(member.value) {
            state.report(
                .invalidValue, "\(member.value) isn't a value of \(type.underlyingType)", assuming: "it is kept", at: member.place,
                path: member.target, severity: .noted)
        }
    }

    /// The values of the types that enumerations can have.
    private static let ranges: [String: ClosedRange<Int64>] = [
        "Edm.Byte": 0...255, "Edm.SByte": -128...127, "Edm.Int16": -32_768...32_767, "Edm.Int32": -2_147_483_648...2_147_483_647,
        "Edm.Int64": .min ... .max,
    ]

    private func repair(_ operation: inout ServiceModel.Operation, in namespace: String) {
        // The path of an overload contains the types of all its parameters.
        let target = ReadingState.shown(operation.target)
        for index in operation.parameters.indices {
            let parameter = operation.parameters[index]
            repair(&operation.parameters[index].type, in: namespace, at: parameter.place, path: target + "/" + parameter.name)
        }
        if let type = operation.returnType {
            var repaired = type
            repair(&repaired.type, in: namespace, at: type.place, path: type.target)
            operation.returnType = repaired
        }
        if operation.isBound && operation.parameters.isEmpty {
            report(.missing, "the operation is bound, but has no parameter", "it isn't bound", operation.place, target)
            operation.isBound = false
        }
        // The path of an overload contains the types of its parameters.
        operation = operation.renewed()
    }

    private func repair(_ container: inout ServiceModel.EntityContainer, in namespace: String) {
        if let base = container.extends, !base.contains("."), let candidates = containers[base] {
            container.extends = extended(base, candidates, by: container.qualifiedName, in: namespace) ?? base
        }
        for index in container.operationImports.indices {
            let item = container.operationImports[index]
            let qualified = ServiceModel.qualified(item.operation, in: namespace)
            guard !item.operation.contains("."), !operations.contains(item.operation), operations.contains(qualified) else { continue }
            report(
                .unknownResource, "the operation '\(item.operation)' has no namespace", "it is '\(qualified)'", item.place, item.target)
            container.operationImports[index].operation = qualified
        }
        for index in container.entitySets.indices {
            let set = container.entitySets[index]
            container.entitySets[index].entityType = entityType(set.entityType, in: namespace, at: set.place, path: set.target)
        }
        for index in container.singletons.indices {
            let singleton = container.singletons[index]
            container.singletons[index].type = entityType(singleton.type, in: namespace, at: singleton.place, path: singleton.target)
        }
    }

    /// Returns the container that another container extends by its simple name, as V2 and V3 name it.
    private func extended(_ base: String, _ candidates: Set<String>, by container: String, in namespace: String) -> String? {
        let own = ServiceModel.qualified(base, in: namespace)
        if own != container, candidates.contains(own) { return own }
        // A container doesn't extend itself, so the only other container of the name is meant.
        guard candidates.count <= 2 else { return nil }
        let others = candidates.subtracting([container])
        return others.count == 1 ? others.first : nil
    }

    private func entityType(_ name: String, in namespace: String, at place: Place, path: String) -> String {
        if let found = found(name, in: namespace), kinds[found] == .entity || found == "Edm.EntityType" || found == "Edm.Untyped" {
            if found != name { report(.unknownType, "the type '\(name)' has no namespace", "it is '\(found)'", place, path) }
            return found
        }
        if kinds[name] == nil, isExternal(name) { return name }
        let isThere = kinds[name] != nil || Self.primitives.contains(name)
        report(
            .unknownType, isThere ? "the type '\(name)' isn't an entity type" : "the entity type '\(name)' isn't in the model",
            "it is Edm.Untyped", place, path)
        return "Edm.Untyped"
    }

    /// Repairs the targets of navigation properties.
    func repairRelations(_ schemas: inout [ServiceModel.Schema]) {
        forEachType(&schemas) { type, namespace in
            for index in type.navigationProperties.indices {
                let relation = type.navigationProperties[index]
                type.navigationProperties[index].targetType = entityType(
                    relation.targetType, in: namespace, at: relation.place, path: relation.target)
            }
        }
    }
}

extension ServiceModel.Operation {
    /// Returns the operation with the path of its current parameters.
    fileprivate func renewed() -> ServiceModel.Operation {
        var operation = ServiceModel.Operation(
            kind: kind, namespace: namespace, name: name, isBound: isBound, isComposable: isComposable, entitySetPath: entitySetPath,
            parameters: parameters, returnType: returnType, annotations: annotations, extensions: extensions)
        operation.place = place
        return operation
    }
}
