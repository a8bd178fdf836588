import ODataMetadata

/// The names in Swift of everything in a model.
///
/// They are made from all types of the model, whether they are included or not, so that including another one renames nothing.
struct NameTable: Sendable {
    /// The name of the enumeration that has everything.
    let service: String
    /// The name of the client.
    var client: String { service + "Client" }
    /// The names of the enumerations for namespaces; those of the service's own namespace are in the outermost one.
    private(set) var namespaces: [String: String] = [:]
    /// The simple names of types.
    private(set) var types: [String: String] = [:]
    /// The names of properties by type, and of members by enumeration.
    private var members: [String: [String: String]] = [:]
    /// The names of the model in `names` of the configuration that were used.
    private(set) var used: Set<String> = []
    /// What got another name than by the rules, with the new one.
    private(set) var met: [(wire: String, name: String)] = []
    /// The types of Swift that the service has types of the same name of.
    private let hidden: Set<String>

    private let model: ServiceModel
    private let overrides: [String: String]

    init(_ model: ServiceModel, service: String, overrides: [String: String], projections: [String]) {
        self.model = model
        self.service = service
        self.overrides = overrides
        let schemas = (model.schemas + model.includedSchemas).filter { schema in
            !schema.entityTypes.isEmpty || !schema.complexTypes.isEmpty || !schema.enumTypes.isEmpty
        }
        let root = Self.root(of: model, schemas)
        var used: Set<String> = []
        var met: [(String, String)] = []

        let namespaceClaims = Set(schemas.map(\.namespace)).subtracting([root]).sorted().map { namespace in
            let rest = namespace.hasPrefix(root + ".") ? String(namespace.dropFirst(root.count + 1)) : namespace
            let wanted = rest.split(separator: ".").map { SwiftNames.typeName(String($0)) }.joined()
            return Self.claim(namespace, wire: namespace, wanted.isEmpty ? "__" : wanted, overrides, &used)
        }
        let outermost = SwiftNames.reservedTypes.union(SwiftNames.serviceMembers).union([service])
        let namespaceNames = NameScope(reserved: outermost).names(for: namespaceClaims)
        met += namespaceNames.met.map { ($0, namespaceNames.names[$0] ?? "") }

        var types: [String: String] = [:]
        for namespace in Set(schemas.map(\.namespace)).sorted() {
            let isRoot = namespace == root
            let outer = isRoot ? Set(namespaceNames.names.values) : []
            let members = isRoot ? SwiftNames.serviceMembers : []
            var claims: [NameScope.Claim] = []
            var enumerations: Set<String> = []
            var seen: Set<String> = []
            for schema in schemas where schema.namespace == namespace {
                enumerations.formUnion(schema.enumTypes.map(\.qualifiedName))
                let all =
                    (schema.entityTypes + schema.complexTypes).map { ($0.qualifiedName, $0.name) }
                    + schema.enumTypes.map { ($0.qualifiedName, $0.name) }
                for (qualified, name) in all where seen.insert(qualified).inserted {
                    let wanted = SwiftNames.typeName(name)
                    claims.append(Self.claim(qualified, wire: name, outer.contains(wanted) ? wanted + "Item" : wanted, overrides, &used))
                }
            }
            if isRoot { claims += projections.map { .init(key: "projection " + $0, wire: $0, wanted: $0, isFixed: true) } }
            let reserved = SwiftNames.reservedTypes.union([service]).union(outer).union(members)
            let scope = NameScope(reserved: reserved) { key, name in
                if key.hasPrefix("projection ") { return [] }
                return enumerations.contains(key) ? [name + "Tag"] : [name + "Model", name + "Properties"]
            }
            let found = scope.names(for: claims)
            types.merge(found.names) { first, _ in first }
            met += found.met.map { ($0, found.names[$0] ?? "") }
        }
        namespaces = namespaceNames.names
        namespaces[root] = ""
        self.types = types
        hidden = SwiftNames.swiftTypes.intersection(types.values.map { $0 })
        self.used = used
        self.met = met
        for schema in schemas {
            for type in schema.enumTypes { nameMembers(of: type) }
            for type in schema.entityTypes + schema.complexTypes { nameProperties(of: type) }
        }
    }

    private static func claim(
        _ key: String, wire: String, _ wanted: String, _ overrides: [String: String], _ used: inout Set<String>
    ) -> NameScope.Claim {
        guard let name = overrides[key] else { return .init(key: key, wire: wire, wanted: wanted) }
        used.insert(key)
        return .init(key: key, wire: wire, wanted: name, isFixed: true)
    }

