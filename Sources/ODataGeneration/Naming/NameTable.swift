import ODataMetadata

/// The Swift names of all declarations of a model.
///
/// The names don't depend on which types are generated, so generating one more type doesn't rename others.
struct NameTable: Sendable {
    /// The name of the outermost enumeration.
    let service: String
    /// The name of the client.
    var client: String { service + "Client" }
    /// The types with their bases.
    let tree: DerivationTree
    /// The names of the enumerations for namespaces. The declarations of the service's own namespace are in the outermost enumeration.
    private(set) var namespaces: [String: String] = [:]
    /// The simple names of types.
    private(set) var types: [String: String] = [:]
    /// The keys of `names` in the configuration that matched a declaration.
    private(set) var used: Set<String> = []
    /// The names of the model whose Swift name was changed to avoid a collision, with the new name.
    private(set) var met: [(wire: String, name: String)] = []
    /// The conflicts of names in the configuration, each with the name that locates it in the file.
    private(set) var faults: [(message: String, name: String)] = []

    private let members: MemberNames
    /// The namespace of each type. It can't be derived from the qualified name, because simple names contain dots in invalid documents.
    private var owners: [String: String] = [:]
    /// The Swift types that the service hides by types or namespaces with the same name.
    private let hidden: Set<String>
    private let model: ServiceModel

    init(_ model: ServiceModel, service: String, overrides: [String: String], projections: [String]) {
        self.model = model
        self.service = service
        tree = DerivationTree(model)
        let schemas = (model.schemas + model.includedSchemas).filter { schema in
            !schema.entityTypes.isEmpty || !schema.complexTypes.isEmpty || !schema.enumTypes.isEmpty
        }
        let root = Self.root(of: model, schemas)
        members = MemberNames(schemas.flatMap(\.enumTypes), tree, overrides: overrides)
        var used = members.used
        var met = members.met
        var faults = members.conflicts.map { $0.fault() }

        let namespaceClaims = Set(schemas.map(\.namespace)).subtracting([root]).sorted().map { namespace in
            let rest = namespace.hasPrefix(root + ".") ? String(namespace.dropFirst(root.count + 1)) : namespace
            let wanted = rest.split(separator: ".").map { SwiftNames.typeName(String($0)) }.joined()
            return Self.claim(namespace, wire: namespace, wanted.isEmpty ? "__" : wanted, overrides, &used)
        }
        let outermost = SwiftNames.reservedTypes.union(SwiftNames.serviceMembers).union([service])
        let namespaceNames = NameScope(reserved: outermost).names(for: namespaceClaims)
        met += namespaceNames.renamed
        faults += namespaceNames.conflicts.map { $0.fault(in: service + ".") }

        var types: [String: String] = [:]
        var owners: [String: String] = [:]
        for namespace in Set(schemas.map(\.namespace)).sorted() {
            let isRoot = namespace == root
            let outer = isRoot ? Set(namespaceNames.names.values) : []
            let members = isRoot ? SwiftNames.serviceMembers : []
            var claims: [NameScope.Claim] = []
            var enumerations: Set<String> = []
            for schema in schemas where schema.namespace == namespace {
                enumerations.formUnion(schema.enumTypes.map(\.qualifiedName))
                let all =
                    (schema.entityTypes + schema.complexTypes).map { ($0.qualifiedName, $0.name) }
                    + schema.enumTypes.map { ($0.qualifiedName, $0.name) }
                for (qualified, name) in all where owners[qualified] == nil {
                    owners[qualified] = namespace
                    let wanted = SwiftNames.typeName(name)
                    claims.append(Self.claim(qualified, wire: name, outer.contains(wanted) ? wanted + "Item" : wanted, overrides, &used))
                }
            }
            if isRoot {
                claims += projections.map { .init(key: NameScope.key(ofProjection: $0), wire: $0, wanted: $0, isFixed: true) }
            }
            let reserved = SwiftNames.reservedTypes.union([service]).union(outer).union(members)
            let scope = NameScope(reserved: reserved) { key, name in
                if NameScope.projection(key) != nil { return [] }
                return enumerations.contains(key) ? [name + "Tag"] : [name + "Model", name + "Properties"]
            }
            let found = scope.names(for: claims)
            types.merge(found.names) { first, _ in first }
            met += found.renamed
            let inner = isRoot ? "" : (namespaceNames.names[namespace] ?? "") + "."
            faults += found.conflicts.map { $0.fault(in: service + "." + inner) }
        }
        namespaces = namespaceNames.names
        namespaces[root] = ""
        hidden = SwiftNames.swiftTypes.intersection(types.values.map { $0 } + namespaceNames.names.values)
        self.types = types
        self.owners = owners
        self.used = used
        self.met = met
        self.faults = faults
    }

    private static func claim(
        _ key: String, wire: String, _ wanted: String, _ overrides: [String: String], _ used: inout Set<String>
    ) -> NameScope.Claim {
        guard let name = overrides[key] else { return .init(key: key, wire: wire, wanted: wanted) }
        used.insert(key)
        return .init(key: key, wire: wire, wanted: name, isFixed: true)
    }

    /// Returns the namespace whose types are directly in the outermost enumeration: the container's or, if that has no types, the largest
    /// one.
    private static func root(of model: ServiceModel, _ schemas: [ServiceModel.Schema]) -> String {
        if let container = model.container?.namespace, schemas.contains(where: { $0.namespace == container }) { return container }
        let size = { (schema: ServiceModel.Schema) in schema.entityTypes.count + schema.complexTypes.count }
        return schemas.min { (-size($0), $0.namespace) < (-size($1), $1.namespace) }?.namespace ?? ""
    }

    // MARK: Look-ups

    /// Returns the name of a property that a type declares or inherits, or of a member of an enumeration.
    func member(_ wire: String, of type: String) -> String {
        if let name = members.name(wire, of: type) { return name }
        var type = type
        // The count bounds the loop if the types form a cycle.
        for _ in 0..<owners.count {
            guard let base = tree.base(of: type) else { break }
            if let name = members.name(wire, of: base) { return name }
            type = base
        }
        return SwiftNames.memberName(wire)
    }

    /// Returns the enumeration that contains a type: `Graph`, `Graph.Security`.
    func scope(of type: String) -> String {
        let inner = owners[type].flatMap { namespaces[$0] } ?? ""
        return inner.isEmpty ? service : service + "." + inner
    }

    /// Returns the name of a type with all enumerations that contain it: `Graph.Security.Alert`.
    func path(of type: String) -> String {
        scope(of: type) + "." + (types[type] ?? SwiftNames.typeName(type))
    }

    /// Returns the name of a Swift type, with its module if the service hides it.
    func swift(_ name: String) -> String { hidden.contains(name) ? "Swift." + name : name }
}
