// The parts that elements of CSDL XML have in common: the name, the type with its facets, and the attributes and children that remain.

extension XMLSchemaReader {
    /// Reads a type with its facets.
    func typeReference(_ node: XMLNode, attribute: String = "Type", isNullable: Bool = true) -> ServiceModel.TypeReference {
        let place = node.place
        if node.value(attribute) == nil, let nested = nestedType(node, isNullable: isNullable) { return nested }
        var type: (name: String, isCollection: Bool)
        if let raw = node.take(attribute) {
            type = state.typeName(raw)
        } else if let child = node.children.first(where: { ["RowType", "ReferenceType"].contains($0.tag) }) {
            type = ("Edm.Untyped", false)
            state.report(.invalidValue, "\(child.name) isn't a type of OData", assuming: "it is Edm.Untyped", at: child.place)
        } else {
            type = (state.version < .v4 ? "Edm.String" : "Edm.Untyped", false)
            missing(attribute, of: node, assuming: "it is \(type.name)")
        }
        // Before V3, an attribute could state that the values are collections.
        let hasKind = state.version < .v4 && ["List", "Bag"].contains(node.value("CollectionKind"))
        return ServiceModel.TypeReference(
            type.name, isCollection: type.isCollection || hasKind,
            isNullable: state.bool(node.take("Nullable"), default: isNullable, of: "Nullable", at: place),
            maxLength: state.maxLength(node.take("MaxLength"), at: place),
            precision: state.precision(node.take("Precision"), of: type.name, at: place), scale: state.scale(node.take("Scale"), at: place),
            srid: state.srid(node.take("SRID"), at: place),
            isUnicode: state.bool(node.take("Unicode"), default: true, of: "Unicode", at: place))
    }

    /// Returns a type that V2 or V3 writes as a child, `TypeRef` or `CollectionType`, and removes the child.
    private func nestedType(_ node: XMLNode, isNullable: Bool) -> ServiceModel.TypeReference? {
        guard let index = node.children.firstIndex(where: { ["TypeRef", "CollectionType"].contains($0.tag) }) else { return nil }
        let child = node.children[index]
        if child.tag == "TypeRef", child.value("Type") == nil { return nil }
        node.children.remove(at: index)
        if child.tag == "TypeRef" { return typeReference(child, isNullable: isNullable) }
        var type = typeReference(child, attribute: "ElementType", isNullable: isNullable)
        type.isCollection = true
        return type
    }

    /// Returns the attributes that remain. Attributes without a prefix are reported if no version of CSDL defines them.
    func rest(_ node: XMLNode) -> [ServiceModel.Extensions.Attribute] {
        guard !node.attributes.isEmpty else { return [] }
        for attribute in node.attributes where attribute.namespace.isEmpty && !Self.olderAttributes.contains(attribute.name) {
            state.report(
                .unknownElement, "\(node.name) has an unknown attribute '\(attribute.name)'", assuming: "it is kept unchanged",
                at: node.place, severity: .noted)
        }
        return node.keptAttributes
    }

    /// Returns the rest of an element that can only have annotations as children.
    func extensions(_ node: XMLNode) -> ServiceModel.Extensions {
        var extensions = ServiceModel.Extensions(attributes: rest(node))
        for child in node.children where !Self.annotationNames.contains(child.tag) { extensions.elements.append(unknown(child)) }
        return extensions
    }

    /// Reports the attributes and elements that remain in an element whose part of the model has no extensions.
    func reportRest(of node: XMLNode) {
        for attribute in node.attributes {
            state.report(
                .unknownElement, "\(node.name) has an unknown attribute '\(attribute.name)'", assuming: "it is ignored", at: node.place)
        }
        for child in node.children where !Self.annotationNames.contains(child.tag) { reportUnknown(child, assuming: "it is ignored") }
    }

    static let annotationNames: Set = ["Annotation", "ValueAnnotation", "TypeAnnotation", "Documentation"]

    /// The attributes of CSDL 1.0 to 3.0 that 4.0 lacks, and some attributes of 4.0 in elements where they have no effect.
    private static let olderAttributes: Set = [
        "FixedLength", "Collation", "ConcurrencyMode", "CollectionKind", "Mode", "Relationship", "FromRole", "ToRole", "IsSideEffecting",
        "EntitySet", "IsBindable", "IsAlwaysBindable", "TypeAccess", "GetterAccess", "SetterAccess", "Extends", "StoreGeneratedPattern",
    ]

    /// Returns the name of an element; reports it and returns `nil` if it has none.
    func name(of node: XMLNode) -> String? {
        guard let name = node.take("Name"), !name.isEmpty else {
            missing("Name", of: node, assuming: "the element is kept unchanged, outside of the model")
            return nil
        }
        guard state.isShort(name, at: node.place, assuming: "the element is kept unchanged, outside of the model") else { return nil }
        if !ReadingState.isIdentifier(name) {
            state.report(
                .invalidName, "the name '\(name.prefix(200))' of the \(node.name) isn't an identifier of OData",
                assuming: "it is kept unchanged", at: node.place, severity: .noted)
        }
        return name
    }

    func missing(_ attribute: String, of node: XMLNode, assuming assumption: String) {
        state.report(.missing, "\(node.name) has no \(attribute)", assuming: assumption, at: node.place)
    }

    /// Reports an element of CSDL that isn't allowed here, and returns it as an unknown one.
    func unknown(_ node: XMLNode) -> ServiceModel.Extensions.Element {
        if node.isKnown { reportUnknown(node, assuming: "it is kept unchanged, outside of the model") }
        return node.kept
    }

    func reportUnknown(_ node: XMLNode, assuming assumption: String) {
        if state.version < .v4, Self.elementsWithoutMeaning.contains(node.name) {
            state.report(
                .unknownElement, "\(node.name) has no meaning in OData", assuming: assumption, at: node.place, severity: .noted)
            return
        }
        let isOther = Self.knownElements.contains(node.name)
        state.report(
            isOther ? .misplacedElement : .unknownElement,
            isOther ? "\(node.name) isn't allowed here" : "CSDL has no element '\(node.name.prefix(100))'", assuming: assumption,
            at: node.place)
    }

    /// Elements of the Entity Framework that documents of V1 to V3 can contain.
    private static let elementsWithoutMeaning: Set = ["DefiningExpression", "CommandText", "RowType", "ReferenceType"]

    private static let knownElements: Set = [
        "EntityType", "ComplexType", "EnumType", "TypeDefinition", "Term", "Action", "Function", "EntityContainer", "EntitySet",
        "Singleton", "ActionImport", "FunctionImport", "Property", "NavigationProperty", "Key", "PropertyRef", "Member", "Parameter",
        "ReturnType", "Annotations", "Annotation", "Association", "AssociationSet", "NavigationPropertyBinding", "ReferentialConstraint",
        "OnDelete", "Schema", "End",
    ]
}
