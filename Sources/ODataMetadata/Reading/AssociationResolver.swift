extension Associations {
    /// Completes navigation properties of V2 and V3 from their associations, and gives entity sets the bindings of association sets.
    func resolve(in schemas: inout [ServiceModel.Schema], state: ReadingState) {
        var relations: [Key: Relation] = [:]
        for schema in schemas {
            for type in schema.entityTypes {
                for relation in type.navigationProperties {
                    guard let key = key(of: relation, in: schema.namespace, state: state) else { continue }
                    if relations[key] == nil { relations[key] = Relation(name: relation.name, type: type.qualifiedName) }
                }
            }
        }
        for schema in schemas.indices {
            for type in schemas[schema].entityTypes.indices {
                for index in schemas[schema].entityTypes[type].navigationProperties.indices {
                    let namespace = schemas[schema].namespace
                    resolve(&schemas[schema].entityTypes[type].navigationProperties[index], in: namespace, relations, state: state)
                }
            }
        }
        if !sets.isEmpty { bind(in: &schemas, relations, state: state) }
    }

    /// A direction of an association.
    private struct Key: Hashable {
        let association: String
        let from: String
        let to: String
    }

    private struct Relation {
        let name: String
        let type: String
    }

    private func key(of relation: ServiceModel.NavigationProperty, in namespace: String, state: ReadingState) -> Key? {
        guard let association = relation.extensions["Relationship"] else { return nil }
        return Key(
            association: self.name(state.name(association), in: namespace), from: relation.extensions["FromRole"] ?? "",
            to: relation.extensions["ToRole"] ?? "")
    }

    /// Returns the name of an association; the namespace is added to a name without one.
    private func name(_ name: String, in namespace: String) -> String {
        all[name] == nil && !name.contains(".") ? ServiceModel.qualified(name, in: namespace) : name
    }

    private func resolve(
        _ relation: inout ServiceModel.NavigationProperty, in namespace: String, _ relations: [Key: Relation], state: ReadingState
    ) {
        guard relation.targetType == "Edm.Untyped", let key = key(of: relation, in: namespace, state: state) else { return }
        guard let association = all[key.association], let end = association.ends[key.to] else {
            let isThere = all[key.association] != nil
            state.report(
                .unknownAssociation,
                isThere
                    ? "the association '\(key.association)' has no role '\(key.to)'"
                    : "the association '\(key.association)' isn't in the model",
                assuming: "the property leads to Edm.Untyped", at: relation.place, path: relation.target)
            return
        }
        relation.targetType = end.type
        switch end.multiplicity {
        case "*": (relation.isCollection, relation.isNullable) = (true, false)
        case "1": (relation.isCollection, relation.isNullable) = (false, false)
        case "0..1": (relation.isCollection, relation.isNullable) = (false, true)
        default:
            state.invalid("Multiplicity", end.multiplicity, assuming: "it is 0..1", at: association.place)
        }
        add(association, to: &relation)
        relation.onDelete = association.ends[key.from]?.onDelete
        relation.partner = relations[Key(association: key.association, from: key.to, to: key.from)]?.name
        if let constraint = association.constraint, constraint.dependentRole == key.from, constraint.principalRole == key.to {
            if constraint.principal.count != constraint.dependent.count {
                state.report(
                    .invalidValue, "the constraint of '\(key.association)' has different numbers of properties",
                    assuming: "the surplus ones are ignored", at: association.place, path: relation.target)
            }
            let constraints = zip(constraint.dependent, constraint.principal).map {
                ServiceModel.ReferentialConstraint(property: $0, referencedProperty: $1)
            }
            relation.referentialConstraints = constraints.unique
            if relation.referentialConstraints.count < constraints.count {
                state.report(
                    .duplicate, "there are two constraints of one property", assuming: "the first counts", at: association.place,
                    path: relation.target)
            }
        }
    }

    /// Gives a navigation property the annotations and attributes of its association that it doesn't have itself.
    private func add(_ association: Association, to relation: inout ServiceModel.NavigationProperty) {
        if relation.annotations.isEmpty {
            // Many properties can share the association's list.
            relation.annotations = association.annotations
        } else {
            let own = Set(relation.annotations.map(Self.name(of:)))
            relation.annotations += association.annotations.filter { !own.contains(Self.name(of: $0)) }
        }
        let own = relation.extensions
        let more = association.extensions.attributes.filter { own[$0.name, in: $0.namespace] == nil }
        if more.isEmpty { return }
        relation.extensions.attributes = (own.attributes + more).sorted { ($0.namespace, $0.name) < ($1.namespace, $1.name) }
    }

    /// Returns the term of an annotation with its qualifier.
    private static func name(of annotation: ServiceModel.Annotation) -> String {
        annotation.term + "#" + (annotation.qualifier ?? "")
    }

    /// Returns the two ends of an association set with their roles, or `nil` if the sets of the ends don't fit the association.
    ///
    /// A role that isn't stated follows from the type of the end's set. A role can fit both sets, so both assignments are tried.
    private func roles(
        of ends: [(role: String, set: String)], _ association: String, type: (String) -> String?, isType: (String, String) -> Bool
    ) -> [(role: String, set: String)]? {
        guard ends.contains(where: \.role.isEmpty), let all = all[association]?.ends else { return ends }
        guard all.count == 2 else { return nil }
        let names = all.keys.sorted()
        return [names, names.reversed()].first { names in
            zip(ends, names).allSatisfy { end, name in
                guard end.role.isEmpty else { return end.role == name }
                // The caller reports a set that isn't in the container.
                guard let type = type(end.set), let role = all[name] else { return true }
                return isType(type, role.type)
            }
        }.map { names in zip(ends, names).map { ($1, $0.set) } }
    }

    /// Binds the navigation properties of both directions of each association set.
    private func bind(in schemas: inout [ServiceModel.Schema], _ relations: [Key: Relation], state: ReadingState) {
        var places: [String: (schema: Int, container: Int, sets: [String: Int])] = [:]
        let types = schemas.flatMap(\.entityTypes)
        let indices = Dictionary(types.enumerated().map { ($1.qualifiedName, $0) }) { first, _ in first }
        let tree = TypeTree(types) { indices[$0] }
        for (schema, value) in schemas.enumerated() {
            for (index, container) in value.containers.enumerated() {
                let sets = Dictionary(container.entitySets.enumerated().map { ($1.name, $0) }) { first, _ in first }
                places[container.qualifiedName] = (schema, index, sets)
            }
        }
        func isType(_ type: String, _ ancestor: String) -> Bool {
            if type == ancestor { return true }
            guard let type = indices[type], let ancestor = indices[ancestor] else { return false }
            return tree.isType(type, derivedFrom: ancestor)
        }
        for set in sets {
            guard let place = places[set.container], set.ends.count == 2 else {
                state.report(
                    .unknownBinding, "the association set of '\(set.association)' doesn't have two ends", assuming: "it is ignored",
                    at: set.place, path: set.container)
                continue
            }
            let association = name(set.association, in: schemas[place.schema].namespace)
            let stated = roles(of: set.ends, association) { name in
                place.sets[name].map { schemas[place.schema].containers[place.container].entitySets[$0].entityType }
            } isType: {
                isType($0, $1)
            }
            guard let ends = stated else {
                state.report(
                    .unknownBinding, "the sets of the association set of '\(set.association)' don't fit the ends of the association",
                    assuming: "it is ignored", at: set.place, path: set.container)
                continue
            }
            for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                guard let relation = relations[Key(association: association, from: from.role, to: to.role)] else { continue }
                guard let index = place.sets[from.set], place.sets[to.set] != nil else {
                    state.report(
                        .unknownBinding, "the association set of '\(set.association)' refers to a set that isn't in the container",
                        assuming: "it is ignored", at: set.place, path: set.container)
                    break
                }
                let type = schemas[place.schema].containers[place.container].entitySets[index].entityType
                // The path to a property of a derived type contains a cast.
                let path = isType(type, relation.type) ? relation.name : relation.type + "/" + relation.name
                var binding = ServiceModel.NavigationPropertyBinding(path: path, target: to.set, extensions: set.extensions)
                binding.place = set.place
                schemas[place.schema].containers[place.container].entitySets[index].bindings.append(binding)
            }
        }
    }
}
