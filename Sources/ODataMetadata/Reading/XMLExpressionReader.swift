/// Reads annotations and expressions of CSDL XML (sections 14.2 to 14.4).
struct XMLExpressionReader {
    let state: ReadingState

    static let description = "Org.OData.Core.V1.Description"
    static let longDescription = "Org.OData.Core.V1.LongDescription"

    /// Reads the annotations inside an element. If two have the same term and qualifier, the first counts.
    func annotations(in node: XMLNode) -> [ServiceModel.Annotation] {
        var result: [ServiceModel.Annotation] = []
        for child in node.children {
            switch child.tag {
            case "Annotation", "ValueAnnotation", "TypeAnnotation":
                if let annotation = annotation(child) { result.append(annotation) }
            case "Documentation": result += documentation(child)
            default: break
            }
        }
        return state.unique(result)
    }

    /// Reads an annotation; returns `nil` and reports it if it has no term.
    func annotation(_ node: XMLNode) -> ServiceModel.Annotation? {
        // V3 has TypeAnnotation, with a type as its term, and the values of a record as its children.
        guard let term = node.take("Term") ?? (node.name == "TypeAnnotation" ? node.take("Type") : nil) else {
            state.report(.missing, "\(node.name) has no Term", assuming: "the annotation is ignored", at: node.place)
            return nil
        }
        var name = state.name(term)
        if name.utf8.first == UInt8(ascii: "@") {
            // The sign belongs to paths and to CSDL JSON.
            name = state.name(String(ReadingState.trimmed(term).dropFirst()))
            state.invalid("Term", term, assuming: "it is '\(name)'", at: node.place)
        }
        return state.within("@" + name) {
            var annotation = ServiceModel.Annotation(term: name, qualifier: node.take("Qualifier"))
            annotation.value = node.name == "TypeAnnotation" ? .record(record(node)) : value(of: node)
            annotation.annotations = node.name == "TypeAnnotation" ? [] : annotations(in: node)
            annotation.place = node.place
            return annotation
        }
    }

    /// Reads a `Documentation` of V2 or V3 as annotations.
    func documentation(_ node: XMLNode) -> [ServiceModel.Annotation] {
        node.children.compactMap { child in
            let text = ReadingState.trimmed(child.text)
            guard !text.isEmpty, !child.tag.isEmpty else { return nil }
            var annotation = ServiceModel.Annotation(
                term: child.name == "Summary" ? Self.description : Self.longDescription, value: .string(text))
            annotation.place = child.place
            return annotation
        }
    }

    /// Reads the value of an element that contains it as an attribute or as a child: `Annotation`, `PropertyValue`, `LabeledElement`,
    /// `UrlRef`.
    private func value(of node: XMLNode) -> ServiceModel.Expression? {
        var result: ServiceModel.Expression?
        for attribute in node.keptAttributes {
            guard attribute.namespace.isEmpty, let value = constant(attribute.name, attribute.value, at: node.place) else {
                state.report(
                    .unknownElement, "\(node.name) has an unknown attribute '\(attribute.name)'", assuming: "it is ignored",
                    at: node.place)
                continue
            }
            if result == nil { result = value } else { reportRepeated(node) }
        }
        for child in operands(of: node) {
            if result == nil { result = expression(child) } else { reportRepeated(child) }
        }
        return result
    }

    private func reportRepeated(_ node: XMLNode) {
        state.report(.duplicate, "there are two values, the second in \(node.name)", assuming: "the first counts", at: node.place)
    }

    private func operands(of node: XMLNode) -> [XMLNode] {
        node.children.filter { child in
            if !child.tag.isEmpty { return !XMLSchemaReader.annotationNames.contains(child.name) }
            state.report(
                .unknownElement, "CSDL has no element '\(child.name.prefix(100))'", assuming: "it is ignored", at: child.place)
            return false
        }
    }

    /// Reads a constant or a path by the name of its attribute or element, or returns `nil` for other names.
    private func constant(_ name: String, _ text: String, at place: Place) -> ServiceModel.Expression? {
        switch name {
        case "String": return .string(text)
        case "Bool":
            switch ReadingState.trimmed(text) {
            case "true", "1", "True", "TRUE": return .bool(true)
            case "false", "0", "False", "FALSE": return .bool(false)
            default:
                state.invalid("Bool", text, assuming: "it is a string", at: place)
                return .string(text)
            }
        case "Int":
            if let value = Int64(ReadingState.trimmed(text)) { return .int(value) }
            state.invalid("Int", text, assuming: "it is a string", at: place)
            return .string(text)
        case "Path": return .path(state.path(text))
        case "PropertyPath": return .propertyPath(state.path(text))
        case "NavigationPropertyPath": return .navigationPropertyPath(state.path(text))
        case "AnnotationPath": return .annotationPath(state.path(text))
        case "AnyPropertyPath": return .anyPropertyPath(state.path(text))
        case "ModelElementPath": return .modelElementPath(state.path(text))
        case "EnumMember":
            // Some services separate the members by commas, as in JSON.
            return .enumMembers(
                text.split { $0 == " " || $0 == "," || $0 == "\n" || $0 == "\t" || $0 == "\r" }.map { state.path(String($0)) })
        case "Binary": return .binary(ReadingState.trimmed(text))
        case "Date": return .date(ReadingState.trimmed(text))
        case "DateTimeOffset", "DateTime": return .dateTimeOffset(ReadingState.trimmed(text))
        case "Decimal": return .decimal(ReadingState.trimmed(text))
        case "Duration": return .duration(ReadingState.trimmed(text))
        case "Float": return .float(ReadingState.trimmed(text))
        case "Guid": return .guid(ReadingState.trimmed(text))
        case "TimeOfDay", "Time": return .timeOfDay(ReadingState.trimmed(text))
        case "UrlRef": return .urlReference(.string(text))
        default: return nil
        }
    }

