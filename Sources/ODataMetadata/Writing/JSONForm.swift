import Foundation

extension ServiceModel {
    /// The model in the form of CSDL JSON, which `json()` writes and `init(json:)` reads.
    package var jsonForm: ServiceModel {
        JSONForm(model: self).converted()
    }
}

/// Converts a model to the form of CSDL JSON.
private struct JSONForm {
    let model: ServiceModel

    func converted() -> ServiceModel {
        let schemas = model.schemas.map(schema)
        func declares(_ schemas: [ServiceModel.Schema]) -> Bool {
            schemas.contains { $0.containers.contains { $0.qualifiedName == model.containerName } }
        }
        // A container that isn't declared can be in a document that is included, but not given.
        let isLost = declares(model.schemas) && !declares(schemas + model.includedSchemas)
        return ServiceModel(
            version: model.version, schemas: schemas, references: model.references.map(reference),
            includedSchemas: model.includedSchemas, containerName: isLost ? nil : model.containerName,
            extensions: ServiceModel.Extensions(attributes: model.extensions.attributes.filter { isPlain($0) }),
            diagnostics: model.diagnostics)
    }

    // MARK: Extensions

    /// Returns whether an attribute can be written as a member with a `$`.
    private func isPlain(_ attribute: ServiceModel.Extensions.Attribute) -> Bool {
        attribute.namespace.isEmpty && ReadingState.isExtensionName(attribute.name)
    }

    /// Turns attributes of other namespaces into annotations: `sap:label` is a string with the term
    /// `www.sap.com.Protocols.SAPData.label`.
    private func plain<Element: Annotated>(_ element: Element, keepsPlain: Bool = true) -> Element {
        var element = element
        element.annotations = element.annotations.map(annotation)
        var terms = Set(element.annotations.lazy.filter { $0.qualifier == nil }.map(\.term))
        for attribute in element.extensions.attributes where !(keepsPlain && isPlain(attribute)) {
            let term = Self.namespace(attribute.namespace) + "." + attribute.name
            guard terms.insert(term).inserted else { continue }
            element.annotations.append(ServiceModel.Annotation(term: term, value: .string(attribute.value)))
        }
        element.extensions = ServiceModel.Extensions(attributes: element.extensions.attributes.filter { keepsPlain && isPlain($0) })
        return element
    }

