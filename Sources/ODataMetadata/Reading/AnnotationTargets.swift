/// The parts of a model that annotations can be applied to by their paths (section 14.2.1).
///
/// A document can have as many targets as elements. The targets that the model's index lacks are indexed here, once.
struct AnnotationTargets {
    private enum Child {
        case resource(type: String)
        /// An import, with the name of its operation.
        case operationImport(String)
    }

    private let paths: ModelPaths
    /// The namespaces of the document.
    private let namespaces: NamespaceNames
    /// The names of parameters, and `$ReturnType`, by the path of an overload and by the name of all overloads.
    private var operations: [String: Set<String>] = [:]
    /// The members of enumerations by the name of their type.
    private var enumerations: [String: Set<String>] = [:]
    /// The children of containers by the container's name.
    private var containers: [String: [String: Child]] = [:]

    private var model: ServiceModel { paths.model }

    init(_ paths: ModelPaths) {
        self.paths = paths
        let index = paths.model.index
        namespaces = NamespaceNames(paths.model.schemas.map(\.namespace))
        for operation in index.operations {
            var parts = Set(operation.parameters.map(\.name))
            if operation.returnType != nil { parts.insert("$ReturnType") }
            operations[operation.target, default: []].formUnion(parts)
            operations[operation.qualifiedName, default: []].formUnion(parts)
        }
        // If two types or containers have the same name, the first counts.
        for type in index.enumTypes where enumerations[type.qualifiedName] == nil {
            enumerations[type.qualifiedName] = Set(type.members.map(\.name))
        }
        for container in index.containers.values {
            var children: [String: Child] = [:]
            for singleton in container.singletons.reversed() { children[singleton.name] = .resource(type: singleton.type) }
            for set in container.entitySets.reversed() { children[set.name] = .resource(type: set.entityType) }
            for item in container.operationImports { children[item.name] = .operationImport(item.operation) }
            containers[container.qualifiedName] = children
        }
    }

    /// Returns whether the target of annotations exists, or belongs to an unknown schema.
    func contains(_ target: String) -> Bool {
        // The part after `@` is the term of an annotation that is annotated: `Sales.Order/Total@Core.Description`.
        let element = target.utf8.prefix { $0 != UInt8(ascii: "@") }
        let (first, rest) = Self.split(String(Substring(element.last == UInt8(ascii: "/") ? element.dropLast() : element)))
        if paths.isExternal(first) { return true }
        let container = model.index.containers[first]
        // Most targets are types and their members.
        if let type = model.structuredType(first) {
            let isThere = rest.isEmpty || !paths.leadsNowhere(rest, from: type.qualifiedName)
            if isThere || container == nil { return isThere }
        }
        let parts = rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
        let part = rest.isEmpty ? nil : parts.first
        if namespaces.contains(first[...]) || model.schema(first) != nil { return part == nil }
        let bare = String(Substring(first.utf8.prefix { $0 != UInt8(ascii: "(") }))
        if operations[bare] != nil {
            guard let known = operations[first] else { return false }
            return part.map { known.contains($0) } ?? true
        }
        if case .enumeration(let type) = model.type(first), let part, parts.count == 1,
            enumerations[type.qualifiedName]?.contains(part) == true
        {
            return true
        }
        // A container can have the name of a type.
        if let container {
            guard let part else { return true }
            return contains(part, Substring(rest.utf8.dropFirst(part.utf8.count + 1)), in: container)
        }
        if model.type(first) != nil || model.term(first) != nil { return part == nil }
        guard let dot = first.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
        // The document neither contains nor includes the namespace, so its names can't be checked.
        return model.schema(String(first[..<dot])) == nil && !namespaces.hasPrefix(of: first)
    }

    private func contains(_ name: String, _ path: Substring, in container: ServiceModel.EntityContainer) -> Bool {
        switch containers[container.qualifiedName]?[name] {
        // Documents of V2 annotate the parameters of function imports.
        case .operationImport(let operation): path.isEmpty || operations[operation]?.contains(String(path)) ?? false
        case .resource(let type): path.isEmpty || !paths.leadsNowhere(path, from: type)
        // The set can belong to an extended container.
        case nil: container.extends != nil && (model.entitySet(name) != nil || model.singleton(name) != nil)
        }
    }

    /// Splits a target after its first segment, which may contain parentheses.
    private static func split(_ target: String) -> (String, String) {
        let bytes = target.utf8
        let open = bytes.firstIndex(of: UInt8(ascii: "("))
        let close = open.flatMap { bytes[$0...].firstIndex(of: UInt8(ascii: ")")) } ?? bytes.startIndex
        guard let slash = bytes[close...].firstIndex(of: UInt8(ascii: "/")) else { return (target, "") }
        return (String(target[..<slash]), String(target[bytes.index(after: slash)...]))
    }
}
