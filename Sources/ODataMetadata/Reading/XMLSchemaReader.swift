/// Turns the elements of a CSDL XML document into parts of a model (CSDL XML 4.01, sections 4 to 14; CSDL 2.0 and 3.0).
struct XMLSchemaReader {
    let state: ReadingState
    let expressions: XMLExpressionReader

    init(_ state: ReadingState) {
        self.state = state
        expressions = XMLExpressionReader(state: state)
    }

    // MARK: Documents and schemas

    /// Reads an `edmx:Reference`, or returns `nil` if it has no address.
    func reference(_ node: XMLNode) -> ServiceModel.Reference? {
        guard let uri = node.take("Uri") ?? node.take("Url") ?? node.take("Url", in: node.namespace) else {
            missing("Uri", of: node, assuming: "the reference is ignored")
            return nil
        }
        var reference = ServiceModel.Reference(uri: uri)
        reference.place = node.place
        var includes: [XMLNode] = []
        for child in node.children {
            switch child.name {
            case "Include" where child.value("TermNamespace") == nil:
                guard let namespace = child.take("Namespace") else {
                    missing("Namespace", of: child, assuming: "the inclusion is ignored")
                    continue
                }
                guard state.isShort(namespace, at: child.place, assuming: "the inclusion is ignored") else { continue }
                let alias = child.take("Alias")
                state.begin(schema: namespace)
                if let alias { state.declare(alias: alias, of: namespace, at: child.place) }
                reference.includes.append(ServiceModel.Include(namespace: namespace, alias: alias))
                reportRest(of: child)
                includes.append(child)
            case "Include", "IncludeAnnotations":
                guard let terms = child.take("TermNamespace") else {
                    missing("TermNamespace", of: child, assuming: "the inclusion is ignored")
                    continue
                }
                reference.includedAnnotations.append(
                    ServiceModel.IncludedAnnotations(
                        termNamespace: terms, qualifier: child.take("Qualifier"), targetNamespace: child.take("TargetNamespace")))
                reportRest(of: child)
            case "Annotation": break
            default: reference.extensions.elements.append(unknown(child))
            }
        }
        // The terms of the annotations may begin with an alias that the reference declares.
        reference.annotations = expressions.annotations(in: node)
        for (index, child) in includes.enumerated() { reference.includes[index].annotations = expressions.annotations(in: child) }
        reference.extensions.attributes = rest(node)
        return reference
    }

    /// Reads the attributes of a `Schema`. `add(_:to:associations:)` reads its children.
    func schema(_ node: XMLNode) -> ServiceModel.Schema {
        var namespace = node.take("Namespace")
        if let name = namespace {
            if !state.isShort(name, at: node.place, assuming: "the namespace is empty") { namespace = nil }
        } else {
            missing("Namespace", of: node, assuming: "the namespace is empty")
        }
        state.begin(schema: namespace ?? "")
        var schema = ServiceModel.Schema(namespace: namespace ?? "", alias: node.take("Alias"))
        if let alias = schema.alias { state.declare(alias: alias, of: schema.namespace, at: node.place) }
        schema.extensions.attributes = rest(node)
        schema.place = node.place
        return schema
    }

