public import Foundation

extension ServiceModel {
    /// Returns the model as a CSDL XML document, always with the same bytes for equal models.
    ///
    /// A model of V2 or V3 is written in the structure of 4.0, with its own types and the attributes of its extensions. Except for the
    /// version, reading the document results in an equal model. The schemas of ``includedSchemas`` belong to other documents and aren't
    /// written. Characters that XML 1.0 doesn't allow are written as U+FFFD.
    ///
    /// - Parameter version: The version of the document, at least 4.0; by default the model's own.
    public func xml(version: Version? = nil) -> Data {
        Data(XMLModelWriter(model: self, version: max(version ?? self.version, .v4)).document().utf8)
    }
}

/// Writes a model as CSDL XML (CSDL XML 4.01).
struct XMLModelWriter {
    let model: ServiceModel
    let version: ServiceModel.Version

    init(model: ServiceModel, version: ServiceModel.Version) {
        self.model = model
        self.version = version
    }

    func document() -> String {
        var output = XMLOutput(depth: 2)
        for schema in model.schemas { write(schema, to: &output) }
        let schemas = output.body
        var head = output.beginning(depth: 1)
        for reference in model.references { write(reference, to: &head) }
        let references = head.body
        var tail = head.beginning(depth: 1)
        for element in model.extensions.elements { tail.element(element) }
        var root =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<edmx:Edmx xmlns:edmx=\"\(XMLNamespace.edmx)\" xmlns=\"\(XMLNamespace.edm)\""
        var attributes = ""
        for attribute in model.extensions.attributes where ReadingState.isXMLName(attribute.name) {
            attributes += " " + (attribute.namespace.isEmpty ? "" : tail.prefix(of: attribute.namespace) + ":") + attribute.name + "=\""
            XMLOutput.escape(attribute.value, to: &attributes, isAttribute: true)
            attributes += "\""
        }
        for (namespace, prefix) in tail.prefixes {
            root += " xmlns:\(prefix)=\""
            XMLOutput.escape(namespace, to: &root, isAttribute: true)
            root += "\""
        }
        return root + " Version=\"\(version.rawValue)\"" + attributes + ">\n" + references + "  <edmx:DataServices>\n" + schemas
            + "  </edmx:DataServices>\n" + tail.body + "</edmx:Edmx>\n"
    }

    private func flag(_ value: Bool, default fallback: Bool = false) -> String? {
        value == fallback ? nil : value ? "true" : "false"
    }

    // MARK: Documents and schemas

    private func write(_ reference: ServiceModel.Reference, to output: inout XMLOutput) {
        output.element("edmx:Reference", [("Uri", reference.uri)], extensions: reference.extensions) { output in
            for include in reference.includes {
                output.element("edmx:Include", [("Namespace", include.namespace), ("Alias", include.alias)]) {
                    XMLExpressionWriter.write(include.annotations, to: &$0)
                }
            }
            for included in reference.includedAnnotations {
                output.element(
                    "edmx:IncludeAnnotations",
                    [
                        ("TermNamespace", included.termNamespace), ("Qualifier", included.qualifier),
                        ("TargetNamespace", included.targetNamespace),
                    ])
            }
            XMLExpressionWriter.write(reference.annotations, to: &output)
        }
    }

    private func write(_ schema: ServiceModel.Schema, to output: inout XMLOutput) {
        output.element("Schema", [("Namespace", schema.namespace), ("Alias", schema.alias)], extensions: schema.extensions) { output in
            for type in schema.entityTypes { write(type, to: &output) }
            for type in schema.complexTypes { write(type, to: &output) }
            for type in schema.enumTypes { write(type, to: &output) }
            for type in schema.typeDefinitions {
                output.element(
                    "TypeDefinition", [("Name", type.name)] + facets(type.underlyingType, name: "UnderlyingType"),
                    extensions: type.extensions
                ) {
                    XMLExpressionWriter.write(type.annotations, to: &$0)
                }
            }
            for term in schema.terms {
                output.element(
                    "Term",
                    [("Name", term.name)] + facets(term.type) + [
                        ("BaseTerm", term.baseTerm), ("DefaultValue", term.defaultValue),
                        ("AppliesTo", term.appliesTo.isEmpty ? nil : term.appliesTo.joined(separator: " ")),
                    ], extensions: term.extensions
                ) {
                    XMLExpressionWriter.write(term.annotations, to: &$0)
                }
            }
            for operation in schema.operations { write(operation, to: &output) }
            for container in schema.containers { write(container, to: &output) }
            for group in schema.targetedAnnotations {
                output.element("Annotations", [("Target", group.target)]) { XMLExpressionWriter.write(group.annotations, to: &$0) }
            }
            XMLExpressionWriter.write(schema.annotations, to: &output)
        }
    }

    // MARK: Types

    private func write(_ type: ServiceModel.StructuredType, to output: inout XMLOutput) {
        output.element(
            type.kind == .entity ? "EntityType" : "ComplexType",
            [
                ("Name", type.name), ("BaseType", type.baseType), ("Abstract", flag(type.isAbstract)), ("OpenType", flag(type.isOpen)),
                ("HasStream", flag(type.hasStream)),
            ], extensions: type.extensions
        ) { output in
            if !type.key.isEmpty {
                output.element("Key") { output in
                    for key in type.key { output.element("PropertyRef", [("Name", key.path), ("Alias", key.alias)]) }
                }
            }
            for property in type.properties {
                output.element(
                    "Property", [("Name", property.name)] + facets(property.type) + [("DefaultValue", property.defaultValue)],
                    extensions: property.extensions
                ) {
                    XMLExpressionWriter.write(property.annotations, to: &$0)
                }
            }
            for relation in type.navigationProperties { write(relation, to: &output) }
            XMLExpressionWriter.write(type.annotations, to: &output)
        }
    }

