public import Foundation

extension ServiceModel {
    /// Returns the model as a CSDL JSON document (CSDL JSON 4.01), always with the same bytes for equal models.
    ///
    /// CSDL JSON has fewer kinds of constants: dates, paths, members of enumerations and similar values become strings. It has no
    /// `MaxLength` of `max`, and can't contain elements of other namespaces, or attributes of the document's root and of bindings. Other
    /// attributes of other namespaces become annotations, and annotations without a value get the default value of their term, or else
    /// `true`. Left out are operations and containers with the name of a type, imports with the name of a set, and all parts whose names
    /// begin with `$` or contain `@`. Reading the document results in the model with these changes.
    public func json() -> Data {
        Data(JSONModelWriter(model: jsonForm).document().utf8)
    }
}

/// Writes a model as CSDL JSON (CSDL JSON 4.01). The model is in the form of CSDL JSON.
struct JSONModelWriter {
    let model: ServiceModel

    func document() -> String {
        var members: [JSONOutput.Member] = [("$Version", .string(model.version.rawValue))]
        if let name = model.containerName { members.append(("$EntityContainer", .string(name))) }
        members += plain(model.extensions)
        if !model.references.isEmpty {
            members.append(("$Reference", .object(model.references.map { ($0.uri, reference($0)) })))
        }
        for schema in model.schemas { members.append((schema.namespace, self.schema(schema))) }
        var text = ""
        JSONOutput.object(members).write(to: &text, indentation: 0)
        return text + "\n"
    }