    /// Reads a child of a schema.
    func add(_ node: XMLNode, to schema: inout ServiceModel.Schema?, associations: inout Associations) {
        let namespace = schema?.namespace ?? ""
        guard node.isKnown else {
            schema?.extensions.elements.append(node.kept)
            return
        }
        switch node.name {
        case "EntityType", "ComplexType":
            guard let name = name(of: node) else { return keepNameless(node, &schema) }
            let type = state.within(ServiceModel.qualified(name, in: namespace)) { structuredType(node, name, in: namespace) }
            if type.kind == .entity { schema?.entityTypes.append(type) } else { schema?.complexTypes.append(type) }
            return
        case "EnumType":
            guard let name = name(of: node) else { return keepNameless(node, &schema) }
            schema?.enumTypes.append(state.within(ServiceModel.qualified(name, in: namespace)) { enumType(node, name, in: namespace) })
            return
        case "TypeDefinition":
            guard let name = name(of: node) else { return keepNameless(node, &schema) }
            schema?.typeDefinitions.append(
                state.within(ServiceModel.qualified(name, in: namespace)) { typeDefinition(node, name, in: namespace) })
            return
        case "Term", "ValueTerm":
            guard let name = name(of: node) else { return keepNameless(node, &schema) }
            schema?.terms.append(state.within(ServiceModel.qualified(name, in: namespace)) { term(node, name, in: namespace) })
            return
        case "Action", "Function":
            guard let name = name(of: node) else { return keepNameless(node, &schema) }
            schema?.operations.append(state.within(ServiceModel.qualified(name, in: namespace)) { operation(node, name, in: namespace) })
            return
        case "EntityContainer":
            guard let name = name(of: node) else { return keepNameless(node, &schema) }
            var reader = XMLContainerReader(schema: self, namespace: namespace)
            schema?.containers.append(state.within(ServiceModel.qualified(name, in: namespace)) { reader.container(node, name) })
            schema?.operations += reader.operations
            associations.sets += reader.associationSets
            return
        case "Annotations":
            guard let target = node.take("Target") else {
                missing("Target", of: node, assuming: "the element is kept unchanged, outside of the model")
                return keepNameless(node, &schema)
            }
            let group = state.within("Annotations of " + target) { targetedAnnotations(node, target) }
            schema?.targetedAnnotations.append(group)
            return
        case "Annotation", "ValueAnnotation", "TypeAnnotation":
            if let annotation = expressions.annotation(node) { schema?.annotations.append(annotation) }
            return
        case "Association":
            guard let name = name(of: node) else { return keepNameless(node, &schema) }
            let association = self.association(node, ServiceModel.qualified(name, in: namespace))
            if associations.all[association.name] != nil {
                state.report(
                    .duplicate, "there are two associations '\(association.name)'", assuming: "the first counts", at: node.place)
            } else {
                associations.all[association.name] = association
            }
            return
        case "Using":
            // V2 and V3 give another namespace an alias by this element.
            if let other = node.value("Namespace"), let alias = node.value("Alias"),
                state.isShort(other, at: node.place, assuming: "the alias is ignored")
            {
                state.declare(alias: alias, of: other, at: node.place)
            }
            schema?.extensions.elements.append(node.kept)
            return
        case "Documentation":
            schema?.annotations += expressions.documentation(node)
            return
        default: break
        }
        schema?.extensions.elements.append(unknown(node))
    }

    /// Keeps an element whose missing or invalid name is already reported.
    private func keepNameless(_ node: XMLNode, _ schema: inout ServiceModel.Schema?) { schema?.extensions.elements.append(node.kept) }

    private func targetedAnnotations(_ node: XMLNode, _ target: String) -> ServiceModel.TargetedAnnotations {
        var group = ServiceModel.TargetedAnnotations(target: state.target(target), annotations: expressions.annotations(in: node))
        group.place = node.place
        if let qualifier = node.take("Qualifier") {
            for index in group.annotations.indices where group.annotations[index].qualifier == nil {
                group.annotations[index].qualifier = qualifier
            }
        }
        reportRest(of: node)
        return group
    }

    // MARK: Types

    private func structuredType(_ node: XMLNode, _ name: String, in namespace: String) -> ServiceModel.StructuredType {
        let place = node.place
        let stream = node.take("HasStream") ?? node.take("HasStream", in: ServiceModel.Extensions.dataServicesMetadata)
        var key: [ServiceModel.KeyReference] = []
        var hasKey = false
        var properties: [ServiceModel.Property] = []
        var relations: [ServiceModel.NavigationProperty] = []
        var extensions = ServiceModel.Extensions()
        for child in node.children {
            switch child.tag {
            case "Property":
                if let property = property(child) { properties.append(property) } else { extensions.elements.append(child.kept) }
            case "NavigationProperty":
                if let relation = navigationProperty(child) { relations.append(relation) } else { extensions.elements.append(child.kept) }
            case "Key":
                if hasKey {
                    state.report(.duplicate, "the type has two keys", assuming: "the first counts", at: child.place)
                } else {
                    hasKey = true
                    key = self.key(child)
                }
            case "Annotation", "ValueAnnotation", "TypeAnnotation", "Documentation": break
            default: extensions.elements.append(unknown(child))
            }
        }
        var type = ServiceModel.StructuredType(
            kind: node.name == "EntityType" ? .entity : .complex, namespace: namespace, name: name,
            baseType: node.take("BaseType").map(state.name),
            isAbstract: state.bool(node.take("Abstract"), default: false, of: "Abstract", at: place),
            isOpen: state.bool(node.take("OpenType"), default: false, of: "OpenType", at: place),
            hasStream: state.bool(stream, default: false, of: "HasStream", at: place), key: key, properties: properties,
            navigationProperties: relations, annotations: expressions.annotations(in: node))
        extensions.attributes = rest(node)
        type.extensions = extensions
        type.place = place
        return type
    }