    private func write(_ relation: ServiceModel.NavigationProperty, to output: inout XMLOutput) {
        output.element(
            "NavigationProperty",
            [
                ("Name", relation.name), ("Type", relation.isCollection ? "Collection(\(relation.targetType))" : relation.targetType),
                ("Nullable", relation.isCollection ? nil : flag(relation.isNullable, default: true)), ("Partner", relation.partner),
                ("ContainsTarget", flag(relation.containsTarget)),
            ], extensions: relation.extensions
        ) { output in
            for constraint in relation.referentialConstraints {
                output.element(
                    "ReferentialConstraint",
                    [("Property", constraint.property), ("ReferencedProperty", constraint.referencedProperty)]
                ) {
                    XMLExpressionWriter.write(constraint.annotations, to: &$0)
                }
            }
            if let action = relation.onDelete {
                output.element("OnDelete", [("Action", action.rawValue)]) {
                    XMLExpressionWriter.write(relation.onDeleteAnnotations, to: &$0)
                }
            }
            XMLExpressionWriter.write(relation.annotations, to: &output)
        }
    }

    private func write(_ type: ServiceModel.EnumType, to output: inout XMLOutput) {
        output.element(
            "EnumType",
            [
                ("Name", type.name), ("UnderlyingType", type.underlyingType == "Edm.Int32" ? nil : type.underlyingType),
                ("IsFlags", flag(type.isFlags)),
            ], extensions: type.extensions
        ) { output in
            for member in type.members {
                output.element("Member", [("Name", member.name), ("Value", String(member.value))], extensions: member.extensions) {
                    XMLExpressionWriter.write(member.annotations, to: &$0)
                }
            }
            XMLExpressionWriter.write(type.annotations, to: &output)
        }
    }

    private func facets(_ type: ServiceModel.TypeReference, name: String = "Type") -> [(String, String?)] {
        // The elements of a collection of entities are never null, so this isn't written.
        let isImplied = type.isCollection && (type.name == "Edm.EntityType" || model.entityType(type.name) != nil)
        return [
            (name, type.description), ("Nullable", isImplied || name != "Type" ? nil : flag(type.isNullable, default: true)),
        ] + XMLExpressionWriter.facets(type)
    }

    // MARK: Operations and containers

    private func write(_ operation: ServiceModel.Operation, to output: inout XMLOutput) {
        output.element(
            operation.kind.rawValue,
            [
                ("Name", operation.name), ("IsBound", flag(operation.isBound)), ("IsComposable", flag(operation.isComposable)),
                ("EntitySetPath", operation.entitySetPath),
            ], extensions: operation.extensions
        ) { output in
            for parameter in operation.parameters {
                output.element(
                    "Parameter", [("Name", parameter.name)] + facets(parameter.type), extensions: parameter.extensions
                ) {
                    XMLExpressionWriter.write(parameter.annotations, to: &$0)
                }
            }
            if let type = operation.returnType {
                output.element("ReturnType", facets(type.type), extensions: type.extensions) {
                    XMLExpressionWriter.write(type.annotations, to: &$0)
                }
            }
            XMLExpressionWriter.write(operation.annotations, to: &output)
        }
    }

    private func write(_ container: ServiceModel.EntityContainer, to output: inout XMLOutput) {
        output.element(
            "EntityContainer", [("Name", container.name), ("Extends", container.extends)], extensions: container.extensions
        ) { output in
            for set in container.entitySets {
                output.element(
                    "EntitySet",
                    [
                        ("Name", set.name), ("EntityType", set.entityType),
                        ("IncludeInServiceDocument", flag(set.isInServiceDocument, default: true)),
                    ], extensions: set.extensions
                ) { output in
                    write(set.bindings, to: &output)
                    XMLExpressionWriter.write(set.annotations, to: &output)
                }
            }
            for singleton in container.singletons {
                output.element(
                    "Singleton", [("Name", singleton.name), ("Type", singleton.type), ("Nullable", flag(singleton.isNullable))],
                    extensions: singleton.extensions
                ) { output in
                    write(singleton.bindings, to: &output)
                    XMLExpressionWriter.write(singleton.annotations, to: &output)
                }
            }
            for item in container.operationImports {
                output.element(
                    item.kind.rawValue + "Import",
                    [
                        ("Name", item.name), (item.kind.rawValue, item.operation), ("EntitySet", item.entitySet),
                        ("IncludeInServiceDocument", flag(item.isInServiceDocument)),
                    ], extensions: item.extensions
                ) {
                    XMLExpressionWriter.write(item.annotations, to: &$0)
                }
            }
            XMLExpressionWriter.write(container.annotations, to: &output)
        }
    }

    private func write(_ bindings: [ServiceModel.NavigationPropertyBinding], to output: inout XMLOutput) {
        for binding in bindings {
            output.element(
                "NavigationPropertyBinding", [("Path", binding.path), ("Target", binding.target)], extensions: binding.extensions)
        }
    }
}
