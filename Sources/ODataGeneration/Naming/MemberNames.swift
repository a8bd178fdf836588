import ODataMetadata

/// The names in Swift of the properties of types and of the members of enumerations.
struct MemberNames: Sendable {
    /// The names by type or enumeration, and by the name in the model.
    private var names: [String: [String: String]] = [:]
    /// The names of the model in `names` of the configuration that were used.
    private(set) var used: Set<String> = []
    /// The names of the model whose Swift name was changed to avoid a collision, with the new name.
    private(set) var met: [(wire: String, name: String)] = []
    /// The names of the configuration that are in conflict.
    private(set) var conflicts: [NameScope.Conflict] = []

    private let overrides: [String: String]

    init(_ enumerations: [ServiceModel.EnumType], _ tree: DerivationTree, overrides: [String: String]) {
        self.overrides = overrides
        for type in enumerations {
            keep(NameScope(reserved: SwiftNames.memberStatics), type.members.map { ($0.target, $0.name) }, type.qualifiedName)
        }
        // The members of the bases of the visited type: a property is named once, and an own property can't have the name of an inherited
        // one.
        var inherited: Set<String> = []
        var taken: [String: Int] = [:]
        var added: [[(wire: String, name: String)]] = []
        tree.walk { type in
            let all = type.properties.map { ($0.target, $0.name) } + type.navigationProperties.map { ($0.target, $0.name) }
            let own = all.filter { !inherited.contains($0.1) }
            let scope = NameScope(isReserved: { SwiftNames.itemMembers.contains($0) || taken[$0, default: 0] > 0 })
            keep(scope, own, type.qualifiedName)
            let known = names[type.qualifiedName] ?? [:]
            let news = Set(own.map(\.1)).map { (wire: $0, name: known[$0] ?? $0) }
            for (wire, name) in news {
                inherited.insert(wire)
                taken[name, default: 0] += 1
            }
            added.append(news)
        } leave: { _ in
            for (wire, name) in added.popLast() ?? [] {
                inherited.remove(wire)
                taken[name, default: 1] -= 1
            }
        }
    }

    /// Names the members of a type or an enumeration. A member that is declared twice gets one name.
    private mutating func keep(_ scope: NameScope, _ own: [(target: String, name: String)], _ type: String) {
        var seen: Set<String> = []
        let unique = own.filter { seen.insert($0.name).inserted }.sorted { $0.name < $1.name }
        let claims = unique.map { member in
            let name = overrides[member.target]
            if name != nil { used.insert(member.target) }
            return NameScope.Claim(
                key: member.target, wire: member.name, wanted: name ?? SwiftNames.memberName(member.name), isFixed: name != nil)
        }
        let found = scope.names(for: claims)
        met += found.renamed
        conflicts += found.conflicts
        for member in unique { names[type, default: [:]][member.name] = found.names[member.target] }
    }

    /// Returns the name of a property that a type itself declares, or of a member of an enumeration; `nil` if the type declares none.
    func name(_ wire: String, of type: String) -> String? { names[type]?[wire] }
}
