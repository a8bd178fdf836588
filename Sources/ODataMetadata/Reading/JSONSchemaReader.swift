/// Turns the objects of a CSDL JSON document into parts of a model (sections 4 to 13).
struct JSONSchemaReader {
    let state: ReadingState
    let expressions: JSONExpressionReader

    init(_ state: ReadingState) {
        self.state = state
        expressions = JSONExpressionReader(state: state)
    }

    // MARK: Documents and schemas

    func references(_ tree: PositionedJSON) -> [ServiceModel.Reference] {
        let parts = members(of: tree).map { member in
            let object = object(member.value)
            return (member, object, include(object))
        }
        return parts.map { member, object, includes in
            var reference = ServiceModel.Reference(uri: member.name)
            reference.place = member.place
            reference.includes = includes.map { include, object in
                var include = include
                include.annotations = expressions.annotations(in: object)
                object.reportRest(state)
                return include
            }
            reference.includedAnnotations = (object.array("$IncludeAnnotations", state)).compactMap { tree in
                let object = self.object(tree)
                guard let terms = object.string("$TermNamespace", state) else {
                    missing("$TermNamespace", at: tree.place, assuming: "the inclusion is ignored")
                    return nil
                }
                defer { object.reportRest(state) }
                return ServiceModel.IncludedAnnotations(
                    termNamespace: terms, qualifier: object.string("$Qualifier", state),
                    targetNamespace: object.string("$TargetNamespace", state))
            }
            reference.annotations = expressions.annotations(in: object)
            reference.extensions = object.rest(state)
            return reference
        }
    }

    private func include(_ reference: JSONObject) -> [(ServiceModel.Include, JSONObject)] {
        reference.array("$Include", state).compactMap { tree in
            let object = self.object(tree)
            guard let namespace = object.string("$Namespace", state) else {
                missing("$Namespace", at: tree.place, assuming: "the inclusion is ignored")
                return nil
            }
            guard state.isShort(namespace, at: tree.place, assuming: "the inclusion is ignored") else { return nil }
            let alias = object.string("$Alias", state)
            state.begin(schema: namespace)
            if let alias { state.declare(alias: alias, of: namespace, at: tree.place) }
            return (ServiceModel.Include(namespace: namespace, alias: alias), object)
        }
    }

    func schema(_ member: PositionedJSON.Member) -> ServiceModel.Schema {
        let namespace = member.name
        let object = object(member.value)
        var schema = ServiceModel.Schema(namespace: namespace, alias: object.string("$Alias", state))
        schema.place = member.place
        for group in object.take("$Annotations").map(members) ?? [] {
            state.within("Annotations of " + group.name) {
                let annotated = self.object(group.value)
                var annotations = ServiceModel.TargetedAnnotations(
                    target: state.target(group.name), annotations: expressions.annotations(in: annotated))
                annotations.place = group.place
                schema.targetedAnnotations.append(annotations)
                annotated.reportRest(state)
            }
        }
        for child in named(object) {
            state.within(ServiceModel.qualified(child.name, in: namespace)) { add(child, to: &schema) }
        }
        schema.annotations = expressions.annotations(in: object)
        schema.extensions = object.rest(state)
        return schema
    }

