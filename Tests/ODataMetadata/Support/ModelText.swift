import ODataMetadata

/// A model as sorted lines, so that two readings can be compared whatever the order of their elements is.
struct ModelText {
    private var lines: [String] = []
    private let model: ServiceModel

    static func lines(of model: ServiceModel) -> [String] {
        var text = ModelText(model: model.jsonForm)
        for schema in text.model.schemas { text.add(schema) }
        return text.lines.sorted()
    }

    private init(model: ServiceModel) { self.model = model }

    private mutating func add(_ schema: ServiceModel.Schema) {
        lines.append("schema \(schema.namespace) \(schema.alias ?? "-")")
        add(schema.annotations, at: schema.namespace)
        for type in schema.entityTypes + schema.complexTypes {
            lines.append(
                "\(type.kind) \(type.qualifiedName) \(type.baseType ?? "-") \(type.isAbstract) \(type.isOpen) \(type.hasStream) "
                    + type.key.map { "\($0.path):\($0.name)" }.joined(separator: ","))
            add(type.annotations, at: type.target)
            for property in type.properties {
                lines.append("property \(property.target) \(text(property.type)) \(Self.number(property.defaultValue))")
                add(property.annotations, at: property.target)
            }
            for relation in type.navigationProperties {
                lines.append(
                    "navigation \(relation.target) \(relation.targetType) \(relation.isCollection) \(relation.isNullable) "
                        + "\(relation.partner ?? "-") \(relation.containsTarget) \(relation.onDelete?.rawValue ?? "-") "
                        + relation.referentialConstraints.map { "\($0.property)=\($0.referencedProperty)" }.sorted().joined(separator: ","))
                add(relation.annotations, at: relation.target)
                add(relation.onDeleteAnnotations, at: relation.target + " delete")
                for constraint in relation.referentialConstraints {
                    add(constraint.annotations, at: relation.target + " " + constraint.property)
                }
            }
        }
        for type in schema.enumTypes {
            lines.append("enum \(type.qualifiedName) \(type.underlyingType) \(type.isFlags)")
            add(type.annotations, at: type.target)
            for member in type.members {
                lines.append("member \(member.target) \(member.value)")
                add(member.annotations, at: member.target)
            }
        }
        for type in schema.typeDefinitions {
            lines.append("definition \(type.qualifiedName) \(text(type.underlyingType))")
            add(type.annotations, at: type.target)
        }
        for term in schema.terms {
            lines.append(
                "term \(term.qualifiedName) \(text(term.type)) \(term.baseTerm ?? "-") \(Self.number(term.defaultValue)) "
                    + term.appliesTo.sorted().joined(separator: ","))
            add(term.annotations, at: term.target)
        }
        for operation in schema.operations {
            lines.append(
                "\(operation.kind) \(operation.target) \(operation.isBound) \(operation.isComposable) \(operation.entitySetPath ?? "-") "
                    + operation.parameters.map { "\($0.name):\(text($0.type))" }.joined(separator: ",") + " "
                    + (operation.returnType.map { text($0.type) } ?? "-"))
            add(operation.annotations, at: operation.target)
            for parameter in operation.parameters { add(parameter.annotations, at: parameter.target) }
            if let type = operation.returnType { add(type.annotations, at: type.target) }
        }
        for container in schema.containers { add(container) }
        for group in schema.targetedAnnotations { add(group.annotations, at: "to " + group.target) }
    }

    private mutating func add(_ container: ServiceModel.EntityContainer) {
        lines.append("container \(container.qualifiedName) \(container.extends ?? "-")")
        add(container.annotations, at: container.target)
        for set in container.entitySets {
            lines.append("set \(set.target) \(set.entityType) \(set.isInServiceDocument) \(text(set.bindings))")
            add(set.annotations, at: set.target)
        }
        for singleton in container.singletons {
            lines.append("singleton \(singleton.target) \(singleton.type) \(singleton.isNullable) \(text(singleton.bindings))")
            add(singleton.annotations, at: singleton.target)
        }
        for item in container.operationImports {
            lines.append("import \(item.target) \(item.kind) \(item.operation) \(item.entitySet ?? "-") \(item.isInServiceDocument)")
            add(item.annotations, at: item.target)
        }
    }