    private func key(_ node: XMLNode) -> [ServiceModel.KeyReference] {
        node.children.compactMap { child in
            guard child.tag == "PropertyRef", let path = child.take("Name") else {
                reportUnknown(child, assuming: "it is ignored")
                return nil
            }
            let alias = child.take("Alias")
            reportRest(of: child)
            return ServiceModel.KeyReference(path: path, alias: alias)
        }
    }

    private func property(_ node: XMLNode) -> ServiceModel.Property? {
        guard let name = name(of: node) else { return nil }
        return state.within(name) {
            var property = ServiceModel.Property(
                name: name, type: typeReference(node), defaultValue: node.take("DefaultValue"),
                annotations: expressions.annotations(in: node))
            property.extensions = self.extensions(node)
            property.place = node.place
            return property
        }
    }

    private func navigationProperty(_ node: XMLNode) -> ServiceModel.NavigationProperty? {
        guard let name = name(of: node) else { return nil }
        return state.within(name) {
            let place = node.place
            var relation = ServiceModel.NavigationProperty(name: name, targetType: "Edm.Untyped")
            relation.place = place
            if let raw = node.take("Type") {
                let (type, isCollection) = state.typeName(raw)
                relation.targetType = type
                relation.isCollection = isCollection
            } else if node.value("Relationship") == nil {
                missing("Type", of: node, assuming: "it leads to Edm.Untyped")
            }
            let isNullable = state.bool(node.take("Nullable"), default: true, of: "Nullable", at: place)
            relation.isNullable = isNullable && !relation.isCollection
            relation.partner = node.take("Partner").map(state.path)
            relation.containsTarget = state.bool(node.take("ContainsTarget"), default: false, of: "ContainsTarget", at: place)
            for child in node.children {
                switch child.tag {
                case "ReferentialConstraint":
                    guard let property = child.take("Property"), let referenced = child.take("ReferencedProperty") else {
                        missing("Property or ReferencedProperty", of: child, assuming: "the constraint is ignored")
                        continue
                    }
                    relation.referentialConstraints.append(
                        ServiceModel.ReferentialConstraint(
                            property: state.path(property), referencedProperty: state.path(referenced),
                            annotations: expressions.annotations(in: child)))
                    reportRest(of: child)
                case "OnDelete":
                    relation.onDelete = deleteAction(child)
                    relation.onDeleteAnnotations = expressions.annotations(in: child)
                    reportRest(of: child)
                case "Annotation", "ValueAnnotation", "TypeAnnotation", "Documentation": break
                default: relation.extensions.elements.append(unknown(child))
                }
            }
            relation.annotations = expressions.annotations(in: node)
            relation.extensions.attributes = rest(node)
            return relation
        }
    }

    private func deleteAction(_ node: XMLNode) -> ServiceModel.NavigationProperty.DeleteAction? {
        let text = node.take("Action") ?? ""
        if let action = ServiceModel.NavigationProperty.DeleteAction(rawValue: text) { return action }
        state.invalid("Action", text, assuming: "the action is ignored", at: node.place)
        return nil
    }

