/// Removes and reports the parts of a schema with the name of an earlier one: of two, the first counts.
struct DuplicateRemoval {
    let state: ReadingState

    /// Groups the overloads and annotations of a schema, and removes its duplicates.
    func remove(from schema: inout ServiceModel.Schema) {
        // Types and terms share one set of names. An operation may have several overloads, but neither it nor a container may have the name
        // of a type. Both are kept, because a service is useless without its container.
        var names: Set<String> = []
        func filter<Child: ServiceModel.Element>(_ children: inout [Child], _ kind: String, name: (Child) -> String) {
            children.removeAll { child in
                if names.insert(name(child)).inserted { return false }
                state.report(
                    .duplicate, "there are two children '\(name(child))' of the namespace",
                    assuming: "the first counts: this \(kind) isn't read",
                    at: Self.place(of: child), path: child.target)
                return true
            }
        }
        filter(&schema.entityTypes, "entity type", name: \.name)
        filter(&schema.complexTypes, "complex type", name: \.name)
        filter(&schema.enumTypes, "enumeration type", name: \.name)
        filter(&schema.typeDefinitions, "type definition", name: \.name)
        filter(&schema.terms, "term", name: \.name)
        let typeNames = names
        names.removeAll()
        filter(&schema.containers, "container", name: \.name)
        for container in schema.containers where typeNames.contains(container.name) {
            reportShared("container", at: container.place, path: container.qualifiedName)
        }
        names.formUnion(typeNames)
        for index in schema.entityTypes.indices { remove(from: &schema.entityTypes[index]) }
        for index in schema.complexTypes.indices { remove(from: &schema.complexTypes[index]) }
        for index in schema.enumTypes.indices {
            let path = schema.enumTypes[index].qualifiedName
            unique(&schema.enumTypes[index].members, in: path, name: \.name)
            if schema.enumTypes[index].members.isEmpty {
                state.report(
                    .emptyEnumeration, "the enumeration has no members", assuming: "all its values are unknown members",
                    at: schema.enumTypes[index].place, path: path)
            }
        }
        for index in schema.containers.indices {
            let path = schema.containers[index].qualifiedName
            var seen: Set<String> = []
            unique(&schema.containers[index].entitySets, in: path, seen: &seen, name: \.name)
            unique(&schema.containers[index].singletons, in: path, seen: &seen, name: \.name)
            // V2 and V3 allow overloads of function imports.
            unique(&schema.containers[index].operationImports, in: path, name: \.name)
            for item in schema.containers[index].operationImports where seen.contains(item.name) {
                state.report(
                    .duplicate, "the import has the name of an entity set or singleton",
                    assuming: "both are kept, but CSDL JSON can't hold both", at: item.place, path: item.target, severity: .noted)
            }
        }
        schema.operations = Self.grouped(schema.operations, by: \.name)
        for index in schema.operations.indices {
            unique(&schema.operations[index].parameters, in: ReadingState.shown(schema.operations[index].target), name: \.name)
        }
        var shared: Set<String> = []
        for operation in schema.operations where names.contains(operation.name) && shared.insert(operation.name).inserted {
            reportShared("operation", at: operation.place, path: operation.qualifiedName)
        }
        var targets: Set<String> = []
        for operation in schema.operations where !targets.insert(operation.target).inserted {
            state.report(
                .duplicate, "there are two overloads '\(operation.target)'", assuming: "both are kept", at: operation.place,
                path: operation.target, severity: .noted)
        }
        var groups: [ServiceModel.TargetedAnnotations] = []
        var places: [String: Int] = [:]
        for group in schema.targetedAnnotations {
            if let place = places[group.target] {
                groups[place].annotations += group.annotations
            } else {
                places[group.target] = groups.count
                groups.append(group)
            }
        }
        schema.targetedAnnotations = groups.map { group in
            var group = group
            group.annotations = state.unique(group.annotations)
            return group
        }
        schema.annotations = state.unique(schema.annotations)
    }

    private func reportShared(_ kind: String, at place: Place, path: String) {
        state.report(
            .duplicate, "the \(kind) has the name of another child of the namespace",
            assuming: "both are kept, but CSDL JSON can't hold both", at: place, path: path, severity: .noted)
    }

    private func remove(from type: inout ServiceModel.StructuredType) {
        var seen: Set<String> = []
        unique(&type.properties, in: type.qualifiedName, seen: &seen, name: \.name)
        unique(&type.navigationProperties, in: type.qualifiedName, seen: &seen, name: \.name)
        for index in type.navigationProperties.indices {
            let relation = type.navigationProperties[index]
            let constraints = relation.referentialConstraints.unique
            if constraints.count == relation.referentialConstraints.count { continue }
            state.report(
                .duplicate, "there are two constraints of one property", assuming: "the first counts", at: relation.place,
                path: relation.target)
            type.navigationProperties[index].referentialConstraints = constraints
        }
        guard type.key.count > 1 else { return }
        var parts: Set<String> = []
        let key = type.key.filter { parts.insert($0.path).inserted }
        if key.count == type.key.count { return }
        state.report(
            .duplicate, "the key has a property twice", assuming: "the key has it once", at: type.place, path: type.target)
        type.key = key
    }

    private func unique<Child: ServiceModel.Element>(_ children: inout [Child], in path: String, name: (Child) -> String) {
        var seen: Set<String> = []
        unique(&children, in: path, seen: &seen, name: name)
    }

    private func unique<Child: ServiceModel.Element>(
        _ children: inout [Child], in path: String, seen: inout Set<String>, name: (Child) -> String
    ) {
        var repeated: [Int] = []
        for (index, child) in children.enumerated() where !seen.insert(name(child)).inserted {
            state.report(
                .duplicate, "there are two members '\(name(child))'", assuming: "the first counts", at: Self.place(of: child),
                path: path + "/" + name(child))
            repeated.append(index)
        }
        if repeated.isEmpty { return }
        let lost = Set(repeated)
        children = children.indices.filter { !lost.contains($0) }.map { children[$0] }
    }

    private static func grouped<Item>(_ items: [Item], by name: (Item) -> String) -> [Item] {
        var places: [String: Int] = [:]
        var groups: [[Item]] = []
        for item in items {
            if let place = places[name(item)] {
                groups[place].append(item)
            } else {
                places[name(item)] = groups.count
                groups.append([item])
            }
        }
        return groups.flatMap { $0 }
    }

    private static func place(of element: some ServiceModel.Element) -> Place {
        element.position.map { Place(line: $0.line, column: $0.column) } ?? .unknown
    }
}

extension [ServiceModel.ReferentialConstraint] {
    /// The first constraint of each property.
    var unique: [ServiceModel.ReferentialConstraint] {
        guard count > 1 else { return self }
        var seen: Set<String> = []
        return filter { seen.insert($0.property).inserted }
    }
}
