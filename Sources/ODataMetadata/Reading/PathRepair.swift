/// Follows the paths of a model whose types are right: of keys, partners, bindings and annotations.
struct PathRepair {
    let state: ReadingState
    let model: ServiceModel
    let externalNamespaces: Set<String>

    /// Where a path leads.
    private enum End {
        /// A property of a primitive or unknown type, or nothing that the path can go on from.
        case value
        case type(String)
        /// The path leaves the model.
        case external
        /// The path isn't right.
        case nowhere
    }

    /// Repairs schemas and returns whether anything changed. What doesn't change stays shared with the model.
    func repair(_ schemas: inout [ServiceModel.Schema]) -> Bool {
        var hasChanged = false
        for index in schemas.indices {
            for position in schemas[index].entityTypes.indices {
                guard let type = repaired(schemas[index].entityTypes[position]) else { continue }
                schemas[index].entityTypes[position] = type
                hasChanged = true
            }
            for position in schemas[index].complexTypes.indices {
                guard let type = repaired(schemas[index].complexTypes[position]) else { continue }
                schemas[index].complexTypes[position] = type
                hasChanged = true
            }
            for position in schemas[index].containers.indices {
                let container = repaired(schemas[index].containers[position])
                if container == schemas[index].containers[position] { continue }
                schemas[index].containers[position] = container
                hasChanged = true
            }
            for group in schemas[index].targetedAnnotations where !hasTarget(group.target) {
                state.tell(
                    .unknownTarget, "the target '\(group.target)' of annotations isn't in the model", assuming: "they apply to nothing",
                    at: group.place, path: "Annotations of " + group.target)
            }
        }
        return hasChanged
    }

    private func isExternal(_ name: some StringProtocol) -> Bool {
        guard !externalNamespaces.isEmpty, let dot = name.lastIndex(of: ".") else { return false }
        return externalNamespaces.contains(String(name[..<dot]))
    }

    // MARK: Types

    /// The type as repaired, or `nil` if nothing is to be repaired.
    private func repaired(_ type: ServiceModel.StructuredType) -> ServiceModel.StructuredType? {
        var result: ServiceModel.StructuredType?
        for reference in type.key {
            if case .nowhere = follow(reference.path[...], from: type.qualifiedName) {
                state.tell(
                    .unknownKeyProperty, "the key has a property '\(reference.path)' that the type hasn't",
                    assuming: "the key is without it", at: type.place, path: type.target)
                var changed = result ?? type
                changed.key.removeAll { $0 == reference }
                result = changed
            }
        }
        if type.kind == .entity, !type.isAbstract, (result ?? type).key.isEmpty, model.key(of: type).isEmpty, !hasExternalBase(type) {
            state.tell(
                .missingKey, "the entity type has no key", assuming: "its entities can't be addressed by a key", at: type.place,
                path: type.target, severity: .noted)
        }
        for index in type.navigationProperties.indices {
            let relation = type.navigationProperties[index]
            guard let partner = relation.partner, relation.targetType != "Edm.EntityType" else { continue }
            guard case .nowhere = follow(partner[...], from: relation.targetType) else { continue }
            state.tell(
                .unknownPartner, "the partner '\(partner)' isn't in '\(relation.targetType)'", assuming: "the property has no partner",
                at: relation.place, path: relation.target)
            var changed = result ?? type
            changed.navigationProperties[index].partner = nil
            result = changed
        }
        return result
    }

    private func hasExternalBase(_ type: ServiceModel.StructuredType) -> Bool {
        ((model.baseTypes(of: type).last ?? type).baseType).map { isExternal($0) } ?? false
    }