    /// Whether a text is a number of JSON.
    static func isNumber(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func digits() -> Int {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let hasZero = rest.first == UInt8(ascii: "0")
        let count = digits()
        guard count == 1 || count > 1 && !hasZero else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            if digits() == 0 { return false }
        }
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
            if digits() == 0 { return false }
        }
        return rest.isEmpty
    }

    // MARK: Documents and schemas

    private func plain(_ extensions: ServiceModel.Extensions) -> [JSONOutput.Member] {
        extensions.attributes.map { ("$" + $0.name, .string($0.value)) }
    }

    private func reference(_ reference: ServiceModel.Reference) -> JSONOutput {
        var members: [JSONOutput.Member] = []
        if !reference.includes.isEmpty {
            members.append(
                (
                    "$Include",
                    .array(
                        reference.includes.map { include in
                            var object: [JSONOutput.Member] = [("$Namespace", .string(include.namespace))]
                            if let alias = include.alias { object.append(("$Alias", .string(alias))) }
                            return .object(object + annotations(include.annotations))
                        })
                ))
        }
        if !reference.includedAnnotations.isEmpty {
            members.append(
                (
                    "$IncludeAnnotations",
                    .array(
                        reference.includedAnnotations.map { included in
                            var object: [JSONOutput.Member] = [("$TermNamespace", .string(included.termNamespace))]
                            if let qualifier = included.qualifier { object.append(("$Qualifier", .string(qualifier))) }
                            if let target = included.targetNamespace { object.append(("$TargetNamespace", .string(target))) }
                            return .object(object)
                        })
                ))
        }
        return .object(members + plain(reference.extensions) + annotations(reference.annotations))
    }

    private func schema(_ schema: ServiceModel.Schema) -> JSONOutput {
        var members: [JSONOutput.Member] = []
        if let alias = schema.alias { members.append(("$Alias", .string(alias))) }
        members += plain(schema.extensions) + annotations(schema.annotations)
        for type in schema.entityTypes { members.append((type.name, structuredType(type))) }
        for type in schema.complexTypes { members.append((type.name, structuredType(type))) }
        for type in schema.enumTypes { members.append((type.name, enumType(type))) }
        for type in schema.typeDefinitions {
            members.append(
                (
                    type.name,
                    .object(
                        [("$Kind", .string("TypeDefinition"))] + facets(type.underlyingType, name: "$UnderlyingType", isTyped: true)
                            + plain(type.extensions) + annotations(type.annotations))
                ))
        }
        for term in schema.terms { members.append((term.name, self.term(term))) }
        var overloads: [(name: String, list: [JSONOutput])] = []
        for operation in schema.operations {
            if overloads.last?.name == operation.name {
                overloads[overloads.count - 1].list.append(self.operation(operation))
            } else {
                overloads.append((operation.name, [self.operation(operation)]))
            }
        }
        members += overloads.map { ($0.name, .array($0.list)) }
        for container in schema.containers { members.append((container.name, self.container(container))) }
        if !schema.targetedAnnotations.isEmpty {
            members.append(
                ("$Annotations", .object(schema.targetedAnnotations.map { ($0.target, .object(annotations($0.annotations))) })))
        }
        return .object(members)
    }

    // MARK: Types

    private func structuredType(_ type: ServiceModel.StructuredType) -> JSONOutput {
        var members: [JSONOutput.Member] = [("$Kind", .string(type.kind == .entity ? "EntityType" : "ComplexType"))]
        if let base = type.baseType { members.append(("$BaseType", .string(base))) }
        if type.isAbstract { members.append(("$Abstract", .bool(true))) }
        if type.isOpen { members.append(("$OpenType", .bool(true))) }
        if type.hasStream { members.append(("$HasStream", .bool(true))) }
        if !type.key.isEmpty {
            members.append(
                ("$Key", .array(type.key.map { key in key.alias.map { .object([($0, .string(key.path))]) } ?? .string(key.path) })))
        }
        members += plain(type.extensions) + annotations(type.annotations)
        for property in type.properties {
            var object = facets(property.type)
            if let text = property.defaultValue { object.append(("$DefaultValue", value(text, of: property.type))) }
            members.append((property.name, .object(object + plain(property.extensions) + annotations(property.annotations))))
        }
        for relation in type.navigationProperties { members.append((relation.name, navigationProperty(relation))) }
        return .object(members)
    }

    private func navigationProperty(_ relation: ServiceModel.NavigationProperty) -> JSONOutput {
        var members: [JSONOutput.Member] = [("$Kind", .string("NavigationProperty")), ("$Type", .string(relation.targetType))]
        if relation.isCollection { members.append(("$Collection", .bool(true))) }
        if relation.isNullable { members.append(("$Nullable", .bool(true))) }
        if let partner = relation.partner { members.append(("$Partner", .string(partner))) }
        if relation.containsTarget { members.append(("$ContainsTarget", .bool(true))) }
        if !relation.referentialConstraints.isEmpty {
            members.append(
                (
                    "$ReferentialConstraint",
                    .object(
                        relation.referentialConstraints.flatMap { constraint in
                            [(constraint.property, .string(constraint.referencedProperty))]
                                + annotations(constraint.annotations, of: constraint.property)
                        })
                ))
        }
        if let action = relation.onDelete {
            members.append(("$OnDelete", .string(action.rawValue)))
            members += annotations(relation.onDeleteAnnotations, of: "$OnDelete")
        }
        return .object(members + plain(relation.extensions) + annotations(relation.annotations))
    }

    private func enumType(_ type: ServiceModel.EnumType) -> JSONOutput {
        var members: [JSONOutput.Member] = [("$Kind", .string("EnumType"))]
        if type.underlyingType != "Edm.Int32" { members.append(("$UnderlyingType", .string(type.underlyingType))) }
        if type.isFlags { members.append(("$IsFlags", .bool(true))) }
        members += plain(type.extensions) + annotations(type.annotations)
        for member in type.members {
            members.append((member.name, .number(String(member.value))))
            members += annotations(member.annotations, of: member.name)
        }
        return .object(members)
    }

    private func term(_ term: ServiceModel.Term) -> JSONOutput {
        var members: [JSONOutput.Member] = [("$Kind", .string("Term"))] + facets(term.type)
        if let base = term.baseTerm { members.append(("$BaseTerm", .string(base))) }
        if let text = term.defaultValue { members.append(("$DefaultValue", value(text, of: term.type))) }
        if !term.appliesTo.isEmpty { members.append(("$AppliesTo", .array(term.appliesTo.map { .string($0) }))) }
        return .object(members + plain(term.extensions) + annotations(term.annotations))
    }

    private func facets(_ type: ServiceModel.TypeReference, name: String = "$Type", isTyped: Bool = false) -> [JSONOutput.Member] {
        var members: [JSONOutput.Member] = []
        if isTyped || type.name != "Edm.String" { members.append((name, .string(type.name))) }
        if type.isCollection { members.append(("$Collection", .bool(true))) }
        if type.isNullable, name == "$Type", !isTyped { members.append(("$Nullable", .bool(true))) }
        if case .fixed(let length)? = type.maxLength { members.append(("$MaxLength", .number(String(length)))) }
        if let precision = type.precision { members.append(("$Precision", .number(String(precision)))) }
        switch type.scale {
        case .fixed(let scale): members.append(("$Scale", .number(String(scale))))
        case .floating: members.append(("$Scale", .string("floating")))
        case .variable where isTyped && name == "$Type" || type.name != "Edm.Decimal": members.append(("$Scale", .string("variable")))
        // In JSON, the default scale of a property's decimal is variable.
        case nil where type.name == "Edm.Decimal" && !(isTyped && name == "$Type"): members.append(("$Scale", .number("0")))
        default: break
        }
        switch type.srid {
        case .fixed(let number): members.append(("$SRID", .number(String(number))))
        case .variable: members.append(("$SRID", .string("variable")))
        case nil: break
        }
        if !type.isUnicode { members.append(("$Unicode", .bool(false))) }
        return members
    }

    private static let numbers: Set = [
        "Edm.Byte", "Edm.SByte", "Edm.Int16", "Edm.Int32", "Edm.Int64", "Edm.Decimal", "Edm.Double", "Edm.Single",
    ]

    /// Returns a default value in the JSON form of the type's values.
    private func value(_ text: String, of type: ServiceModel.TypeReference) -> JSONOutput {
        let name = model.typeDefinition(type.name)?.underlyingType.name ?? type.name
        if name == "Edm.String" { return .string(text) }
        if text == "null" { return .null }
        if Self.numbers.contains(name), Self.isNumber(text) { return .number(text) }
        if name == "Edm.Boolean" || model.term(type.name) != nil, text == "true" || text == "false" { return .bool(text == "true") }
        return .string(text)
    }

    // MARK: Operations and containers

    private func operation(_ operation: ServiceModel.Operation) -> JSONOutput {
        var members: [JSONOutput.Member] = [("$Kind", .string(operation.kind.rawValue))]
        if operation.isBound { members.append(("$IsBound", .bool(true))) }
        if operation.isComposable { members.append(("$IsComposable", .bool(true))) }
        if let path = operation.entitySetPath { members.append(("$EntitySetPath", .string(path))) }
        if !operation.parameters.isEmpty {
            members.append(
                (
                    "$Parameter",
                    .array(
                        operation.parameters.map { parameter in
                            .object(
                                [("$Name", .string(parameter.name))] + facets(parameter.type) + plain(parameter.extensions)
                                    + annotations(parameter.annotations))
                        })
                ))
        }
        if let type = operation.returnType {
            members.append(("$ReturnType", .object(facets(type.type) + plain(type.extensions) + annotations(type.annotations))))
        }
        return .object(members + plain(operation.extensions) + annotations(operation.annotations))
    }

    private func container(_ container: ServiceModel.EntityContainer) -> JSONOutput {
        var members: [JSONOutput.Member] = [("$Kind", .string("EntityContainer"))]
        if let base = container.extends { members.append(("$Extends", .string(base))) }
        members += plain(container.extensions) + annotations(container.annotations)
        for set in container.entitySets {
            var object: [JSONOutput.Member] = [("$Collection", .bool(true)), ("$Type", .string(set.entityType))]
            if !set.isInServiceDocument { object.append(("$IncludeInServiceDocument", .bool(false))) }
            members.append((set.name, .object(object + bindings(set.bindings) + plain(set.extensions) + annotations(set.annotations))))
        }
        for singleton in container.singletons {
            var object: [JSONOutput.Member] = [("$Type", .string(singleton.type))]
            if singleton.isNullable { object.append(("$Nullable", .bool(true))) }
            members.append(
                (
                    singleton.name,
                    .object(object + bindings(singleton.bindings) + plain(singleton.extensions) + annotations(singleton.annotations))
                ))
        }
        for item in container.operationImports {
            var object: [JSONOutput.Member] = [("$" + item.kind.rawValue, .string(item.operation))]
            if let set = item.entitySet { object.append(("$EntitySet", .string(set))) }
            if item.isInServiceDocument { object.append(("$IncludeInServiceDocument", .bool(true))) }
            members.append((item.name, .object(object + plain(item.extensions) + annotations(item.annotations))))
        }
        return .object(members)
    }

    private func bindings(_ bindings: [ServiceModel.NavigationPropertyBinding]) -> [JSONOutput.Member] {
        bindings.isEmpty ? [] : [("$NavigationPropertyBinding", .object(bindings.map { ($0.path, .string($0.target)) }))]
    }

    // MARK: Annotations

    private func annotations(_ annotations: [ServiceModel.Annotation], of name: String = "") -> [JSONOutput.Member] {
        annotations.flatMap { annotation -> [JSONOutput.Member] in
            let key = name + "@" + annotation.term + (annotation.qualifier.map { "#" + $0 } ?? "")
            return [(key, expression(annotation.value ?? .bool(true)))] + self.annotations(annotation.annotations, of: key)
        }
    }

    private func expression(_ value: ServiceModel.Expression) -> JSONOutput {
        switch value {
        case .bool(let value): .bool(value)
        case .int(let value): .number(String(value))
        case .decimal(let text), .float(let text): Self.isNumber(text) ? .number(text) : .string(text)
        case .null: .null
        case .collection(let elements): .array(elements.map(expression))
        case .record(let record): self.record(record)
        case .annotated(.null, let others): .object([("$Null", .null)] + annotations(others))
        case .annotated(let inner, let others):
            if case .object(let members) = expression(inner) { .object(members + annotations(others)) } else { expression(inner) }
        case .path(let path): .object([("$Path", .string(path))])
        case .apply(let function, let arguments):
            .object([("$Function", .string(function)), ("$Apply", .array(arguments.map(expression)))])
        case .cast(let operand, let type): .object([("$Cast", expression(operand))] + facets(type, isTyped: true))
        case .isOf(let operand, let type): .object([("$IsOf", expression(operand))] + facets(type, isTyped: true))
        case .if(let test, let then, let otherwise):
            .object([("$If", .array(([test, then] + (otherwise.map { [$0] } ?? [])).map(expression)))])
        case .labeledElement(let name, let operand): .object([("$LabeledElement", expression(operand)), ("$Name", .string(name))])
        case .labeledElementReference(let name): .object([("$LabeledElementReference", .string(name))])
        case .unary(let op, let operand): .object([("$" + op.rawValue, expression(operand))])
        case .binaryOperation(let op, let left, let right): .object([("$" + op.rawValue, .array([expression(left), expression(right)]))])
        case .urlReference(let operand): .object([("$UrlRef", expression(operand))])
        default: .string(value.text ?? "")
        }
    }

    private func record(_ record: ServiceModel.Expression.Record) -> JSONOutput {
        var members: [JSONOutput.Member] = []
        if let type = record.type { members.append(("@type", .string("#" + type))) }
        for value in record.values {
            members.append((value.name, expression(value.value ?? .bool(true))))
            members += annotations(value.annotations, of: value.name)
        }
        return .object(members + annotations(record.annotations))
    }
}