    /// The namespace whose types are directly in the service's enumeration: that of the container or, if it has no types, the largest one.
    private static func root(of model: ServiceModel, _ schemas: [ServiceModel.Schema]) -> String {
        if let container = model.container?.namespace, schemas.contains(where: { $0.namespace == container }) { return container }
        let size = { (schema: ServiceModel.Schema) in schema.entityTypes.count + schema.complexTypes.count }
        return schemas.min { (-size($0), $0.namespace) < (-size($1), $1.namespace) }?.namespace ?? ""
    }

    // MARK: Members

    private mutating func nameMembers(of type: ServiceModel.EnumType) {
        let claims = type.members.map {
            Self.claim($0.target, wire: $0.name, SwiftNames.memberName($0.name), overrides, &used)
        }
        keep(NameScope(reserved: SwiftNames.memberStatics), claims, type.qualifiedName, type.members.map { ($0.target, $0.name) })
    }

    private mutating func nameProperties(of type: ServiceModel.StructuredType) {
        guard members[type.qualifiedName] == nil else { return }
        var inherited: [String: String] = [:]
        // A long chain of bases must not become a deep recursion.
        for base in model.baseTypes(of: type).reversed() {
            if members[base.qualifiedName] == nil { nameOwn(of: base, inherited) }
            inherited.merge(members[base.qualifiedName] ?? [:]) { first, _ in first }
        }
        nameOwn(of: type, inherited)
    }

    private mutating func nameOwn(of type: ServiceModel.StructuredType, _ inherited: [String: String]) {
        var own: [(target: String, name: String)] = []
        var seen: Set<String> = []
        for (target, name) in type.properties.map({ ($0.target, $0.name) }) + type.navigationProperties.map({ ($0.target, $0.name) })
        where inherited[name] == nil && seen.insert(name).inserted {
            own.append((target, name))
        }
        let claims = own.sorted { $0.name < $1.name }.map {
            Self.claim($0.target, wire: $0.name, SwiftNames.memberName($0.name), overrides, &used)
        }
        keep(NameScope(reserved: SwiftNames.itemMembers.union(inherited.values)), claims, type.qualifiedName, own)
    }

    private mutating func keep(
        _ scope: NameScope, _ claims: [NameScope.Claim], _ type: String, _ own: [(target: String, name: String)]
    ) {
        let found = scope.names(for: claims)
        met += found.met.map { ($0, found.names[$0] ?? "") }
        var names = members[type] ?? [:]
        for (target, name) in own where names[name] == nil { names[name] = found.names[target] }
        members[type] = names
    }

    // MARK: Look-ups

    /// Returns the name of a property that a type declares or inherits, or of a member of an enumeration.
    func member(_ wire: String, of type: String) -> String {
        if let name = members[type]?[wire] { return name }
        if let structured = model.structuredType(type) {
            for base in model.baseTypes(of: structured) {
                if let name = members[base.qualifiedName]?[wire] { return name }
            }
        }
        return SwiftNames.memberName(wire)
    }

    /// Returns the enumeration that a type is in: `Graph`, `Graph.Security`.
    func scope(of type: String) -> String {
        let namespace = type.lastIndex(of: ".").map { String(type[..<$0]) } ?? ""
        let inner = namespaces[namespace] ?? ""
        return inner.isEmpty ? service : service + "." + inner
    }

    /// Returns the name of a type with all enumerations that it is in: `Graph.Security.Alert`.
    func path(of type: String) -> String {
        scope(of: type) + "." + (types[type] ?? SwiftNames.typeName(type))
    }

    /// Returns the name of a type of Swift, with its module if the service hides it.
    func swift(_ name: String) -> String { hidden.contains(name) ? "Swift." + name : name }

    /// Returns the faults of two overrides that give the same name.
    func duplicates() -> [(name: String, wires: [String])] {
        let fixed = types.filter { overrides[$0.key] != nil }
        let paths = Dictionary(grouping: types.keys.filter { !$0.hasPrefix("projection ") }) { path(of: $0) }
        return paths.filter { $0.value.count > 1 && $0.value.contains { fixed[$0] != nil } }
            .map { ($0.key, $0.value.sorted()) }.sorted { $0.0 < $1.0 }
    }
}
