/// Repairs the paths of a model with repaired types: the paths of keys, partners, bindings and annotations.
struct PathRepair {
    private let state: ReadingState
    private let paths: ModelPaths
    /// The names of sets and singletons by the name of their container.
    private let resources: [String: Set<String>]

    private var model: ServiceModel { paths.model }

    init(state: ReadingState, paths: ModelPaths) {
        self.state = state
        self.paths = paths
        resources = paths.model.index.containers.mapValues { Set($0.entitySets.map(\.name) + $0.singletons.map(\.name)) }
    }

    /// Repairs schemas and returns whether anything changed. Unchanged parts stay shared with the model.
    func repair(_ schemas: inout [ServiceModel.Schema]) -> Bool {
        var hasChanged = false
        let targets = schemas.allSatisfy(\.targetedAnnotations.isEmpty) ? nil : AnnotationTargets(paths)
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
            for group in schemas[index].targetedAnnotations where targets?.contains(group.target) == false {
                state.report(
                    .unknownTarget, "the target '\(group.target)' of annotations isn't in the model", assuming: "they apply to nothing",
                    at: group.place, path: "Annotations of " + group.target)
            }
        }
        return hasChanged
    }

    // MARK: Types

    /// Returns the repaired type, or `nil` if it needs no repair.
    private func repaired(_ type: ServiceModel.StructuredType) -> ServiceModel.StructuredType? {
        let key = type.key.filter { reference in
            guard paths.leadsNowhere(reference.path, from: type.qualifiedName) else { return true }
            state.report(
                .unknownKeyProperty, "the key has a property '\(reference.path)' that isn't in the type",
                assuming: "the key doesn't contain it", at: type.place, path: type.target)
            return false
        }
        if type.kind == .entity, !type.isAbstract, key.isEmpty, model.key(of: type).isEmpty, !paths.hasExternalBase(type) {
            state.report(
                .missingKey, "the entity type has no key", assuming: "its entities can't be addressed by a key", at: type.place,
                path: type.target, severity: .noted)
        }
        let lonely = type.navigationProperties.indices.filter { index in
            let relation = type.navigationProperties[index]
            guard let partner = relation.partner, relation.targetType != "Edm.EntityType",
                paths.leadsNowhere(partner, from: relation.targetType)
            else { return false }
            state.report(
                .unknownPartner, "the partner '\(partner)' isn't in '\(relation.targetType)'", assuming: "the property has no partner",
                at: relation.place, path: relation.target)
            return true
        }
        if key.count == type.key.count, lonely.isEmpty { return nil }
        var result = type
        result.key = key
        for index in lonely { result.navigationProperties[index].partner = nil }
        return result
    }

    // MARK: Containers

    private func repaired(_ original: ServiceModel.EntityContainer) -> ServiceModel.EntityContainer {
        var container = original
        if let base = container.extends, model.index.containers[base] == nil, !paths.isExternal(base) {
            state.report(
                .unknownResource, "the container extends '\(base)', which isn't in the model", assuming: "it extends nothing",
                at: container.place, path: container.target)
            container.extends = nil
        }
        for index in container.entitySets.indices {
            let set = container.entitySets[index]
            container.entitySets[index].bindings = bindings(
                set.bindings, from: set.entityType, in: container, path: set.target)
        }
        for index in container.singletons.indices {
            let singleton = container.singletons[index]
            container.singletons[index].bindings = bindings(
                singleton.bindings, from: singleton.type, in: container, path: singleton.target)
        }
        for index in container.operationImports.indices {
            let item = container.operationImports[index]
            if !model.hasOperation(item.operation), !paths.isExternal(item.operation) {
                state.report(
                    .unknownResource, "the \(item.kind == .action ? "action" : "function") '\(item.operation)' isn't in the model",
                    assuming: "the import is kept, without parameters", at: item.place, path: item.target)
            }
            guard let set = item.entitySet else { continue }
            let local = self.local(set, in: container)
            container.operationImports[index].entitySet = local
            if !isTarget(local, in: container) {
                state.report(
                    .unknownResource, "the entity set '\(set)' isn't in the model", assuming: "the import names no set", at: item.place,
                    path: item.target)
                container.operationImports[index].entitySet = nil
            }
        }
        return container
    }

    /// Returns a path without the name of its container.
    private func local(_ target: String, in container: ServiceModel.EntityContainer) -> String {
        let prefix = container.qualifiedName + "/"
        return target.hasPrefix(prefix) ? String(target.dropFirst(prefix.count)) : target
    }

    /// Returns whether a target begins with a set or singleton of a container or of those that it extends, which this document may lack.
    private func isTarget(_ target: String, in container: ServiceModel.EntityContainer) -> Bool {
        let first = String(Substring(target.utf8.prefix { $0 != UInt8(ascii: "/") }))
        if first.contains("."), paths.isExternal(first) || model.index.containers[first] != nil { return true }
        var current: ServiceModel.EntityContainer? = container
        var visited: Set<String> = []
        // Real chains have two or three containers. The bound keeps the work on long ones small.
        for _ in 0..<100 {
            guard let container = current, visited.insert(container.qualifiedName).inserted else { return false }
            if resources[container.qualifiedName]?.contains(first) == true { return true }
            if let base = container.extends, paths.isExternal(base) { return true }
            current = container.extends.flatMap { model.index.containers[$0] }
        }
        return true
    }

    private func bindings(
        _ bindings: [ServiceModel.NavigationPropertyBinding], from type: String, in container: ServiceModel.EntityContainer, path: String
    ) -> [ServiceModel.NavigationPropertyBinding] {
        var bound: Set<String> = []
        return bindings.compactMap { binding in
            var binding = binding
            binding.target = local(binding.target, in: container)
            func drop(_ kind: ModelDiagnostic.Kind, _ message: String) -> ServiceModel.NavigationPropertyBinding? {
                state.report(kind, message, assuming: "the binding is ignored", at: binding.place, path: path)
                return nil
            }
            if !isTarget(binding.target, in: container) {
                return drop(.unknownBinding, "the binding of '\(binding.path)' leads to '\(binding.target)', which isn't in the model")
            }
            if type != "Edm.EntityType", paths.leadsNowhere(binding.path, from: type) {
                return drop(.unknownBinding, "the path '\(binding.path)' of a binding isn't in '\(type)'")
            }
            if !bound.insert(binding.path).inserted {
                return drop(.duplicate, "there are two bindings of '\(binding.path)'")
            }
            return binding
        }
    }
}