    private func text(_ bindings: [ServiceModel.NavigationPropertyBinding]) -> String {
        bindings.map { "\($0.path)>\($0.target)" }.sorted().joined(separator: ",")
    }

    private func text(_ type: ServiceModel.TypeReference) -> String {
        let facets = [
            type.maxLength.map { "\($0)" }, type.precision.map { "precision \($0)" }, type.scale.map { "\($0)" }, type.srid.map { "\($0)" },
        ]
        return "\(type)\(type.isNullable ? "?" : "")\(type.isUnicode ? "" : " ascii")"
            + facets.compactMap { $0 }.map { " " + $0 }.joined()
    }

    /// JSON writes numbers as it likes: `3.0` and `3` are the same.
    private static func number(_ text: String?) -> String {
        guard let text else { return "-" }
        return Double(text).map { "\($0)" } ?? text
    }

    private mutating func add(_ annotations: [ServiceModel.Annotation], at path: String) {
        for annotation in annotations {
            let name = "\(path) @\(annotation.term)\(annotation.qualifier.map { "#" + $0 } ?? "")"
            lines.append("annotation \(name) = \(text(annotation.value))")
            add(annotation.annotations, at: name)
        }
    }

    private func text(_ value: ServiceModel.Expression?) -> String {
        switch value {
        case nil: "default"
        case .bool(let value): "\(value)"
        case .int(let value): Self.number("\(value)")
        case .decimal(let text), .float(let text): Self.number(text)
        case .null: "null"
        // JSON doesn't tell paths from other strings, so that its aliases are those of the document.
        case .string(let text): "'" + text.split(separator: "/", omittingEmptySubsequences: false).map(full).joined(separator: "/") + "'"
        case .path(let path): "path(\(path))"
        case .collection(let elements): "[" + elements.map(text).joined(separator: ", ") + "]"
        case .record(let record):
            "{" + (record.type ?? "")
                + (record.values.map { "\($0.name): \(text($0.value))\(text($0.annotations))" }.sorted() + [text(record.annotations)])
                .joined(separator: ", ") + "}"
        case .apply(let function, let arguments): "\(function)(" + arguments.map(text).joined(separator: ", ") + ")"
        case .cast(.string(let text), let type) where model.enumType(type.name) != nil: self.text(.string(text))
        case .cast(let operand, let type): "cast(\(text(operand)), \(text(type)))"
        case .isOf(let operand, let type): "isof(\(text(operand)), \(text(type)))"
        case .if(let test, let then, let otherwise): "if(\(text(test)), \(text(then)), \(text(otherwise)))"
        case .labeledElement(let name, let operand): "label(\(name), \(text(operand)))"
        case .labeledElementReference(let name): "labelled(\(name))"
        case .unary(let op, let operand): "\(op)(\(text(operand)))"
        case .binaryOperation(let op, let left, let right): "\(op)(\(text(left)), \(text(right)))"
        case .urlReference(let operand): "url(\(text(operand)))"
        case .annotated(let inner, let annotations): text(inner) + text(annotations)
        case .some(let other): "\(other)"
        }
    }

    private func text(_ annotations: [ServiceModel.Annotation]) -> String {
        annotations.map { " @\($0.term) \(text($0.value))\(text($0.annotations))" }.sorted().joined()
    }

    private func full(_ segment: Substring) -> String {
        guard let at = segment.firstIndex(of: "@") else { return model.qualifiedName(String(segment)) }
        return segment[...at] + model.qualifiedName(String(segment[segment.index(after: at)...]))
    }
}
