/// The tables for the look-ups of a model, built once.
final class ModelIndex: Sendable {
    enum TypeSlot: Sendable {
        case structured(Int)
        case enumeration(Int)
        case definition(Int)
    }

    enum ResourceSlot: Sendable {
        case entitySet(Int)
        case singleton(Int)
        case operationImport(Int)
    }

    /// Namespaces by alias, as declared by the document itself.
    let namespaces: [String: String]
    /// The positions of the schemas in `schemas` and `includedSchemas`, one after the other.
    let schemas: [String: Int]
    let structuredTypes: [ServiceModel.StructuredType]
    let tree: TypeTree
    let enumTypes: [ServiceModel.EnumType]
    let typeDefinitions: [ServiceModel.TypeDefinition]
    let types: [String: TypeSlot]
    let terms: [String: ServiceModel.Term]
    let operations: [ServiceModel.Operation]
    let operationsByName: [String: [Int]]
    /// Bound operations by the description of the binding parameter's type.
    let operationsByBinding: [String: [Int]]
    let containers: [String: ServiceModel.EntityContainer]
    let entitySets: [ServiceModel.EntitySet]
    let singletons: [ServiceModel.Singleton]
    let operationImports: [ServiceModel.OperationImport]
    let resources: [String: ResourceSlot]
    let annotations: [String: [ServiceModel.Annotation]]

    init(
        schemas: [ServiceModel.Schema], includedSchemas: [ServiceModel.Schema], references: [ServiceModel.Reference],
        containerName: String?
    ) {
        let all = schemas + includedSchemas
        namespaces = Self.namespaces(schemas: schemas, references: references)
        self.schemas = Dictionary(all.enumerated().map { ($1.namespace, $0) }) { first, _ in first }
        let structuredTypes = all.flatMap { $0.entityTypes + $0.complexTypes }
        let enumTypes = all.flatMap(\.enumTypes)
        let typeDefinitions = all.flatMap(\.typeDefinitions)
        var types: [String: TypeSlot] = [:]
        types.reserveCapacity(structuredTypes.count + enumTypes.count + typeDefinitions.count)
        // If two types have the same name, the first counts.
        for (index, type) in structuredTypes.enumerated() where types[type.qualifiedName] == nil {
            types[type.qualifiedName] = .structured(index)
        }
        for (index, type) in enumTypes.enumerated() where types[type.qualifiedName] == nil {
            types[type.qualifiedName] = .enumeration(index)
        }
        for (index, type) in typeDefinitions.enumerated() where types[type.qualifiedName] == nil {
            types[type.qualifiedName] = .definition(index)
        }
        tree = TypeTree(structuredTypes) { if case .structured(let index)? = types[$0] { index } else { nil } }
        self.structuredTypes = structuredTypes
        self.enumTypes = enumTypes
        self.typeDefinitions = typeDefinitions
        self.types = types
        terms = Dictionary(all.flatMap(\.terms).map { ($0.qualifiedName, $0) }) { first, _ in first }

        let operations = all.flatMap(\.operations)
        var byName: [String: [Int]] = [:]
        var byBinding: [String: [Int]] = [:]
        for (index, operation) in operations.enumerated() {
            byName[operation.qualifiedName, default: []].append(index)
            if let type = operation.bindingType { byBinding[type.description, default: []].append(index) }
        }
        self.operations = operations
        operationsByName = byName
        operationsByBinding = byBinding

        let containers = Dictionary(all.flatMap(\.containers).map { ($0.qualifiedName, $0) }) { first, _ in first }
        let chain = Self.chain(from: containerName, in: containers)
        let entitySets = chain.flatMap(\.entitySets)
        let singletons = chain.flatMap(\.singletons)
        let operationImports = chain.flatMap(\.operationImports)
        var resources: [String: ResourceSlot] = [:]
        for (index, set) in entitySets.enumerated() where resources[set.name] == nil { resources[set.name] = .entitySet(index) }
        for (index, single) in singletons.enumerated() where resources[single.name] == nil { resources[single.name] = .singleton(index) }
        for (index, item) in operationImports.enumerated() where resources[item.name] == nil {
            resources[item.name] = .operationImport(index)
        }
        self.containers = containers
        self.entitySets = entitySets
        self.singletons = singletons
        self.operationImports = operationImports
        self.resources = resources

        var annotations: [String: [ServiceModel.Annotation]] = [:]
        for schema in all {
            for group in schema.targetedAnnotations { annotations[group.target, default: []] += group.annotations }
        }
        self.annotations = annotations
    }

    private static func namespaces(schemas: [ServiceModel.Schema], references: [ServiceModel.Reference]) -> [String: String] {
        var result: [String: String] = [:]
        // An alias doesn't hide the namespace of a schema.
        let includes = references.flatMap(\.includes)
        let own = Set(schemas.map(\.namespace) + includes.map(\.namespace))
        func add(_ alias: String?, _ namespace: String) {
            guard let alias, result[alias] == nil, !own.contains(alias) else { return }
            result[alias] = namespace
        }
        for schema in schemas { add(schema.alias, schema.namespace) }
        for include in includes { add(include.alias, include.namespace) }
        return result
    }

    /// The container and the containers that it extends, the nearest first.
    private static func chain(
        from name: String?, in containers: [String: ServiceModel.EntityContainer]
    ) -> [ServiceModel.EntityContainer] {
        var chain: [ServiceModel.EntityContainer] = []
        var seen: Set<String> = []
        var next = name
        while let name = next, seen.insert(name).inserted, let container = containers[name] {
            chain.append(container)
            next = container.extends
        }
        return chain
    }

    /// The index of a structured type, or `nil`.
    func structuredIndex(_ name: String) -> Int? {
        if case .structured(let index)? = types[name] { index } else { nil }
    }
}
