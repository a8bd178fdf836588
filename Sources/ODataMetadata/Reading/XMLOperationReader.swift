// Reads actions and functions, and the signatures of function imports of V2 and V3.

extension XMLSchemaReader {
    func operation(_ node: XMLNode, _ name: String, in namespace: String) -> ServiceModel.Operation {
        let place = node.place
        let kind: ServiceModel.OperationKind = node.name == "Action" ? .action : .function
        let (parameters, returnType, extensions) = signature(node, isNullable: true)
        var operation = ServiceModel.Operation(
            kind: kind, namespace: namespace, name: name,
            isBound: state.bool(node.take("IsBound"), default: false, of: "IsBound", at: place),
            isComposable: kind == .function && state.bool(node.take("IsComposable"), default: false, of: "IsComposable", at: place),
            entitySetPath: node.take("EntitySetPath").map(state.path), parameters: parameters, returnType: returnType,
            annotations: expressions.annotations(in: node), extensions: extensions)
        operation.extensions.attributes = rest(node)
        operation.place = place
        return operation
    }

    /// Reads parameters and the return type, which V3 can also write as an attribute.
    func signature(
        _ node: XMLNode, isNullable: Bool
    ) -> (parameters: [ServiceModel.Parameter], returnType: ServiceModel.ReturnType?, extensions: ServiceModel.Extensions) {
        var parameters: [ServiceModel.Parameter] = []
        var returnType: ServiceModel.ReturnType?
        var extensions = ServiceModel.Extensions()
        if let raw = node.take("ReturnType") {
            let (type, isCollection) = state.typeName(raw)
            returnType = ServiceModel.ReturnType(
                type: ServiceModel.TypeReference(type, isCollection: isCollection, isNullable: isNullable))
            returnType?.place = node.place
        }
        for child in node.children {
            switch child.tag {
            case "Parameter":
                guard let name = self.name(of: child) else {
                    extensions.elements.append(child.kept)
                    continue
                }
                let parameter = state.within(name) {
                    var parameter = ServiceModel.Parameter(
                        name: name, type: typeReference(child, isNullable: isNullable), annotations: expressions.annotations(in: child))
                    // Every parameter is an `In` parameter.
                    if child.value("Mode") == "In" { _ = child.take("Mode") }
                    parameter.extensions = self.extensions(child)
                    parameter.place = child.place
                    return parameter
                }
                parameters.append(parameter)
            case "ReturnType" where returnType == nil:
                var type = ServiceModel.ReturnType(
                    type: typeReference(child, isNullable: isNullable), annotations: expressions.annotations(in: child))
                type.extensions = self.extensions(child)
                type.place = child.place
                returnType = type
            case "Annotation", "ValueAnnotation", "TypeAnnotation", "Documentation": break
            default: extensions.elements.append(unknown(child))
            }
        }
        return (parameters, returnType, extensions)
    }
}