    private func add(_ child: PositionedJSON.Member, to schema: inout ServiceModel.Schema) {
        let namespace = schema.namespace
        checkName(child)
        if let overloads = child.value.array {
            if overloads.isEmpty {
                state.report(.missing, "the operation '\(child.name)' has no overloads", assuming: "it is ignored", at: child.place)
            }
            for overload in overloads {
                if let operation = operation(object(overload), child.name, in: namespace) { schema.operations.append(operation) }
            }
            return
        }
        let object = object(child.value)
        if let kind = object.value("$Kind")?.string, ServiceModel.OperationKind(rawValue: kind) != nil {
            state.report(
                .invalidValue, "the operation '\(child.name)' isn't an array of overloads", assuming: "it has one overload",
                at: child.place)
            if let operation = operation(object, child.name, in: namespace) { schema.operations.append(operation) }
            return
        }
        let kind = object.string("$Kind", state)
        switch kind {
        case "EntityType", "ComplexType":
            let type = structuredType(object, child, in: namespace, isEntity: kind == "EntityType")
            if type.kind == .entity { schema.entityTypes.append(type) } else { schema.complexTypes.append(type) }
        case "EnumType": schema.enumTypes.append(enumType(object, child, in: namespace))
        case "TypeDefinition":
            var underlying = object.typeReference(state, type: "$UnderlyingType")
            underlying.isNullable = true
            var type = ServiceModel.TypeDefinition(namespace: namespace, name: child.name, underlyingType: underlying)
            type.annotations = expressions.annotations(in: object)
            type.extensions = object.rest(state)
            type.place = child.place
            schema.typeDefinitions.append(type)
        case "Term": schema.terms.append(term(object, child, in: namespace))
        case "EntityContainer": schema.containers.append(container(object, child, in: namespace))
        default:
            state.report(
                .unknownElement, "'\(child.name)' has no known $Kind", assuming: "it is ignored", at: child.place)
        }
    }

    // MARK: Types

    private func structuredType(
        _ object: JSONObject, _ member: PositionedJSON.Member, in namespace: String, isEntity: Bool
    ) -> ServiceModel.StructuredType {
        let key = object.array("$Key", state).flatMap { tree -> [ServiceModel.KeyReference] in
            if let path = tree.string { return [ServiceModel.KeyReference(path: path)] }
            let references = (tree.object ?? []).compactMap { alias in
                alias.value.string.map { ServiceModel.KeyReference(path: $0, alias: alias.name) }
            }
            if references.isEmpty {
                state.report(
                    .invalidValue, "a part of the $Key is neither a path nor an alias with a path", assuming: "it is ignored",
                    at: tree.place)
            }
            return references
        }
        let baseType = object.string("$BaseType", state).map(state.name)
        let (isAbstract, isOpen) = (object.bool("$Abstract", state), object.bool("$OpenType", state))
        let hasStream = object.bool("$HasStream", state)
        var properties: [ServiceModel.Property] = []
        var relations: [ServiceModel.NavigationProperty] = []
        for child in named(object) {
            checkName(child)
            state.within(child.name) {
                let value = self.object(child.value)
                if value.string("$Kind", state) == "NavigationProperty" {
                    relations.append(navigationProperty(value, child))
                } else {
                    var property = ServiceModel.Property(name: child.name, type: value.typeReference(state))
                    property.defaultValue = value.defaultValue(of: property.type, state)
                    property.annotations = expressions.annotations(in: value)
                    property.extensions = value.rest(state)
                    property.place = child.place
                    properties.append(property)
                }
            }
        }
        var type = ServiceModel.StructuredType(
            kind: isEntity ? .entity : .complex, namespace: namespace, name: member.name, baseType: baseType, isAbstract: isAbstract,
            isOpen: isOpen, hasStream: hasStream, key: key, properties: properties, navigationProperties: relations,
            annotations: expressions.annotations(in: object))
        type.extensions = object.rest(state)
        type.place = member.place
        return type
    }

    private func navigationProperty(_ object: JSONObject, _ member: PositionedJSON.Member) -> ServiceModel.NavigationProperty {
        if object.value("$Type") == nil { missing("$Type", at: member.place, assuming: "it leads to Edm.Untyped") }
        var relation = ServiceModel.NavigationProperty(
            name: member.name, targetType: object.string("$Type", state).map(state.name) ?? "Edm.Untyped",
            isCollection: object.bool("$Collection", state), isNullable: object.bool("$Nullable", state),
            partner: object.string("$Partner", state).map(state.path), containsTarget: object.bool("$ContainsTarget", state))
        if let constraints = object.take("$ReferentialConstraint") {
            let constraints = self.object(constraints)
            for constraint in constraints.takeNamed() {
                relation.referentialConstraints.append(
                    ServiceModel.ReferentialConstraint(
                        property: state.path(constraint.name), referencedProperty: state.path(constraint.value.string ?? ""),
                        annotations: expressions.annotations(in: constraints, of: constraint.name)))
            }
            constraints.reportRest(state)
        }
        if let text = object.string("$OnDelete", state) {
            relation.onDelete = ServiceModel.NavigationProperty.DeleteAction(rawValue: text)
            if relation.onDelete == nil { state.invalid("$OnDelete", text, assuming: "the action is ignored", at: member.place) }
        }
        relation.onDeleteAnnotations = expressions.annotations(in: object, of: "$OnDelete")
        relation.annotations = expressions.annotations(in: object)
        relation.extensions = object.rest(state)
        relation.place = member.place
        return relation
    }

