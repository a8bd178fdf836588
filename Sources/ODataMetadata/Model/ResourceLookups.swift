extension ServiceModel {
    /// The container of the service, or `nil`.
    public var container: EntityContainer? { containerName.flatMap { index.containers[$0] } }

    /// The entity sets of the container and of the containers that it extends.
    public var entitySets: [EntitySet] { index.entitySets }
    /// The singletons of the container and of the containers that it extends.
    public var singletons: [Singleton] { index.singletons }
    /// The action imports and function imports of the container and of the containers that it extends.
    public var operationImports: [OperationImport] { index.operationImports }

    /// Returns an entity set of the container or of the containers that it extends, or `nil`.
    public func entitySet(_ name: String) -> EntitySet? {
        if case .entitySet(let position)? = index.resources[name] { index.entitySets[position] } else { nil }
    }

    /// Returns a singleton of the container or of the containers that it extends, or `nil`.
    public func singleton(_ name: String) -> Singleton? {
        if case .singleton(let position)? = index.resources[name] { index.singletons[position] } else { nil }
    }

    /// Returns an action import or function import of the container or of the containers that it extends, or `nil`.
    public func operationImport(_ name: String) -> OperationImport? {
        if case .operationImport(let position)? = index.resources[name] { index.operationImports[position] } else { nil }
    }

    /// Returns the entity type of an entity set or singleton, or `nil`.
    public func entityType(ofResource name: String) -> StructuredType? {
        (entitySet(name)?.entityType ?? singleton(name)?.type).flatMap { entityType($0) }
    }

    /// Returns the name or path of the entity set or singleton that a navigation property of an entity set or singleton leads to, or `nil`.
    ///
    /// - Parameters:
    ///   - path: The path of the navigation property: `Items`, `Address/Country`, `Sales.Order/Items`.
    ///   - resource: The name of the entity set or singleton.
    public func bindingTarget(of path: String, in resource: String) -> String? {
        let bindings = entitySet(resource)?.bindings ?? singleton(resource)?.bindings ?? []
        return bindings.first { $0.path == path }?.target
    }

    // MARK: Operations

    /// Returns the overloads of an action or a function by its qualified name, which may begin with an alias.
    public func operations(_ name: String) -> [Operation] {
        (index.operationsByName[name] ?? index.operationsByName[qualifiedName(name)] ?? []).map { index.operations[$0] }
    }

    /// Whether there is an action or a function with a qualified name.
    func hasOperation(_ name: String) -> Bool {
        index.operationsByName[name] != nil || index.operationsByName[qualifiedName(name)] != nil
    }

    /// Returns the operations that are bound to a type or to its base types. Those of the type itself come first.
    ///
    /// - Parameters:
    ///   - type: The qualified name of the type.
    ///   - isCollection: Whether the operations are bound to collections of it.
    public func operations(boundTo type: String, isCollection: Bool = false) -> [Operation] {
        bindingNames(of: qualifiedName(type)).flatMap { name in
            (index.operationsByBinding[isCollection ? "Collection(\(name))" : name] ?? []).map { index.operations[$0] }
        }
    }

    /// Returns the overload that a call refers to, or `nil` (section 12.2).
    ///
    /// The binding parameter must match; if several overloads do, the one for the most derived type counts. The parameters of a function
    /// must be those of the overload, optional ones excepted. An action is found by its binding parameter alone.
    ///
    /// - Parameters:
    ///   - name: The qualified name.
    ///   - binding: The type that the operation is called on, or `nil` for an unbound operation.
    ///   - parameters: The names of the parameters in the call.
    public func operation(_ name: String, boundTo binding: TypeReference? = nil, parameters: Set<String> = []) -> Operation? {
        let overloads = operations(name).filter { $0.isBound == (binding != nil) }
        guard let binding else { return overloads.first { takes($0, parameters) } }
        let byType = Dictionary(grouping: overloads.filter { $0.bindingType?.isCollection == binding.isCollection }) {
            $0.bindingType?.name ?? ""
        }
        return bindingNames(of: qualifiedName(binding.name)).lazy.compactMap { type in
            byType[type]?.first { takes($0, parameters) }
        }.first
    }

    private func takes(_ operation: Operation, _ names: Set<String>) -> Bool {
        if operation.kind == .action { return true }
        let declared = operation.callParameters
        return names.isSubset(of: declared.map(\.name))
            && declared.allSatisfy { names.contains($0.name) || annotation("Org.OData.Core.V1.OptionalParameter", of: $0) != nil }
    }

    /// The names of a type, its base types, and the abstract types of all entities or complex values.
    private func bindingNames(of type: String) -> [String] {
        guard let position = index.structuredIndex(type) else { return [type] }
        return index.tree.ancestry(of: position).map { index.structuredTypes[$0].qualifiedName }
            + [index.structuredTypes[position].kind == .entity ? "Edm.EntityType" : "Edm.ComplexType"]
    }

    // MARK: Annotations

    /// Returns the annotations of an element: the annotations inside it, and those that `Annotations` apply to its path.
    ///
    /// An operation, its parameters and its return type also have the annotations that are applied to all overloads.
    public func annotations(of element: some Element) -> [Annotation] {
        if index.annotations.isEmpty { return element.annotations }
        let target = element.target
        var found = element.annotations
        if let more = index.annotations[target] { found += more }
        if let open = target.firstIndex(of: "("), let close = target.lastIndex(of: ")"), open < close,
            let more = index.annotations[String(target[..<open]) + String(target[target.index(after: close)...])]
        {
            found += more
        }
        return found
    }

    /// Returns the annotations that `Annotations` apply to a path, such as `Sales.Container/Orders` or `Sales.Special/Total`.
    public func annotations(atTarget path: String) -> [Annotation] {
        index.annotations[path] ?? []
    }

    /// Returns the annotation of an element with a term, or `nil`.
    ///
    /// - Parameters:
    ///   - term: The qualified name of the term, which may begin with an alias of the document.
    ///   - qualifier: The qualifier, by default none.
    ///   - element: The element.
    public func annotation(_ term: String, qualifier: String? = nil, of element: some Element) -> Annotation? {
        let term = qualifiedName(term)
        return annotations(of: element).first { $0.term == term && $0.qualifier == qualifier }
    }

    /// Returns the purpose of an element: its `Core.Description`, or else its `sap:quickinfo` or `sap:label`, or `nil`.
    ///
    /// The summary of a `Documentation` of V2 or V3 is read as `Core.Description`.
    public func summary(of element: some Element) -> String? {
        annotation("Org.OData.Core.V1.Description", of: element)?.value?.text
            ?? element.extensions["quickinfo", in: Extensions.sap] ?? element.extensions["label", in: Extensions.sap]
    }
}
