/// Writes annotations and expressions of CSDL XML.
enum XMLExpressionWriter {
    static func write(_ annotations: [ServiceModel.Annotation], to output: inout XMLOutput) {
        for annotation in annotations {
            let constant = annotation.value.flatMap(Self.constant)
            output.element(
                "Annotation",
                [("Term", annotation.term), ("Qualifier", annotation.qualifier)] + (constant.map { [($0.name, $0.text)] } ?? [])
            ) { output in
                if constant == nil, let value = annotation.value { write(value, to: &output) }
                write(annotation.annotations, to: &output)
            }
        }
    }

    static func facets(_ type: ServiceModel.TypeReference) -> [(String, String?)] {
        let length: String? =
            switch type.maxLength {
            case .fixed(let length): String(length)
            case .max: "max"
            case nil: nil
            }
        let scale: String? =
            switch type.scale {
            case .fixed(let scale): String(scale)
            case .variable: "variable"
            case .floating: "floating"
            case nil: nil
            }
        let srid: String? =
            switch type.srid {
            case .fixed(let number): String(number)
            case .variable: "variable"
            case nil: nil
            }
        return [
            ("MaxLength", length), ("Precision", type.precision.map { String($0) }), ("Scale", scale), ("SRID", srid),
            ("Unicode", type.isUnicode ? nil : "false"),
        ]
    }

    /// Returns a constant or path as the name of its attribute or element, and its text.
    private static func constant(_ value: ServiceModel.Expression) -> (name: String, text: String)? {
        switch value {
        case .binary(let text): ("Binary", text)
        case .bool(let value): ("Bool", value ? "true" : "false")
        case .date(let text): ("Date", text)
        case .dateTimeOffset(let text): ("DateTimeOffset", text)
        case .decimal(let text): ("Decimal", text)
        case .duration(let text): ("Duration", text)
        case .enumMembers(let members): ("EnumMember", members.joined(separator: " "))
        case .float(let text): ("Float", text)
        case .guid(let text): ("Guid", text)
        case .int(let value): ("Int", String(value))
        case .string(let text): ("String", text)
        case .timeOfDay(let text): ("TimeOfDay", text)
        case .path(let path): ("Path", path)
        case .propertyPath(let path): ("PropertyPath", path)
        case .navigationPropertyPath(let path): ("NavigationPropertyPath", path)
        case .annotationPath(let path): ("AnnotationPath", path)
        case .anyPropertyPath(let path): ("AnyPropertyPath", path)
        case .modelElementPath(let path): ("ModelElementPath", path)
        default: nil
        }
    }

    private static func write(_ value: ServiceModel.Expression, annotations: [ServiceModel.Annotation] = [], to output: inout XMLOutput) {
        if let (name, text) = constant(value) {
            output.element(name, text: text) { write(annotations, to: &$0) }
            return
        }
        func element(_ name: String, _ operands: [ServiceModel.Expression], _ attributes: [(String, String?)] = []) {
            output.element(name, attributes) { output in
                for operand in operands { write(operand, to: &output) }
                write(annotations, to: &output)
            }
        }
        switch value {
        case .annotated(let inner, let others): write(inner, annotations: others + annotations, to: &output)
        case .collection(let elements): element("Collection", elements)
        case .record(let record):
            output.element("Record", [("Type", record.type)]) { output in
                for value in record.values {
                    let constant = value.value.flatMap(Self.constant)
                    output.element("PropertyValue", [("Property", value.name)] + (constant.map { [($0.name, $0.text)] } ?? [])) { output in
                        if constant == nil, let value = value.value { write(value, to: &output) }
                        write(value.annotations, to: &output)
                    }
                }
                write(record.annotations + annotations, to: &output)
            }
        case .apply(let function, let arguments): element("Apply", arguments, [("Function", function)])
        case .cast(let operand, let type): element("Cast", [operand], typeAttributes(type))
        case .isOf(let operand, let type): element("IsOf", [operand], typeAttributes(type))
        case .if(let test, let then, let otherwise): element("If", [test, then] + (otherwise.map { [$0] } ?? []))
        case .labeledElement(let name, let operand): element("LabeledElement", [operand], [("Name", name)])
        case .labeledElementReference(let name):
            output.element("LabeledElementReference", text: name) { write(annotations, to: &$0) }
        case .unary(let op, let operand): element(op.rawValue, [operand])
        case .binaryOperation(let op, let left, let right): element(op.rawValue, [left, right])
        case .urlReference(let operand): element("UrlRef", [operand])
        default: element("Null", [])
        }
    }

    private static func typeAttributes(_ type: ServiceModel.TypeReference) -> [(String, String?)] {
        [("Type", type.description), ("Nullable", type.isNullable ? nil : "false")] + facets(type)
    }
}