    private func enumType(_ object: JSONObject, _ member: PositionedJSON.Member, in namespace: String) -> ServiceModel.EnumType {
        var type = ServiceModel.EnumType(
            namespace: namespace, name: member.name,
            underlyingType: object.string("$UnderlyingType", state).map(state.name) ?? "Edm.Int32", isFlags: object.bool("$IsFlags", state))
        var members: [ServiceModel.EnumType.Member] = []
        var next: Int64 = 0
        for child in named(object) {
            checkName(child)
            var value = next
            if let text = child.value.text, let number = Int64(text) {
                value = number
            } else {
                state.invalid(child.name, child.value.text ?? "…", assuming: "the value is \(next)", at: child.place)
            }
            next = value &+ 1
            var item = ServiceModel.EnumType.Member(
                name: child.name, value: value, annotations: expressions.annotations(in: object, of: child.name))
            item.place = child.place
            members.append(item)
        }
        type = ServiceModel.EnumType(
            namespace: namespace, name: member.name, underlyingType: type.underlyingType, isFlags: type.isFlags, members: members,
            annotations: expressions.annotations(in: object))
        type.extensions = object.rest(state)
        type.place = member.place
        return type
    }

    private func term(_ object: JSONObject, _ member: PositionedJSON.Member, in namespace: String) -> ServiceModel.Term {
        var term = ServiceModel.Term(namespace: namespace, name: member.name, type: object.typeReference(state))
        term.baseTerm = object.string("$BaseTerm", state).map(state.name)
        term.defaultValue = object.defaultValue(of: term.type, state)
        term.appliesTo = object.array("$AppliesTo", state).compactMap(\.string)
        term.annotations = expressions.annotations(in: object)
        term.extensions = object.rest(state)
        term.place = member.place
        return term
    }

    // MARK: Operations

    private func operation(_ object: JSONObject, _ name: String, in namespace: String) -> ServiceModel.Operation? {
        guard let kind = object.string("$Kind", state).flatMap({ ServiceModel.OperationKind(rawValue: $0) }) else {
            state.report(
                .unknownElement, "an overload of '\(name)' is neither an action nor a function", assuming: "it is ignored", at: object.place
            )
            return nil
        }
        let parameters = object.array("$Parameter", state).compactMap { tree -> ServiceModel.Parameter? in
            let value = self.object(tree)
            guard let name = value.string("$Name", state), !name.isEmpty else {
                missing("$Name", at: tree.place, assuming: "the parameter is ignored")
                return nil
            }
            var parameter = ServiceModel.Parameter(name: name, type: value.typeReference(state))
            parameter.annotations = expressions.annotations(in: value)
            parameter.extensions = value.rest(state)
            parameter.place = tree.place
            return parameter
        }
        let returnType = object.take("$ReturnType").map { tree -> ServiceModel.ReturnType in
            let value = self.object(tree)
            var type = ServiceModel.ReturnType(type: value.typeReference(state), annotations: expressions.annotations(in: value))
            type.extensions = value.rest(state)
            type.place = tree.place
            return type
        }
        var operation = ServiceModel.Operation(
            kind: kind, namespace: namespace, name: name, isBound: object.bool("$IsBound", state),
            isComposable: object.bool("$IsComposable", state) && kind == .function,
            entitySetPath: object.string("$EntitySetPath", state).map(state.path), parameters: parameters, returnType: returnType,
            annotations: expressions.annotations(in: object))
        operation.extensions = object.rest(state)
        operation.place = object.place
        return operation
    }

