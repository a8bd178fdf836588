/// Reads an `EntityContainer` of CSDL XML.
struct XMLContainerReader {
    let schema: XMLSchemaReader
    let namespace: String
    /// The operations of function imports of V2 and V3.
    private(set) var operations: [ServiceModel.Operation] = []
    private(set) var associationSets: [Associations.AssociationSet] = []

    private var state: ReadingState { schema.state }
    private var expressions: XMLExpressionReader { schema.expressions }

    init(schema: XMLSchemaReader, namespace: String) {
        self.schema = schema
        self.namespace = namespace
    }

    mutating func container(_ node: XMLNode, _ name: String) -> ServiceModel.EntityContainer {
        let qualifiedName = ServiceModel.qualified(name, in: namespace)
        var sets: [ServiceModel.EntitySet] = []
        var singletons: [ServiceModel.Singleton] = []
        var imports: [ServiceModel.OperationImport] = []
        var extensions = ServiceModel.Extensions()
        for child in node.children {
            guard child.isKnown else {
                extensions.elements.append(child.kept)
                continue
            }
            switch child.tag {
            case "EntitySet":
                if let set = entitySet(child) { sets.append(set) } else { extensions.elements.append(child.kept) }
            case "Singleton":
                if let singleton = singleton(child) { singletons.append(singleton) } else { extensions.elements.append(child.kept) }
            case "ActionImport", "FunctionImport":
                guard let name = schema.name(of: child) else {
                    extensions.elements.append(child.kept)
                    continue
                }
                if let item = operationImport(child, name) { imports.append(item) }
            case "AssociationSet":
                _ = child.take("Name")
                associationSets.append(
                    Associations.AssociationSet(
                        association: state.name(child.take("Association") ?? ""), container: qualifiedName,
                        ends: child.children.filter { $0.tag == "End" }.map { ($0.value("Role") ?? "", $0.value("EntitySet") ?? "") },
                        extensions: ServiceModel.Extensions(attributes: schema.rest(child)), place: child.place))
            case "Annotation", "ValueAnnotation", "TypeAnnotation", "Documentation": break
            default: extensions.elements.append(schema.unknown(child))
            }
        }
        var container = ServiceModel.EntityContainer(
            namespace: namespace, name: name, extends: node.take("Extends").map(state.name), entitySets: sets, singletons: singletons,
            operationImports: imports, annotations: expressions.annotations(in: node))
        extensions.attributes = schema.rest(node)
        container.extensions = extensions
        container.place = node.place
        return container
    }

    private func entitySet(_ node: XMLNode) -> ServiceModel.EntitySet? {
        guard let name = schema.name(of: node) else { return nil }
        return state.within(name) {
            if node.value("EntityType") == nil { schema.missing("EntityType", of: node, assuming: "it is Edm.EntityType") }
            var set = ServiceModel.EntitySet(
                name: name, entityType: node.take("EntityType").map(state.name) ?? "Edm.EntityType",
                isInServiceDocument: state.bool(
                    node.take("IncludeInServiceDocument"), default: true, of: "IncludeInServiceDocument", at: node.place),
                annotations: expressions.annotations(in: node))
            (set.bindings, set.extensions) = bindings(node)
            set.place = node.place
            return set
        }
    }

    private func singleton(_ node: XMLNode) -> ServiceModel.Singleton? {
        guard let name = schema.name(of: node) else { return nil }
        return state.within(name) {
            if node.value("Type") == nil { schema.missing("Type", of: node, assuming: "it is Edm.EntityType") }
            var singleton = ServiceModel.Singleton(
                name: name, type: node.take("Type").map(state.name) ?? "Edm.EntityType",
                isNullable: state.bool(node.take("Nullable"), default: false, of: "Nullable", at: node.place),
                annotations: expressions.annotations(in: node))
            (singleton.bindings, singleton.extensions) = bindings(node)
            singleton.place = node.place
            return singleton
        }
    }

    private func bindings(_ node: XMLNode) -> ([ServiceModel.NavigationPropertyBinding], ServiceModel.Extensions) {
        var bindings: [ServiceModel.NavigationPropertyBinding] = []
        var extensions = ServiceModel.Extensions(attributes: schema.rest(node))
        for child in node.children {
            switch child.tag {
            case "NavigationPropertyBinding":
                guard let path = child.take("Path"), let target = child.take("Target") else {
                    schema.missing("Path or Target", of: child, assuming: "the binding is ignored")
                    continue
                }
                var binding = ServiceModel.NavigationPropertyBinding(path: state.path(path), target: state.path(target))
                binding.extensions = ServiceModel.Extensions(
                    attributes: schema.rest(child), elements: child.children.map { schema.unknown($0) })
                binding.place = child.place
                bindings.append(binding)
            case "Annotation", "ValueAnnotation", "TypeAnnotation", "Documentation": break
            default: extensions.elements.append(schema.unknown(child))
            }
        }
        return (bindings, extensions)
    }

