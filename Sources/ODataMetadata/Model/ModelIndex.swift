/// The tables behind the look-ups of a model, built once.
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

    struct MemberKey: Hashable, Sendable {
        let type: Int
        let name: String
    }

    enum MemberSlot: Sendable {
        case property(Int)
        case navigation(Int)
    }

    /// Namespaces by alias, as declared by the document itself.
    let namespaces: [String: String]
    let structuredTypes: [ServiceModel.StructuredType]
    /// The index of each structured type's base type, or -1. There are no cycles.
    let bases: [Int]
    let derived: [Int: [Int]]
    let enumTypes: [ServiceModel.EnumType]
    let typeDefinitions: [ServiceModel.TypeDefinition]
    let types: [String: TypeSlot]
    let members: [MemberKey: MemberSlot]
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
        let structuredTypes = all.flatMap { $0.entityTypes + $0.complexTypes }
        let enumTypes = all.flatMap(\.enumTypes)
        let typeDefinitions = all.flatMap(\.typeDefinitions)
        var types: [String: TypeSlot] = [:]
        types.reserveCapacity(structuredTypes.count + enumTypes.count + typeDefinitions.count)
        // Of two types with one name, the first counts.
        for (index, type) in structuredTypes.enumerated() where types[type.qualifiedName] == nil {
            types[type.qualifiedName] = .structured(index)
        }
        for (index, type) in enumTypes.enumerated() where types[type.qualifiedName] == nil {
            types[type.qualifiedName] = .enumeration(index)
        }
        for (index, type) in typeDefinitions.enumerated() where types[type.qualifiedName] == nil {
            types[type.qualifiedName] = .definition(index)
        }
        bases = Self.bases(of: structuredTypes, in: types)
        var derived: [Int: [Int]] = [:]
        for (index, base) in bases.enumerated() where base >= 0 { derived[base, default: []].append(index) }
        members = Self.members(of: structuredTypes)
        self.derived = derived
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
        for schema in schemas {
            if let alias = schema.alias, result[alias] == nil { result[alias] = schema.namespace }
        }
        for include in references.flatMap(\.includes) {
            if let alias = include.alias, result[alias] == nil { result[alias] = include.namespace }
        }
        return result
    }

    private static func bases(of structuredTypes: [ServiceModel.StructuredType], in types: [String: TypeSlot]) -> [Int] {
        var bases = structuredTypes.map { type -> Int in
            guard let name = type.baseType, case .structured(let index)? = types[name] else { return -1 }
            return structuredTypes[index].kind == type.kind ? index : -1
        }
        // Each type is visited once: a type that an earlier walk has seen leads to no cycle any more.
        var walks = Array(repeating: 0, count: bases.count)
        for start in bases.indices {
            var current = start
            while walks[current] == 0 {
                walks[current] = start + 1
                let next = bases[current]
                guard next >= 0 else { break }
                if walks[next] == start + 1 {
                    bases[current] = -1
                    break
                }
                current = next
            }
        }
        return bases
    }

    private static func members(of structuredTypes: [ServiceModel.StructuredType]) -> [MemberKey: MemberSlot] {
        var members: [MemberKey: MemberSlot] = [:]
        members.reserveCapacity(structuredTypes.reduce(0) { $0 + $1.properties.count + $1.navigationProperties.count })
        for (type, structured) in structuredTypes.enumerated() {
            for (index, property) in structured.navigationProperties.enumerated().reversed() {
                members[MemberKey(type: type, name: property.name)] = .navigation(index)
            }
            for (index, property) in structured.properties.enumerated().reversed() {
                members[MemberKey(type: type, name: property.name)] = .property(index)
            }
        }
        return members
    }

    /// The container and those that it extends, the nearest first.
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

    /// The type and its base types, itself first.
    func ancestry(of index: Int) -> [Int] {
        var result: [Int] = []
        var current = index
        while current >= 0 {
            result.append(current)
            current = bases[current]
        }
        return result
    }
}