    // MARK: Containers

    private func container(_ object: JSONObject, _ member: PositionedJSON.Member, in namespace: String) -> ServiceModel.EntityContainer {
        let extends = object.string("$Extends", state).map(state.name)
        var sets: [ServiceModel.EntitySet] = []
        var singletons: [ServiceModel.Singleton] = []
        var imports: [ServiceModel.OperationImport] = []
        for child in named(object) {
            checkName(child)
            state.within(child.name) {
                let value = self.object(child.value)
                _ = value.take("$Kind")
                let annotations = expressions.annotations(in: value)
                if let operation = value.string("$Action", state) ?? value.value("$Function")?.string {
                    let kind: ServiceModel.OperationKind = value.take("$Function") == nil ? .action : .function
                    var item = ServiceModel.OperationImport(
                        kind: kind, name: child.name, operation: state.name(operation),
                        entitySet: value.string("$EntitySet", state).map(state.path),
                        isInServiceDocument: value.bool("$IncludeInServiceDocument", state), annotations: annotations)
                    item.extensions = value.rest(state)
                    item.place = child.place
                    imports.append(item)
                    return
                }
                if value.value("$Type") == nil { missing("$Type", at: child.place, assuming: "it is Edm.EntityType") }
                let type = value.string("$Type", state).map(state.name) ?? "Edm.EntityType"
                let bindings = bindings(value.take("$NavigationPropertyBinding"))
                if value.bool("$Collection", state) {
                    var set = ServiceModel.EntitySet(
                        name: child.name, entityType: type,
                        isInServiceDocument: value.bool("$IncludeInServiceDocument", default: true, state), bindings: bindings,
                        annotations: annotations)
                    set.extensions = value.rest(state)
                    set.place = child.place
                    sets.append(set)
                } else {
                    var singleton = ServiceModel.Singleton(
                        name: child.name, type: type, isNullable: value.bool("$Nullable", state), bindings: bindings,
                        annotations: annotations)
                    singleton.extensions = value.rest(state)
                    singleton.place = child.place
                    singletons.append(singleton)
                }
            }
        }
        var container = ServiceModel.EntityContainer(
            namespace: namespace, name: member.name, extends: extends, entitySets: sets, singletons: singletons, operationImports: imports,
            annotations: expressions.annotations(in: object))
        container.extensions = object.rest(state)
        container.place = member.place
        return container
    }

    private func bindings(_ tree: PositionedJSON?) -> [ServiceModel.NavigationPropertyBinding] {
        guard let tree else { return [] }
        return object(tree).takeNamed().compactMap { member in
            guard let target = member.value.string else {
                state.invalid("$NavigationPropertyBinding", member.name, assuming: "the binding is ignored", at: member.place)
                return nil
            }
            var binding = ServiceModel.NavigationPropertyBinding(path: state.path(member.name), target: state.path(target))
            binding.place = member.place
            return binding
        }
    }

    // MARK: Parts

    private func members(of tree: PositionedJSON) -> [PositionedJSON.Member] { object(tree).members }

    /// Returns the members of a value; reports a value that isn't an object.
    private func object(_ tree: PositionedJSON) -> JSONObject {
        if tree.object == nil {
            state.report(.invalidValue, "an object is expected here", assuming: "it is empty", at: tree.place)
        }
        return JSONObject(tree.object ?? [], at: tree.place, state: state)
    }

    private func missing(_ member: String, at place: Place, assuming assumption: String) {
        state.report(.missing, "the object has no \(member)", assuming: assumption, at: place)
    }

    /// Returns the members with names of the model, without names that are too long.
    private func named(_ object: JSONObject) -> [PositionedJSON.Member] {
        object.takeNamed().filter { state.isShort($0.name, at: $0.place, assuming: "it is ignored") }
    }

    private func checkName(_ member: PositionedJSON.Member) {
        if ReadingState.isIdentifier(member.name) { return }
        state.report(
            .invalidName, "the name '\(member.name.prefix(200))' isn't an identifier of OData", assuming: "it is kept unchanged",
            at: member.place, severity: .noted)
    }
}