    private func expression(_ node: XMLNode) -> ServiceModel.Expression {
        let value = bareExpression(node)
        if case .record = value { return value }
        let annotations = annotations(in: node)
        return annotations.isEmpty ? value : .annotated(value, annotations)
    }

    private func bareExpression(_ node: XMLNode) -> ServiceModel.Expression {
        switch node.name {
        case "UrlRef": return .urlReference(value(of: node) ?? missing(node))
        case "Collection": return .collection(operands(of: node).map(expression))
        case "Record": return .record(record(node))
        case "Null": return .null
        case "Apply":
            return .apply(function: state.path(node.take("Function") ?? ""), arguments: operands(of: node).map(expression))
        case "Cast", "AssertType", "IsOf", "IsType":
            // V3 has AssertType and IsType.
            let type = XMLSchemaReader(state).typeReference(node)
            let operand = value(of: node) ?? missing(node)
            return node.name.hasPrefix("Is") ? .isOf(operand, type: type) : .cast(operand, type: type)
        case "If":
            let parts = operands(of: node).map(expression)
            guard parts.count >= 2 else { return missing(node) }
            if parts.count > 3 { reportRepeated(node) }
            return .if(parts[0], then: parts[1], else: parts.count > 2 ? parts[2] : nil)
        case "LabeledElement":
            let name = node.take("Name") ?? ""
            return .labeledElement(name: name, value(of: node) ?? missing(node))
        case "LabeledElementReference":
            return .labeledElementReference(state.name(node.take("Name") ?? node.text))
        default: break
        }
        if let value = constant(node.name, node.text, at: node.place) { return value }
        if let op = ServiceModel.Expression.UnaryOperator(rawValue: node.name) {
            return .unary(op, operands(of: node).first.map(expression) ?? missing(node))
        }
        if let op = ServiceModel.Expression.BinaryOperator(rawValue: node.name) {
            let parts = operands(of: node).map(expression)
            if parts.count > 2 { reportRepeated(node) }
            return .binaryOperation(op, parts.first ?? missing(node), parts.dropFirst().first ?? missing(node))
        }
        state.report(
            .unknownElement, "CSDL has no expression '\(node.name.prefix(100))'", assuming: "it is null", at: node.place)
        return .null
    }

    private func record(_ node: XMLNode) -> ServiceModel.Expression.Record {
        var record = ServiceModel.Expression.Record(type: node.take("Type").map(state.name), annotations: annotations(in: node))
        var names: Set<String> = []
        for child in operands(of: node) {
            guard child.name == "PropertyValue", let name = child.take("Property") else {
                state.report(
                    .unknownElement, "\(child.name) in a record isn't a PropertyValue with a Property", assuming: "it is ignored",
                    at: child.place)
                continue
            }
            guard names.insert(name).inserted else {
                state.report(.duplicate, "the record has two values of '\(name)'", assuming: "the first counts", at: child.place)
                continue
            }
            record.values.append(.init(name: name, value: value(of: child), annotations: annotations(in: child)))
        }
        return record
    }

    private func missing(_ node: XMLNode) -> ServiceModel.Expression {
        state.report(.missing, "\(node.name) has too few operands", assuming: "they are null", at: node.place)
        return .null
    }
}

extension ReadingState {
    /// Removes annotations with the term and qualifier of an earlier one, and reports them.
    func unique(_ annotations: [ServiceModel.Annotation]) -> [ServiceModel.Annotation] {
        guard annotations.count > 1 else { return annotations }
        struct Key: Hashable {
            let term: String
            let qualifier: String?
        }
        var seen: Set<Key> = []
        return annotations.filter { annotation in
            if seen.insert(Key(term: annotation.term, qualifier: annotation.qualifier)).inserted { return true }
            report(
                .duplicate, "there are two annotations with the term '\(annotation.term)'", assuming: "the first counts",
                at: annotation.place)
            return false
        }
    }
}