    private mutating func operationImport(_ node: XMLNode, _ name: String) -> ServiceModel.OperationImport? {
        let place = node.place
        let isInServiceDocument = state.bool(
            node.take("IncludeInServiceDocument"), default: false, of: "IncludeInServiceDocument", at: place)
        if let operation = node.take("Function") ?? node.take("Action") {
            var item = ServiceModel.OperationImport(
                kind: node.name == "ActionImport" ? .action : .function, name: name, operation: state.name(operation),
                entitySet: node.take("EntitySet").map(state.path), isInServiceDocument: isInServiceDocument,
                annotations: expressions.annotations(in: node), extensions: schema.extensions(node))
            item.place = place
            return item
        }
        if state.version >= .v4 {
            state.within(name) {
                schema.missing(
                    node.name == "ActionImport" ? "Action" : "Function", of: node, assuming: "it is '\(namespace).\(name)'")
            }
        }
        return olderImport(node, name, isInServiceDocument: isInServiceDocument)
    }

    /// Reads a function import of V2 or V3 as an operation of the schema and an import of that operation.
    private mutating func olderImport(
        _ node: XMLNode, _ name: String, isInServiceDocument: Bool
    ) -> ServiceModel.OperationImport? {
        let place = node.place
        // Before V4, a parameter can be null only if it is marked as nullable.
        var (parameters, returnType, extensions) = state.within(name) { schema.signature(node, isNullable: false) }
        let isBound = state.bool(node.take("IsBindable"), default: false, of: "IsBindable", at: place)
        let isComposable = state.bool(node.take("IsComposable"), default: false, of: "IsComposable", at: place)
        let sideEffects = node.value("IsSideEffecting").map { state.bool($0, default: true, of: "IsSideEffecting", at: place) }
        let method = node.value("HttpMethod", in: ServiceModel.Extensions.dataServicesMetadata)
        let kind: ServiceModel.OperationKind =
            if node.name == "ActionImport" {
                .action
            } else if let method {
                method == "GET" ? .function : .action
            } else if let sideEffects {
                sideEffects ? .action : .function
            } else if state.version == .v3 && !isComposable {
                .action
            } else {
                returnType == nil ? .action : .function
            }
        let path = node.take("EntitySetPath").map(state.path)
        let annotations = expressions.annotations(in: node)
        // V3 can name the set of the results at the return type.
        let resultSet = node.children.first { $0.tag == "ReturnType" }?.value("EntitySet")
        let entitySet = isBound ? nil : node.take("EntitySet") ?? resultSet
        extensions.attributes = schema.rest(node)
        if isBound {
            // A bound operation is called on its binding parameter only, so it has no import.
            operations.append(
                operation(
                    kind, name, isBound: true, isComposable: isComposable, path: path, parameters, returnType, annotations, extensions,
                    at: place))
            return nil
        }
        operations.append(
            operation(
                kind, name, isBound: false, isComposable: isComposable, path: path, parameters, returnType, [],
                ServiceModel.Extensions(), at: place))
        var item = ServiceModel.OperationImport(
            kind: kind, name: name, operation: ServiceModel.qualified(name, in: namespace), entitySet: entitySet,
            isInServiceDocument: isInServiceDocument, annotations: annotations, extensions: extensions)
        item.place = place
        return item
    }

    private func operation(
        _ kind: ServiceModel.OperationKind, _ name: String, isBound: Bool, isComposable: Bool, path: String?,
        _ parameters: [ServiceModel.Parameter], _ returnType: ServiceModel.ReturnType?, _ annotations: [ServiceModel.Annotation],
        _ extensions: ServiceModel.Extensions, at place: Place
    ) -> ServiceModel.Operation {
        var operation = ServiceModel.Operation(
            kind: kind, namespace: namespace, name: name, isBound: isBound, isComposable: isComposable && kind == .function,
            entitySetPath: path, parameters: parameters, returnType: returnType, annotations: annotations, extensions: extensions)
        operation.place = place
        return operation
    }
}
