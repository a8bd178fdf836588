extension ServiceModel {
    /// A type with a qualified name.
    public enum NamedType: Sendable, Hashable {
        /// An entity type or a complex type.
        case structured(StructuredType)
        /// An enumeration type.
        case enumeration(EnumType)
        /// A type definition.
        case definition(TypeDefinition)
    }

    /// Returns a name with its alias replaced by the namespace: `self.Order` is `Sales.Order` if `self` is the alias of `Sales`.
    ///
    /// A name without an alias of the document is returned unchanged.
    public func qualifiedName(_ name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), let namespace = index.namespaces[String(name[..<dot])] else {
            return name
        }
        return namespace + name[dot...]
    }

    /// Returns the type of a qualified name, which may begin with an alias, or `nil`.
    public func type(_ name: String) -> NamedType? {
        switch index.types[name] ?? index.types[qualifiedName(name)] {
        case .structured(let position): .structured(index.structuredTypes[position])
        case .enumeration(let position): .enumeration(index.enumTypes[position])
        case .definition(let position): .definition(index.typeDefinitions[position])
        case nil: nil
        }
    }

    /// Returns the entity type or complex type of a qualified name, or `nil`.
    public func structuredType(_ name: String) -> StructuredType? {
        if case .structured(let type)? = type(name) { type } else { nil }
    }

    /// Returns the entity type of a qualified name, or `nil`.
    public func entityType(_ name: String) -> StructuredType? {
        if let type = structuredType(name), type.kind == .entity { type } else { nil }
    }

    /// Returns the complex type of a qualified name, or `nil`.
    public func complexType(_ name: String) -> StructuredType? {
        if let type = structuredType(name), type.kind == .complex { type } else { nil }
    }

    /// Returns the enumeration type of a qualified name, or `nil`.
    public func enumType(_ name: String) -> EnumType? {
        if case .enumeration(let type)? = type(name) { type } else { nil }
    }

    /// Returns the type definition of a qualified name, or `nil`.
    public func typeDefinition(_ name: String) -> TypeDefinition? {
        if case .definition(let type)? = type(name) { type } else { nil }
    }

    /// Returns the term of a qualified name, or `nil`.
    public func term(_ name: String) -> Term? {
        index.terms[name] ?? index.terms[qualifiedName(name)]
    }

    /// Returns the schema of a namespace or alias, also an included one, or `nil`.
    public func schema(_ name: String) -> Schema? {
        guard let position = index.schemas[index.namespaces[name] ?? name] else { return nil }
        return position < schemas.count ? schemas[position] : includedSchemas[position - schemas.count]
    }

    /// Returns the base types of a type, the nearest first. If the chain forms a cycle, it ends before the first repeated type.
    public func baseTypes(of type: StructuredType) -> [StructuredType] {
        guard let position = index.structuredIndex(type.qualifiedName) else { return [] }
        return index.tree.ancestry(of: position).dropFirst().map { index.structuredTypes[$0] }
    }

    /// Returns the nearest base type of a type, or `nil`. Unlike ``baseTypes(of:)``, it doesn't walk up the whole chain.
    package func nearestBase(of type: StructuredType) -> StructuredType? {
        base(of: type).map { index.structuredTypes[$0] }
    }

    /// Returns the outermost base type of a type; the type itself if it has none.
    func rootType(of type: StructuredType) -> StructuredType {
        base(of: type).map { index.structuredTypes[index.tree.state(of: $0).root] } ?? type
    }

    /// The index of the nearest base type.
    private func base(of type: StructuredType) -> Int? {
        guard let position = index.structuredIndex(type.qualifiedName) else { return nil }
        let base = index.tree.bases[position]
        return base >= 0 ? base : nil
    }

    /// Returns the types that are derived from a type, directly or indirectly, level by level.
    public func derivedTypes(of name: String) -> [StructuredType] {
        guard let position = index.structuredIndex(qualifiedName(name)) else { return [] }
        var found = index.tree.derived[position] ?? []
        var next = 0
        while next < found.count {
            found += index.tree.derived[found[next]] ?? []
            next += 1
        }
        return found.map { index.structuredTypes[$0] }
    }

    /// Returns whether a type is another type or derived from it.
    public func isType(_ name: String, derivedFrom base: String) -> Bool {
        let (name, base) = (qualifiedName(name), qualifiedName(base))
        if name == base { return true }
        guard let position = index.structuredIndex(name), let ancestor = index.structuredIndex(base) else { return false }
        return index.tree.isType(position, derivedFrom: ancestor)
    }

    /// Returns whether instances of a type can have properties that it doesn't declare: it or one of its base types is open.
    public func isOpen(_ type: StructuredType) -> Bool {
        type.isOpen || base(of: type).map { index.tree.state(of: $0).isOpen } ?? false
    }

    /// Returns whether instances of a type are media entities: it or one of its base types has `HasStream`.
    public func hasStream(_ type: StructuredType) -> Bool {
        type.hasStream || base(of: type).map { index.tree.state(of: $0).hasStream } ?? false
    }

    /// Returns the properties of a type, beginning with its base types. A property that a derived type declares again occurs once.
    public func properties(of type: StructuredType) -> [Property] {
        let bases = baseTypes(of: type)
        return bases.isEmpty ? type.properties : Self.unique(bases.reversed().flatMap(\.properties) + type.properties)
    }

    /// Returns the navigation properties of a type, beginning with its base types. A property that a derived type declares again occurs
    /// once.
    public func navigationProperties(of type: StructuredType) -> [NavigationProperty] {
        let bases = baseTypes(of: type)
        return bases.isEmpty
            ? type.navigationProperties : Self.unique(bases.reversed().flatMap(\.navigationProperties) + type.navigationProperties)
    }

    /// The last element with each name, at the place of the first one.
    private static func unique<Member: NamedMember>(_ members: [Member]) -> [Member] {
        var places: [String: Int] = [:]
        var result: [Member] = []
        for member in members {
            if let place = places[member.name] {
                result[place] = member
            } else {
                places[member.name] = result.count
                result.append(member)
            }
        }
        return result
    }

    /// Returns a property of a type, also of its base types, or `nil`.
    public func property(_ name: String, of type: String) -> Property? {
        guard let slot = member(name, of: type), !slot.isNavigation else { return nil }
        return index.structuredTypes[slot.type].properties[slot.position]
    }

    /// Returns a navigation property of a type, also of its base types, or `nil`.
    public func navigationProperty(_ name: String, of type: String) -> NavigationProperty? {
        guard let slot = member(name, of: type), slot.isNavigation else { return nil }
        return index.structuredTypes[slot.type].navigationProperties[slot.position]
    }

    private func member(_ name: String, of type: String) -> TypeTree.Slot? {
        guard let position = index.structuredIndex(type) ?? index.structuredIndex(qualifiedName(type)) else { return nil }
        return index.tree.member(name, of: position)
    }

    /// Returns the key of an entity type: its own or the key of its nearest base type with one; empty if there is none.
    public func key(of type: StructuredType) -> [KeyReference] {
        if !type.key.isEmpty { return type.key }
        guard let base = base(of: type), let owner = index.tree.state(of: base).keyOwner else { return [] }
        return index.structuredTypes[owner].key
    }

    private static let alternateKeyTerms: Set = [
        "Org.OData.Core.V1.AlternateKeys", "OData.Community.Keys.V1.AlternateKeys", "Org.OData.Community.Keys.V1.AlternateKeys",
    ]

    /// Returns the alternate keys of an entity type or entity set, as annotated by `Core.AlternateKeys` or by the older
    /// `Org.OData.Community.Keys.V1.AlternateKeys`.
    public func alternateKeys(of element: some Element) -> [[KeyReference]] {
        annotations(of: element).filter { Self.alternateKeyTerms.contains($0.term) }.flatMap { annotation in
            (annotation.value?.elements ?? []).compactMap { key in
                let references = (key["Key"]?.elements ?? []).compactMap { reference -> KeyReference? in
                    guard let path = reference["Name"]?.text else { return nil }
                    return KeyReference(path: path, alias: reference["Alias"]?.text.flatMap { $0.isEmpty || $0 == path ? nil : $0 })
                }
                return references.isEmpty ? nil : references
            }
        }
    }
}

/// A property or navigation property.
private protocol NamedMember {
    var name: String { get }
}

extension ServiceModel.Property: NamedMember {}
extension ServiceModel.NavigationProperty: NamedMember {}