    /// Follows a path of properties and casts from a type.
    private func follow(_ path: Substring, from start: String) -> End {
        var current = End.type(start)
        for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let segment = Substring(part)
            guard case .type(let type) = current else { return current }
            if isExternal(type) { return .external }
            let name = String(segment)
            if segment.first == "@" || segment.first == "$" { return .value }
            if let property = model.property(name, of: type) {
                current =
                    model.structuredType(property.type.name) != nil || isExternal(property.type.name) ? .type(property.type.name) : .value
            } else if let relation = model.navigationProperty(name, of: type) {
                current = .type(relation.targetType)
            } else if let cast = model.structuredType(name) {
                current = .type(cast.qualifiedName)
            } else if isExternal(segment) {
                return .external
            } else {
                guard let structured = model.structuredType(type) else { return .external }
                return model.isOpen(structured) || hasExternalBase(structured) ? .value : .nowhere
            }
        }
        return current
    }

    // MARK: Containers

    private func repaired(_ original: ServiceModel.EntityContainer) -> ServiceModel.EntityContainer {
        var container = original
        if let base = container.extends, model.schemas.flatMap(\.containers).allSatisfy({ $0.qualifiedName != base }),
            model.includedSchemas.flatMap(\.containers).allSatisfy({ $0.qualifiedName != base }), !isExternal(base)
        {
            state.tell(
                .unknownResource, "the container extends '\(base)', which isn't in the model", assuming: "it extends nothing",
                at: container.place, path: container.target)
            container.extends = nil
        }
        // What a container extends may have sets that this document doesn't show.
        let isComplete = container.extends.map { !isExternal($0) } ?? true
        let names = Set(container.entitySets.map(\.name) + container.singletons.map(\.name))
        for index in container.entitySets.indices {
            let set = container.entitySets[index]
            container.entitySets[index].bindings = bindings(
                set.bindings, from: set.entityType, in: container, names, isComplete: isComplete, path: set.target)
        }
        for index in container.singletons.indices {
            let singleton = container.singletons[index]
            container.singletons[index].bindings = bindings(
                singleton.bindings, from: singleton.type, in: container, names, isComplete: isComplete, path: singleton.target)
        }
        for index in container.operationImports.indices {
            let item = container.operationImports[index]
            if model.operations(item.operation).isEmpty, !isExternal(item.operation) {
                state.tell(
                    .unknownResource, "the \(item.kind == .action ? "action" : "function") '\(item.operation)' isn't in the model",
                    assuming: "the import stays, without parameters", at: item.place, path: item.target)
            }
            guard let set = item.entitySet else { continue }
            let local = self.local(set, in: container)
            container.operationImports[index].entitySet = local
            if !isTarget(local, in: container, names, isComplete: isComplete) {
                state.tell(
                    .unknownResource, "the entity set '\(set)' isn't in the model", assuming: "the import names no set", at: item.place,
                    path: item.target)
                container.operationImports[index].entitySet = nil
            }
        }
        return container
    }

    /// A path without the name of its own container.
    private func local(_ target: String, in container: ServiceModel.EntityContainer) -> String {
        let prefix = container.qualifiedName + "/"
        return target.hasPrefix(prefix) ? String(target.dropFirst(prefix.count)) : target
    }

    private func isTarget(
        _ target: String, in container: ServiceModel.EntityContainer, _ names: Set<String>, isComplete: Bool
    ) -> Bool {
        let first = target.prefix { $0 != "/" }
        if names.contains(String(first)) || !isComplete { return true }
        if first.contains(".") {
            if isExternal(first) { return true }
            return (model.schemas + model.includedSchemas).contains { $0.containers.contains { $0.qualifiedName == first } }
        }
        // A set of a container that this one extends.
        return model.container?.qualifiedName == container.qualifiedName
            && (model.entitySet(String(first)) != nil || model.singleton(String(first)) != nil)
    }

    private func bindings(
        _ bindings: [ServiceModel.NavigationPropertyBinding], from type: String, in container: ServiceModel.EntityContainer,
        _ names: Set<String>, isComplete: Bool, path: String
    ) -> [ServiceModel.NavigationPropertyBinding] {
        var paths: Set<String> = []
        return bindings.compactMap { binding in
            var binding = binding
            binding.target = local(binding.target, in: container)
            func drop(_ kind: ModelDiagnostic.Kind, _ message: String) -> ServiceModel.NavigationPropertyBinding? {
                state.tell(kind, message, assuming: "the binding is ignored", at: binding.place, path: path)
                return nil
            }
            if !isTarget(binding.target, in: container, names, isComplete: isComplete) {
                return drop(.unknownBinding, "the binding of '\(binding.path)' leads to '\(binding.target)', which isn't in the model")
            }
            if type != "Edm.EntityType", case .nowhere = follow(binding.path[...], from: type) {
                return drop(.unknownBinding, "the path '\(binding.path)' of a binding isn't in '\(type)'")
            }
            if !paths.insert(binding.path).inserted {
                return drop(.duplicate, "there are two bindings of '\(binding.path)'")
            }
            return binding
        }
    }

    // MARK: Annotations

    /// Whether the target of annotations exists, or lies in a schema that isn't known.
    private func hasTarget(_ target: String) -> Bool {
        let (first, rest) = Self.split(target)
        if isExternal(first) { return true }
        // Most targets are types and their members.
        if let type = model.structuredType(first) {
            if rest.isEmpty { return true }
            if case .nowhere = follow(rest[...], from: type.qualifiedName) { return false }
            return true
        }
        let parts = rest.isEmpty ? [] : rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if model.schema(first) != nil { return parts.isEmpty }
        let bare = String(first.prefix { $0 != "(" })
        let overloads = model.operations(bare)
        if !overloads.isEmpty {
            let matching = bare == first ? overloads : overloads.filter { $0.target == first }
            guard let part = parts.first else { return !matching.isEmpty }
            return matching.contains { overload in
                part == "$ReturnType" ? overload.returnType != nil : overload.parameters.contains { $0.name == part }
            }
        }
        switch model.type(first) {
        case .structured: return true
        case .enumeration(let type): return parts.isEmpty || parts.count == 1 && type.members.contains { $0.name == parts[0] }
        case .definition: return parts.isEmpty
        case nil: break
        }
        if model.term(first) != nil { return parts.isEmpty }
        if let container = model.index.containers[first] { return hasTarget(parts, in: container) }
        guard let dot = first.lastIndex(of: ".") else { return false }
        // A namespace that the document neither has nor includes: nothing is known about it.
        let namespace = String(first[..<dot])
        return model.schema(namespace) == nil && !model.schemas.contains { first.hasPrefix($0.namespace + ".") }
    }

    private func hasTarget(_ parts: [String], in container: ServiceModel.EntityContainer) -> Bool {
        guard let name = parts.first else { return true }
        if container.operationImports.contains(where: { $0.name == name }) { return parts.count == 1 }
        let type = container.entitySets.first { $0.name == name }?.entityType ?? container.singletons.first { $0.name == name }?.type
        guard let type else {
            // Sets of extended containers.
            return container.extends != nil && (model.entitySet(name) != nil || model.singleton(name) != nil)
        }
        if parts.count == 1 { return true }
        if case .nowhere = follow(parts.dropFirst().joined(separator: "/")[...], from: type) { return false }
        return true
    }

    /// Splits a target behind its first segment, which may hold parentheses.
    private static func split(_ target: String) -> (String, String) {
        let bytes = target.utf8
        let open = bytes.firstIndex(of: UInt8(ascii: "("))
        let close = open.flatMap { bytes[$0...].firstIndex(of: UInt8(ascii: ")")) } ?? bytes.startIndex
        guard let slash = bytes[close...].firstIndex(of: UInt8(ascii: "/")) else { return (target, "") }
        return (String(target[..<slash]), String(target[bytes.index(after: slash)...]))
    }
}