    private static func namespace(_ uri: String) -> String {
        if uri.isEmpty { return "csdl.attributes" }
        let rest = uri.range(of: "://").map { uri[$0.upperBound...] } ?? uri[...]
        let parts = rest.split { $0 == "/" || $0 == "." || $0 == ":" }.map { part -> String in
            let name = String(part.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
            return name.first?.isNumber == true ? "n" + name : name
        }
        return parts.isEmpty ? "csdl.attributes" : parts.joined(separator: ".")
    }

    // MARK: Elements

    private func schema(_ schema: ServiceModel.Schema) -> ServiceModel.Schema {
        var schema = plain(schema)
        schema.entityTypes = schema.entityTypes.filter { Self.isMember($0.name) }.map(structuredType)
        schema.complexTypes = schema.complexTypes.filter { Self.isMember($0.name) }.map(structuredType)
        schema.enumTypes = schema.enumTypes.filter { Self.isMember($0.name) }.map { type in
            var type = plain(type)
            // A member is a number in JSON, so it can't contain extensions.
            type.members = type.members.filter { Self.isMember($0.name) }.map { plain($0, keepsPlain: false) }
            return type
        }
        schema.typeDefinitions = schema.typeDefinitions.filter { Self.isMember($0.name) }.map { definition in
            var definition = plain(definition)
            definition.underlyingType = plain(definition.underlyingType)
            return definition
        }
        schema.terms = schema.terms.filter { Self.isMember($0.name) }.map { term in
            var term = plain(term)
            term.type = type(term.type)
            return term
        }
        // A name is one member of an object: a type, a container, or the overloads of an operation.
        var names = Set(
            (schema.entityTypes + schema.complexTypes).map(\.name) + schema.enumTypes.map(\.name) + schema.typeDefinitions.map(\.name)
                + schema.terms.map(\.name))
        schema.containers.removeAll { names.contains($0.name) || !Self.isMember($0.name) }
        names.formUnion(schema.containers.map(\.name))
        schema.operations = schema.operations.filter { !names.contains($0.name) && Self.isMember($0.name) }.map(operation)
        schema.containers = schema.containers.map { container in
            var container = plain(container)
            container.entitySets = container.entitySets.filter { Self.isMember($0.name) }.map { set in
                var set = plain(set)
                set.bindings = set.bindings.map(bare)
                return set
            }
            container.singletons = container.singletons.filter { Self.isMember($0.name) }.map { singleton in
                var singleton = plain(singleton)
                singleton.bindings = singleton.bindings.map(bare)
                return singleton
            }
            let names = Set(container.entitySets.map(\.name) + container.singletons.map(\.name))
            container.operationImports = container.operationImports.filter { Self.isMember($0.name) && !names.contains($0.name) }
                .map { plain($0) }
            return container
        }
        for index in schema.targetedAnnotations.indices {
            schema.targetedAnnotations[index].annotations = schema.targetedAnnotations[index].annotations.map(annotation)
        }
        return schema
    }

    /// Whether JSON can hold a part of the model with this name. Other names are those of control members and annotations.
    private static func isMember(_ name: String) -> Bool {
        name.utf8.first != UInt8(ascii: "$") && !name.utf8.contains(UInt8(ascii: "@"))
    }

    /// A binding is a string in JSON.
    private func bare(_ binding: ServiceModel.NavigationPropertyBinding) -> ServiceModel.NavigationPropertyBinding {
        ServiceModel.NavigationPropertyBinding(path: binding.path, target: binding.target)
    }

    private func structuredType(_ type: ServiceModel.StructuredType) -> ServiceModel.StructuredType {
        var type = plain(type)
        type.key = type.key.filter { $0.path.split(separator: "/").allSatisfy { Self.isMember(String($0)) } }
        type.properties = type.properties.filter { Self.isMember($0.name) }.map { property in
            var property = plain(property)
            property.type = self.type(property.type)
            return property
        }
        type.navigationProperties = type.navigationProperties.filter { Self.isMember($0.name) }.map { relation in
            var relation = plain(relation)
            relation.onDeleteAnnotations = relation.onDeleteAnnotations.map(annotation)
            relation.referentialConstraints = relation.referentialConstraints.filter { Self.isMember($0.property) }.map { constraint in
                var constraint = constraint
                constraint.annotations = constraint.annotations.map(annotation)
                return constraint
            }
            return relation
        }
        return type
    }

    private func operation(_ operation: ServiceModel.Operation) -> ServiceModel.Operation {
        var operation = plain(operation)
        operation.parameters = operation.parameters.map { parameter in
            var parameter = plain(parameter)
            parameter.type = type(parameter.type)
            return parameter
        }
        operation.returnType = operation.returnType.map { returnType in
            var returnType = plain(returnType)
            returnType.type = type(returnType.type)
            return returnType
        }
        return operation
    }

    private func reference(_ reference: ServiceModel.Reference) -> ServiceModel.Reference {
        var reference = plain(reference)
        reference.includes = reference.includes.map { include in
            var include = include
            include.annotations = include.annotations.map(annotation)
            return include
        }
        return reference
    }

    private func type(_ type: ServiceModel.TypeReference) -> ServiceModel.TypeReference {
        var type = type
        if type.maxLength == .max { type.maxLength = nil }
        return type
    }

    // MARK: Expressions

    private func annotation(_ annotation: ServiceModel.Annotation) -> ServiceModel.Annotation {
        var annotation = annotation
        annotation.value = annotation.value.map(expression) ?? defaultValue(of: annotation.term)
        annotation.annotations = annotation.annotations.map(self.annotation)
        return annotation
    }

    private func defaultValue(of term: String) -> ServiceModel.Expression {
        guard let term = model.term(term), let text = term.defaultValue else { return .bool(true) }
        switch text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null" where term.type.name != "Edm.String": return .null
        default: return Self.numbers.contains(term.type.name) ? Self.number(text) : .string(text)
        }
    }