    private func enumType(_ node: XMLNode, _ name: String, in namespace: String) -> ServiceModel.EnumType {
        var extensions = ServiceModel.Extensions()
        var members: [ServiceModel.EnumType.Member] = []
        var next: Int64 = 0
        var isPastEnd = false
        for child in node.children {
            switch child.tag {
            case "Member":
                guard let name = self.name(of: child) else {
                    extensions.elements.append(child.kept)
                    continue
                }
                var value = next
                if isPastEnd, child.value("Value") == nil {
                    missing("Value after the largest one", of: child, assuming: "the value is \(next)")
                }
                if let text = child.take("Value") {
                    if let number = Int64(ReadingState.trimmed(text)) {
                        value = number
                    } else {
                        state.invalid("Value", text, assuming: "the value is \(next)", at: child.place)
                    }
                }
                (next, isPastEnd) = value.addingReportingOverflow(1)
                var member = ServiceModel.EnumType.Member(name: name, value: value, annotations: expressions.annotations(in: child))
                member.extensions = self.extensions(child)
                member.place = child.place
                members.append(member)
            case "Annotation", "ValueAnnotation", "TypeAnnotation", "Documentation": break
            default: extensions.elements.append(unknown(child))
            }
        }
        var type = ServiceModel.EnumType(
            namespace: namespace, name: name, underlyingType: node.take("UnderlyingType").map(state.name) ?? "Edm.Int32",
            isFlags: state.bool(node.take("IsFlags"), default: false, of: "IsFlags", at: node.place), members: members,
            annotations: expressions.annotations(in: node))
        extensions.attributes = rest(node)
        type.extensions = extensions
        type.place = node.place
        return type
    }

    private func typeDefinition(_ node: XMLNode, _ name: String, in namespace: String) -> ServiceModel.TypeDefinition {
        var type = ServiceModel.TypeDefinition(
            namespace: namespace, name: name, underlyingType: typeReference(node, attribute: "UnderlyingType"),
            annotations: expressions.annotations(in: node))
        type.extensions = extensions(node)
        type.place = node.place
        return type
    }

    private func term(_ node: XMLNode, _ name: String, in namespace: String) -> ServiceModel.Term {
        let kinds = (node.take("AppliesTo") ?? "").split { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "," }.map(String.init)
        var term = ServiceModel.Term(
            namespace: namespace, name: name, type: typeReference(node), baseTerm: node.take("BaseTerm").map(state.name),
            defaultValue: node.take("DefaultValue"), appliesTo: kinds, annotations: expressions.annotations(in: node))
        term.extensions = extensions(node)
        term.place = node.place
        return term
    }

    // MARK: Associations

    private func association(_ node: XMLNode, _ name: String) -> Associations.Association {
        let ends = node.children.filter { $0.tag == "End" }.map { end -> (String, Associations.End) in
            let type = end.value("Type").map { state.typeName($0).name } ?? "Edm.Untyped"
            // The default role is the simple name of the type.
            let role = end.value("Role") ?? type.split(separator: ".").last.map(String.init) ?? ""
            return (
                role,
                Associations.End(
                    type: type, multiplicity: end.value("Multiplicity") ?? "*",
                    onDelete: end.children.first { $0.tag == "OnDelete" }.flatMap(deleteAction))
            )
        }
        let constraint = node.children.first { $0.tag == "ReferentialConstraint" }.flatMap { constraint -> Associations.Constraint? in
            func part(_ name: String) -> (role: String, properties: [String])? {
                guard let part = constraint.children.first(where: { $0.tag == name }), let role = part.value("Role") else { return nil }
                return (role, part.children.compactMap { $0.tag == "PropertyRef" ? $0.value("Name") : nil })
            }
            guard let principal = part("Principal"), let dependent = part("Dependent") else {
                missing("Principal or Dependent", of: constraint, assuming: "the constraint is ignored")
                return nil
            }
            return Associations.Constraint(
                principalRole: principal.role, principal: principal.properties, dependentRole: dependent.role,
                dependent: dependent.properties)
        }
        return Associations.Association(
            name: name, ends: Dictionary(ends) { first, _ in first }, constraint: constraint,
            annotations: expressions.annotations(in: node), extensions: ServiceModel.Extensions(attributes: rest(node)), place: node.place)
    }
}