    private static let numbers: Set = [
        "Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32", "Edm.Int64", "Edm.Decimal", "Edm.Double", "Edm.Single",
    ]

    private static func number(_ text: String) -> ServiceModel.Expression {
        JSONModelWriter.isNumber(text) ? JSONExpressionReader.number(text) : .string(text)
    }

    private func expression(_ value: ServiceModel.Expression) -> ServiceModel.Expression {
        switch value {
        case .bool, .int, .string, .null, .path: value
        case .decimal(let text), .float(let text): Self.number(text)
        case .binary, .date, .dateTimeOffset, .duration, .enumMembers, .guid, .timeOfDay, .propertyPath, .navigationPropertyPath,
            .annotationPath, .anyPropertyPath, .modelElementPath:
            .string(value.text ?? "")
        case .collection(let elements): .collection(elements.map(expression))
        case .record(let record): .record(self.record(record))
        case .apply(let function, let arguments): .apply(function: function, arguments: arguments.map(expression))
        case .cast(let operand, let type): .cast(expression(operand), type: plain(type))
        case .isOf(let operand, let type): .isOf(expression(operand), type: plain(type))
        case .if(let test, let then, let otherwise):
            .if(expression(test), then: expression(then), else: otherwise.map(expression))
        case .labeledElement(let name, let operand): .labeledElement(name: name, expression(operand))
        case .labeledElementReference: value
        case .unary(let op, let operand): .unary(op, expression(operand))
        case .binaryOperation(let op, let left, let right): .binaryOperation(op, expression(left), expression(right))
        case .urlReference(let operand): .urlReference(expression(operand))
        case .annotated(let inner, let annotations): annotated(expression(inner), annotations.map(annotation))
        }
    }

    /// Adds annotations to an expression that is an object in JSON. Other expressions can't have annotations.
    private func annotated(
        _ value: ServiceModel.Expression, _ annotations: [ServiceModel.Annotation]
    ) -> ServiceModel.Expression {
        switch value {
        case .bool, .int, .string, .decimal, .float, .collection: return value
        case .annotated(let inner, let others): return .annotated(inner, others + annotations)
        case .record(var record):
            record.annotations += annotations
            return .record(record)
        default: return annotations.isEmpty ? value : .annotated(value, annotations)
        }
    }

    private func record(_ record: ServiceModel.Expression.Record) -> ServiceModel.Expression.Record {
        ServiceModel.Expression.Record(
            type: record.type,
            values: record.values.filter { Self.isMember($0.name) }.map { value in
                .init(
                    name: value.name, value: value.value.map(expression) ?? .bool(true), annotations: value.annotations.map(annotation))
            }, annotations: record.annotations.map(annotation))
    }

    private func plain(_ type: ServiceModel.TypeReference) -> ServiceModel.TypeReference {
        var type = self.type(type)
        type.isNullable = true
        return type
    }
}

/// An element with annotations and extensions.
private protocol Annotated {
    var annotations: [ServiceModel.Annotation] { get set }
    var extensions: ServiceModel.Extensions { get set }
}

extension ServiceModel.Schema: Annotated {}
extension ServiceModel.StructuredType: Annotated {}
extension ServiceModel.Property: Annotated {}
extension ServiceModel.NavigationProperty: Annotated {}
extension ServiceModel.EnumType: Annotated {}
extension ServiceModel.EnumType.Member: Annotated {}
extension ServiceModel.TypeDefinition: Annotated {}
extension ServiceModel.Term: Annotated {}
extension ServiceModel.Operation: Annotated {}
extension ServiceModel.Parameter: Annotated {}
extension ServiceModel.ReturnType: Annotated {}
extension ServiceModel.EntityContainer: Annotated {}
extension ServiceModel.EntitySet: Annotated {}
extension ServiceModel.Singleton: Annotated {}
extension ServiceModel.OperationImport: Annotated {}
extension ServiceModel.Reference: Annotated {}
